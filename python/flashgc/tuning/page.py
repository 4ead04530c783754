"""The page of a search: the front as a figure, the chosen configuration, the check."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

from flashgc import charts
from flashgc.formatting.markup import table
from flashgc.pages import page
from flashgc.tuning import figure, words


def whole(found: Mapping[str, Any]) -> str:
    """The page."""
    text = html.escape(json.dumps(found, indent=2))
    after = f"<details><summary>all keys of the search</summary><pre>{text}</pre></details>"
    return page.document(f"flashgc: search {found['name']}", fragment(found), after)


def fragment(found: Mapping[str, Any], *, drawn: bool = True) -> str:
    """The result, its figure and its tables; without the figure it is that of a notebook."""
    parts = [
        f"<p><strong>{html.escape(words.verdict(found))}</strong></p>",
        f"<p>{html.escape(words.head(found))}</p>",
        *(page.note(text) for text in found["warnings"]),
        "<h2>The front</h2>",
        charts.figures(figure.charts(found)) if drawn else "",
        page.wide(table(words.points(found))),
        "<h2>The chosen configuration</h2>",
        table([["", ""], *map(list, words.chosen(found))], "facts"),
        *(f'<pre class="again">{html.escape(one)}</pre>' for one in found["commands"]),
        *_titled("Parameters that mattered", words.parameters(found)),
        *_titled("Check on unseen samples", words.check(found, intervals=True)),
        f"<p>{html.escape(words.about(found))}</p>",
    ]
    return "\n".join(parts)


def _titled(title: str, rows: words.Rows) -> list[str]:
    return [f"<h2>{title}</h2>", page.wide(table(rows, "heads"))] if rows else []
