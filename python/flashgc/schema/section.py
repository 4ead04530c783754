"""Metrics under one name, as attributes and as items."""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from flashgc._engine import ConfigError


class Only:
    """A key that is in a report only under a condition."""

    def __init__(self, when: str) -> None:
        self.when = when


TIMED = Only('except with engine.timing = "none"')


class Section(Mapping[str, Any]):
    """Metrics under one name; each is an attribute and an item.

    >>> from flashgc.schema.section import Section
    >>> wear = Section({"mean": 1.5, "max": 3})
    >>> wear.mean, wear["max"]
    (1.5, 3)
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - JSON
        value = self._values[name]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return [_kind(type(self), name)(one) for one in value]
        return _kind(type(self), name)(value) if isinstance(value, dict) else value

    # Type checkers use the declarations of the attributes in the files of keys.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - JSON
            if name.startswith("_"):
                raise AttributeError(name)
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f"there is no key `{name}`; {self._without(name)}") from None

    def _without(self, name: str) -> str:
        """The help where it has no key of this name."""
        return f"valid keys: {', '.join(self._values)}"

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"`{name}` cannot be set: results are read-only; to_dict() is a copy to change"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in self._values.items())
        return f"{type(self).__name__}({shown})"

    def to_dict(self) -> dict[str, Any]:
        """The metrics as plain dictionaries."""
        copy: dict[str, Any] = json.loads(json.dumps(self._values))
        return copy


def _shown(value: object) -> str:
    """A metric as it is; a group of metrics as brackets with dots."""
    if isinstance(value, dict | list) and value:
        return "{...}" if isinstance(value, dict) else "[...]"
    return repr(value)


class Open(Section):
    """Values of a configuration, under the names of the engine."""


def check_whole(what: str, values: object, kind: type[Section], remedy: str) -> None:
    """Refuses values without a key that each result of a kind has, such as an empty dictionary."""
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"error: {what} is made from a dictionary of results, not {type(values).__name__}\n"
            f"  = help: {remedy}"
        )
    key = missing(kind, values)
    if key is not None:
        raise ConfigError(
            f"error: {what} needs the key `{key}`, which is missing\n  = help: {remedy}"
        )


def missing(kind: type[Section], values: Mapping[str, Any]) -> str | None:
    """The first key that each result of a kind has and these values lack."""
    return next((key for key in required(kind) if key not in values), None)


def missing_in_time(kind: type[Section], values: Mapping[str, Any]) -> str | None:
    """The first key of a run with a clock that these values lack; None of a run without one."""
    config = values.get("config")
    if not isinstance(config, Mapping) or "engine" in config:
        return None
    timed = (name for name, hint in declared(kind).items() if TIMED in conditions(hint))
    return next((name for name in timed if name not in values), None)


def mistake(kind: type[Section], values: Mapping[str, Any], path: str = "") -> str | None:
    """The first declared key with a value of another type than it has, with that value."""
    for name, hint in declared(kind).items():
        if name not in values:
            continue
        own, value = plain(hint), values[name]
        if value is None and _may_be_none(hint):
            continue
        here = f"{path}{name}"
        if isinstance(own, type) and issubclass(own, Section):
            if not isinstance(value, Mapping):
                return f"{here} = {json.dumps(value)[:40]}"
            absent = missing(own, value)
            if absent is not None:
                return f"`{here}` without the key {absent!r}"
            inside = mistake(own, value, f"{here}.")
            if inside is not None:
                return inside
        elif own in _JSON and not _is_of(value, own):
            return f"{here} = {json.dumps(value)[:40]}"
    return None


_JSON = (int, float, str, bool)
_MOST = 2**128
"""More than any metric can be."""


def _may_be_none(hint: Any) -> bool:  # noqa: ANN401 - a type
    if typing.get_origin(hint) is typing.Annotated:
        return _may_be_none(typing.get_args(hint)[0])
    return type(None) in typing.get_args(hint)


def _is_of(value: object, kind: type) -> bool:
    """Whether a value of JSON has a type; a whole number is a float as well."""
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if isinstance(value, int) and abs(value) > _MOST:
        return False
    return isinstance(value, (int, float) if kind is float else kind)


@functools.cache
def required(section: type[Section]) -> list[str]:
    """The keys that a section always has."""
    return [name for name, hint in declared(section).items() if not conditions(hint)]


def conditions(hint: Any) -> list[Only]:  # noqa: ANN401 - a type
    """The conditions of a key, by its type."""
    return [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Only)]


@functools.cache
def declared(section: type[Section]) -> dict[str, Any]:
    """The keys that a section declares, with their types."""
    hints = typing.get_type_hints(section, include_extras=True)
    keys = {name: hint for name, hint in hints.items() if not name.startswith("_")}
    return {**keys, **getattr(section, "_ITEMS", {})}


def plain(hint: Any) -> Any:  # noqa: ANN401 - a type
    """The type without its annotations, and without None as an alternative."""
    if typing.get_origin(hint) is typing.Annotated:
        return plain(typing.get_args(hint)[0])
    some = [part for part in typing.get_args(hint) if part is not type(None)]
    if type(None) in typing.get_args(hint) and len(some) == 1:
        return plain(some[0])
    return hint


@functools.cache
def _kind(section: type[Section], name: str) -> type[Section]:
    keys = declared(section)
    hint = plain(keys[name] if name in keys else getattr(section, "_OTHERS", None))
    if typing.get_origin(hint) is list:
        hint = typing.get_args(hint)[0]
    return hint if isinstance(hint, type) and issubclass(hint, Section) else Section
