"""Check that prose is plain English: `prose.py` for pages and messages, `--comments` for comments.

The patterns and the lists of files are in prose.toml. Each finding is printed as `file:line`, with
the words that were found and a better wording. The status is 1 if there is a finding.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

RUST = re.compile(
    r"""
    //[/!]?(?P<comment>[^\n]*)
    | '(?:\\.[^']*|[^\\'])'
    | \br(?P<fence>\#*)"(?P<raw>.*?)"(?P=fence)
    | "(?P<text>(?:\\.|[^"\\])*)"
    """,
    re.VERBOSE | re.DOTALL,
)
CONTINUED = re.compile(r"\\\n\s*")


@dataclass(frozen=True)
class Rule:
    """A pattern, an example of it, the better wording, and the files where it is allowed."""

    pattern: re.Pattern[str]
    example: str
    instead: str
    not_in: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """A place where a pattern matches."""

    file: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        """One line, in the form that editors and terminals recognise as a link."""
        return f'{self.file}:{self.line}: "{self.words}": use {self.instead}'


class Masked:
    """A text of the same length as its source, with full stops in place of all but the prose."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.characters = ["."] * len(source)
        self.end = 0

    def show(self, start: int, end: int, *, new: bool = True) -> None:
        """Show a range as prose: a new text, or the continuation of the previous one."""
        if not new:
            self.characters[self.end : start] = " " * (start - self.end)
        self.characters[start:end] = self.source[start:end]
        for joint in CONTINUED.finditer(self.source, start, end):
            self.characters[joint.start() : joint.end()] = " " * len(joint[0])
        self.end = end

    def text(self) -> str:
        """Return the masked text, with underscores in place of code in backticks."""
        return re.sub(r"`[^`\n]*`", _underscores, "".join(self.characters))


