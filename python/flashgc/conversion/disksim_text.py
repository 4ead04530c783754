"""The parameter files of DiskSim (.parv): blocks of keys, instances and the topology."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from flashgc._engine import ConfigError

DEPTH_MAX = 32
_TOKEN = re.compile(r"#[^\n]*|\s+|[{}\[\]=,]|[^\s{}\[\]=,#]+")


@dataclass
class Block:
    """A block: its type, its name, and its keys with their values in order."""

    type: str
    name: str
    line: int
    keys: list[tuple[str, int, object]] = field(default_factory=list)
    """Key, line and value: a text, a list or a block."""


@dataclass
class Place:
    """A component of the topology, and the components below it."""

    type: str
    name: str
    below: list[Place] = field(default_factory=list)


@dataclass
class File:
    """The content of a file."""

    blocks: list[Block] = field(default_factory=list)
    instances: dict[str, str] = field(default_factory=dict)
    """The block of each instance."""
    topology: list[Place] = field(default_factory=list)


class Parser:
    """Reads the words and signs of a file, one after the other."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._tokens = list(_tokens(text))
        self._at = 0

    def file(self) -> File:
        """The whole file."""
        found = File()
        while self._peek():
            word = self._peek()
            if word == "instantiate":
                self._instance(found)
            elif word == "topology":
                self._take()
                found.topology.append(self._place(0))
            elif word == "source":
                raise self._error(
                    "`source` names another file, which is not read; put its text here"
                )
            else:
                found.blocks.append(self._block(self._words(), 0))
        return found

    def _instance(self, found: File) -> None:
        self._take()
        names = self._list(0)
        self._expect("as")
        of = self._word()
        for name in names:
            if isinstance(name, str):
                found.instances[name] = of

    def _place(self, depth: int) -> Place:
        self._check(depth)
        place = Place(self._word(), self._word())
        if self._peek() == "[":
            self._take()
            while self._peek() != "]":
                if self._peek() == ",":
                    self._take()
                else:
                    place.below.append(self._place(depth + 1))
            self._take()
        return place

    def _block(self, head: list[str], depth: int) -> Block:
        self._check(depth)
        line = self._line()
        if not head:
            raise self._error(f"the type of a block is expected before {self._shown()}")
        block = Block(head[0], " ".join(head[1:]), line)
        self._expect("{")
        while self._peek() != "}":
            if self._peek() == ",":
                self._take()
                continue
            line = self._line()
            key = " ".join(self._words())
            if not key:
                raise self._error(f"a key is expected before {self._shown()}")
            self._expect("=")
            block.keys.append((key, line, self._value(depth + 1)))
        self._take()
        return block

    def _value(self, depth: int) -> object:
        if self._peek() == "[":
            return self._list(depth)
        words = self._words()
        if not words:
            raise self._error(f"a value is expected before {self._shown()}")
        return self._block(words, depth) if self._peek() == "{" else " ".join(words)

    def _list(self, depth: int) -> list[object]:
        self._check(depth)
        self._expect("[")
        items: list[object] = []
        while self._peek() != "]":
            if self._peek() == ",":
                self._take()
            else:
                items.append(self._value(depth + 1))
        self._take()
        return items

    def _words(self) -> list[str]:
        words = []
        while self._peek() and self._peek() not in "{}[]=,":
            words.append(self._take())
        return words

    def _word(self) -> str:
        if not self._peek() or self._peek() in "{}[]=,":
            raise self._error(f"a name is expected before {self._shown()}")
        return self._take()

    def _expect(self, sign: str) -> None:
        if self._peek() != sign:
            raise self._error(f"`{sign}` is expected before {self._shown()}")
        self._take()

    def _shown(self) -> str:
        return f"`{self._peek()[:40]}`" if self._peek() else "the end of the file"

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        if self._at >= len(self._tokens):
            raise self._error("the file ends inside a block")
        self._at += 1
        return self._tokens[self._at - 1][0]

    def _line(self) -> int:
        at = min(self._at, len(self._tokens) - 1)
        return self._tokens[at][1] if self._tokens else 1

    def _check(self, depth: int) -> None:
        if depth > DEPTH_MAX:
            raise self._error(f"blocks are nested deeper than {DEPTH_MAX}")

    def _error(self, what: str) -> ConfigError:
        return ConfigError(f"error: {self.name}:{self._line()}: {what}")


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line = 1
    for match in _TOKEN.finditer(text):
        word = match[0]
        if not word.isspace() and not word.startswith("#"):
            yield word, line
        line += word.count("\n")
