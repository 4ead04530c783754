"""Faults in the TOML that flashgc makes of job files, which the comparison must find."""

from __future__ import annotations

import re
from collections.abc import Callable

Fault = Callable[[str], str]
"""A change of that TOML."""

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def _bytes(text: str) -> int:
    number, unit = text.split()
    return int(number) * _UNITS[unit]


def _rounded(text: str) -> str:
    """Offsets in bytes are rounded down to whole requests."""
    tables = text.split("[[workload.jobs.job]]")
    for at, table in enumerate(tables):
        size = re.search(r'^(?:read|write|trim)_size = "(.+)"', table, re.MULTILINE)
        if size:
            block = _bytes(size[1])
            tables[at] = re.sub(
                r'^(offset(?:_step)?) = "(.+)"',
                lambda found, block=block: f'{found[1]} = "{_bytes(found[2]) // block * block} B"',
                table, flags=re.MULTILINE,
            )  # fmt: skip
    return "[[workload.jobs.job]]".join(tables)


def _replaced(pattern: str, by: str) -> Fault:
    return lambda text: re.sub(pattern, by, text, flags=re.MULTILINE)


def _number(key: str, change: Callable[[float], float]) -> Fault:
    def changed(found: re.Match[str]) -> str:
        new = change(float(found[2]))
        return f"{found[1]}{int(new) if '.' not in found[2] else new}"

    return lambda text: re.sub(rf"^({key} = )([0-9.]+)$", changed, text, flags=re.MULTILINE)


FAULTS: dict[str, Fault] = {
    "offsets are rounded down to whole requests": _rounded,
    "each pass has an order of its own": _replaced('^passes = "same"', 'passes = "new"'),
    "each pass has the order of the first": _replaced('^passes = "new"', 'passes = "same"'),
    "the length of the file caps nothing": _replaced("^file_size = .*\n", ""),
    "a rate is a fifth higher": _number("(?:read_|write_|trim_)?iops", lambda one: one * 1.2),
    "a kind that is ahead delays the other": _replaced("^overtake = true\n", ""),
    "one loop is missing": _number("loops", lambda one: one - 1),
    "the map of visited blocks is missing": _replaced("^once = true\n", ""),
    "a tenth of the requests has another kind": _number(
        "read_share", lambda one: one + 0.1 if 0.0 < one < 0.85 else one
    ),
    "a flush comes one write later": _number("flush_after", lambda one: one + 1),
    "clones begin at one place": _replaced("^offset_step = .*\n", ""),
    "the amount is the size": _replaced("^amount = .*\n", ""),
    "one request is missing": _number("requests", lambda one: max(1, one - 1)),
    "holes are missing": _replaced("^skip = .*\n", ""),
    "holes are behind and not ahead": _replaced("^skip_back = .*\n", ""),
    "gaps between zones are missing": _replaced("^stride_gap = .*\n", ""),
    "zones are left late": _replaced("^stride_amount = .*\n", ""),
    "a run is one longer": _number("run", lambda one: one + 1),
    "a run goes on where it stays": _replaced("^run_stays = .*\n", ""),
    "files have turns of one request": _replaced("^file_turn = .*\n", ""),
    "files are sequential": _replaced("^file_order = .*", 'file_order = "sequential"'),
    "files come in turns": _replaced("^file_order = .*", 'file_order = "round-robin"'),
    "the largest size is missing": _replaced(r'^(\w+_size = \{.*), "[^"]+" = [0-9.]+ \}', r"\1 }"),
    "popular places are less popular": _replaced("zipf = 1.2", "zipf = 0.9"),
    "places are uniform": _replaced("^(read|write|trim)_address = .*\n", ""),
    "random places are more": _number(
        "(?:read_|write_|trim_)?random_share", lambda one: min(1.0, one + 0.2) if one else one
    ),
    "writes follow no trims": _replaced("^trim_then_write = true\n", ""),
    "groups begin at once": _replaced("^after_others = true\n", ""),
    "clones are one": _replaced("^clones = .*\n", ""),
}
