"""What users read is plain English: patterns that have crept in before are kept out.

Looks at the string literals of the engine and of the front, at the helps of commands and at the
texts of presets. Comments are free.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RUST = (
    "flashgc-config/src",
    "flashgc-trace/src",
    "flashgc-drive/src",
    "flashgc-py/src",
    "flashgc/src/config",
    "flashgc/src/drive",
    "flashgc/src/gc",
    "flashgc/src/session",
    "flashgc/src/stats",
    "flashgc/src/workload",
)

BANNED = {
    "so many, so much": r"\b(so (many|much|long)\b(?! (as|that))|as much as)",
    "nought": r"\bnought\b",
    "X is no Y": r"(?<!there )(?<!here )\b(is|are) no (?!longer\b|more\b)\w",
    "verbs of people": r"\b(wants|hears|knocks|listens|believes|keeps books|asks for|looks at)\b",
    "persons": r"\b(nobody|somebody|someone|whoever)\b",
    "a clause in place of a noun": r"\bwhat (is|was) (below|done ahead|left|like|set|read|there)\b",
    "something else": r"\bsomething else\b",
    "mark, for threshold": r"\b(soft|hard|proactive|stop|the) mark\b",
    "job, for collection": r"\b(a|the|open|each|no) job\b",
    "get in, for being served": r"\bgets? in(to)?\b",
    "shut out": r"\bshut out\b",
    "leave out, for remove": r"\bleave [^;,.]* out\b",
    "synthetic workload": r"\blook-alikes?\b(?!\.md)",
}

LITERAL = re.compile(
    r"""
    //[^\n]*                                 # a comment
    | '(?:\\.[^']*|[^\\'])'                  # a character
    | r\#"(?P<raw>.*?)"\#
    | "(?P<text>(?:\\.|[^"\\])*)"
    """,
    re.VERBOSE | re.DOTALL,
)


def _rust(text: str) -> Iterator[str]:
    """The string literals outside of tests, with their continued lines joined."""
    for found in LITERAL.finditer(text.split("#[cfg(test)]", maxsplit=1)[0]):
        yield re.sub(r"\\\n\s*", "", found["text"] or found["raw"] or "")


def _python(text: str, path: Path) -> Iterator[str]:
    """The strings, and the docstrings of commands, which are their helps."""
    tree = ast.parse(text)
    # A string that stands by itself describes what it belongs to: a comment.
    comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    if "cli" in path.parts:
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        commands = (one for one in functions if "guarded" in map(ast.unparse, one.decorator_list))
        comments -= {id(one.body[0].value) for one in commands if isinstance(one.body[0], ast.Expr)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in comments:
            yield node.value


def _toml(text: str) -> Iterator[str]:
    about = tomllib.loads(text).get("about", {})
    yield from (value for value in about.values() if isinstance(value, str))
    yield from re.findall(r"#\s*(.*)", text)


def _texts() -> Iterator[tuple[str, str]]:
    for folder in RUST:
        for path in sorted((ROOT / "crates" / folder).rglob("*.rs")):
            yield from ((str(path.relative_to(ROOT)), text) for text in _rust(path.read_text()))
    for path in sorted((ROOT / "python").rglob("*.py")):
        found = _python(path.read_text(), path)
        yield from ((str(path.relative_to(ROOT)), text) for text in found)
    for folder in ("schemes", "devices", "python/flashgc/configs", "python/flashgc/workloads"):
        for path in sorted((ROOT / folder).glob("*.toml")):
            yield from ((str(path.relative_to(ROOT)), text) for text in _toml(path.read_text()))


def _complaints(where: str, text: str) -> list[str]:
    return [
        f'{where}: {name}: "{text.strip()[:200]}"'
        for name, pattern in BANNED.items()
        if re.search(pattern, text)
    ]


def test_what_users_read_is_plain_english() -> None:
    texts = list(_texts())
    assert len(texts) > 2000
    complaints = [one for where, text in texts for one in _complaints(where, text)]
    assert not complaints, "\n" + "\n".join(sorted(set(complaints)))


@pytest.mark.parametrize(
    "text",
    [
        "So many runs at a time.".lower(),
        "500 of the 400 pages of a plane are no distance",
        "the bound on moves is no share",
        "hard mark ({} pages) is below the reserve",
        "a plane wants space while its free space is low",
        "requests get in between copies",
        "the unit is closed while a job works",
        "leave `scheme` out",
    ],
)
def test_old_messages_are_found(text: str) -> None:
    assert _complaints("", text)
