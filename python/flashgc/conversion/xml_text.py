"""XML without declarations of types or entities, as a tree with line numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from flashgc._engine import ConfigError

DEPTH_MAX = 16


@dataclass
class Node:
    """An element."""

    name: str
    line: int
    text: str = ""
    nodes: list[Node] = field(default_factory=list)


def parse(name: str, data: bytes) -> Node:
    """The root of the tree; an error with its line for invalid XML, or a refused construct."""
    reader = _Reader(name)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as reason:
        said = expat.ErrorString(reason.code)
        raise ConfigError(f"error: {name}:{reason.lineno}: not well-formed XML: {said}") from None
    except (LookupError, ValueError) as reason:
        raise ConfigError(f"error: {name}: its encoding cannot be read: {reason}") from None
    return reader.root


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.root = Node("", 0)
        self.open: list[Node] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        # Entities are declared there, and can be made to fill any memory.
        raise self._error("a DOCTYPE declaration is not read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        node = Node(name, self.parser.CurrentLineNumber)
        if attributes:
            raise self._error(f"`{name}` has the attribute `{next(iter(attributes))}`; "
                              "MQSim's files have none")  # fmt: skip
        if len(self.open) >= DEPTH_MAX:
            raise self._error(f"elements are nested deeper than {DEPTH_MAX}")
        if self.open:
            self.open[-1].nodes.append(node)
        else:
            self.root = node
        self.open.append(node)

    def _end(self, _: str) -> None:
        node = self.open.pop()
        node.text = node.text.strip()
        if node.nodes and node.text:
            raise self._error(f"`{node.text[:40]}` stands between the keys of `{node.name}`")

    def _text(self, text: str) -> None:
        self.open[-1].text += text

    def _error(self, what: str) -> ConfigError:
        return ConfigError(f"error: {self.name}:{self.parser.CurrentLineNumber}: {what}")
