"""Readers next to writers, each group with a load of its own: two jobs that last the same time."""

from __future__ import annotations

from typing import Any

from flashgc.calibrating.rows import EACH_IOPS, IOPS, Pattern, Readers, Row

_READ_IOPS, _WRITE_IOPS = EACH_IOPS
_SHORTEST_S = 1e-3


def jobs(row: Row, readers: Readers, writes: int, reads: int) -> list[dict[str, Any]]:
    """The jobs of a run; it ends with this number of writes or of reads, whichever is earlier."""
    time = {"runtime": f"{1e9 * _seconds(row, readers, writes, reads):.0f} ns", "time_based": True}
    made = []
    for way, name, load in (("write", "writers", row), ("read", "readers", readers)):
        job = {"name": name, "file": "drive", **time,
               "read_share": 1.0 if way == "read" else 0.0, "depth": load.depth,
               "size": f"{load.block_bytes} B", **_places(load.pattern)}  # fmt: skip
        if load.rate is not None:
            job |= {f"{way}_iops": max(1, round(load.rate)), "poisson": row.is_poisson}
        made.append(job)
    return made


def _places(pattern: Pattern) -> dict[str, Any]:
    own: dict[str, Any] = {"address": pattern.address()}
    if pattern.kind == "sequential":
        own["random_share"] = 0.0
    if pattern.kind == "once":
        own["once"] = True
    return own


def _seconds(row: Row, readers: Readers, writes: int, reads: int) -> float:
    """The length of a run, by the measured rates, or the limits where nothing was measured."""
    known = []
    groups = ((_WRITE_IOPS, row.rate, writes), (_READ_IOPS, readers.rate, reads))
    for metric, limit, count in groups:
        measured = row.values.get(metric)
        rate = limit if measured is None else measured.number
        if rate is not None:
            known.append(count / rate)
    if not known:
        # Reads and writes together: the table has one of the three.
        known.append((writes + reads) / row.values[IOPS].number)
    return max(min(known), _SHORTEST_S)


def has_a_rate(row: Row, readers: Readers) -> bool:
    """Whether the length of a run is known."""
    rates = (*EACH_IOPS, IOPS)
    return row.rate is not None or readers.rate is not None or any(r in row.values for r in rates)
