"""Measured rows from tables: a row for each run, in columns that docs/calibrate.md defines."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Callable, Mapping, Sequence

from flashgc._engine import ConfigError
from flashgc.calibrating import rows
from flashgc.calibrating.consistent import Added
from flashgc.calibrating.rows import AMPLIFICATION, EACH_IOPS, IOPS, STATISTICS, Readers, Row, Value
from flashgc.formatting import units

LOAD = ("pattern", "range", "bs", "depth", "reads", "rate", "overwrites")
_ABOVE = 1.2
"""Measured requests a second are below this multiple of their rate."""
READERS = ("read_pattern", "read_bs", "read_depth", "read_rate")
"""The load of readers next to the writers of the row."""
_TIME = re.compile(r"(?:(read|write)_)?(mean|p\d+(?:[._]\d+)?)_(ns|us|ms)")
_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6}
_OWN = ("name", "drive", *LOAD, *READERS, IOPS, *EACH_IOPS, AMPLIFICATION)


class Table:
    """The rows of a table, and the numbers that it adds to rows of other files."""

    def __init__(self, found: Sequence[Row], more: Sequence[Added]) -> None:
        self.rows, self.more = found, more


def read(text: str, name: str, drive: str | None) -> Table:
    """A table of the documented form."""
    try:
        return _read(text, name, drive)
    except csv.Error as why:
        raise ConfigError(f"error: {name} is not a table (CSV): {why}\n"
                          "  = help: look for a quote without an end")  from None  # fmt: skip


def _read(text: str, name: str, drive: str | None) -> Table:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    columns = [one.strip() for one in reader.fieldnames or []]
    reader.fieldnames = columns
    _check(columns, name, is_empty=not text.strip())
    found: list[Row] = []
    more: list[Added] = []
    kept = chosen(numbered(reader), name, drive)
    for line, cells in kept:
        where = f"{name}, line {line}"
        if None in cells or None in cells.values():
            raise ConfigError(
                f"error: {where} has another number of cells than the "
                f"{units.counted(len(columns), 'column')}\n"
                "  = help: give each column a cell, empty where nothing was measured"
            )
        if not any(cell.strip() for cell in cells.values()):
            continue
        if "pattern" in columns and cells["pattern"].strip():
            found.append(_row(cells, where))
        else:
            label = rows.label(cells.get("name", ""))
            if not label:
                raise rows.wrong(where, "name", label, "a row without a pattern adds numbers to "
                                 "the run of the same name: give that name")  # fmt: skip
            more.append(Added(label, _values(cells, where, None), where))
    return Table(rows.unique(found), more)


def numbered(reader: csv.DictReader[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows, each with its last line; a reader passes over blank lines."""
    return [(reader.line_num, dict(one)) for one in reader]


def chosen(
    lines: list[tuple[int, dict[str, str]]], name: str, drive: str | None
) -> list[tuple[int, dict[str, str]]]:
    """The rows of one drive, each with its line; an error lists the drives of a table."""
    drives = dict.fromkeys(str(one["drive"]).strip() for _, one in lines if one.get("drive"))
    if drive is None:
        if len(drives) > 1:
            raise ConfigError(
                f"error: {name} has the rows of {len(drives)} drives: {'; '.join(drives)}\n"
                "  = help: name one of them with --drive"
            )
        return lines
    kept = [one for one in lines if str(one[1].get("drive") or "").strip() == drive]
    if drives and not kept:
        near = difflib.get_close_matches(drive, drives, n=1, cutoff=0.3)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"error: {name} has no rows of the drive {drive!r}\n"
                          f"  = help: {hint}its drives: {'; '.join(drives)}")  # fmt: skip
    return kept if drives else lines


def has_drives(text: str) -> bool:
    """Whether a table has rows that name their drive."""
    named = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    return any(str(one.get("drive") or "").strip() for one in named)


