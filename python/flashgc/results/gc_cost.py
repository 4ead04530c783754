"""The price of collection: each scheme, and the same scheme without GC cost.

Without GC cost the operations of collections take no time, and everything else is the scheme's own:
which requests wait, and for what.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import flashgc._engine as engine
from flashgc._engine_types import Request
from flashgc.formatting import units
from flashgc.results import metrics, statistics, steady_state
from flashgc.results.metrics import KINDS, RunResults, found_at

SETTING = 'gc.cost="none"'
WITHOUT = "without GC cost"
_METRICS = {"mean": "mean", "p99": "p99", "p99_9": "p99.9"}
_KEPT = ("requests", "write_amplification", "latency_ns", "throughput")

Rows = list[list[str]]


def is_free(settings: Mapping[str, Any]) -> bool:
    """Whether the collections of a scheme take no time, by its settings as the engine knows them.

    >>> from flashgc.results import gc_cost
    >>> gc_cost.is_free({"copy": "bus"}), gc_cost.is_free({"copy": "bus", "cost": "none"})
    (False, True)
    """
    return settings.get("cost") == "none" or settings.get("copy") == "instant"


def request(of: Request) -> Request | None:
    """The request of the same run without GC cost; None where there is none, or no clock."""
    settings = json.loads(engine.check(of))["settings"]
    if "engine" in settings or is_free(settings["gc"]):
        return None
    return {**of, "sets": [*of["sets"], SETTING]}


def note_run(own: Sequence[RunResults], without: Sequence[RunResults]) -> None:
    """Adds the run without GC cost to the report of the same scheme; of several seeds, all runs."""
    found: dict[str, Any] = {key: without[0].to_dict()[key] for key in _KEPT}
    if len(own) > 1:
        found["cost"] = statistics.differences(own, without)
    metrics.note(own[0], without_gc_cost=found)


def rows(reports: Sequence[RunResults]) -> Rows:
    """The latencies of each scheme without GC cost, and how far its own are from them.

    Further columns have the parts of collections by blame, if these are there. Empty where no
    scheme has run without GC cost.
    """
    priced = [report for report in reports if "without_gc_cost" in report]
    if not priced:
        return []
    found = [["price of collection", *(report.scheme for report in priced)], *_lengths(priced)]
    for kind in KINDS[:2]:
        if not any(report.latency_ns[kind]["count"] for report in priced):
            continue
        for name, shown in _METRICS.items():
            path = ("latency_ns", kind, name)
            without = [_without(report, path) for report in priced]
            found.append([f"{kind} {shown} {WITHOUT}", *map(units.time, without)])
            found.append([f"{kind} {shown}, difference", *(_cost(one, path) for one in priced)])
            blamed = [found_at(report, ("blame", kind, name, "collection_ns"))
                      for report in priced]  # fmt: skip
            if any(ns is not None for ns in blamed):
                found.append([f"{kind} {shown} by blame", *map(units.time, blamed)])
    return found


def notes(reports: Sequence[RunResults]) -> list[str]:
    """Notes on the price: the reasons why it can be below zero, and why blame names another one."""
    table = rows(reports)
    if not table:
        return []
    told = []
    differences = [row for row in table if row[0].endswith(", difference")]
    if any(cell.startswith("-") and cell != units.NOTHING for row in differences for cell in row):
        told.append(
            "A negative difference: these requests are faster with GC cost, since the scheme "
            "delays others meanwhile, with which they would compete for the drive."
        )
    if any("blame" in report for report in reports):
        told.append(
            "By blame and the difference are not equal: blame counts how long collections held "
            f"what a request waited for; the difference to a run {WITHOUT} includes the queues "
            "that collections leave behind."
        )
    return told


def _lengths(priced: Sequence[RunResults]) -> Rows:
    """The requests of both runs, where one ended elsewhere than the other."""
    pairs = [[_requests(of) for of in (report, report["without_gc_cost"])] for report in priced]
    if all(own == without for own, without in pairs):
        return []
    return [
        ["requests", *(units.count(own) for own, _ in pairs)],
        [f"requests {WITHOUT}", *(units.count(without) for _, without in pairs)],
    ]


def _requests(of: Mapping[str, Any]) -> int:
    requests = of["requests"]
    return int(requests["read"] + requests["write"] + requests["trim"])


def difference(report: RunResults, path: Sequence[str]) -> float | None:
    """The difference of a metric from the same scheme without GC cost; it may be negative."""
    own, without = (found_at(of, path) for of in (report, report.get("without_gc_cost") or {}))
    return None if own is None or without is None else float(own - without)


def _without(report: RunResults, path: Sequence[str]) -> float | None:
    """A metric without GC cost; of several seeds the mean."""
    over, own = _over(report, path), found_at(report, ("seeds", "metrics"))
    if over is None or own is None:
        found: float | None = found_at(report, ("without_gc_cost", *path))
        return found
    return float(own[".".join(path)]["mean"] - over["mean"])


def _over(report: RunResults, path: Sequence[str]) -> Mapping[str, Any] | None:
    """The mean difference of several seeds, with its interval."""
    over = found_at(report, ("without_gc_cost", "cost"))
    found: Mapping[str, Any] | None = None if over is None else over.get(".".join(path))
    return found


def _cost(report: RunResults, path: Sequence[str]) -> str:
    """A difference with its sign; of several seeds their mean, with half the 95 % interval."""
    metric = _over(report, path)
    ns = difference(report, path) if metric is None else metric["mean"]
    if ns is None:
        return units.NOTHING
    text = f"{'+' if ns >= 0 else '-'}{units.time(abs(ns))}"
    if metric is None or metric["low"] is None:
        return text
    half = units.time((metric["high"] - metric["low"]) / 2)
    unsteady = f" ({steady_state.NOT_STEADY})" if steady_state.is_out(report) else ""
    return f"{text} +/- {half}{unsteady}"
