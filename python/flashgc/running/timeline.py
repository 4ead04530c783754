"""The timeline of a run: which part of it a file for Perfetto shows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from flashgc._engine import ConfigError
from flashgc._engine_types import TimelineLog
from flashgc.running import inputs

PathLike = str | os.PathLike[str]
Units = int | str | Iterable[int]
_HELP = "  = help: numbers and ranges, such as `0`, `0,2` or `4-7`"


def asked(path: PathLike | None, window: str | None, units: Units | None) -> TimelineLog | None:
    """The request for a timeline to the engine.

    Raises:
        ConfigError: a window or units without a file, or units that cannot be read as numbers.

    """
    if path is None:
        for name, given in (("window", window), ("units", units)):
            if given is not None:
                has = "have" if name == "units" else "has"
                raise ConfigError(
                    f"error: the timeline {name} `{given}` {has} no effect without a timeline\n"
                    "  = help: name a file for it, such as `run.pftrace`"
                )
        return None
    return {
        "path": path,
        "window": inputs.duration("timeline_window", window, "1 s..1.2 s"),
        "units": None if units is None else numbers(units, "timeline"),
    }


def numbers(units: Units, what: str) -> list[int]:
    """The units by number, each once; `what` shows them."""
    if isinstance(units, str):
        return sorted({unit for part in units.split(",") for unit in _range(part, units, what)})
    given = [units] if isinstance(units, int) else list(units)
    found = {inputs.whole(f"a unit of the {what}", unit, 0) for unit in given}
    if not found:
        raise ConfigError(f"error: the {what} has no units\n{_HELP}")
    return sorted(found)


def _range(part: str, whole: str, what: str) -> range:
    match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part, re.ASCII)
    if match is None:
        raise ConfigError(f"error: the {what} units `{whole}`: `{part}` is not a number\n{_HELP}")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise ConfigError(
            f"error: the {what} units `{whole}`: `{part}` ends before it begins\n{_HELP}"
        )
    return range(first, last + 1)
