"""The parts of latencies as a table, a sentence and stacked bars."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flashgc.formatting import units
from flashgc.formatting.markup import table, wide
from flashgc.results.metrics import KINDS, RunResults

PERCENTILES = {"mean": "mean", "p50": "p50", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99"}
PARTS = {"service": "service", "host": "other requests", "collection": "collection",
         "space": "space", "buffer": "buffer"}  # fmt: skip
"""The parts of a latency, with their names in tables."""
COLOURS = {"service": "#4477aa", "host": "#66ccee", "collection": "#cc3311", "space": "#ee7733",
            "buffer": "#bbbbbb"}  # fmt: skip
"""The colours of the parts."""

Rows = list[list[str]]


def rows(report: RunResults) -> Rows:
    """A row for each percentile of each kind of request; parts that are 0 in all are left out."""
    splits = list(_splits(report))
    if not splits:
        return []
    shown = [part for part in PARTS if _has(report, part)]
    head = ["latency from", "all", *(PARTS[part] for part in shown)]
    return [head, *([name, units.time(split["latency_ns"]),
                     *(units.time(split[f"{part}_ns"]) for part in shown)]
                    for name, split in splits)]  # fmt: skip


def sentences(report: RunResults) -> list[str]:
    """One sentence for each kind of request: the part of its p99.9 that is GC."""
    return [_sentence(kind, report["blame"][kind]["p99_9"])
            for kind in _kinds(report)]  # fmt: skip


def section(reports: Sequence[RunResults]) -> str:
    """Stacked bars and tables for a page, where latencies were split."""
    split = [report for report in reports if "blame" in report]
    if not split:
        return ""
    shown = [part for part in PARTS if any(_has(report, part) for report in split)]
    parts = [f"<h2>Where latencies went</h2>{names(shown)}"]
    for report in split:
        title = f"<h3>{html.escape(report.scheme)}</h3>" if len(reports) > 1 else ""
        told = "".join(f"<p>{html.escape(text)}</p>" for text in sentences(report))
        found = rows(report)
        bars = ["", *(_bar(one) for _, one in _splits(report))]
        parts.append(f"{title}{told}{wide(table(found, drawn=bars), 'wide blame')}")
    return "".join(parts)


STYLE = """
.blame td:last-child { min-width: 12rem; }
.bar { display: flex; height: .9rem; }
.bar i, .names i { display: block; height: 100%; }
.names i { display: inline-block; width: .9rem; height: .9rem; margin-right: .4rem; }
"""


def _kinds(report: RunResults) -> list[str]:
    return (
        [kind for kind in KINDS[:2] if report["blame"][kind]["mean"]] if "blame" in report else []
    )


def _splits(report: RunResults) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for kind in _kinds(report):
        for name, shown in PERCENTILES.items():
            yield f"{kind} {shown}", report["blame"][kind][name]


def _has(report: RunResults, part: str) -> bool:
    return any(split[f"{part}_ns"] for _, split in _splits(report))


def _sentence(kind: str, split: Mapping[str, Any]) -> str:
    latency_ns, collection_ns = split["latency_ns"], split["collection_ns"]
    if not collection_ns:
        return f"{kind} p99.9 is {units.time(latency_ns)}, none of it GC"
    return (
        f"{kind} p99.9 is {units.time(latency_ns)}, of which {units.time(collection_ns)} is GC"
        f"{_mostly(split['collection'])}"
    )


def _mostly(parts: Mapping[str, float]) -> str:
    """The two largest parts of the wait for collection."""
    names = {"copies_ns": "copies", "erase_ns": "erase", "bus_ns": "its transfers on the bus",
             "switch_ns": "suspending and resuming", "blocked_ns": "closed planes"}  # fmt: skip
    largest = sorted(names, key=lambda name: -parts[name])[:2]
    told = [f"{names[name]} {units.time(parts[name])}" for name in largest if parts[name]]
    return f" ({', '.join(told)})"


def _bar(split: Mapping[str, Any]) -> str:
    whole = split["latency_ns"] or 1
    shares = [(part, split[f"{part}_ns"] / whole) for part in PARTS]
    pieces = "".join(
        f'<i style="width:{100 * share:.3f}%;background:{COLOURS[part]}" '
        f'title="{PARTS[part]}: {units.share(share)}"></i>'
        for part, share in shares
        if share
    )
    return f'<div class="bar">{pieces}</div>'


def names(shown: Sequence[str]) -> str:
    """The names of some parts with their colours, as HTML."""
    items = "".join(f'<li><i style="background:{COLOURS[part]}"></i>{PARTS[part]}</li>'
                    for part in shown)  # fmt: skip
    return f'<ul class="names">{items}</ul>'
