"""The page of an explanation: a bar of time for each request, above its lines."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from flashgc.explaining import words
from flashgc.explaining.lines import LEFT_OUT, Line, lines
from flashgc.formatting import units
from flashgc.formatting.markup import table, wide
from flashgc.pages import page, provenance
from flashgc.reports.report import Report
from flashgc.results import blame, metrics, summary


def whole(explanation: Mapping[str, Any], report: Report) -> str:
    """The page."""
    stories = len(explanation["stories"])
    every = units.counted(explanation["requests"], "request")
    title = f"flashgc: {stories} of {every} under {report.scheme}"
    return page.document(title, fragment(explanation, report), page.details(report.scheme, report))


def fragment(explanation: Mapping[str, Any], report: Report) -> str:
    """The stories, then the parts of all latencies, and the head of the run."""
    again = metrics.again(report)
    parts = [
        f"<style>{STYLE}</style>",
        f"<p>{html.escape(summary.head(report))}</p>",
        *([] if explanation["stories"] else [f"<p>{words.NOTHING}</p>"]),
        *(_story(story) for story in explanation["stories"]),
        blame.section([report]),
        "<h2>The run</h2>", provenance.drawn(provenance.facts(report), again),
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


COLOURS = {**blame.COLOURS, LEFT_OUT: "#8885"}
"""The colours of the lines."""

STYLE = """
.story { position: relative; height: 1.4rem; margin: .4rem 0; background: #8882; }
.story i { position: absolute; top: 0; height: 100%; min-width: 1px; }
.story b { position: absolute; top: -.2rem; height: 1.8rem; border-left: 2px solid; }
.lines td:last-child, .lines th:last-child { text-align: left; white-space: normal; }
"""


def _story(story: Mapping[str, Any]) -> str:
    found = lines(story)
    return (
        f"<h2>{html.escape(words.title(story))}</h2>"
        f"<p>{html.escape(words.about(story))}: {html.escape(words.split(story))}</p>"
        f"{blame.names(words.legend(found))}{_bar(found, story['latency_ns'])}{_grey(found)}"
        f"{wide(table(words.rows(story)), 'wide lines')}"
    )


def _grey(found: list[Line]) -> str:
    """What the grey part of the bar is, where there is one."""
    left_out = [line for line in found if line.kind == LEFT_OUT]
    if not left_out:
        return ""
    told = "; ".join(f"from {words.since(line.from_ns)}: {line.text}" for line in left_out)
    return f"<p>Grey, {html.escape(told)}</p>"


def _bar(found: list[Line], latency_ns: int) -> str:
    """The bar of time from the first line to the last; a stroke marks the arrival."""
    first = min((line.from_ns for line in found), default=0)
    whole_ns = max(latency_ns - first, 1)
    pieces = "".join(
        f'<i style="left:{100 * (line.from_ns - first) / whole_ns:.3f}%;'
        f"width:{100 * (line.to_ns - line.from_ns) / whole_ns:.3f}%;"
        f'background:{COLOURS[line.kind]}" title="{html.escape(_hint(line))}"></i>'
        for line in found
    )
    mark = f'<b style="left:{100 * -first / whole_ns:.3f}%" title="arrival"></b>'
    return f'<div class="story">{pieces}{mark}</div>'


def _hint(line: Line) -> str:
    return f"{words.since(line.from_ns)} to {words.since(line.to_ns)}: {line.text}"
