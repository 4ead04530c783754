"""Markdown as hosts of repositories read it, into Markdown as MkDocs reads it.

Three things differ: a list or a table may follow a line of text at once, a fence may have a name
that is not a language, and words in angle brackets are text. In tables, which are wide, a number
stays with its unit and an option of a command is not broken.
"""

from __future__ import annotations

import re

FENCE = re.compile(r"^```(.*)$")
ITEM = re.compile(r"^(?:[-*+]|\d+\.) ")
LANGUAGES = {"sh", "shell", "python", "toml", "rust", "json", "text", "console"}
SECTIONS = ("#", "|", ">", "```")

UNIT = re.compile(r"(?<=\d) (?=(?:ns|us|ms|s|%|B|[KMGT]iB)(?:[ ,.;:)]|$))")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def opened(words: str) -> str:
    """The first line of a fence. A name that is not a language becomes a title above the block."""
    first, _, rest = words.strip().partition(" ")
    if not words.strip():
        return "```text"
    if first in LANGUAGES:
        return f"```{first}" + (f' title="{rest}"' if rest else "")
    return f'```text title="{words.strip()}"'


def unbroken(row: str) -> str:
    """A row of a table with its numbers beside their units, and whole options; code stays."""
    parts = row.split("`")
    for at in range(0, len(parts), 2):
        text = UNIT.sub("&nbsp;", parts[at])
        parts[at] = OPTION.sub(r'<span class="whole">\g<0></span>', text)
    return "`".join(parts)


def needs_space(line: str, before: str) -> bool:
    """Whether a blank line must come between these two, neither of which begins a list."""
    if not before.strip():
        return False
    if line.startswith("|"):
        return not before.startswith("|")
    return before.startswith(("#", "```"))


def for_site(text: str) -> str:
    """The page with blank lines where MkDocs needs them, and fences that it supports."""
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
        row = unbroken(line) if line.startswith("|") else line
        lines.append(opened(fence.group(1)) if fence else row)
    return "\n".join(lines) + "\n"
