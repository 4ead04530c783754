"""The lengths of runs: short ones on several samples, and long ones until they are steady."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flashgc.results.metrics import RunResults

SEEDS = 5
"""Seeds of a synthetic workload, and parts of a trace."""
FEWEST_PARTS = 3
"""With fewer parts an interval would say nothing."""
PART_ROWS = 4_000
"""A part of a trace has at least this number of rows: p99.9 is based on its longest four."""
SHORT_PAGES = 1_500_000
"""Pages that the short runs of a scheme access in all, at most: parts of a trace are cut to it."""
REFERENCE_REQUESTS = 50_000
"""Requests of the first run of a synthetic workload."""
SHORT_REQUESTS = (40_000, 200_000)
"""Fewest and most requests of a short run of a synthetic workload."""
RARE_REQUESTS = 10_000
"""Reads or writes, the rarer of the two, that a short run has between these bounds."""
LONG_PAGES = 8_000_000
"""Pages that a long run of a trace accesses, at most, if it is repeated."""

UNTIL = ("workload.until", "workload.confidence", "workload.within", "workload.at_most")
STEADY = 'workload.until="steady"'


class Lengths(NamedTuple):
    """The settings of all runs."""

    kind: str
    """`seeds`, `parts` (of a trace) or `none`: the kind of the samples."""
    short: list[list[str]]
    """The settings of each short run of a scheme."""
    requests: int
    """Requests of a short run."""
    long: list[list[str]]
    """The settings of each long run: one for each seed."""
    at_most: float | None
    """Drive writes at which a repeated trace ends, if it is not steady before."""
    rows: dict[str, int]
    """Reads and writes of a trace, each counted once; empty for other workloads."""


def of_reference(workload: Mapping[str, Any]) -> list[str]:
    """The settings of the first run, which shows the length and the mix of the workload."""
    kind = drawn(workload)
    if kind is None:
        return []
    return [f"{kind}={min(REFERENCE_REQUESTS, most_requests(workload))}"]


def drawn(workload: Mapping[str, Any]) -> str | None:
    """The key of the length of a workload that is drawn, and can have any length."""
    for kind in ("synthetic", "fitted"):
        if kind in workload:
            return f"workload.{kind}.requests"
    return None


def unset(workload: Mapping[str, Any]) -> list[str]:
    """Keys that would end a run of a given length before its end."""
    return [*UNTIL] if "until" in workload else []


def most_requests(workload: Mapping[str, Any]) -> int:
    """The configured number of requests, where there is one."""
    section = workload.get("synthetic") or workload.get("fitted") or {}
    length = section.get("requests")
    return length if isinstance(length, int) else SHORT_REQUESTS[1]


def planned(
    workload: Mapping[str, Any], first_row: int | None, seed: int, reference: RunResults
) -> Lengths:
    """The lengths of all runs, by the first run of the workload."""
    requests = reference.requests
    total = requests.read + requests.write + requests.trim
    if "trace" in workload:
        return _of_trace(first_row, total, reference)
    key = drawn(workload)
    seeds = [f"seed={seed + at}" for at in range(SEEDS)]
    if key is None:
        return Lengths("seeds", [[one] for one in seeds], total, [[one] for one in seeds], None, {})
    rare = min(count for count in (requests.read, requests.write, total) if count)
    fewest, most = SHORT_REQUESTS
    length = min(max(RARE_REQUESTS * total // rare, fewest), most, most_requests(workload))
    short = [[f"{key}={length}", one] for one in seeds]
    return Lengths("seeds", short, length, [[STEADY, one] for one in seeds], None, {})


def _of_trace(first_row: int | None, rows: int, reference: RunResults) -> Lengths:
    pages = reference.pages.host_read + reference.pages.host_written
    at_most = _repeated(rows, pages, reference)
    long = [] if at_most is None else [STEADY, f"workload.at_most={at_most}"]
    parts = min(SEEDS, rows // PART_ROWS)
    counts = {"read": reference.requests.read, "write": reference.requests.write}
    if first_row is None or parts < FEWEST_PARTS:
        return Lengths("none", [[]], rows, [long], at_most, counts)
    affordable = SHORT_PAGES * rows // max(pages, 1) // parts
    length = min(rows // parts, max(affordable, PART_ROWS))
    begins = [first_row + rows * at // parts for at in range(parts)]
    short = [[f"workload.trace.first_row={begin}", f"workload.trace.rows={length}"]
             for begin in begins]  # fmt: skip
    return Lengths("parts", short, length, [long], at_most, counts)


def _repeated(rows: int, pages: int, reference: RunResults) -> float | None:
    """Drive writes of a trace that is repeated until it is steady; None where it runs once.

    It runs once if it is in steady state then, if no length would bring it there, or if this would
    take far more pages than a long run has.
    """
    steady = reference.steady
    passes = LONG_PAGES // max(pages, 1)
    more = steady.more_requests
    if steady.verdict != "no" or more is None or passes < 2:
        return None
    if 1 + more / rows > 2 * passes:
        return None
    share = passes * reference.pages.host_written / reference.capacity.exported_pages
    return max(round(share, 3), 0.001)
