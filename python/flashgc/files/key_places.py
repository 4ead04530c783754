"""Where each key of a TOML text is, since `tomllib` keeps no positions.

1. The text is one that `tomllib` has read, so the scanner meets no errors, only unknown ends.
2. Every head, key and element of a list is recorded under its path, with line and column.
3. A key that is not in the text has the place of the table that should have it.
4. The scan takes longer than that of `tomllib`, so it waits for the first mistake.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
"""Keys, and the numbers of elements from 0."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_INLINE = re.compile(r"[ \t]*")
_PART = re.compile(r"[A-Za-z0-9_-]+|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'")
_TEXTS = (
    re.compile(r'"""(?:\\.|[^\\])*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\\n])*"'),
    re.compile(r"'[^'\n]*'"),
)
_PLAIN = re.compile(r"[^,\]}#\r\n]*")


@dataclass(frozen=True)
class Place:
    """A place in a text: line and column from 1, and the line itself with the width to mark."""

    line: int
    column: int
    width: int
    text: str


class Places:
    r"""The places of all keys of a text.

    >>> from flashgc.files.key_places import Places
    >>> places = Places("[[items]]\nid = 'a'\n\n[[items]]\nat = { load = 'low' }\n")
    >>> places.of(("items", 0, "id")).line, places.of(("items", 1, "at", "load")).line
    (2, 5)
    >>> places.of(("items", 1, "rows")).line  # of the table that lacks it
    4
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @functools.cached_property
    def _spans(self) -> Mapping[Path, tuple[int, int]]:
        try:
            return _Scan(self._text).spans
        except RecursionError:  # in the last few levels of nesting that `tomllib` can read
            return {(): (0, 0)}

    def of(self, path: Path) -> Place:
        """The place of a key, or of the innermost table around it that is in the text."""
        known = max(n for n in range(len(path) + 1) if path[:n] in self._spans)
        start, end = self._spans[path[:known]]
        line = self._text.count("\n", 0, start) + 1
        column = start - (self._text.rfind("\n", 0, start) + 1) + 1
        text = self._text.split("\n")[line - 1].rstrip("\r")
        return Place(line, column, max(end - start, 1), text)

    def __contains__(self, path: object) -> bool:
        return path in self._spans


class _Scan:
    """The spans of all keys of a text, by one pass over it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.spans: dict[Path, tuple[int, int]] = {(): (0, 0)}
        self._counts: dict[Path, int] = {}
        self._document()

    def _document(self) -> None:
        table: Path = ()
        while True:
            self._skip(_BLANK)
            if self._at >= len(self._text):
                return
            if self._text.startswith("[", self._at):
                table = self._head()
            else:
                self._pair(table)

    def _skip(self, what: re.Pattern[str]) -> str:
        found = what.match(self._text, self._at)
        taken = found[0] if found else ""
        # A character that fits nothing must not keep the scanner for ever.
        self._at += len(taken) if found else 1
        return taken

    def _head(self) -> Path:
        start = self._at
        is_list = self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        path, name = self._dotted(())
        self._at += 2 if is_list else 1
        if is_list:
            count = self._counts[path] = self._counts.get(path, -1) + 1
            self.spans.setdefault(path, name)
            path = (*path, count)
            name = (start, self._at)
        self.spans[path] = name
        return path

    def _dotted(self, table: Path) -> tuple[Path, tuple[int, int]]:
        """The path of a dotted key in a table, and the span of its last part."""
        path = table
        while True:
            self._skip(_INLINE)
            start = self._at
            part = self._skip(_PART)
            path = (*path, _unquoted(part))
            span = (start, self._at)
            self._skip(_INLINE)
            if not self._text.startswith(".", self._at):
                return path, span
            self._at += 1
            self.spans.setdefault(path, span)
            if path in self._counts:  # the last table of a list
                path = (*path, self._counts[path])

    def _pair(self, table: Path) -> None:
        path, span = self._dotted(table)
        self.spans[path] = span
        self._at += 1  # the sign of equality
        self._skip(_INLINE)
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._text.startswith("[", self._at):
            self._list(path)
        elif self._text.startswith("{", self._at):
            self._inline(path)
        else:
            for text in _TEXTS:
                if text.match(self._text, self._at):
                    self._skip(text)
                    return
            self._skip(_PLAIN)

    def _list(self, path: Path) -> None:
        self._at += 1
        count = 0
        while self._goes_on("]"):
            start = self._at
            self._value((*path, count))
            self.spans[*path, count] = (start, _line_end(self._text, start, self._at))
            count += 1
            self._separator()

    def _inline(self, path: Path) -> None:
        self._at += 1
        while self._goes_on("}"):
            self._pair(path)
            self._separator()

    def _goes_on(self, end: str) -> bool:
        self._skip(_BLANK)
        if self._at >= len(self._text):
            return False
        if self._text.startswith(end, self._at):
            self._at += 1
            return False
        return True

    def _separator(self) -> None:
        self._skip(_BLANK)
        if self._text.startswith(",", self._at):
            self._at += 1


def _line_end(text: str, start: int, end: int) -> int:
    """The end of a span, at most the end of its first line."""
    stop = text.find("\n", start, end)
    return end if stop < 0 else stop


def _unquoted(part: str) -> str:
    if part[:1] not in ('"', "'"):
        return part
    import tomllib

    read: dict[str, Any] = tomllib.loads(f"key = {part}")
    return str(read["key"])


__all__ = ["Path", "Place", "Places"]
