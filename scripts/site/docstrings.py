"""An extension of griffe: docstrings of the package, as Markdown for the site.

Docstrings name other objects by Sphinx roles, which Python's `help` shows well, and their examples
are doctests without a heading.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).resolve().parent))
import reference

OFFERED = reference.offered(Path(__file__).resolve().parents[2] / "python" / "flashgc")

ROLE = re.compile(r":(?:func|class|attr|meth|data|mod|exc):`([^`]+)`")
DOCTEST = re.compile(r"(?:^[ ]*>>> .*\n?(?:^[ ]*\S.*\n?)*\n*)+", re.MULTILINE)


def target(name: str, obj: griffe.Object) -> str | None:
    """The place on the site of the name in a role, seen from this object; None if there is none."""
    bare = name.removeprefix("flashgc.")
    owner = obj if obj.is_class else obj.parent
    if owner is not None and owner.is_class and bare in owner.members:
        return f"flashgc.{owner.name}.{bare}" if owner.name in OFFERED else None
    if obj.module.path in {f"flashgc.{module}" for module in reference.MODULES} \
            and bare in obj.module.members:  # fmt: skip
        return f"{obj.module.path}.{bare}"
    return f"flashgc.{bare}" if bare.split(".")[0] in OFFERED else None


def linked(text: str, obj: griffe.Object) -> str:
    """Roles, as links where the name is one that the site shows, else as code."""

    def link(match: re.Match[str]) -> str:
        name = match.group(1)
        place = target(name, obj)
        return f"`{name}`" if place is None else f"[`{name}`][{place}]"

    return ROLE.sub(link, text)


def fenced(text: str) -> str:
    """Doctests, each in a fence."""
    return DOCTEST.sub(lambda match: f"```pycon\n{match.group(0).rstrip()}\n```\n\n", text)


class Docstrings(griffe.Extension):
    """Rewrites each docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: ANN401 - of griffe
        """Called once an object of the package has been read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(linked(obj.docstring.value, obj))
