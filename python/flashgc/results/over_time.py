"""A run over time, in so few rows that a page can show them, with every maximum kept exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from flashgc._engine import ConfigError, OutputError
from flashgc.files import reading
from flashgc.formatting.table import Table

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    import flashgc._engine as engine

    Columns = Mapping[str, NDArray[Any]]

MOST_ROWS = 300
"""The most rows of each table: about the number of places of a chart."""

KINDS = ("read", "write")

Stretch = tuple[int, int, int, float, int]
"""First collection, from 0; how many; and the fewest, mean and most pages that one moved."""


def no_clock(option: str) -> ConfigError:
    """The error where this option is given, and the run has no clock."""
    return ConfigError(
        'error: the run has no clock (engine.timing = "none"): nothing can be shown over time\n'
        f'  = help: remove engine.timing = "none", or {option}'
    )


class OverTime(NamedTuple):
    """Response times, space, collections and wear over a run.

    The page of a report draws these tables. Files with more rows are those of `series` and
    `gc_log` of :func:`flashgc.run`. A collection that runs as one event counts all its copies when
    it ends; `series` counts each when it ends.
    """

    responses: Table
    """A row for each of at most 300 equal parts of the run in which a request was done.

    `start_ns`, `end_ns`: of the part, from the first arrival. `requests_read`: reads that were
    done in it. `latency_read_mean_ns`, `latency_read_max_ns`: their mean and longest latency, the
    longest exactly; NaN where there was none. The same for writes.
    """
    states: Table
    """A row for each of these parts in which anything happened; other parts are as the one before.

    `start_ns`, `end_ns`: of the part. `free_blocks_min`: the fewest erased blocks of any plane.
    `free_blocks_end`, `used_pages_end`: erased blocks and pages in use at its end.
    `outstanding_max`: the most requests under way. `gc_count`, `gc_moved`, `gc_busy_ns`:
    collections and copies that ended in it, and the time of units for them.
    """
    collections: Table
    """A row for each of at most 300 stretches of collections, in the order in which they ended.

    `first`: the first of the stretch, from 0. `count`: how many. `moved_min`, `moved_mean`,
    `moved_max`: the fewest, mean and most pages that one of them moved, exactly.
    """
    wear: Table
    """A row for each part of the drive: at most 32 groups of planes by 48 groups of blocks.

    `plane`, `planes`: the first plane of the group, and how many. `block`, `blocks`: the same of
    the blocks of a plane. `erases`: blocks that collections of the measured part erased there.
    """


def of_run(found: engine.OverTime) -> OverTime:
    """The tables of a run, from the records of the engine."""
    import numpy as np

    rows = {name: np.asarray(column) for name, column in found.rows().items()}
    length_ns = _length_ns(rows, found.interval_ns)
    return OverTime(
        responses(rows, length_ns), states(rows, length_ns), _collections(found), _wear(found)
    )


def _collections(found: engine.OverTime) -> Table:
    import numpy as np

    columns = {name: np.asarray(column) for name, column in found.collections().items()}
    counts = columns["count"]
    return Table({
        "first": np.cumsum(counts) - counts,
        "count": counts,
        "moved_min": columns["moved_min"],
        "moved_mean": columns["moved_sum"] / counts,
        "moved_max": columns["moved_max"],
    })  # fmt: skip


def _wear(found: engine.OverTime) -> Table:
    """The erases of each group of planes and of blocks."""
    import numpy as np

    whole, group, erases = found.wear()
    plane, block = (np.arange(0, *each) for each in zip(whole, group, strict=True))
    planes, blocks = (
        np.diff(np.append(firsts, end)) for firsts, end in zip((plane, block), whole, strict=True)
    )
    return Table({
        "plane": np.repeat(plane, len(block)),
        "planes": np.repeat(planes, len(block)),
        "block": np.tile(block, len(plane)),
        "blocks": np.tile(blocks, len(plane)),
        "erases": np.asarray(erases),
    })  # fmt: skip


def moved_by_each(gc_log: str | os.PathLike[str]) -> NDArray[np.int32]:
    """Pages that each collection of a log moved, in order."""
    import numpy as np

    try:
        with open(gc_log, encoding="utf-8") as rows:
            at = next(rows).rstrip("\n").split(",").index("moved")
            return np.fromiter((int(row.split(",")[at]) for row in rows), np.int32)
    except OSError as reason:
        why = reading.describe(gc_log, reason)
        raise OutputError(f"error: the log of collections cannot be read: {why}") from None


def stretches(moved: Iterable[int] | NDArray[Any], most: int = MOST_ROWS) -> list[Stretch]:
    """Collections in order, in stretches of equal length, the last of which may be shorter.

    `most` is how many stretches there may be.

    >>> from flashgc.results.over_time import stretches
    >>> stretches([3, 5]), stretches([])
    ([(0, 1, 3, 3.0, 3), (1, 1, 5, 5.0, 5)], [])
    >>> len(stretches(range(1001))), stretches(range(1001))[0]
    (251, (0, 4, 0, 1.5, 3))
    """
    import numpy as np

    pages = np.asarray(moved if isinstance(moved, np.ndarray) else list(moved), dtype=np.int64)
    if not len(pages):
        return []
    length = 1
    while -(-len(pages) // length) > most:
        length *= 2
    firsts = np.arange(0, len(pages), length)
    counts = np.diff(np.append(firsts, len(pages)))
    columns = (
        firsts, counts, np.minimum.reduceat(pages, firsts),
        np.add.reduceat(pages, firsts) / counts, np.maximum.reduceat(pages, firsts),
    )  # fmt: skip
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _length_ns(series: Columns, interval_ns: int) -> int:
    """The length of the equal parts of a run, of whole intervals of the series."""
    starts_ns = series["start_ns"]
    last_ns = int(starts_ns[-1]) if len(starts_ns) else 0
    return interval_ns * -(-(last_ns // interval_ns + 1) // MOST_ROWS)


def responses(series: Columns, length_ns: int) -> Table:
    """The responses of a series, its rows joined into parts of this length."""
    import numpy as np

    done = series["requests_read"] + series["requests_write"] > 0
    rows = {name: column[done] for name, column in series.items()}
    parts, firsts = np.unique(rows["start_ns"] // length_ns, return_index=True)
    columns = _spans(parts, length_ns)
    for kind in KINDS:
        each = rows[f"requests_{kind}"]
        counts = np.add.reduceat(each, firsts) if len(firsts) else each
        sums = np.nan_to_num(rows[f"latency_{kind}_mean_ns"].astype(np.float64)) * each
        longest = np.nan_to_num(rows[f"latency_{kind}_max_ns"].astype(np.float64), nan=-1)
        if len(firsts):
            sums, longest = np.add.reduceat(sums, firsts), np.maximum.reduceat(longest, firsts)
        known = counts > 0
        columns[f"requests_{kind}"] = counts
        columns[f"latency_{kind}_mean_ns"] = np.where(known, sums / np.maximum(counts, 1), np.nan)
        columns[f"latency_{kind}_max_ns"] = np.where(known, longest, np.nan)
    return Table(columns)


def states(series: Columns, length_ns: int) -> Table:
    """Space, requests under way and collections of a series, in the same parts."""
    import numpy as np

    parts, firsts = np.unique(series["start_ns"] // length_ns, return_index=True)
    columns = _spans(parts, length_ns)
    joined: dict[str, np.ufunc | None] = {
        "free_blocks_min": np.minimum, "free_blocks_end": None, "used_pages_end": None,
        "outstanding_max": np.maximum, "gc_count": np.add, "gc_moved": np.add,
        "gc_busy_ns": np.add,
    }  # fmt: skip
    lasts = np.append(firsts[1:], len(series["start_ns"])) - 1
    for name, how in joined.items():
        if not len(firsts):
            columns[name] = series[name]
        else:
            columns[name] = (
                series[name][lasts] if how is None else how.reduceat(series[name], firsts)
            )
    return Table(columns)


def _spans(parts: NDArray[Any], length_ns: int) -> dict[str, Any]:
    return {"start_ns": parts * length_ns, "end_ns": (parts + 1) * length_ns}
