"""Charts within a page that needs nothing else: the figures, the legend, and the scripts."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources

from flashgc.charts import multiples, theme
from flashgc.charts.chart import Chart

_MARK = '<figure class="chart'
_EXPLORER = '<section class="explorer"'
OFF = (
    "<noscript><p>The charts need JavaScript, which is switched off. "
    "The tables of this page do not.</p></noscript>"
)
"""The text of a page in place of its charts where scripts are off."""


def figures(several: Sequence[Chart]) -> str:
    """The charts as HTML, next to each other where there is room."""
    if not several:
        return ""
    return f'<div class="charts">{"".join(map(_figure, several))}</div>'


def _figure(chart: Chart) -> str:
    kept = {
        "name": chart.name, "spec": chart.specification(), "columns": chart.columns,
        "series": chart.series, "names": list(chart.names), "linked": list(chart.linked),
    }  # fmt: skip
    note = f'<p class="about">{html.escape(chart.note)}</p>' if chart.note else ""
    return (
        f'{_MARK}{" whole" if chart.wide else ""}" id="chart-{chart.name}">'
        f"<figcaption>{html.escape(chart.title)}</figcaption>"
        f'<div class="plot" role="img" aria-label="{html.escape(chart.text)}" '
        f'style="min-height:{chart.height + 50}px"></div>{note}'
        f'<script type="application/json">{_json(kept)}</script></figure>\n'
    )


def _json(value: object) -> str:
    """JSON that no tag can end."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def explorer(chart: Chart, points: object) -> str:
    """Small multiples that the reader arranges, and a table: the page has the data of all points.

    `points` has their columns, and which of these are axes and metrics.
    """
    return (
        f'<section class="explorer"><div class="plot" role="img" '
        f'aria-label="{html.escape(chart.text)}" style="min-height:300px"></div>'
        f'<p class="about">{html.escape(chart.note)}</p>'
        f'<script type="application/json" class="points">{_json(points)}</script>'
        f'<script type="application/json" class="template">{_json(multiples.template())}</script>'
        "</section>"
    )


def legend(series: str, names: Sequence[str]) -> str:
    """The names of a series with their colours; each switches it in all charts of the page."""
    items = "".join(
        f'<button type="button" aria-pressed="true" value="{html.escape(name)}">'
        f'<i style="border-top-color:{theme.stroke(at)[0]};'
        f'border-top-style:{"solid" if at < len(theme.COLOURS) else "dashed"}"></i>'
        f"{html.escape(name)}</button>"
        for at, name in enumerate(names)
    )
    return (
        f'<div class="legend" role="group" aria-label="Show or hide" '
        f'data-series="{html.escape(series)}">{items}</div>'
    )


def legends(several: Sequence[Chart]) -> str:
    """A legend for each series of the charts, in the order in which they come."""
    found: dict[str, list[str]] = {}
    for chart in several:
        if chart.series:
            names = found.setdefault(chart.series, [])
            names += [name for name in chart.names if name not in names]
    return "".join(legend(series, names) for series, names in found.items() if len(names) > 1)


def style() -> str:
    """The style sheet of figures and legends."""
    return (resources.files("flashgc.charts") / "page.css").read_text("utf-8")


def scripts(body: str) -> str:
    """The scripts that draw the charts of a page; nothing where it has none."""
    used = _sources(body)
    if not used:
        return ""
    config = f'<script type="application/json" id="look">{_json(theme.screen())}</script>'
    return config + "".join(f"<script>{text}</script>" for text in used)


def policy(body: str) -> str:
    """The tag by which a browser runs these scripts alone, and sends no request whatever."""
    allowed = " ".join(f"'{_hash(text)}'" for text in _sources(body)) or "'none'"
    rules = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'


def _sources(body: str) -> list[str]:
    """The scripts that a page needs."""
    own = [name for mark, name in ((_MARK, "page.js"), (_EXPLORER, "sweep.js")) if mark in body]
    return [_source(name) for name in (["vega.js", *own] if own else [])]


@cache
def _source(name: str) -> str:
    return (resources.files("flashgc.charts") / name).read_text("utf-8")


@cache
def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
