"""Writes a configuration that was given as a dictionary as TOML, which the engine reads."""

import json
import math
from collections.abc import Mapping
from decimal import Decimal

from flashgc._engine import ConfigError


def dumps(config: Mapping[str, object]) -> str:
    """The configuration as TOML text."""
    lines: list[str] = []
    _table(config, (), lines)
    return "\n".join(lines) + "\n"


def value(item: object, where: str) -> str:
    """One value as TOML; `where` names it in the error for a value that TOML cannot hold."""
    plain = getattr(item, "tolist", None) or getattr(item, "to_list", None)  # NumPy, Polars
    if callable(plain):
        item = plain()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (str, int)):
        return _text(item) if isinstance(item, str) else str(item)
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
    bare = key and all(char.isascii() and (char.isalnum() or char in "-_") for char in key)
    return key if bare else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _float(number: float) -> str:
    # Plain decimals: the engine reads quantities exactly and does not accept exponents.
    text = repr(number)
    if "e" in text:
        text = format(Decimal(text), "f")
        text += "" if "." in text else ".0"
    return text
