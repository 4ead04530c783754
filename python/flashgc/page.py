"""A report as one page that needs nothing else: tables, and charts of the latencies."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from flashgc import chart, cliff, summary
from flashgc.markup import table
from flashgc.report import KINDS, Comparison, Report

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .8rem; border-bottom: 1px solid #8884; text-align: right; }
th:first-child, td:first-child { text-align: left; }
table.facts td { text-align: left; }
.note { border-left: 3px solid #c2410c; padding-left: .8rem; }
.wide { overflow-x: auto; }
.wide th, .wide td { white-space: nowrap; }
pre { overflow-x: auto; font-size: 12px; }
svg { max-width: 100%; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr)); gap: 1rem; }
.charts figure { margin: 0; }
.charts svg { width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { svg text { fill: #bbb; } }
"""


def whole(reports: Sequence[Report]) -> str:
    """The page."""
    title = "flashgc: " + ", ".join(report.scheme for report in reports)
    body = fragment(reports)
    details = "".join(_details(report) for report in reports)
    version = html.escape(str(reports[0].version))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n{body}\n{details}\n"
        f"<p>flashgc {version}</p></body></html>\n"
    )


def fragment(reports: Sequence[Report]) -> str:
    """The tables and the chart, for a page or a notebook."""
    if len(reports) == 1:
        return _one(reports[0])
    several = Comparison(reports)
    curves = [(report.scheme, chart.percentiles(report, "all")) for report in several]
    parts = [f"<p>{html.escape(_same(several))}</p>", _drawn(curves, "Latency of all requests")]
    parts.append(f'<div class="wide">{table(summary.comparison(several))}</div>')
    for report in several:
        parts += [_note(f"{report.scheme}: {text}") for text in summary.warnings(report)]
    return "\n".join([*parts, cliff.section(reports)])


def _one(report: Report) -> str:
    kinds = [kind for kind in KINDS[:2] if report.latency_ns[kind]["count"]]
    curves = [(f"{kind}s", chart.percentiles(report, kind)) for kind in kinds]
    parts = [f"<p>{html.escape(summary.head(report))}</p>"]
    parts += [_note(text) for text in summary.warnings(report)]
    parts += [_drawn(curves, "Latency of reads and writes"), table(summary.latency(report))]
    parts.append(
        table([["", ""], *([name, text] for name, text in summary.facts(report))], "facts")
    )
    seeds = summary.seeds(report)
    if seeds:
        parts.append(table(seeds))
    return "\n".join([*parts, cliff.section([report])])


def _same(several: Comparison) -> str:
    first = several[0]
    exported = "" if several.unequal else ", all with the same space and the same preconditioning"
    return f"device {first.device}, seed {first.seed}, identical requests{exported}"


def _drawn(curves: Sequence[tuple[str, chart.Points]], title: str) -> str:
    drawn = chart.draw(curves, title)
    return f"<figure>{drawn}<figcaption>{title}</figcaption></figure>" if drawn else ""


def _note(text: str) -> str:
    return f'<p class="note">{html.escape(text)}</p>'


def _details(report: Report) -> str:
    text = html.escape(json.dumps(report.to_dict(), indent=2))
    name = html.escape(str(report.scheme))
    return f"<details><summary>all figures of {name}</summary><pre>{text}</pre></details>"
