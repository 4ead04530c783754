"""Tables of TOML files as typed models: strict types, and no unknown keys.

1. `File` reads a text, and the places of its keys.
2. `File.form` makes a model of it. Every mistake is one error, with file, line, key and value.
3. Each table keeps its place, for mistakes that only a comparison with other tables shows.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from flashgc import _engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import of_text
from flashgc.files import toml
from flashgc.files.key_places import Path, Place, Places
from flashgc.files.reading import check_text

KIND = "kind: "
"""The prefix of the tag of one form of a table; it cannot be a key of the table."""

_SHOWN_MAX = 60
_MISTAKES_MAX = 8


class Form(BaseModel):
    """A table of a file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    _file: File | None = PrivateAttr(None)
    _path: Path = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _explained(cls, table: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Adds to each mistake the existing keys, which pydantic does not name."""
        try:
            return handler(table)
        except ValidationError as error:
            found = [cls._mistake(one) for one in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(cls.__name__, found) from None

    @classmethod
    def _mistake(cls, error: ErrorDetails) -> InitErrorDetails:
        path, kind, known = error["loc"], error["type"], cls.keys()
        made: InitErrorDetails = {"type": kind, "loc": path, "input": error["input"]}
        context = dict(error.get("ctx", {}))
        if len(path) == 1 and kind == "missing":
            made["type"] = PydanticCustomError(kind, "", {"what": known[str(path[0])]})
        elif len(path) == 1 and kind == "extra_forbidden":
            hint = near(str(path[0]), list(known), "keys")
            made["type"] = PydanticCustomError(kind, "", {"help": hint})
        elif "what" in context or "help" in context:  # told by a table inside, or by a type below
            made["type"] = PydanticCustomError(kind, "", context)
        elif context:
            made["ctx"] = context
        return made

    @classmethod
    def keys(cls) -> dict[str, str]:
        """The keys of such a table, with the type of each."""
        fields = cls.model_fields.items()
        return {one.alias or name: one.description or "a value" for name, one in fields}

    def placed(self, file: File, path: Path) -> None:
        """Keeps the places of this table, and of the tables in it."""
        self._file, self._path = file, path
        for name, field in type(self).model_fields.items():
            key = field.alias or name
            for inner, form in _forms(getattr(self, name), (key,)):
                form.placed(file, (*path, *inner))

    def wrong(self, what: str, *keys: str | int) -> NoReturn:
        """Ends with an error that names the place of a key in this table."""
        raise ConfigError(_message(self._file, (*self._path, *keys), what))


def _forms(value: object, path: Path) -> Iterator[tuple[Path, Form]]:
    """The tables in a value of a table, each with its path."""
    if isinstance(value, Form):
        yield path, value
    elif isinstance(value, list | dict):
        pairs = enumerate(value) if isinstance(value, list) else value.items()
        for key, inner in pairs:
            yield from _forms(inner, (*path, key))


F = TypeVar("F", bound=Form)


@dataclass(frozen=True)
class File:
    """A TOML file that was read."""

    name: str
    table: dict[str, Any]
    places: Places

    @classmethod
    def of(cls, text: str, name: str) -> File:
        """The file with this text; an error describes its problem."""
        check_text(name, text)
        try:
            return cls(name, tomllib.loads(text), Places(text))
        except tomllib.TOMLDecodeError as reason:
            raise _no_toml(text, name, reason) from None
        except RecursionError:
            raise ConfigError(f"error: {name}: lists and tables are nested too deeply") from None

    def form(self, kind: type[F]) -> F:
        """The file as a model, or an error with the place of each mistake."""
        try:
            made = kind.model_validate(self.table)
        except ValidationError as error:
            found = [self._told(one) for one in error.errors(include_url=False)]
            found.sort(key=lambda mistake: mistake[0])
            texts = list(dict.fromkeys(text for _, text in found))
            more = len(texts) - _MISTAKES_MAX
            rest = "error: 1 more mistake" if more == 1 else f"error: {more} more mistakes"
            shown = texts[:_MISTAKES_MAX] + ([rest] if more > 0 else [])
            raise ConfigError("\n\n".join(shown)) from None
        made.placed(self, ())
        return made

    def _told(self, error: ErrorDetails) -> tuple[int, str]:
        """The line of a mistake, and its message."""
        path = tuple(part for part in error["loc"] if not str(part).startswith(KIND))
        key, what = path[-1] if path else "", _what(error)
        if error["type"] == "missing":
            told = f"`{key}` is missing; {what} is needed"
        elif error["type"] == "extra_forbidden":
            told = f"`{key}` is not a valid key here\n{error['ctx']['help']}"
        elif isinstance(key, int):
            told = f"element {key + 1} of `{path[-2]}` must be {what}, got {shown(error['input'])}"
        else:
            told = f"`{key}` must be {what}, got {shown(error['input'])}"
        return self.places.of(path).line, _message(self, path, told)


_SYNTAX = re.compile(
    "error: (not valid TOML|not a TOML value|a value is missing|a number cannot begin|"
    "`[^`]*` is given twice)"
)
"""The beginning of each error of syntax of the engine's reader."""
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _no_toml(text: str, name: str, reason: tomllib.TOMLDecodeError) -> ConfigError:
    """The error of syntax, in the words of the engine unless its reader accepts the text."""
    try:
        engine.check(of_text(name, text))
    except ConfigError as error:
        if _SYNTAX.match(str(error)):
            return error
    at = _AT.search(str(reason))
    lines = text.split("\n")
    line, column = len(lines), len(lines[-1]) + 1
    if at is not None and at[1]:
        line, column = int(at[1]), int(at[2])
    place = Place(line, column, 1, lines[line - 1].rstrip("\r"))
    what = _AT.sub("", str(reason))
    return ConfigError(_boxed(f"not valid TOML: {what[:1].lower()}{what[1:]}", name, place))


def _what(error: ErrorDetails) -> str:
    """The expected form of a value, in words."""
    context = error.get("ctx", {})
    if error["type"] == "too_short" and isinstance(error["input"], dict):
        return "a table with one key or more"
    return str(context.get("what") or _WHAT.get(error["type"], error["msg"]))


_WHAT = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "too_short": "a list of one element or more",
}
"""By the type of an error of pydantic."""


