"""The outcomes as readable text: three lists and the choices, in lines of any width."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping

from flashgc.conversion.findings import Choice, Finding, Findings

WIDTH = 80
INDENT = 4
NAMES_WIDTH = 30
_FIXED = "\N{NO-BREAK SPACE}"
WHOLE_PART = 4
"""Keys from which a whole part is named in place of its keys."""


def lines(findings: Findings, width: int = WIDTH) -> list[str]:
    """All lists below their heads."""
    shown: list[str] = []
    for head, count, body in (
        ("Mapped", _keys(findings.mapped), _mapped(findings.mapped, width)),
        ("Mapped with a difference", _keys(findings.differs),
         _grouped(findings.differs, findings, width)),
        ("Not mapped", _keys(findings.not_mapped), _grouped(findings.not_mapped, findings, width)),
        ("Set without a key of the file", _counted(findings.chosen),
         _chosen(findings.chosen, width)),
    ):  # fmt: skip
        if body:
            shown += [f"{head}: {count}", *body, ""]
    return shown[:-1]


def _keys(found: list[Finding]) -> str:
    return f"{len(found)} key{'' if len(found) == 1 else 's'}"


def _counted(found: list[Choice]) -> str:
    return f"{len(found)} setting{'' if len(found) == 1 else 's'}"


def _mapped(found: list[Finding], width: int) -> list[str]:
    shown = []
    for one in found:
        to = f"{one.ours} = {one.value}" if one.ours else one.value
        shown += _beside(printable(one.key.full), printable(to), width)
    return shown


def _beside(name: str, text: str, width: int) -> list[str]:
    """A name and a text next to it, or below where the name is long."""
    column = min(NAMES_WIDTH, width // 2)
    room = max(width - column - INDENT, 10)
    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    first = f"  {name}"
    if len(first) > column:
        return [first, *(f"{' ' * column}  {part}" for part in parts)]
    return [f"{first:{column}}  {parts[0]}", *(f"{' ' * column}  {part}" for part in parts[1:])]


def _grouped(found: list[Finding], findings: Findings, width: int) -> list[str]:
    shown = []
    for keys, one in groups(found, findings):
        whole = (key.replace(" ", _FIXED) for key in keys)
        shown += [line.replace(_FIXED, " ") for line in _wrapped(", ".join(whole), width, 2)]
        if one.ours:
            shown += _wrapped(printable(f"{one.ours} = {one.value}"), width, INDENT)
        shown += _wrapped(printable(one.why), width, INDENT)
    return shown


def groups(found: Iterable[Finding], findings: Findings) -> list[tuple[list[str], Finding]]:
    """Keys that share a counterpart and a reason, and the first of them."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for one in found:
        alike.setdefault((one.ours, one.value, one.why), []).append(one)
    sizes = Counter(key.part for key in findings.keys)
    return [(_names(ones, sizes), ones[0]) for ones in alike.values()]


def _names(found: list[Finding], sizes: Mapping[str, int]) -> list[str]:
    """The names of keys; a part that is here with all its keys is named alone."""
    parts: dict[str, list[Finding]] = {}
    for one in found:
        parts.setdefault(one.key.part, []).append(one)
    told = []
    for part, ones in parts.items():
        if part and len(ones) == sizes[part] >= WHOLE_PART:
            told.append(f"{printable(part)} ({len(ones)} keys)")
        else:
            told += [printable(one.key.full) for one in ones]
    return told


def _chosen(found: list[Choice], width: int) -> list[str]:
    shown = []
    for one in found:
        shown += _wrapped(printable(f"{one.ours} = {one.value}"), width, 2)
        shown += _wrapped(printable(one.why), width, INDENT)
    return shown


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    blank = " " * indent
    return textwrap.wrap(
        text, max(width, 20), initial_indent=blank, subsequent_indent=blank,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def printable(text: str) -> str:
    """Text without signs that steer a terminal or end a comment."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
