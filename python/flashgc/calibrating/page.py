"""The page of a calibration: collectors, numbers, and each point next to its measured one."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

from flashgc import charts
from flashgc.calibrating import figure, words
from flashgc.formatting.markup import table
from flashgc.pages import page


def whole(found: Mapping[str, Any]) -> str:
    """The page."""
    text = html.escape(json.dumps(found, indent=2))
    after = f"<details><summary>all keys of the calibration</summary><pre>{text}</pre></details>"
    return page.document(f"flashgc: calibration of {found['device']}", fragment(found), after)


def fragment(found: Mapping[str, Any], *, drawn: bool = True) -> str:
    """The result, its figures and its tables; without the figures it is that of a notebook."""
    *kinds, profiles = figure.charts(found)
    of_numbers, of_errors = map(charts.figures, ([profiles], kinds) if drawn else ([], []))
    further, rest = words.further(found), words.others(found)
    parts = [
        f"<p><strong>{html.escape(words.verdict(found))}</strong></p>",
        f"<p>{html.escape(words.head(found))}</p>", f"<p>{html.escape(words.about(found))}</p>",
        *(page.note(text) for text in found["warnings"]),
        "<h2>Collectors</h2>", table(words.candidates(found), "facts"),
        *([f"<p>{html.escape(rest)}</p>"] if rest else []),
        *([f"<p>{html.escape(further)}</p>"] if further else []),
        "<h2>Numbers</h2>", page.wide(table(words.fitted(found))), of_numbers,
        "<h2>Errors</h2>", page.wide(table(words.errors(found), "heads")), of_errors,
        "<h2>Points</h2>", page.wide(table(words.points(found))),
        "<h2>Files</h2>", f"<pre>{html.escape(found['device_toml'])}</pre>",
        f"<pre>{html.escape(found['scheme_toml'])}</pre>",
        *(f'<pre class="again">{html.escape(one)}</pre>' for one in found["commands"]),
    ]  # fmt: skip
    return "\n".join(parts)
