"""Mutant schemata: sources that hold many mutants, of which a run chooses one.

A mutant is a small change of the sources, as `cargo mutants --list` describes it. Each one becomes
a branch, `if crate::mutant(7) { changed } else { original }`, so that one build holds all of them.
An operator is changed in the syntax tree: the operands of the changed one are those of the
original.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

SWITCH = """
/// Whether this mutant is the one that the environment chooses.
#[doc(hidden)]
#[allow(clippy::all)]
pub fn mutant(number: usize) -> bool {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static CHOSEN: OnceLock<(usize, Option<std::ffi::OsString>)> = OnceLock::new();
    static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    let (chosen, reached) = CHOSEN.get_or_init(|| {
        let number = std::env::var("FLASHGC_MUTANT").ok().and_then(|text| text.parse().ok());
        (number.unwrap_or(usize::MAX), std::env::var_os("FLASHGC_MUTANTS_REACHED"))
    });
    if let Some(path) = reached {
        if !REACHED[number].swap(true, Ordering::Relaxed) {
            use std::io::Write;
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            file.unwrap().write_all(format!("{number}\\n").as_bytes()).unwrap();
        }
    }
    number == *chosen
}
"""
CALL = re.compile(r"crate::mutant\((\d+)\)")


@dataclass(frozen=True)
class Mutant:
    """A change of the sources."""

    number: int
    name: str
    file: str
    genre: str
    replacement: str
    start: tuple[int, int]
    """Line and column, from 1."""
    end: tuple[int, int]

    @classmethod
    def of(cls, number: int, listed: dict[str, Any]) -> "Mutant":
        """A mutant as cargo-mutants lists it."""
        start, end = ((at["line"], at["column"]) for at in
                      (listed["span"]["start"], listed["span"]["end"]))  # fmt: skip
        return cls(number, listed["name"], listed["file"], listed["genre"],
                   listed["replacement"], start, end)  # fmt: skip


class UnknownPlaceError(Exception):
    """The place of a mutant is not of a known form."""


class Source:
    """A file, its syntax tree, and the branches that go into it."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.root = Parser(Language(tree_sitter_rust.language())).parse(text).root_node
        self.lines = text.splitlines(keepends=True)
        self.branches: dict[tuple[int, int], list[tuple[int, bytes]]] = defaultdict(list)
        """By the part of the file that they replace."""
        self.inserts: dict[int, list[bytes]] = defaultdict(list)

    def offset(self, at: tuple[int, int]) -> int:
        """The number of bytes before a line and column."""
        line, column = at
        before = sum(map(len, self.lines[: line - 1]))
        return before + len(self.lines[line - 1].decode()[: column - 1].encode())

    def add(self, mutant: Mutant) -> None:
        """Adds the branch of a mutant."""
        start, end = self.offset(mutant.start), self.offset(mutant.end)
        node = self.root.descendant_for_byte_range(start, end)
        if node is None:
            raise UnknownPlaceError(mutant.name)
        add = getattr(self, f"_add_{mutant.genre}", None)
        if add is None:
            raise UnknownPlaceError(mutant.name)
        add(mutant, node, start, end)

    def plain(self, mutant: Mutant) -> bytes:
        """The file with nothing but the change, as cargo-mutants makes it."""
        start, end = self.offset(mutant.start), self.offset(mutant.end)
        return self.text[:start] + mutant.replacement.encode() + self.text[end:]

    def rendered(self) -> str:
        """The file with all branches."""
        parts = sorted(self.branches, key=lambda part: (part[0], -part[1]))
        return self._render(0, len(self.text), parts).decode()

    def _render(self, start: int, end: int, parts: list[tuple[int, int]]) -> bytes:
        out, at = [], start
        while parts:
            first, last = parts[0]
            inner = [part for part in parts[1:] if part[0] < last]
            out.append(self._unbranched(at, first))
            out.append(self._branched((first, last), inner))
            at, parts = last, parts[1 + len(inner) :]
        out.append(self._unbranched(at, end))
        return b"".join(out)

    def _branched(self, part: tuple[int, int], inner: list[tuple[int, int]]) -> bytes:
        # One mutant is chosen at a time, so a changed branch needs no others inside.
        changed = b"".join(
            b"if crate::mutant(%d) { %s } else " % one for one in self.branches[part]
        )
        return b"(" + changed + b"{ " + self._render(*part, inner) + b" })"

    def _unbranched(self, start: int, end: int) -> bytes:
        out, at = [], start
        for place in sorted(place for place in self.inserts if start <= place < end):
            out += [self.text[at:place], *self.inserts[place]]
            at = place
        return b"".join([*out, self.text[at:end]])

    def _of(self, node: Node) -> bytes:
        return self.text[node.start_byte : node.end_byte]

    def _branch(self, node: Node, mutant: Mutant, changed: bytes) -> None:
        self.branches[node.start_byte, node.end_byte].append((mutant.number, changed))

    def _add_BinaryOperator(self, mutant: Mutant, node: Node, start: int, end: int) -> None:  # noqa: N802
        whole = node.parent
        if whole is None or whole.type not in {"binary_expression", "compound_assignment_expr"}:
            raise UnknownPlaceError(mutant.name)
        left, right = whole.child_by_field_name("left"), whole.child_by_field_name("right")
        assert left is not None
        assert right is not None
        operator = mutant.replacement.encode()
        self._branch(whole, mutant, b"(%s) %s (%s)" % (self._of(left), operator, self._of(right)))

    def _add_UnaryOperator(self, mutant: Mutant, node: Node, start: int, end: int) -> None:  # noqa: N802
        whole = node.parent
        if whole is None or whole.type != "unary_expression":
            raise UnknownPlaceError(mutant.name)
        self._branch(whole, mutant, self.text[end : whole.end_byte])

    def _add_FnValue(self, mutant: Mutant, node: Node, start: int, end: int) -> None:  # noqa: N802
        body = _outward(node, mutant, _is_body)
        returned = b" if crate::mutant(%d) { return %s; }" % (
            mutant.number, mutant.replacement.encode())  # fmt: skip
        self.inserts[body.start_byte + 1].append(returned)

    def _add_MatchArmGuard(self, mutant: Mutant, node: Node, start: int, end: int) -> None:  # noqa: N802
        self.branches[start, end].append((mutant.number, mutant.replacement.encode()))

    def _add_MatchArm(self, mutant: Mutant, node: Node, start: int, end: int) -> None:  # noqa: N802
        arm = _outward(node, mutant, lambda at: at.type == "match_arm" and at.start_byte == start)
        pattern = arm.child_by_field_name("pattern")
        assert pattern is not None
        condition = pattern.child_by_field_name("condition")
        if condition is not None:
            self._branch(condition, mutant, b"false")
        else:
            self.inserts[pattern.end_byte].append(b" if !crate::mutant(%d)" % mutant.number)

    def _add_StructField(self, mutant: Mutant, node: Node, start: int, end: int) -> None:  # noqa: N802
        whole = _outward(node, mutant, lambda at: at.type == "struct_expression")
        after = self.text[end : whole.end_byte].lstrip().removeprefix(b",")
        self._branch(whole, mutant, self.text[whole.start_byte : start] + after)