def shown(value: object) -> str:
    """A value as it is written, cut where it is long."""
    try:
        text = toml.value(value, "")
    except ConfigError:
        text = str(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."


def _message(file: File | None, path: Path, what: str) -> str:
    """A mistake with its place, the line, and a mark below it."""
    what, _, help_text = what.partition("\n")
    if file is None:
        return "\n".join(filter(None, [f"error: {what}", help_text]))
    return "\n".join([_boxed(what, file.name, file.places.of(path)), *filter(None, [help_text])])


def _boxed(what: str, name: str, place: Place) -> str:
    """A mistake, the name of the file, and the line with a mark below it."""
    edge = " " * len(str(place.line))
    mark = " " * (place.column - 1) + "^" * place.width
    lines = [
        f"error: {what}",
        f"{edge}--> {name}:{place.line}:{place.column}",
        f"{edge} |",
        f"{place.line} | {place.text}",
        f"{edge} | {mark}",
    ]
    return "\n".join(lines)


def near(name: str, known: list[str], what: str) -> str:
    """A line of help with the names that there are, the nearest first where one is near."""
    found = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean `{found[0]}`? " if found else ""
    return f"  = help: {hint}valid {what}: {', '.join(known) or 'none'}"


def one_of(words: Collection[str]) -> Callable[[object], str]:
    """A check for one of these words."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise PydanticCustomError("word", "", {"what": f"one of {', '.join(words)}"})

    return check


def kind_of(table: object, key: str, words: Collection[str], default: str) -> str:
    """The tag of a table by the word of a key; for a wrong word, the tag of the nearest one."""
    word = str(table.get(key, default)) if isinstance(table, dict) else default
    if word in words:
        return KIND + word
    found = difflib.get_close_matches(word, words, n=1)
    return KIND + (found[0] if found else default)
