"""The findings of the tests as plain values: the keys of `flashgc pts --json`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from flashgc.snia import definitions, procedures, steady
from flashgc.snia.measuring import Histogram, Point
from flashgc.snia.procedures import Part, Series

SETTLED = 0.10
"""How near to the settled throughput of its group five minutes are that have recovered."""
_LAST = 60
"""Measurements at the end of a group, an hour, whose throughput is settled."""


def of_test(test: str, parts: Sequence[Part]) -> dict[str, Any]:
    """A test with all of its parts."""
    found = [part.is_steady for part in parts if part.is_steady is not None]
    return {
        "test": test, "title": definitions.TESTS[test], "steady": all(found) if found else None,
        "parts": [_part(part) for part in parts],
    }  # fmt: skip


def _part(part: Part) -> dict[str, Any]:
    before = part.precondition
    return {
        "name": part.name, "steady": part.is_steady, "rounds": len(part.rounds),
        "continues": part.continues,
        "drive_writes": part.points[-1].written if part.points else 0.0,
        "preconditioning": None if before is None else before._asdict(),
        "tracked": [_tracked(series) for series in part.tracked],
        "results": [*_of_window(part), *_of_phases(part)],
        "response_times": None if part.histogram is None else _responses(part.histogram),
        "recovery": [] if part.tracked else _recovery(part.points),
    }  # fmt: skip


def _tracked(series: Series) -> dict[str, Any]:
    found = series.window
    known: dict[str, Any] = {"average": None, "spread": None, "slope": None, "first": None,
             "spread_share": None, "rise_share": None, "steady": False}  # fmt: skip
    if found is not None:
        known = {**found._asdict(), "spread_share": found.spread_share,
                 "rise_share": found.rise_share, "steady": found.is_steady}  # fmt: skip
    return {"name": series.name, "unit": series.unit, "rounds": series.values, **known}


def _of_window(part: Part) -> list[dict[str, Any]]:
    """The average over the rounds of the window, for each size and mix."""
    return [averaged("window", list(points)) for points in zip(*part.last, strict=True)]


def _of_phases(part: Part) -> list[dict[str, Any]]:
    """The averages of accesses between waits, and of groups."""
    phases = [*(name for wait in definitions.WAITS_S
                for name in (procedures.waiting(wait), procedures.baseline(wait))),
              *(f"group {at + 1}" for at in range(len(definitions.CROSS_BYTES)))]  # fmt: skip
    groups = [[point for point in part.points if point.phase == phase] for phase in phases]
    both = zip(phases, groups, strict=True)
    return [averaged(phase, points) for phase, points in both if points]


def averaged(phase: str, points: Sequence[Point]) -> dict[str, Any]:
    """Measurements of one kind: averages, and the longest response time of all."""
    first = points[0]
    nines = [point.p99_999_ns for point in points if point.p99_999_ns is not None]
    known = len(nines) == len(points)
    return {
        "phase": phase, "bytes": first.bytes, "read_share": first.read_share,
        "sequential": first.is_sequential, "threads": first.threads, "depth": first.depth,
        "iops": fmean(point.iops for point in points),
        "mb_per_s": fmean(point.mb_per_s for point in points),
        "mean_ns": fmean(point.mean_ns for point in points),
        "p99_999_ns": fmean(nines) if known else None,
        "max_ns": max(point.max_ns for point in points),
    }  # fmt: skip


def _responses(found: Histogram) -> dict[str, Any]:
    point = found.point
    return {
        "requests": point.requests, "mean_ns": point.mean_ns,
        **{f"{name}_ns": value for name, value in found.percentiles_ns.items()},
        "max_ns": point.max_ns,
    }  # fmt: skip


def _recovery(points: Sequence[Point]) -> list[dict[str, Any]]:
    """The times from the beginning of each later group until its throughput is settled."""
    found = []
    for number in range(2, len(definitions.CROSS_BYTES) + 1):
        group = [point for point in points if point.phase == f"group {number}"]
        if group:
            settled = fmean(point.mb_per_s for point in group[-_LAST:])
            first = _first_settled(group, settled)
            begun = group[0].begin_ns
            took = None if first is None else first.begin_ns + first.length_ns - begun
            found.append({"group": number, "settled_mb_per_s": settled, "recovered_ns": took})
    return found


def _first_settled(group: Sequence[Point], settled: float) -> Point | None:
    """The last of the first five measurements in a row whose average is near the settled one."""
    for end in range(steady.WINDOW, len(group) + 1):
        average = fmean(point.mb_per_s for point in group[end - steady.WINDOW : end])
        if abs(average - settled) <= SETTLED * settled:
            return group[end - 1]
    return None
