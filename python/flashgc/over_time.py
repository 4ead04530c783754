"""A run over time, in so few rows that a page can show them, with every maximum kept exactly."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashgc import _files
from flashgc._engine import OutputError
from flashgc._types import NO_LOGS, Logs
from flashgc.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Columns = Mapping[str, NDArray[Any]]

MOST_ROWS = 300
"""Rows of each table at most; about as many as a chart has places."""

KINDS = ("read", "write")

Stretch = tuple[int, int, int, float, int]
"""First collection, from 0; how many; and the fewest, mean and most pages that one moved."""


class OverTime(NamedTuple):
    """Response times, space, collections and wear over a run.

    The page of a report draws these tables. The files behind them, with all their rows, are
    those of `series` and `gc_log` of :func:`flashgc.run`.
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


def read(logs: Logs, simulated_ns: int, shape: Mapping[str, int]) -> OverTime:
    """The tables, from the files of a run that has ended after this time, on such a drive."""
    series, gc_log = logs["series"], logs["gc_log"]
    assert series is not None
    assert gc_log is not None
    moved, wear = _log(gc_log, shape)
    names = ("first", "count", "moved_min", "moved_mean", "moved_max")
    found = stretches(moved)
    columns = {name: [row[at] for row in found] for at, name in enumerate(names)}
    rows = _series(series)
    length_ns = _length_ns(rows, simulated_ns)
    return OverTime(responses(rows, length_ns), states(rows, length_ns), Table(columns), wear)


def moved_by_each(gc_log: str | os.PathLike[str]) -> NDArray[np.int32]:
    """Pages that each collection of a log moved, in order."""
    import numpy as np

    found = [batch["moved"] for batch in _batches(gc_log, ["moved"])]
    return np.concatenate([np.empty(0, np.int32), *found])


def _series(path: str | os.PathLike[str]) -> Columns:
    """All rows of a series; NaN where a latency is undefined."""
    import numpy as np

    found = list(_batches(path, None))
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


def _batches(path: str | os.PathLike[str], names: list[str] | None) -> Iterator[Columns]:
    """The columns of these names, part by part: a log may be larger than memory."""
    import pyarrow as pa
    from pyarrow import csv

    types = dict.fromkeys(_INTEGERS, pa.int32()) if names else None
    wanted = csv.ConvertOptions(include_columns=names, column_types=types)
    try:
        with csv.open_csv(path, convert_options=wanted) as reader:
            for batch in reader:
                yield {
                    name: column.to_numpy(zero_copy_only=False)
                    for name, column in zip(batch.schema.names, batch.columns, strict=True)
                }
    except OSError as reason:
        raise _unkept(path, reason) from None


_INTEGERS = ("plane", "victim", "blocks", "moved")


def _log(gc_log: str | os.PathLike[str], shape: Mapping[str, int]) -> tuple[Any, Table]:
    """The pages that each collection moved, and where their victims were."""
    import numpy as np

    planes = math.prod(shape[name] for name in _PLANES)
    erases = np.zeros((planes, shape["blocks_per_plane"]), np.int64)
    moved = [np.empty(0, np.int32)]
    for batch in _batches(gc_log, list(_INTEGERS)):
        moved.append(batch["moved"])
        # A scheme may have blocks of its own besides those of the device.
        missing = int(batch["victim"].max(initial=0)) + 1 - erases.shape[1]
        if missing > 0:
            erases = np.pad(erases, ((0, 0), (0, missing)))
        np.add.at(erases, (batch["plane"], batch["victim"]), batch["blocks"])
    return np.concatenate(moved), _wear(erases)


def _wear(erases: NDArray[Any]) -> Table:
    """The erases of each plane and block, in groups of planes and of blocks."""
    import numpy as np

    planes, blocks = erases.shape
    rows, columns = -(-planes // _WEAR_ROWS), -(-blocks // _WEAR_COLUMNS)
    plane, block = np.arange(0, planes, rows), np.arange(0, blocks, columns)
    grouped = np.add.reduceat(np.add.reduceat(erases, plane, axis=0), block, axis=1)
    planes_each = np.diff(np.append(plane, planes))
    blocks_each = np.diff(np.append(block, blocks))
    return Table({
        "plane": np.repeat(plane, len(block)),
        "planes": np.repeat(planes_each, len(block)),
        "block": np.tile(block, len(plane)),
        "blocks": np.tile(blocks_each, len(plane)),
        "erases": grouped.ravel(),
    })  # fmt: skip


_PLANES = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
_WEAR_ROWS, _WEAR_COLUMNS = 32, 48


def _unkept(path: str | os.PathLike[str], reason: OSError) -> OutputError:
    why = _files.describe(path, reason)
    return OutputError(f"error: what the run did over time cannot be kept: {why}")


def stretches(moved: Iterable[int] | NDArray[Any], most: int = MOST_ROWS) -> list[Stretch]:
    """Collections in order, in stretches of equal length, the last of which may be shorter.

    `most` is how many stretches there may be.

    >>> from flashgc.over_time import stretches
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


def _length_ns(series: Columns, simulated_ns: int) -> int:
    """The length of the equal parts of a run, of whole intervals of the series.

    The series does not say how long its intervals are.
    """
    import numpy as np

    starts_ns = series["start_ns"]
    interval_ns = int(np.gcd.reduce(starts_ns)) if len(starts_ns) else 0
    interval_ns = interval_ns or max(simulated_ns, 1)
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
