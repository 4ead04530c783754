"""Common properties of the points of a sweep: device, workload, scheme, configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flashgc.formatting import units
from flashgc.pages import page, provenance
from flashgc.reports.report import Report
from flashgc.sweeps.store import DONE

if TYPE_CHECKING:
    import pyarrow as pa

_DIFFERS = "differs between the points"
_SETTINGS_SHOWN = 12
_VALUES = 16
"""Values of an axis that are read."""


def shared(axes: Sequence[str], points: pa.Table) -> tuple[list[tuple[str, str]], str]:
    """Facts for the head of the page, and the configuration of a point, folded.

    Settings differ by axes alone, so that a point for each value of each axis shows all of them; of
    an axis with many values, some are read.
    """
    reports = _examples(axes, points)
    if not reports:
        return [], ""
    (label, first), *_ = reports
    found: dict[str, list[str]] = {}
    for _, report in reports:
        for name, text in _facts(report):
            found.setdefault(name, []).append(text)
    facts = [(name, texts[0] if len(set(texts)) == 1 else _DIFFERS)
             for name, texts in found.items() if name not in axes]  # fmt: skip
    workloads = [dict(_flat(report.to_dict()["config"]["workload"], "")) for _, report in reports]
    facts.insert(0, ("workload", _workload(workloads)))
    return facts, page.details(f"the point {label}", first)


def _examples(axes: Sequence[str], points: pa.Table) -> list[tuple[str, Report]]:
    kept = points.select([*axes, "status"]).to_pylist()
    reports = points["report"]
    done = [at for at, row in enumerate(kept) if row["status"] == DONE and reports[at].is_valid]
    left: set[tuple[str, Any]] = set()
    for axis in axes:
        values = list(dict.fromkeys(kept[at][axis] for at in done))
        left |= {(axis, one) for one in values[:: -(-len(values) // _VALUES) or 1]}
    rows: list[int] = []
    for at in done:
        values_here = {(axis, kept[at][axis]) for axis in axes}
        if values_here & left:
            left -= values_here
            rows.append(at)
    return [(", ".join(f"{axis} {kept[at][axis]}" for axis in axes),
             Report(json.loads(reports[at].as_py()))) for at in rows]  # fmt: skip


def _facts(report: Report) -> list[tuple[str, str]]:
    of_run = dict(provenance.facts(report))
    names = ("device", "geometry", "over-provisioning", "preconditioning")
    return [
        ("scheme", report.scheme),
        *((name, of_run[name]) for name in names if name in of_run),
    ]


def _workload(every: Sequence[Mapping[str, object]]) -> str:
    """The settings that all workloads share, in a line, and the names of those that differ."""
    first = every[0]
    names = dict.fromkeys(name for one in every for name in one)
    apart = [name for name in names if any(one.get(name) != first.get(name) for one in every)]
    shared = [f"{name} {value}" for name, value in first.items() if name not in apart]
    more = len(shared) - _SETTINGS_SHOWN
    rest = f"and {units.counted(more, 'more setting')}"
    parts = [*shared[:_SETTINGS_SHOWN], *([rest] if more > 0 else [])]
    text = ", ".join(parts) or "no setting is the same"
    return f"{text}; {', '.join(apart)}: {_DIFFERS}" if apart else text


def _flat(settings: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            yield from _flat(value, f"{path}.{name}" if path else name)
    elif settings is not None:
        yield path, settings if isinstance(settings, str) else json.dumps(settings)
