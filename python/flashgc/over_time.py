"""A run over time, in so few rows that a page can show them, with every maximum kept exactly."""

from __future__ import annotations

import csv
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from flashgc import _files
from flashgc._engine import OutputError
from flashgc._types import NO_LOGS, Logs
from flashgc.table import Table

MOST_ROWS = 300
"""Rows of each table at most; about as many as a chart has places."""

KINDS = ("read", "write")

Stretch = tuple[int, int, int, float, int]
"""First collection, from 0; how many; and the fewest, mean and most pages that one moved."""


class OverTime(NamedTuple):
    """Response times, and pages moved by collections, over a run.

    The page of a report draws these tables. The files behind them, with all their rows, are
    those of `series` and `gc_log` of :func:`flashgc.run`.
    """

    responses: Table
    """A row for each of at most 300 equal parts of the run in which a request was done.

    `start_ns`, `end_ns`: of the part, from the first arrival. `requests_read`: reads that were
    done in it. `latency_read_mean_ns`, `latency_read_max_ns`: their mean and longest latency, the
    longest exactly; NaN where there was none. The same for writes.
    """
    collections: Table
    """A row for each of at most 300 stretches of collections, in the order in which they ended.

    `first`: the first of the stretch, from 0. `count`: how many. `moved_min`, `moved_mean`,
    `moved_max`: the fewest, mean and most pages that one of them moved, exactly.
    """


@contextmanager
def recorded(logs: Logs | None) -> Iterator[Logs]:
    """The files that a run has to write to be shown over time; those of the user where given.

    An OutputError where one of these could not be read again, such as a pipe.
    """
    given = logs or NO_LOGS
    for name in (given["gc_log"], given["series"]):
        if name is not None and Path(name).exists() and not Path(name).is_file():
            raise OutputError(
                f"error: {Path(name)} is not a file that can be read again for the charts "
                "over time\n  = help: name a file, or remove over-time"
            )
    try:
        folder = tempfile.TemporaryDirectory(prefix="flashgc-", ignore_cleanup_errors=True)
    except OSError as reason:
        raise _unkept(tempfile.gettempdir(), reason) from None
    with folder as name:
        yield {
            **given,
            "gc_log": given["gc_log"] or Path(name) / "collections.csv",
            "series": given["series"] or Path(name) / "series.csv",
        }


def read(logs: Logs, simulated_ns: int) -> OverTime:
    """The tables, from the files of a run that has ended after this simulated time."""
    series, gc_log = logs["series"], logs["gc_log"]
    assert series is not None
    assert gc_log is not None
    found = stretches(moved_by_each(gc_log))
    names = ("first", "count", "moved_min", "moved_mean", "moved_max")
    columns = {name: [row[at] for row in found] for at, name in enumerate(names)}
    return OverTime(parts(lambda: _rows(series), simulated_ns), Table(columns))


def moved_by_each(gc_log: str | os.PathLike[str]) -> Iterator[int]:
    """Pages that each collection of a log moved, in order."""
    return (int(row["moved"]) for row in _rows(gc_log))


def _rows(path: str | os.PathLike[str]) -> Iterator[dict[str, str]]:
    """One row after the other: a log may be larger than memory."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)
    except OSError as reason:
        raise _unkept(path, reason) from None


def _unkept(path: str | os.PathLike[str], reason: OSError) -> OutputError:
    why = _files.describe(path, reason)
    return OutputError(f"error: what the run did over time cannot be kept: {why}")


def stretches(moved: Iterable[int], most: int = MOST_ROWS) -> list[Stretch]:
    """Collections in order, in stretches of equal length, the last of which may be shorter.

    `most` is how many stretches there may be, an even number.

    >>> from flashgc.over_time import stretches
    >>> stretches([3, 5]), stretches([])
    ([(0, 1, 3, 3.0, 3), (1, 1, 5, 5.0, 5)], [])
    >>> len(stretches(range(1001))), stretches(range(1001))[0]
    (251, (0, 4, 0, 1.5, 3))
    """
    length = 1
    kept: list[list[int]] = []  # count, fewest, all, most
    for pages in moved:
        if not kept or kept[-1][0] == length:
            if len(kept) == most:
                kept = [_joined(*kept[at : at + 2]) for at in range(0, most, 2)]
                length *= 2
            kept.append([0, pages, 0, pages])
        kept[-1] = _joined(kept[-1], [1, pages, pages, pages])
    firsts = range(0, length * len(kept), length)
    return [
        (first, count, fewest, total / count, highest)
        for first, (count, fewest, total, highest) in zip(firsts, kept, strict=True)
    ]


def _joined(one: list[int], two: list[int]) -> list[int]:
    return [one[0] + two[0], min(one[1], two[1]), one[2] + two[2], max(one[3], two[3])]


def parts(series: Callable[[], Iterable[Mapping[str, str]]], simulated_ns: int) -> Table:
    """The responses of a series, its rows joined into parts of the run of equal length.

    A part holds whole intervals of the series, so that no request is counted in a wrong one. The
    series is read twice: once for the length of its intervals, which it does not say.
    """
    starts_ns = (int(row["start_ns"]) for row in series())
    interval_ns, last_ns = 0, 0
    for start_ns in starts_ns:
        interval_ns, last_ns = math.gcd(interval_ns, start_ns), start_ns
    interval_ns = interval_ns or max(simulated_ns, 1)
    length_ns = interval_ns * -(-(last_ns // interval_ns + 1) // MOST_ROWS)
    found: dict[int, dict[str, _Latency]] = {}
    for row in series():
        for kind in KINDS:
            if int(row[f"requests_{kind}"]):
                part = found.setdefault(int(row["start_ns"]) // length_ns, {})
                part.setdefault(kind, _Latency()).add(row, kind)
    columns: dict[str, list[object]] = {
        "start_ns": [part * length_ns for part in found],
        "end_ns": [(part + 1) * length_ns for part in found],
    }
    for kind in KINDS:
        kept = [part.get(kind, _Latency()) for part in found.values()]
        columns[f"requests_{kind}"] = [one.count for one in kept]
        columns[f"latency_{kind}_mean_ns"] = [one.mean_ns for one in kept]
        columns[f"latency_{kind}_max_ns"] = [one.max_ns for one in kept]
    return Table(columns)


class _Latency:
    """Requests of one kind in one part of a run."""

    def __init__(self) -> None:
        self.count, self._total_ns = 0, 0.0
        self.max_ns: int | None = None

    def add(self, row: Mapping[str, str], kind: str) -> None:
        count = int(row[f"requests_{kind}"])
        self.count += count
        self._total_ns += count * float(row[f"latency_{kind}_mean_ns"])
        self.max_ns = max(self.max_ns or 0, int(row[f"latency_{kind}_max_ns"]))

    @property
    def mean_ns(self) -> float | None:
        return self._total_ns / self.count if self.count else None
