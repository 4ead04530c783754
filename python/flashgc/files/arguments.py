"""The arguments of functions in Python: the name of a wrong one, and the allowed values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import NoneType

from flashgc._engine import ConfigError

SEEDS_MAX = 10_000
"""The most runs of one configuration at once."""
NUMBER_MAX = 2**64 - 1
"""The largest number of a row, and the largest seed."""

_MAY_BE_EMPTY = frozenset({"device", "scheme", "trace"})
"""Names whose readers list what may be written in place of an empty one."""
_SHOWN_MAX = 60


def shown(given: object) -> str:
    """A value in a message, or its type where it is long or has several lines.

    >>> from flashgc.files import arguments
    >>> arguments.shown([1, 2]), arguments.shown(list(range(100)))
    ('[1, 2]', 'a value of the type list')
    """
    try:
        text = repr(given)
    except ValueError:  # thousands of digits
        return "a number with too many digits"
    if len(text) <= _SHOWN_MAX and "\n" not in text:
        return text
    if isinstance(given, (str, bytes)):
        return f"{text[:_SHOWN_MAX]}..."
    kind, library = type(given), type(given).__module__.partition(".")[0]
    return f"a value of the type {'' if library == 'builtins' else library + '.'}{kind.__name__}"


def is_table(given: object) -> bool:
    """Whether it is a data frame, whose elements are the names of its columns."""
    return hasattr(given, "columns")


def switch(name: str, given: object) -> bool:
    """A parameter that is True or False, also of NumPy; texts such as "no" are neither."""
    if isinstance(given, bool):
        return given
    kind = getattr(getattr(given, "dtype", None), "kind", None)
    if kind == "b" and getattr(given, "ndim", None) == 0:
        return bool(given)
    raise ConfigError(f"error: {name} must be True or False, got {shown(given)}")


def check_path(name: str, given: object) -> None:
    """Refuses an argument that is not a name or path as text."""
    if given is None:
        raise ConfigError(_no_path(name, given))
    check_paths(**{name: given})


def check_paths(**given: object) -> None:
    """Refuses the first argument that is neither a name or path as text nor None."""
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, (str, os.PathLike)):
            raise ConfigError(_no_path(name, value))
        path = os.fspath(value)
        if not isinstance(path, str):
            raise ConfigError(_no_path(name, value))
        if not path and name not in _MAY_BE_EMPTY:
            raise ConfigError(f"error: the name given for {name} is empty; give one")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise ConfigError(
                f"error: {name} is {shown(value)}, which no file can be named"
            ) from None
        if "\0" in path:
            raise ConfigError(
                f"error: {name} is {shown(value)}, and no name of a file has a zero byte"
            )


_ROWS = (
    "  = help: save the rows as a text file and name its columns: "
    'trace="rows.csv", format="csv:time:s, op, offset, size" (docs/formats/csv.md)'
)


def _no_path(name: str, given: object) -> str:
    text = f"error: {name} must be a name or a path, got {shown(given)}"
    if name == "scheme" and callable(given):
        return (
            f"{text}\n  = help: a function becomes a scheme with @flashgc.victim, "
            "@flashgc.placement(classes=...) or @flashgc.pacing"
        )
    if name == "trace" and isinstance(given, Iterable):
        return f"{text}\n{_ROWS}"
    if name in ("device", "scheme"):
        table = "device" if name == "device" else "gc"
        return f'{text}\n  = help: keys of their own are in set, as in set={{"{table}": {{...}}}}'
    return text


def check_texts(**given: object) -> None:
    """Refuses the first argument that is neither a text nor None."""
    for name, value in given.items():
        if not isinstance(value, (str, NoneType)):
            raise ConfigError(f"error: {name} must be a text, got {shown(value)}")


def check_function(**given: object) -> None:
    """Refuses the first argument that is neither a function nor None."""
    for name, value in given.items():
        if value is not None and not callable(value):
            raise ConfigError(f"error: {name} must be a function or None, got {shown(value)}")


def words(name: str, given: object) -> list[str]:
    """A parameter that is one word or several."""
    if isinstance(given, str):
        return [given]
    no_list = isinstance(given, bytes) or is_table(given)
    found = list(given) if isinstance(given, Iterable) and not no_list else []
    if not found or not all(isinstance(one, str) for one in found):
        raise ConfigError(f"error: {name} must be a word or a list of some, got {shown(given)}")
    return found
