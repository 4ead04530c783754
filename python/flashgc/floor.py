"""The floor of a comparison: the scheme `ideal`, whose collections take no time.

What a scheme takes longer than that, beside what blame gives to its collections.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from flashgc import units
from flashgc.results import KINDS, RunResults, found_at

IDEAL = "ideal"
_METRICS = {"mean": "mean", "p99": "p99", "p99_9": "p99.9"}

Rows = list[list[str]]
PathLike = str | os.PathLike[str]


def names(schemes: Sequence[PathLike], ideal: bool) -> list[PathLike]:
    """The schemes to run: with `ideal` first, unless it is one of them.

    >>> from flashgc import floor
    >>> floor.names(["greedy"], ideal=True), floor.names(["greedy", "ideal"], ideal=True)
    (['ideal', 'greedy'], ['greedy', 'ideal'])
    """
    asked = list(schemes)
    return [IDEAL, *asked] if ideal and all(os.fspath(name) != IDEAL for name in asked) else asked


def above(reports: Sequence[RunResults]) -> list[RunResults]:
    """The schemes whose collections take time."""
    return [report for report in reports if report.scheme != IDEAL]


def rows(reports: Sequence[RunResults]) -> Rows:
    """How far each scheme is above ideal, and what blame gives to its collections, if it is there.

    Nothing where ideal is not compared with others.
    """
    ideal = next((report for report in reports if report.scheme == IDEAL), None)
    others = above(reports)
    if ideal is None or not others or not all(report.is_timed for report in reports):
        return []
    found = [["price of collection", *(report.scheme for report in others)]]
    for kind in KINDS[:2]:
        if not ideal.latency_ns[kind]["count"]:
            continue
        for name, shown in _METRICS.items():
            base_ns = _latency(ideal, kind, name)
            over = [_over(_latency(report, kind, name), base_ns) for report in others]
            found.append([f"{kind} {shown} above ideal", *over])
            blamed = [found_at(report, ("blame", kind, name, "collection_ns"))
                      for report in others]  # fmt: skip
            if any(ns is not None for ns in blamed):
                found.append([f"{kind} {shown} by blame", *map(units.time, blamed)])
    return found


def note(reports: Sequence[RunResults]) -> str | None:
    """Why the two differ, where both are shown."""
    if not rows(reports) or not any("blame" in report for report in reports):
        return None
    return (
        "By blame and above ideal are not equal: blame counts how long collections held what a "
        "request waited for; the difference to ideal includes the queues that collections leave "
        "behind."
    )


def _latency(report: RunResults, kind: str, name: str) -> float | None:
    """A latency in ns; of several seeds their mean."""
    metric = found_at(report, ("seeds", "metrics"))
    path = (f"latency_ns.{kind}.{name}", "mean")
    found: float | None = (
        found_at(report, ("latency_ns", kind, name)) if metric is None else found_at(metric, path)
    )
    return found


def _over(ns: float | None, base_ns: float | None) -> str:
    if ns is None or base_ns is None:
        return units.NOTHING
    sign = "+" if ns >= base_ns else "-"
    return f"{sign}{units.time(abs(ns - base_ns))}"
