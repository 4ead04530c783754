"""Tables as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence


def wide(table: str, kind: str = "wide") -> str:
    """A table that scrolls by itself where the screen is narrower, by the keyboard too."""
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="Table">{table}</div>'


def table(rows: Sequence[Sequence[str]], kind: str = "", drawn: Sequence[str] = ()) -> str:
    """A table whose first row is its head; an empty head is omitted.

    `drawn` is a last column, of HTML.
    """
    name = f' class="{kind}"' if kind else ""
    lines = []
    for at, row in enumerate(rows):
        cell = "td" if at else "th"
        cells = "".join(f"<{cell}>{html.escape(text)}</{cell}>" for text in row)
        more = f"<{cell}>{drawn[at]}</{cell}>" if drawn else ""
        if at or any(row):
            lines.append(f"<tr>{cells}{more}</tr>")
    return f"<table{name}>{''.join(lines)}</table>"
