"""Reads the tables of a paper's TOML files; a key that is not read is a mistake."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from flashgc._engine import ConfigError


class Reader:
    """A table with a name for messages. Each key is read once; `done` finds the others.

    >>> from flashgc.reproduction.read import Reader
    >>> table = Reader({"title": "x"}, "here")
    >>> table.text("title"), table.done()
    ('x', None)
    """

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self._table, self.where = dict(table), where
        self._asked: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether the key is given."""
        self._asked.add(key)
        return key in self._table

    def raw(self, key: str, kinds: tuple[type, ...], what: str) -> Any:  # noqa: ANN401 - TOML
        """The value, which must be of one of these kinds."""
        if not self.has(key):
            self.wrong(f"`{key}` is missing; {what} is needed")
        value = self._table[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            self.wrong(f"`{key}` must be {what}, not {value!r}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """A text; required without a default."""
        if default is not None and not self.has(key):
            return default
        return str(self.raw(key, (str,), "a text"))

    def word(self, key: str, words: Iterable[str], default: str) -> str:
        """One of the words."""
        found = self.text(key, default)
        if found not in words:
            self.wrong(f'`{key}` must be one of {", ".join(words)}, not "{found}"')
        return found

    def optional(self, key: str) -> str | None:
        """A text, or None where it is not given."""
        return self.text(key) if self.has(key) else None

    def flag(self, key: str) -> bool:
        """True or false; false where it is not given."""
        return bool(self.raw(key, (bool,), "true or false")) if self.has(key) else False

    def texts(self, key: str) -> list[str]:
        """A list of texts; empty where it is not given."""
        if not self.has(key):
            return []
        found = self.raw(key, (list,), "a list of texts")
        if not all(isinstance(item, str) for item in found):
            self.wrong(f"`{key}` must be a list of texts")
        return list(found)

    def one_or_more(self, key: str) -> list[str]:
        """A text or a list of texts; empty where it is not given."""
        if isinstance(self._table.get(key), list):
            return self.texts(key)
        return [self.text(key)] if self.has(key) else []

    def mapping(self, key: str) -> dict[str, Any]:
        """A table as it is; empty where it is not given."""
        return dict(self.raw(key, (dict,), "a table")) if self.has(key) else {}

    def table(self, key: str) -> Reader:
        """A table to read on in; empty where it is not given."""
        return Reader(self.mapping(key), f"{self.where}, [{key}]")

    def named(self, key: str) -> dict[str, Reader]:
        """The tables in a table, by name."""
        found = self.mapping(key)
        for name, inner in found.items():
            if not isinstance(inner, dict):
                self.wrong(f"`{key}.{name}` must be a table")
        return {name: Reader(inner, f"{self.where}, {name}") for name, inner in found.items()}

    def tables(self, key: str) -> list[Reader]:
        """A list of tables; empty where it is not given."""
        if not self.has(key):
            return []
        found = self.raw(key, (list,), "a list of tables")
        if not all(isinstance(inner, dict) for inner in found):
            self.wrong(f"`{key}` must be a list of tables")
        return [
            Reader(inner, f"{self.where}, {key} {index + 1}") for index, inner in enumerate(found)
        ]

    def all(self) -> dict[str, Any]:
        """The whole table as it is."""
        return dict(self._table)

    def done(self) -> None:
        """An error for a key that was not read."""
        for key in self._table:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                self.wrong(f"`{key}` is not a valid key here{hint}")

    def wrong(self, what: str) -> NoReturn:
        """Ends with an error that says where."""
        raise ConfigError(f"error: {self.where}: {what}")


def parse(text: str, where: str) -> Reader:
    """The reader of a whole file."""
    try:
        return Reader(tomllib.loads(text), where)
    except tomllib.TOMLDecodeError as reason:
        raise ConfigError(f"error: {where}: {reason}") from None
