"""Docstrings of the package as Markdown: their sections, the names in them, and their examples.

Docstrings name other objects by Sphinx roles, which Python's `help` shows well, and their examples
are doctests without a heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|attr|meth|data|mod|exc):`([^`]+)`")
MODULE = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
DOCTEST = re.compile(r"(?:^[ ]*>>> .*\n?(?:^[ ]*\S.*\n?)*\n*)+", re.MULTILINE)


def linked(text: str, address: Callable[[str], str | None]) -> str:
    """Roles, as links where the site has an address for the name, else as code."""

    def link(match: re.Match[str]) -> str:
        name = match.group(1)
        place = address(name)
        return f"`{name}`" if place is None else f"[`{name}`]({place})"

    return ROLE.sub(link, text)


def fenced(text: str) -> str:
    """Doctests, each in a fence."""
    return DOCTEST.sub(lambda match: f"```pycon\n{match.group(0).rstrip()}\n```\n\n", text)


def item(head: str, text: str) -> str:
    """An item of a list; its further lines are indented, so that they belong to it."""
    first, *rest = text.strip().splitlines() or [""]
    return "\n".join([f"- {head}: {first}", *(f"    {line}".rstrip() for line in rest)])


def kind(annotation: object) -> str:
    """A type as a reader needs it, without the modules of its names; "" where there is none."""
    return "" if annotation is None else MODULE.sub("", str(annotation))


def _parameters(found: list[Any]) -> str:
    rows = []
    for one in found:
        typed = f"`{kind(one.annotation)}`" if one.annotation is not None else ""
        default = f"default `{one.value}`" if one.value is not None else ""
        facts = ", ".join(filter(None, (typed, default)))
        rows.append(item(f"`{one.name}` ({facts})" if facts else f"`{one.name}`", one.description))
    return "\n".join(["**Parameters**", "", *rows])


def _typed(title: str, found: list[Any]) -> str:
    rows = [item(f"`{kind(one.annotation)}`", one.description) for one in found]
    return "\n".join([f"**{title}**", "", *rows])


def sections(docstring: griffe.Docstring) -> list[str]:
    """The parts of a docstring, each as Markdown without its links."""
    parts = []
    for section in docstring.parse("google", returns_multiple_items=False):
        if section.kind is griffe.DocstringSectionKind.text:
            parts.append(fenced(section.value).strip())
        elif section.kind is griffe.DocstringSectionKind.parameters:
            parts.append(_parameters(section.value))
        elif section.kind is griffe.DocstringSectionKind.returns:
            parts.append(_typed("Returns", section.value))
        elif section.kind is griffe.DocstringSectionKind.raises:
            parts.append(_typed("Raises", section.value))
        elif section.kind is griffe.DocstringSectionKind.admonition:
            title = section.title or section.value.kind.capitalize()
            parts.append(f"**{title}:** {section.value.contents.strip()}")
        else:
            name = docstring.parent.path if docstring.parent else ""
            raise LookupError(f"{name}: no Markdown is known for a section {section.kind.value}")
    return parts