def _check(columns: Sequence[str], name: str, *, is_empty: bool) -> None:
    if not columns:
        what = f"{name} is empty" if is_empty else f"the first line of {name} is blank"
        raise ConfigError(f"error: {what}\n  = help: its first line names the columns, "
                          "as in `pattern,bs,depth,iops`")  # fmt: skip
    if len(columns) == 1 and (mark := re.search(r"[;\t|]", columns[0])) is not None:
        raise ConfigError(f"error: {name} has columns that are separated by {mark[0]!r}\n  = help: "
                          "separate them by commas, and write numbers with a point, as in "
                          "`uniform,4k,3900.5`")  # fmt: skip
    for one in columns:
        if columns.count(one) > 1:
            raise ConfigError(f"error: {name} has the column {one!r} twice")
        if one in _OWN or metric(one) is not None:
            continue
        near = difflib.get_close_matches(one, [*_OWN, "p50_us", "p99_us", "p99.9_us"], n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(
            f"error: {name} has the column {one!r}, which has no meaning here\n"
            f"  = help: {hint}columns are {', '.join(_OWN)}, and latencies such as p50_us, "
            "read_p99.9_us or write_mean_ns"
        )


def metric(column: str) -> tuple[str | None, str, float] | None:
    """The direction, the statistic and the factor to ns of a column with latencies."""
    match = _TIME.fullmatch(column)
    if match is None:
        return None
    statistic = match[2].replace(".", "_")
    return (match[1], statistic, _UNITS[match[3]]) if statistic in STATISTICS else None


def _row(cells: Mapping[str, str], where: str) -> Row:
    def given(column: str) -> str:
        return cells.get(column, "").strip()

    pattern = rows.pattern(given("pattern"), where)
    readers = _readers(given, where)
    made = Row(
        rows.label(given("name") or given("pattern")), where, pattern,
        rows.span(given("range") or "100%", where),
        rows.size(given("bs") or "4k", "bs", where),
        rows.depth(given("depth") or "1", where),
        rows.share(given("reads") or "0", "reads", where),
        rows.positive(given("rate"), "rate", where) if given("rate") else None,
        overwrites=rows.positive(given("overwrites"), "overwrites", where, may_be_0=True)
        if given("overwrites") else None,
        readers=readers,
    )  # fmt: skip
    if readers is not None and made.read_share > 0:
        raise rows.wrong(where, "reads", given("reads"), "where readers have a load of their own, "
                         "all else is that of the writers: leave reads empty")  # fmt: skip
    made = made if given("name") else Row(**{**made.__dict__, "name": made.words()})
    made = made.with_values(_values(cells, where, None if readers else made.read_share))
    for column, limit in (("iops", made.rate), ("write_iops", made.rate),
                          ("read_iops", readers.rate if readers else None)):  # fmt: skip
        _check_limit(made, column, limit)
    return made


def _check_limit(row: Row, column: str, limit: float | None) -> None:
    """No run is faster than its requests come."""
    value = row.values.get(column)
    if limit is not None and value is not None and value.number > _ABOVE * limit:
        raise rows.wrong(row.where, column, f"{value.number:g}", f"the rate of this row is "
                         f"{limit:g} a second; leave it empty for a run at full rate")  # fmt: skip


def _readers(given: Callable[[str], str], where: str) -> Readers | None:
    """The readers next to the writers, if one of their columns has a value."""
    if not any(map(given, READERS)):
        return None
    return Readers(
        rows.pattern(given("read_pattern") or "uniform", where),
        rows.size(given("read_bs") or "4k", "read_bs", where),
        rows.depth(given("read_depth") or "1", where),
        rows.positive(given("read_rate"), "read_rate", where) if given("read_rate") else None,
    )


def _values(cells: Mapping[str, str], where: str, read_share: float | None) -> dict[str, Value]:
    """The measured numbers; `read_share` is None for those of a run of another file."""
    found: dict[str, Value] = {}
    columns: dict[str, str] = {}
    for column, cell in cells.items():
        if not cell or not cell.strip():
            continue
        if column in (IOPS, *EACH_IOPS, AMPLIFICATION):
            found[column] = rows.measured(cell, column, where)
            continue
        known = metric(column)
        if known is None:
            continue
        way, statistic, factor = known
        if way is None:
            if read_share is None or 0 < read_share < 1:
                raise rows.wrong(where, "the column", column, "with reads and writes in one row "
                                 f"a latency is of one of them: read_{column} or "
                                 f"write_{column}")  # fmt: skip
            way = "read" if read_share == 1 else "write"
        label = f"{way}_{statistic}"
        if label in found:
            raise ConfigError(f"error: {where}: {columns[label]} and {column} are the same number\n"
                              "  = help: leave one of them empty")  # fmt: skip
        columns[label] = column
        found[label] = rows.measured(cell, column, where, factor)
    return found
