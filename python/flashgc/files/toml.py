"""Writes a configuration that was given as a dictionary as TOML, which the engine reads."""

import json
import math
from collections.abc import Mapping
from decimal import Decimal

from flashgc._engine import ConfigError
from flashgc.files.reading import check_text

_DEPTH_MAX = 100
"""More levels of tables and lists than any reader of TOML takes."""


def dumps(config: Mapping[str, object]) -> str:
    """The configuration as TOML text."""
    check_depth(config)
    lines: list[str] = []
    _table(config, (), lines)
    return "\n".join(lines) + "\n"


def check_depth(config: object) -> None:
    """Refuses a dictionary or a list that contains itself, or has too many levels."""
    waiting = [(config, 0)]
    while waiting:  # the last one first, so that a circle ends at once
        item, depth = waiting.pop()
        if depth > _DEPTH_MAX:
            raise ConfigError(
                "error: the dictionaries and lists of the configuration are nested too deeply, or "
                f"one contains itself\n  = help: at most {_DEPTH_MAX} levels can be read"
            )
        if isinstance(item, Mapping | list | tuple):
            inner = item.values() if isinstance(item, Mapping) else item
            waiting += [(one, depth + 1) for one in inner]


def value(item: object, where: str) -> str:
    """One value as TOML; `where` names it in the error for a value that TOML cannot hold."""
    plain = getattr(item, "tolist", None) or getattr(item, "to_list", None)  # NumPy, Polars
    if callable(plain):
        item = plain()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        check_text(f"`{where}`", item)
        return _text(item)
    if isinstance(item, int):
        return _whole(item, where)
    if isinstance(item, float):
        if not math.isfinite(item):
            raise ConfigError(f"error: `{where}` is {item}; a finite number is needed")
        return _float(item)
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(value(part, where) for part in item) + "]"
    if isinstance(item, Mapping):
        parts = (f"{_key(key)} = {value(part, where)}" for key, part in item.items())
        return "{ " + ", ".join(parts) + " }"
    raise ConfigError(
        f"error: `{where}` is of type {type(item).__name__}, which a configuration cannot hold\n"
        "  = help: use strings, numbers, booleans, lists and dictionaries"
    )


def _table(table: Mapping[str, object], path: tuple[str, ...], lines: list[str]) -> None:
    tables = {key: item for key, item in table.items() if isinstance(item, Mapping)}
    if path and (len(tables) < len(table) or not table):
        lines.append("[" + ".".join(_key(part) for part in path) + "]")
    for key, item in table.items():
        if key not in tables:
            where = ".".join((*path, str(key)))
            lines.append(f"{_key(key)} = {value(item, where)}")
    for key, inner in tables.items():
        _table(inner, (*path, str(key)), lines)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ConfigError(f"error: the key {key!r} of the configuration is not a string")
    check_text("a key of the configuration", key)
    bare = key and all(char.isascii() and (char.isalnum() or char in "-_") for char in key)
    return key if bare else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _whole(number: int, where: str) -> str:
    try:
        return str(number)
    except ValueError:  # Python refuses to write thousands of digits
        raise ConfigError(f"error: `{where}` is a whole number with too many digits") from None


def _float(number: float) -> str:
    # Plain decimals: the engine reads quantities exactly and does not accept exponents.
    text = repr(number)
    if "e" in text:
        text = format(Decimal(text), "f")
        text += "" if "." in text else ".0"
    return text
