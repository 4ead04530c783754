"""Rows whose numbers contradict each other or their load: no drive has them, and no fit can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flashgc._engine import ConfigError
from flashgc.calibrating import beside, rows, words
from flashgc.calibrating.rows import PERCENTILES, Row, Value

_SWAPPED = 0.9
"""A percentile below this multiple of a lower one is an error, and no noise."""


class Added(NamedTuple):
    """Numbers that a line without a pattern adds to a run of another one."""

    name: str
    values: Mapping[str, Value]
    where: str


def added(row: Row, more: Added) -> Row:
    """The row with further numbers; an error if it has another number of the same kind."""
    for metric, value in more.values.items():
        if (old := row.values.get(metric, value)) != value:
            raise ConfigError(
                f"error: {more.where}: {words.label(metric)} of the run {row.name!r} is "
                f"{words.show(metric, value.number)}, and {words.show(metric, old.number)} in "
                "another line\n  = help: give each number once"
            )
    return row.with_values(more.values)


def check(row: Row) -> None:
    """A ConfigError that names the first number that this row cannot have."""
    _check_rates(row)
    _check_ways(row)
    for way in ("read", "write"):
        _check_order(row, way)


def _check_rates(row: Row) -> None:
    """Readers of their own need a rate, by which the length of a run is known, and only they."""
    own = [one for one in rows.EACH_IOPS if one in row.values]
    if row.readers is None and own:
        raise rows.wrong(row.where, "the column", own[0], "it is that of a row whose readers have "
                         "a load of their own, by read_depth or read_rate: others have iops, of "
                         "reads and writes together")  # fmt: skip
    if row.readers is not None and not beside.has_a_rate(row, row.readers):
        raise rows.wrong(row.where, "the rate of reads and of writes", "", "readers next to "
                         "writers need one of iops, read_iops, write_iops, rate and "
                         "read_rate")  # fmt: skip


def _check_ways(row: Row) -> None:
    """Reads alone have no number of writes, and the other way round: no run could have it."""
    if row.readers is not None or 0 < row.read_share < 1:
        return
    own, other = ("read", "write") if row.read_share == 1 else ("write", "read")
    for metric in row.values:
        if metric.startswith(f"{other}_"):
            raise ConfigError(
                f"error: {row.where}: the run {row.name!r} is {own}s alone, and has a number of "
                f"{other}s: {words.label(metric)}\n"
                "  = help: leave it empty, or give the share of reads in `reads`"
            )


def _check_order(row: Row, way: str) -> None:
    """A percentile is not below a lower one."""
    below: tuple[str, Value] | None = None
    for one in PERCENTILES:
        value = row.values.get(metric := f"{way}_{one}")
        if value is None:
            continue
        if below is not None and not value.is_bound and value.number < _SWAPPED * below[1].number:
            raise ConfigError(
                f"error: {row.where}: {words.label(metric)} of the run {row.name!r} is "
                f"{words.show(metric, value.number)}, below its {words.label(below[0])}, "
                f"{words.show(below[0], below[1].number)}\n"
                "  = help: look for swapped columns, or for another unit"
            )
        below = (metric, value)