def _is_body(node: Node) -> bool:
    return node.type == "block" and node.parent is not None and node.parent.type == "function_item"


def _outward(node: Node | None, mutant: Mutant, holds: Callable[[Node], bool]) -> Node:
    """The innermost node around this one for which a condition holds."""
    while node is not None and node.parent is not None:
        if holds(node):
            return node
        node = node.parent
    raise UnknownPlaceError(mutant.name)


def blamed(text: str, places: Iterable[tuple[int, int]]) -> set[int]:
    """The mutants in whose branches, or else around which, the compiler has found something."""
    places = list(places)
    inside = {number for number, start, end in _branches(text)
              if any(start <= first and last <= end for first, last in places)}  # fmt: skip
    if inside:
        return inside
    # The call alone, as in a constant; or a part of the file that holds branches.
    around = {
        int(call[1])
        for call in CALL.finditer(text)
        if any(first <= call.end() and call.start() <= last for first, last in places)
    }
    # A value of another type than the function's `impl Trait`: the compiler names the last line.
    return around or set(_returns(text, places))


def _branches(text: str) -> Iterator[tuple[int, int, int]]:
    """The number, and the start and end of each branch of a rendered file."""
    for call in CALL.finditer(text):
        at = call.end()
        if text.startswith(" {", at):
            yield int(call[1]), at, _closed(text, at, 0)


def _returns(text: str, places: list[tuple[int, int]]) -> Iterator[int]:
    """The mutants of the values of the functions in whose bodies these places lie."""
    for call in CALL.finditer(text):
        if text.startswith(" { return ", call.end()):
            end = _closed(text, call.end(), 1)
            if any(call.end() <= first and last <= end for first, last in places):
                yield int(call[1])


def _closed(text: str, at: int, depth: int) -> int:
    """The end of a part with braces of which `depth` were opened before `at`."""
    for brace in re.finditer(r"[{}]", text[at:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return at + brace.end()
    return at
