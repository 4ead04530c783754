"""A report as one page that needs nothing else: tables, and charts of the latencies."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from flashgc import balance, blame, chart, cliff, converted, floor, heads, summary, units
from flashgc.markup import table
from flashgc.results import KINDS, ComparedResults, Run, RunResults

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
.wide .heads th { white-space: normal; vertical-align: bottom; min-width: 4.5rem; }
pre { overflow-x: auto; font-size: 12px; }
.wide th:first-child, .wide td:first-child { position: sticky; left: 0; background: Canvas; }
table.facts td:first-child { white-space: nowrap; vertical-align: top; }
table.facts td:last-child { overflow-wrap: anywhere; }
p.again { margin-bottom: 0; }
pre.again { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #8884;
  padding-left: .8rem; margin-top: .2rem; }
svg { max-width: 100%; }
.charts { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)); }
figure { margin: 0; }
.charts svg { width: 100%; height: auto; }
.names { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; }
.names svg { vertical-align: middle; margin-right: .4rem; }
@media (max-width: 30rem) {
  body { padding: 0 .6rem; }
  th, td { padding: .2rem .3rem; font-size: .85rem; }
  table.facts td:first-child { white-space: normal; }
}
@media (prefers-color-scheme: dark) { svg text { fill: #bbb; } }
"""
STYLE += blame.STYLE


def whole(reports: Sequence[RunResults]) -> str:
    """The page."""
    title = "flashgc: " + ", ".join(report.scheme for report in reports)
    body = fragment(reports)
    details = "".join(_details(report) for report in reports)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n{body}\n{details}\n</body></html>\n"
    )


def fragment(reports: Sequence[RunResults]) -> str:
    """The head, the charts and the tables, for a page or a notebook."""
    refused = reports.refused if isinstance(reports, ComparedResults) else []
    told = [summary.refused(refused)]
    if len(reports) == 1:
        told.append([*balance.first(reports[0]), *summary.warnings(reports[0])])
        parts = _one(reports[0])
    else:
        several = reports if isinstance(reports, ComparedResults) else ComparedResults(reports)
        unfit = balance.warning(several)
        told.insert(0, [] if unfit is None else [unfit])
        for one in several:
            texts = (*balance.first(one), *summary.warnings(one))
            told.append([f"{one.scheme}: {text}" for text in texts])
        parts = _several(several)
    told.append(converted.told(reports[0]))
    notes = [_note(text) for texts in told for text in texts]
    return "\n".join([*_head(reports), *notes, *parts, cliff.section(reports)])


def _head(reports: Sequence[RunResults]) -> list[str]:
    """The common properties of all runs; differences are in marked rows of the comparison."""
    first = reports[0]
    head = heads.drawn(heads.facts(first), first._origin.again if first._origin else None)
    if len(reports) == 1:
        return [head]
    alike = isinstance(reports, ComparedResults) and not reports.unequal
    shared = "the same requests" + (", space and preconditioning" if alike else "")
    return [f"<p>{len(reports)} schemes with {shared}</p>", head]


def _one(report: RunResults) -> list[str]:
    kinds = [kind for kind in KINDS[:2] if report.latency_ns[kind]["count"]]
    curves = [(f"{kind}s", chart.percentiles(report, kind)) for kind in kinds]
    told = [fact for fact in summary.facts(report) if fact[0] not in _IN_HEAD]
    told += [("GC time", summary.gc_waits(report)),
             ("simulated", units.time(report.simulated_ns))]  # fmt: skip
    return [
        _charts([("Latency of reads and writes", curves)]),
        _wide(table(summary.latency(report))),
        blame.section([report]),
        table([["", ""], *map(list, told)], "facts"),
        *([_wide(table(seeds))] if (seeds := summary.seeds(report)) else []),
    ]


_IN_HEAD = ("drive", "simulated", "GC time")
"""Facts that the head of the page has already, or the table of times, in whole or in part."""


def _several(several: ComparedResults[Run]) -> list[str]:
    drawn = []
    for kind in KINDS[:2]:
        if any(report.latency_ns[kind]["count"] for report in several):
            curves = [(report.scheme, chart.percentiles(report, kind)) for report in several]
            drawn.append((f"Latency of {kind}s", curves))
    tables = []
    for kind in KINDS[:2]:
        rows = summary.latencies(balance.ordered(several), kind)
        if len(rows) > 1:
            tables += [f"<h2>Latency of {kind}s</h2>", _wide(table(rows))]
    # A row for each scheme, so that any number of them fits.
    inside = ComparedResults(balance.ordered(several))
    head, *body = summary.work(inside)
    turned = zip(head, *balance.marks(inside), *body, strict=True)
    tables += ["<h2>Work</h2>", _wide(table(list(map(list, turned)), "heads"))]
    differences = summary.differences(several)
    if differences:
        rows = list(map(list, zip(*differences, strict=True)))
        tables += ["<h2>Differences</h2>", _wide(table(rows, "heads"))]
    price = floor.rows(inside)
    if price:
        rows = list(map(list, zip(*price, strict=True)))
        why = floor.note(inside)
        tables += ["<h2>Price of collection</h2>", _wide(table(rows, "heads")),
                   *([] if why is None else [f"<p>{why}</p>"])]  # fmt: skip
    read = summary.over_seeds(several)
    split = blame.section(inside)
    return [_charts(drawn), *([] if read is None else [f"<p>{read}</p>"]), *tables, split]


def _charts(charts: Sequence[tuple[str, Sequence[tuple[str, chart.Points]]]]) -> str:
    """Charts next to each other where there is room, below names that they share."""
    drawn = [(title, chart.draw(curves, title)) for title, curves in charts]
    figures = [
        f"<figure><figcaption>{title}</figcaption>{picture}</figure>"
        for title, picture in drawn
        if picture
    ]
    if not figures:
        return ""
    names = chart.names([name for name, _ in charts[0][1]])
    return f'{names}<div class="charts">{"".join(figures)}</div>'


def _wide(table: str) -> str:
    return f'<div class="wide">{table}</div>'


def _note(text: str) -> str:
    return f'<p class="note">{html.escape(text)}</p>'


def _details(report: RunResults) -> str:
    text = html.escape(json.dumps(report.to_dict(), indent=2))
    name = html.escape(str(report.scheme))
    return f"<details><summary>all metrics of {name}</summary><pre>{text}</pre></details>"
