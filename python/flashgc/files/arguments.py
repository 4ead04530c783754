"""The arguments of functions in Python: the name of a wrong one, and the allowed values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flashgc._engine import ConfigError

if TYPE_CHECKING:
    PathLike = str | os.PathLike[str]


_MAY_BE_EMPTY = frozenset({"device", "scheme", "trace"})
"""Names whose readers list what may be written in place of an empty one."""


def shown(given: object) -> str:
    """A value in a message."""
    return repr(given)[:60]


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
        if "\0" in path:
            raise ConfigError(
                f"error: {name} is {shown(value)}, and no name of a file has a zero byte"
            )


def _no_path(name: str, given: object) -> str:
    text = f"error: {name} must be a name or a path, got {shown(given)}"
    if name == "scheme" and callable(given):
        return (
            f"{text}\n  = help: a function becomes a scheme with @flashgc.victim, "
            "@flashgc.placement(classes=...) or @flashgc.pacing"
        )
    if name in ("device", "scheme"):
        table = "device" if name == "device" else "gc"
        return f'{text}\n  = help: keys of their own are in set, as in set={{"{table}": {{...}}}}'
    return text


def words(name: str, given: object) -> list[str]:
    """A parameter that is one word or several."""
    if isinstance(given, str):
        return [given]
    found = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else []
    if not found or not all(isinstance(one, str) for one in found):
        raise ConfigError(f"error: {name} must be a word or a list of some, got {shown(given)}")
    return found


def schemes(given: object) -> list[PathLike]:
    """Schemes to compare: names, paths or schemes in Python, one or several."""
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise ConfigError(f"error: schemes must be a list of names or paths, got {shown(given)}")
    found = list(given)
    for one in found:
        check_paths(scheme=one)
    return found
