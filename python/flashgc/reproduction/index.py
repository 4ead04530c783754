"""The page with links to all papers: failures, verdicts by paper and evidence."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from flashgc import charts
from flashgc.charts import Chart, theme
from flashgc.formatting import units
from flashgc.formatting.markup import table
from flashgc.pages import page as pages
from flashgc.pages import provenance
from flashgc.reproduction import headline, marks
from flashgc.reproduction import page as one_page
from flashgc.reproduction.pairs import COLOURS
from flashgc.reproduction.verdict import VERDICTS, counted

if TYPE_CHECKING:
    from flashgc.reproduction.reproduced import Reproductions

_TITLE = "Reproduced papers"


def whole(found: Reproductions) -> str:
    """The page."""
    quick = any(one.made.quick for one in found.papers.values())
    parts = [f"<style>{one_page.style()}</style>", *([pages.note(one_page.QUICK)] if quick else []),
             *_failing(found)]  # fmt: skip
    if found.papers:
        drawn = charts.figures([_chart(found)])
        parts += ["<h2>Verdicts by paper</h2>", charts.OFF, drawn, _papers(found),
                  "<h2>Verdicts by evidence</h2>",
                  pages.wide(table(found.evidence_rows(), "heads"))]  # fmt: skip
    return pages.document(_TITLE, "\n".join([*parts, provenance.command(found.again)]), "")


def _failing(found: Reproductions) -> list[str]:
    """Papers that could not be reproduced, and claims that fail."""
    parts = [pages.note(f"{name}: {text.removeprefix('error: ')}")
             for name, text in found.errors.items()]  # fmt: skip
    lines = []
    for name, one in found.papers.items():
        link = f'<a href="{html.escape(name)}/{html.escape(one.page)}">{html.escape(name)}</a>'
        for claim in one.failed:
            told = f"{claim['place']}, {claim['what']} ({claim['verdict']})"
            lines.append(f"<li>{link}: {html.escape(told)}</li>")
    if lines:
        claims = units.counted(len(lines), "claim fails", "claims fail")
        return [*parts, f"<h2>{claims}</h2>", f'<ul class="missed">{"".join(lines)}</ul>']
    return [*parts, '<p class="summary">No claim fails.</p>'] if found.papers else parts


def _papers(found: Reproductions) -> str:
    """A line for each paper, which leads to its page."""
    items = []
    for name, one in found.papers.items():
        link = f"{html.escape(name)}/{html.escape(one.page)}"
        solid = headline.solid(one.verdicts)
        items.append(
            f'<li><a href="{link}">{html.escape(name)}</a>: {html.escape(one.title)}. '
            f"{html.escape(one.summary)} On evidence better than an unfitted workload "
            f"{solid} met or predicted. {units.counted(one.runs, 'run')}.</li>"
        )
    return f'<ul class="story">{"".join(items)}</ul>{pages.wide(table(found.rows(), "heads"))}'


def _chart(found: Reproductions) -> Chart:
    """A bar for each paper, in parts by verdict."""
    rows = []
    for name, one in found.papers.items():
        counts = counted(one.verdicts)
        rows += [(name, word, counts[word]) for word in VERDICTS if counts[word]]
    used = [word for word in VERDICTS if any(row[1] == word for row in rows)]
    spec = {
        "transform": [{"calculate": f"indexof({used}, datum.verdict)", "as": "place"}],
        "mark": {"type": "bar", "height": {"band": 0.7}},
        "encoding": {
            "x": {"field": "claims", "type": "quantitative", "stack": "zero",
                  "axis": {"title": "claims", "tickCount": 5}},
            "y": {"field": "paper", "type": "nominal", "sort": list(found.papers),
                  "axis": theme.names_axis()},
            "color": {"field": "verdict", "type": "nominal", "title": None,
                      "scale": {"domain": used, "range": [COLOURS[word] for word in used]},
                      "legend": {**theme.parts_legend(), "columns": 2}},
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": theme.tooltip({"paper": "paper", "verdict": "verdict", "claims": "claims"}),
        },
    }  # fmt: skip
    told = "; ".join(f"{name}: {word} {count}" for name, word, count in rows)
    return Chart("verdicts", "Claims by verdict", spec,
                 marks.columns(("paper", "verdict", "claims"), rows), told,
                 height=max(34 * len(found.papers), 40), wide=True)  # fmt: skip
