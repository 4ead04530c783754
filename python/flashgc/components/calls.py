"""The arguments of a component's calls: the name of a wrong one, and the allowed values.

The engine takes them as they are. They are examined after it has refused one, so that a call for
each request costs nothing more.
"""

from __future__ import annotations

import copyreg
import operator
from collections.abc import Mapping
from typing import NoReturn, SupportsIndex

import flashgc._engine as engine
from flashgc._engine import RunError
from flashgc.files.arguments import shown

NUMBER_MAX = 2**64 - 1
"""The largest time, place, size and tag."""
_MOST = {"hint": 255}
REMEDIES = {
    "f": "round them: values.round().astype(numpy.uint64)",
    "O": "convert them: numpy.array(values, dtype=numpy.uint64)",
    "U": "operations are numbers in arrays: 0 (read), 1 (write), 2 (trim), 3 (flush)",
}
"""The way to whole numbers, by the kind of an array."""


def check_numbers(**given: object) -> None:
    """Refuses the first argument that is not a whole number within its bounds, by its name."""
    for name, value in given.items():
        most = _MOST.get(name, NUMBER_MAX)
        if isinstance(value, SupportsIndex) and 0 <= operator.index(value) <= most:
            continue
        allowed = "2^64 - 1" if most == NUMBER_MAX else most
        raise RunError(
            f"error: `{name}` must be a whole number from 0 to {allowed}, got {shown(value)}"
        )


def check_switches(**given: object) -> None:
    """Refuses the first argument that is neither True nor False, by its name."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise RunError(f"error: `{name}` must be True or False, got {shown(value)}")


def check_snapshot(given: object) -> None:
    """Refuses an argument that no component made."""
    if not isinstance(given, engine.Snapshot):
        raise RunError(
            f"error: `snapshot` must be one of snapshot(), got {shown(given)}\n"
            "  = help: keep = drive.snapshot(), and later drive.restore(keep)"
        )


def _no_copy(_: engine.Snapshot) -> NoReturn:
    raise RunError(
        "error: a snapshot cannot be copied or pickled\n"
        "  = help: its component takes it any number of times with restore(); a saved drive "
        "(flashgc.drive.save) is a beginning for components of other processes"
    )


copyreg.pickle(engine.Snapshot, _no_copy)


def operation(numbers: Mapping[str, int], op: object) -> int:
    """The number of an operation."""
    number = numbers.get(op) if isinstance(op, str) else None
    if number is None:
        raise RunError(
            f"error: no operation has the name {shown(op)}\n  = help: give one of "
            + ", ".join(f'"{name}"' for name in numbers)
        )
    return number
