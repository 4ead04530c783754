"""The files of measurements: fio's output, and tables, told apart by their content."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from flashgc._engine import ConfigError
from flashgc.calibrating import beside, fio_results, rows, steady, tables
from flashgc.calibrating.rows import Row, Value
from flashgc.files import reading
from flashgc.formatting import units

PathLike = str | os.PathLike[str]

_JSON = re.compile(r"\A\s*[{\[]|^\{\s*$", re.MULTILINE)
"""The begin of a document of JSON, behind the lines that fio may print before it."""
_BYTES_MAX = 256 << 20
"""The largest file: the bins of json+ take some 50 KB for each clone and direction."""
_ROUNDED = 1.01
"""A range this much above the user capacity is the whole drive, in rounded figures."""


def read(paths: Sequence[PathLike], drive: str | None = None) -> tuple[list[Row], list[str]]:
    """The rows of all files, and notes on the others."""
    found: list[Row] = []
    notes: list[str] = []
    more: dict[str, tuple[dict[str, Value], str]] = {}
    has_drives = False
    for path in paths:
        name = reading.printable(path)
        text = reading.read_text(Path(path), bytes_max=_BYTES_MAX, what="measurements")
        if (document := _JSON.search(text)) is not None:
            own, told = fio_results.read(_document(text[document.start() :], name), name)
            notes += told
        elif steady.is_such(text):
            own, left = steady.read(text, name, drive)
            if left:
                omitted = units.counted(left, "row was", "rows were")
                notes.append(f"{name}: {omitted} left out: zones that are written in order, or "
                             "readers next to writers at full rate")  # fmt: skip
        else:
            table = tables.read(text, name, drive)
            own = list(table.rows)
            for label, values in table.more.items():
                more.setdefault(label, ({}, name))[0].update(values)
        found += own
        has_drives |= drive is not None and tables.has_drives(text)
    if drive is not None and not has_drives:
        raise ConfigError(
            f"error: --drive {drive!r} has no rows: no file has a column `drive` with names\n"
            "  = help: omit --drive, or add a column `drive` to the table, with a name in each row"
        )
    found = rows.unique(found)
    known = {row.name: at for at, row in enumerate(found)}
    for label, (values, name) in more.items():
        if label not in known:
            raise ConfigError(f"error: {name} has numbers of the run {label!r}, which no file "
                              f"has\n  = help: its names: {_listed(known)}")  # fmt: skip
        found[known[label]] = found[known[label]].with_values(values)
    with_values = [row for row in found if row.values]
    if not with_values:
        raise ConfigError(
            "error: the files have no measured number\n"
            + "".join(f"  = note: {one}\n" for one in notes)
            + "  = help: give fio's output (--output-format=json), or a table with columns such as "
            "`pattern,bs,depth,iops,p99_us`"
        )
    for row in with_values:
        _check_rates(row)
    return with_values, notes


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


def _document(text: str, name: str) -> dict[str, object]:
    """The JSON of fio, without the lines that it may print behind it."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
    except ValueError as reason:
        raise ConfigError(f"error: {name} is not JSON: {reason}") from None
    if not isinstance(found, dict) or not isinstance(found.get("jobs"), list):
        raise ConfigError(
            f"error: {name} is JSON, but not of fio: it has no list `jobs`\n"
            "  = help: measure with `fio --output-format=json --output=FILE`"
        )
    return found


def on_drive(found: Sequence[Row], user_bytes: int) -> tuple[list[Row], list[str]]:
    """The rows with their ranges as shares of the user capacity; and notes on larger ones."""
    made, notes = [], []
    for row in found:
        share = row.range if isinstance(row.range, float) else row.range / user_bytes
        if share <= _ROUNDED:
            made.append(replace(row, range=float(min(share, 1.0))))
        else:
            notes.append(f"{row.where} was left out: its range, {row.range:,} B, is larger than "
                         f"the user capacity of the base, {user_bytes:,} B")  # fmt: skip
    if not made:
        raise ConfigError(
            f"error: all ranges are larger than the user capacity of the base, {user_bytes:,} B\n"
            "  = help: set `user_capacity` of the base to that of the drive's data sheet, or give "
            "ranges as shares, such as 50%"
        )
    return made, notes


def named(found: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """The rows of these names."""
    known = {row.name: row for row in found}
    for name in names:
        if name not in known:
            raise ConfigError(f"error: --fit-rows names {name!r}, which is not a row\n"
                              f"  = help: the rows: {_listed(known)}")  # fmt: skip
    return [known[name] for name in dict.fromkeys(names)]


def _listed(names: object) -> str:
    shown = list(names)  # type: ignore[call-overload]
    more = f"; and {len(shown) - 12} more" if len(shown) > 12 else ""
    return "; ".join(shown[:12]) + more
