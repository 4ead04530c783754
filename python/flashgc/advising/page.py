"""The page of `advise`: its tables, the parts of the latencies, and the runs behind it."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from flashgc.advising import words
from flashgc.formatting.markup import table
from flashgc.pages import page, provenance
from flashgc.results import blame, metrics
from flashgc.results.metrics import ComparedResults, Run


def whole(advice: Mapping[str, Any], reports: ComparedResults[Run]) -> str:
    """The page."""
    return page.document(
        f"flashgc: advice on {advice['device']}", fragment(advice, reports),
        "".join(page.details(report.scheme, report) for report in reports),
    )  # fmt: skip


def fragment(
    advice: Mapping[str, Any], reports: ComparedResults[Run], *, drawn: bool = True
) -> str:
    """The advice, its tables, then the long runs; without charts it is that of a notebook."""
    first = reports[0]
    again = metrics.again(first)
    parts = [
        *(f"<p><strong>{html.escape(text)}</strong></p>" for text in advice["advice"]),
        *_tables(advice),
        page.latency_charts(reports) if drawn else "",
        blame.section([first]),
        "<h2>Confidence</h2>", f"<p>{html.escape(words.about(advice))}</p>",
        *(page.note(text) for text in advice["warnings"]),
        *_others(advice),
        "<h2>More</h2>",
        *(f'<pre class="again">{html.escape(one)}</pre>' for one in advice["commands"]),
        "<h2>The long runs</h2>", provenance.drawn(provenance.facts(first), again),
        *page.tables(reports),
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def _tables(advice: Mapping[str, Any]) -> list[str]:
    found = [
        ("What collection costs", words.collection(advice), ""),
        ("The best schemes", words.best(advice), ""),
        ("Schemes", words.schemes(advice), "heads"),
        ("Latencies without GC cost", words.costs(advice), "heads"),
    ]
    parts = [
        f"<h2>{title}</h2>{page.wide(table(rows, kind))}" for title, rows, kind in found if rows
    ]
    prices = words.prices(advice)
    if prices:
        over = html.escape(f"Changes over {advice['scheme']}")
        parts.append(f"<h2>{over}</h2>{table([['', ''], *map(list, prices)], 'facts')}")
    return parts


def _others(advice: Mapping[str, Any]) -> list[str]:
    found = words.others(advice)
    if not found:
        return []
    return ["<h2>Schemes without long runs</h2>", table([["", ""], *map(list, found)], "facts")]
