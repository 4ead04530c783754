"""The rows that are fitted where none are named: at most six, each for another number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flashgc.calibrating.rows import AMPLIFICATION, IOPS, Row

MOST = 6
"""Rows that are fitted at most without --fit-rows."""
_SAME = 0.05
"""Rates that differ by less, as a share, are one load."""
_SKEWED = ("zipf", "fiozipf", "zoned", "scattered")

Rule = tuple[Callable[[Row], bool], Callable[[Row], tuple[float, ...]]]


def _alone(row: Row) -> bool:
    return row.readers is None


def _writes(row: Row) -> bool:
    return _alone(row) and row.read_share == 0 and row.rate is None and IOPS in row.values


def _limited(row: Row) -> bool:
    return _alone(row) and row.read_share < 1 and row.rate is not None


def _uniform(row: Row) -> bool:
    return _writes(row) and row.pattern.kind in ("uniform", "once") and row.depth > 1


def _worth(row: Row) -> float:
    """Rows with more measured numbers first, and of them those with write amplification."""
    return -len(row.values) - 10 * (AMPLIFICATION in row.values)


_RULES: Sequence[Rule] = (
    # Reads of an idle drive: the time of a read.
    (lambda row: row.read_share == 1 and row.depth == 1, lambda row: (_worth(row),)),
    # Writes of an idle drive, or at the lowest rate: firmware and link.
    (lambda row: _limited(row) or (_alone(row) and row.read_share == 0 and row.depth == 1
                                   and row.block_bytes <= 16384),
     lambda row: (row.rate is None and row.pattern.kind == "sequential", row.rate or 0.0,
                  _worth(row))),
    # Writes at full rate over the whole drive: programs and write amplification.
    (_uniform, lambda row: (-float(row.range), -row.depth, _worth(row))),
    # The same over a part of it: the spare space.
    (lambda row: _uniform(row) and float(row.range) < 0.95,
     lambda row: (abs(float(row.range) - 0.7), -row.depth, _worth(row))),
    # Skewed writes: the placement of copies, and the victims.
    (lambda row: _writes(row) and row.pattern.kind in _SKEWED,
     lambda row: (-float(row.range), abs(row.pattern.theta - 0.9), _worth(row))),
    # A rate between an idle drive and a full one: how collections are spread over time.
    (_limited, lambda row: (-(row.rate or 0.0), _worth(row))),
    # Sequential writes: programs without collection.
    (lambda row: _writes(row) and row.pattern.kind == "sequential",
     lambda row: (-float(row.range), -row.block_bytes, _worth(row))),
    # The lowest rate, next to which nothing waits.
    (_limited, lambda row: (row.rate or 0.0, _worth(row))),
    # Readers next to writers, one read at a time: how long a read waits for a program.
    (lambda row: row.readers is not None,
     lambda row: (row.readers.depth if row.readers else 0, -(row.rate or math.inf), _worth(row))),
)  # fmt: skip


def fitted(found: Sequence[Row]) -> list[Row]:
    """At most six rows, in the order of the table; all of them where there are no more.

    Of runs of one load, which differ by the drive's noise alone, one is fitted.
    """
    if len(found) <= MOST:
        return list(found)
    chosen: list[Row] = []

    def is_new(row: Row) -> bool:
        return not any(_is_alike(row, other) for other in chosen)

    for fits, order in _RULES:
        left = [row for row in found if fits(row) and is_new(row)]
        if left and len(chosen) < MOST:
            chosen.append(min(left, key=order))
    for row in sorted(found, key=_worth):
        if len(chosen) < MOST and is_new(row):
            chosen.append(row)
    return [row for row in found if row in chosen]


def _is_alike(one: Row, other: Row) -> bool:
    """Whether two rows are runs of one load, with rates that differ by less than 5 %."""
    loads = [(row.pattern, float(row.range), row.block_bytes, row.depth, row.readers,
              round(row.read_share, 1), row.rate is None) for row in (one, other)]  # fmt: skip
    rates = [row.rate or 1.0 for row in (one, other)]
    return loads[0] == loads[1] and abs(math.log(rates[0] / rates[1])) < _SAME