def markdown(source: str) -> str:
    """Return the prose of a page, without blocks of code and targets of links."""
    text = re.sub(r"^```.*?^```$", _stops, source, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`|\]\([^)\n]*\)", _underscores, text)
    return re.sub(r"^ *(?:[-*]|\d+\.|#+) |\||\n(?=[ \t]*\n)", _stops, text, flags=re.MULTILINE)


def _stops(found: re.Match[str]) -> str:
    return "." * len(found[0])


def _underscores(found: re.Match[str]) -> str:
    return "_" * len(found[0])


def newest(source: str) -> str:
    """Return the newest section of a changelog, at its place."""
    headings = [found.start() for found in re.finditer(r"^## ", source, re.MULTILINE)]
    start, end = (*headings, len(source), len(source))[:2]
    return "." * start + source[start:end]


def rust(source: str, comments: bool) -> str:
    """Return the string literals before the tests, or the comments."""
    masked = Masked(source)
    tests = source.find("#[cfg(test)]")
    end = len(source) if comments or tests < 0 else tests
    last = -1
    for found in RUST.finditer(source, 0, end):
        kind = next((kind for kind in ("comment", "raw", "text") if found[kind] is not None), "")
        if not kind or (kind == "comment") != comments:
            continue
        new = not comments or last < 0 or bool(source[last : found.start()].strip())
        masked.show(*found.span(kind), new=new)
        last = found.end() if found[kind].strip() else -1
    return masked.text()


def _docstrings(source: str, in_command: bool) -> set[tuple[int, int]]:
    """Return the places of docstrings, except for the helps of commands."""
    tree = ast.parse(source)
    found = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree) if in_command else ():
        if isinstance(node, ast.FunctionDef) and "guarded" in map(ast.unparse, node.decorator_list):
            found -= {one.value for one in node.body[:1] if isinstance(one, ast.Expr)}
    return {(node.lineno, node.col_offset) for node in found if isinstance(node, ast.Constant)}


def python(source: str, comments: bool, in_command: bool) -> str:
    """Return the strings and the helps of commands, or the comments and docstrings."""
    masked = Masked(source)
    starts = [0, *(found.end() for found in re.finditer(r"\n", source))]
    docstrings = _docstrings(source, in_command)
    middle = getattr(tokenize, "FSTRING_MIDDLE", None)
    last = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        if token.type == tokenize.COMMENT and comments:
            inner = (start + 1, end)
        elif token.type == tokenize.STRING and comments == (token.start in docstrings):
            quotes = re.match(r"[A-Za-z]*(\"\"\"|'''|\"|')", token.string)
            inner = (start + len(quotes[0]), end - len(quotes[1])) if quotes else (start, end)
        elif middle is not None and token.type == middle and not comments:
            inner = (start, end)
        else:
            continue
        masked.show(*inner, new=last < 0 or bool(source[last:start].strip()))
        last = end
    return masked.text()


def toml(source: str) -> str:
    """Return the comments, and the texts of the table `about`."""
    masked = Masked(source)
    about = re.search(r"^\[about\]\n(.*?)(?=^\[|\Z)", source, re.MULTILINE | re.DOTALL)
    for found in re.finditer(r'"((?:\\.|[^"\\])*)"|#([^\n]*)', source, re.DOTALL):
        if found[2] is not None:
            masked.show(*found.span(2))
        elif about and about.start() <= found.start() < about.end():
            masked.show(*found.span(1))
    return masked.text()


def prose(path: Path, source: str, comments: bool = False) -> str:
    """Return the prose of a file, at its places."""
    match path.suffix:
        case ".md":
            return markdown(newest(source) if path.name == "CHANGELOG.md" else source)
        case ".rs":
            return rust(source, comments)
        case ".py":
            return python(source, comments, "cli" in path.parts)
        case _:
            return toml(source)


def settings() -> tuple[dict[str, list[str]], list[Rule]]:
    """Return the lists of files of prose.toml, and its rules."""
    written: dict[str, Any] = tomllib.loads((ROOT / "scripts/prose.toml").read_text())
    rules = [
        Rule(
            re.compile(one["pattern"].replace(" ", r"\s+"), re.IGNORECASE),
            one["example"],
            one["instead"],
            tuple(one.get("not_in", ())),
        )
        for one in written.pop("avoid")
    ]
    return written, rules


def shrunk(text: str) -> tuple[str, list[int], list[int]]:
    """Return the text with each run of full stops cut to one, and its parts in both texts."""
    parts, here, there = [], [], []
    length = 0
    for found in re.finditer(r"(?:[^.]|\.(?!\.))+", text):
        parts.append(found[0])
        here.append(length)
        there.append(found.start())
        length += len(found[0])
    return "".join(parts), here, there


def check(path: Path, rules: list[Rule], comments: bool = False) -> Iterator[Finding]:
    """Yield the findings in a file, in order."""
    source = path.read_text()
    text, here, there = shrunk(prose(path, source, comments))
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    found = [
        (match.start(), " ".join(match[0].split()), rule.instead)
        for rule in rules
        if not any(fnmatch(name, one) for one in rule.not_in)
        for match in rule.pattern.finditer(text)
    ]
    for at, words, instead in sorted(found):
        part = bisect_right(here, at) - 1
        line = source.count("\n", 0, there[part] + at - here[part]) + 1
        yield Finding(name, line, words, instead)


def files(patterns: list[str]) -> list[Path]:
    """Return the files of these patterns, in order of name."""
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern)})


def main() -> int:
    """Check the files of prose.toml, or the given ones."""
    parser = argparse.ArgumentParser(description="Check that prose is plain English.")
    parser.add_argument("--comments", action="store_true", help="check comments and docstrings")
    parser.add_argument("--pending", action="store_true", help="check pages that are not done yet")
    parser.add_argument("--count", action="store_true", help="print the findings of each pattern")
    parser.add_argument("files", nargs="*", type=Path, help="these files instead of all")
    given = parser.parse_args()
    lists, rules = settings()
    if given.files:
        chosen = [path.resolve() for path in given.files]
    elif given.comments:
        chosen = files(lists["comments"])
    elif given.pending:
        chosen = files(lists["pending"])
    else:
        pending = set(files(lists["pending"]))
        chosen = [one for one in files(lists["pages"] + lists["messages"]) if one not in pending]
    findings = [one for path in chosen for one in check(path, rules, given.comments)]
    if given.count:
        for instead in sorted({rule.instead for rule in rules}):
            print(f"{sum(one.instead == instead for one in findings):6}  {instead}")
    for one in findings if not given.count else ():
        print(one)
    if findings:
        print(f"{len(findings)} findings in {len({one.file for one in findings})} files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
