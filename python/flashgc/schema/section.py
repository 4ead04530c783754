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
UNTIMED = Only('with engine.timing = "none"')


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
    """The first key that these values lack of a run with a clock, or of one without."""
    config = values.get("config")
    if not isinstance(config, Mapping):
        return None
    return _missing_with(UNTIMED if "engine" in config else TIMED, kind, values)


def _missing_with(
    condition: Only, kind: type[Section], values: Mapping[str, Any], path: str = ""
) -> str | None:  # fmt: skip
    """The first key that there is under this condition and these values lack."""
    for name, hint in declared(kind).items():
        if name not in values:
            if condition in conditions(hint):
                return f"{path}{name}"
            continue
        own, value = plain(hint), values[name]
        if isinstance(own, type) and issubclass(own, Section) and isinstance(value, Mapping):
            inside = _missing_with(condition, own, value, f"{path}{name}.")
            if inside is not None:
                return inside
    return None


def mistake(kind: type[Section], values: Mapping[str, Any], path: str = "") -> str | None:
    """The first declared key with a value of another type than it has, with that value."""
    others = getattr(kind, "_OTHERS", None)
    hints = dict.fromkeys(values, others) if others is not None else declared(kind)
    for name, hint in hints.items():
        found = _mistake_of(hint, values[name], f"{path}{name}") if name in values else None
        if found is not None:
            return found
    return None


def _mistake_of(hint: Any, value: Any, here: str) -> str | None:  # noqa: ANN401 - a type, JSON
    """The first value of another type than that of a key, in a value of it."""
    own = plain(hint)
    if value is None and _may_be_none(hint):
        return None
    if isinstance(own, type) and issubclass(own, Section) and isinstance(value, Mapping):
        absent = missing(own, value)
        if absent is not None:
            return f"`{here}` without the key {absent!r}"
        return mistake(own, value, f"{here}.")
    if typing.get_origin(own) is list and isinstance(value, list):
        [each] = typing.get_args(own)
        found = (_mistake_of(each, one, f"{here}[{at}]") for at, one in enumerate(value))
        return next((one for one in found if one is not None), None)
    is_known = own in _JSON or isinstance(own, type) or typing.get_origin(own) is list
    is_right = not is_known or (own in _JSON and _is_of(value, own))
    return None if is_right else f"{here} = {json.dumps(value)[:40]}"


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
