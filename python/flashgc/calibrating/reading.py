"""The files of measurements: fio's output, and tables, told apart by their content."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from flashgc._engine import ConfigError
from flashgc.calibrating import consistent, fio_results, rows, steady, tables
from flashgc.calibrating.consistent import Added
from flashgc.calibrating.rows import Row
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
    more: list[Added] = []
    has_drives = False
    for path in paths:
        name = reading.printable(path)
        text = reading.read_text(Path(path), bytes_max=_BYTES_MAX, what="measurements")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
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
            more += table.more
        found += own
        has_drives |= drive is not None and tables.has_drives(text)
    if drive is not None and not has_drives:
        raise ConfigError(
            f"error: --drive {drive!r} has no rows: no file has a column `drive` with names\n"
            "  = help: omit --drive, or add a column `drive` to the table, with a name in each row"
        )
    found = rows.unique(found)
    known = {row.name: at for at, row in enumerate(found)}
    for one in more:
        if one.name not in known:
            raise ConfigError(f"error: {one.where} has numbers of the run {one.name!r}, which no "
                              f"file has\n  = help: the names: {_listed(known)}")  # fmt: skip
        at = known[one.name]
        found[at] = consistent.added(found[at], one)
    with_values = [row for row in found if row.values]
    if not with_values:
        raise ConfigError(
            "error: the files have no measured number\n"
            + "".join(f"  = note: {one}\n" for one in notes)
            + "  = help: give fio's output (--output-format=json), or a table with columns such as "
            "`pattern,bs,depth,iops,p99_us`"
        )
    for row in with_values:
        consistent.check(row)
    return with_values, notes


def _document(text: str, name: str) -> dict[str, object]:
    """The JSON of fio, without the lines that it may print behind it."""
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except ValueError as reason:
        raise ConfigError(f"error: {name} is not JSON: {reason}") from None
    if not isinstance(found, dict) or not isinstance(found.get("jobs"), list):
        raise ConfigError(
            f"error: {name} is JSON, but not of fio: it has no list `jobs`\n"
            "  = help: measure with `fio --output-format=json --output=FILE`"
        )
    if re.search(r'"jobs"\s*:\s*\[', text[end:]) is not None:
        raise ConfigError(f"error: {name} has the output of several runs of fio\n"
                          "  = help: give each of them as a file of its own")  # fmt: skip
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


def named(found: Sequence[Row], names: Sequence[str], notes: Sequence[str] = ()) -> list[Row]:
    """The rows of these names; an error says which rows were left out."""
    known = {row.name: row for row in found}
    names = [rows.label(name) for name in names]
    listed = f"the rows: {_listed(known)}"
    for at, name in enumerate(names):
        if not name.strip():
            raise ConfigError("error: --fit-rows has an empty name\n  = help: give one `;` between "
                              f"two names, and none at the end; {listed}")  # fmt: skip
        if name not in known:
            is_part = any(name in map(str.strip, one.split(";")) for one in known)
            python = "; a name with `;` can be given in Python, as one of fit_rows"
            raise ConfigError(f"error: --fit-rows names {name!r}, which is not a row\n"
                              + "".join(f"  = note: {one}\n" for one in notes if name in one)
                              + f"  = help: {listed}{python if is_part else ''}")  # fmt: skip
        if name in names[:at]:
            raise ConfigError(f"error: --fit-rows names the row {name!r} twice\n"
                              "  = help: give each row once")  # fmt: skip
    return [known[name] for name in names]


def _listed(names: object) -> str:
    shown = list(names)  # type: ignore[call-overload]
    more = f"; and {len(shown) - 12} more" if len(shown) > 12 else ""
    return "; ".join(shown[:12]) + more
