"""Markdown as hosts of repositories read it, into Markdown as MkDocs reads it.

Three things differ: a list or a table may follow a line of text at once, a fence may have a name
that is not a language, and words in angle brackets are text.
"""

from __future__ import annotations

import re

FENCE = re.compile(r"^```(.*)$")
ITEM = re.compile(r"^(?:[-*+]|\d+\.) ")
LANGUAGES = {"sh", "python", "toml", "rust", "json", "text", "console"}
SECTIONS = ("#", "|", ">", "```")


def opened(words: str) -> str:
    """The first line of a fence. A name that is not a language becomes a title above the block."""
    first, _, rest = words.strip().partition(" ")
    if not words.strip():
        return "```text"
    if first in LANGUAGES:
        return f"```{first}" + (f' title="{rest}"' if rest else "")
    return f'```text title="{words.strip()}"'


def needs_space(line: str, before: str) -> bool:
    """Whether a blank line must come between these two, neither of which begins a list."""
    if not before.strip():
        return False
    if line.startswith("|"):
        return not before.startswith("|")
    return before.startswith(("#", "```"))


def for_site(text: str) -> str:
    """The same page with blank lines where MkDocs needs them, and fences that it supports."""
    lines: list[str] = []
    fenced, item = False, False
    for line in text.splitlines():
        fence = FENCE.match(line)
        before = lines[-1] if lines else ""
        if fenced:
            fenced = fence is None
            lines.append(line)
            continue
        if ITEM.match(line):
            # The further lines of an item of a list need not be indented.
            if not item and before.strip():
                lines.append("")
            item = True
        elif not line.strip() or line.startswith(SECTIONS):
            item = False
        if fence:
            if before.strip():
                lines.append("")
            fenced = True
        elif not ITEM.match(line) and needs_space(line, before):
            lines.append("")
        lines.append(opened(fence.group(1)) if fence else line)
    return "\n".join(lines) + "\n"
