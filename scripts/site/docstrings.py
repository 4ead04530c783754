"""An extension of griffe: docstrings of the package, as Markdown for the site.

Docstrings name other objects by Sphinx roles, as Python's `help` shows them well, and their examples
are doctests without a heading.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|attr|meth|data|mod|exc):`([^`]+)`")
DOCTEST = re.compile(r"(?:^[ ]*>>> .*\n?(?:^[ ]*\S.*\n?)*\n*)+", re.MULTILINE)


def linked(text: str, module: str) -> str:
    """Roles, as links where the name is one that the site shows, else as code."""

    def link(match: re.Match[str]) -> str:
        name = match.group(1)
        if name.startswith("flashgc."):
            return f"[`{name}`][{name}]"
        if module in {"flashgc.drive", "flashgc.trace"}:
            return f"[`{name}`][{module}.{name}]"
        return f"[`{name}`][flashgc.{name}]"

    return ROLE.sub(link, text)


def fenced(text: str) -> str:
    """Doctests, each in a fence."""
    return DOCTEST.sub(lambda match: f"```pycon\n{match.group(0).rstrip()}\n```\n\n", text)


class Docstrings(griffe.Extension):
    """Rewrites each docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: ANN401 - of griffe
        """Called once an object of the package has been read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(linked(obj.docstring.value, obj.module.path))
