"""The samples of a search and of its check: seeds, and parts of a trace.

1. A rung is a length of the runs. Every point runs on the first one; the better part of them on
   the next; and the best until steady.
2. The check has other seeds, and for a trace the last 40 % of its rows, which the search never
   sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flashgc._engine_types import Request
from flashgc.advising import lengths
from flashgc.results.metrics import RunResults

SEEDS = 3
"""Seeds, or parts of a trace, of the search."""
CHECK_SEEDS = 5
"""Seeds of the check, all of them unseen."""
SEEN = 0.6
"""The share of a trace that the search sees."""
FACTOR = 4
"""The length of the runs of the second rung, as a multiple of the first."""
PART_ROWS = 2_000
"""A part of a trace has at least this number of rows."""
SHORT_PAGES = 600_000
"""Pages that the shortest runs of a point access in all, at most."""
LONG_PAGES = 6_000_000
"""Pages that a long run of a trace accesses, at most."""

Sets = list[str]


class Samples(NamedTuple):
    """The settings of all runs of a point."""

    kind: str
    """`seeds`, or `parts` of a trace."""
    rungs: list[list[Sets]]
    """For each rung the settings of its runs, the shortest first."""
    check: list[Sets]
    unset: list[str]
    """Keys that would end a run of a given length earlier."""
    about: list[str]
    """Each rung in words, then the check."""

    def request(self, base: Request, sets: Sets) -> Request:
        """The request of a point with the settings of one of its runs."""
        return {**base, "sets": [*base["sets"], *sets], "unsets": [*base["unsets"], *self.unset]}


def planned(
    workload: Mapping[str, Any], first_row: int | None, seed: int, reference: RunResults
) -> Samples:
    """The samples of a workload, by the first run of it."""
    requests = reference.requests
    total = requests.read + requests.write + requests.trim
    if "trace" in workload:
        return _of_trace(workload, first_row, total, seed, reference)
    key = lengths.drawn(workload)
    seen = [f"seed={seed + at}" for at in range(SEEDS)]
    unseen = [f"seed={seed + SEEDS + at}" for at in range(CHECK_SEEDS)]
    unset = lengths.unset(workload)
    if key is None:
        whole = [[one] for one in seen]
        return Samples(
            "seeds",
            [whole],
            [[one] for one in unseen],
            unset,
            [f"{SEEDS} seeds, {total:,} requests each", f"{CHECK_SEEDS} other seeds"],
        )
    first = lengths.planned(workload, first_row, seed, reference).requests
    most = lengths.most_requests(workload)
    counts = [first, *([first * FACTOR] if first * FACTOR <= most else [])]
    rungs = [[[f"{key}={count}", one] for one in seen] for count in counts]
    rungs.append([[lengths.STEADY, one] for one in seen])
    about = [f"{SEEDS} seeds, {count:,} requests each" for count in counts]
    return Samples("seeds", rungs, [[lengths.STEADY, one] for one in unseen], unset,
                   [*about, f"{SEEDS} seeds, until steady",
                    f"{CHECK_SEEDS} other seeds, until steady"])  # fmt: skip


def _of_trace(
    workload: Mapping[str, Any], first_row: int | None, rows: int, seed: int,
    reference: RunResults,
) -> Samples:  # fmt: skip
    unset = lengths.unset(workload)
    if first_row is None or rows < PART_ROWS * SEEDS / SEEN:
        whole = [[f"seed={seed + at}"] for at in range(SEEDS)]
        check = [[f"seed={seed + SEEDS + at}"] for at in range(CHECK_SEEDS)]
        return Samples(
            "seeds",
            [whole],
            check,
            unset,
            [f"the whole trace, {SEEDS} seeds", f"{CHECK_SEEDS} other seeds"],
        )
    pages = reference.pages.host_read + reference.pages.host_written
    seen = int(rows * SEEN)
    part = seen // SEEDS
    short = min(part, max(SHORT_PAGES * rows // max(pages, 1) // SEEDS, PART_ROWS))
    most = max(LONG_PAGES * rows // max(pages, 1), PART_ROWS)
    long, rest = min(seen, most), min(rows - seen, most)
    rungs, about = [], []
    for length in dict.fromkeys((short, min(part, short * FACTOR))):
        rungs.append([_part(first_row + part * at, length, seed + at) for at in range(SEEDS)])
        about.append(f"{SEEDS} parts of {length:,} rows, each with a seed")
    rungs.append([_part(first_row, long, seed + at) for at in range(SEEDS)])
    about.append(f"the first {long:,} rows, {SEEDS} seeds")
    begin = first_row + seen
    check = [_part(begin, rest, seed + SEEDS + at) for at in range(CHECK_SEEDS)]
    about.append(f"the {rest:,} rows from row {begin:,}, {CHECK_SEEDS} other seeds")
    return Samples("parts", rungs, check, unset, about)


def _part(begin: int, rows: int, seed: int) -> Sets:
    return [f"workload.trace.first_row={begin}", f"workload.trace.rows={rows}", f"seed={seed}"]
