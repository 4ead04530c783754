"""A report as one page that needs nothing else: tables, and charts of the latencies."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from flashgc import balance, blame, charts, cliff, converted, floor, heads, summary, units
from flashgc.charts import latency
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
figure { margin: 0; }
.names { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; }
@media (max-width: 30rem) {
  body { padding: 0 .6rem; }
  th, td { padding: .2rem .3rem; font-size: .85rem; }
  table.facts td:first-child { white-space: normal; }
}
"""
STYLE += blame.STYLE + charts.style()


def whole(reports: Sequence[RunResults]) -> str:
    """The page."""
    title = "flashgc: " + ", ".join(report.scheme for report in reports)
    return document(title, fragment(reports), "".join(details(report) for report in reports))


def document(title: str, body: str, after: str) -> str:
    """A page with this title, content, and details below it."""
    whole = f"{body}\n{after}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{charts.policy(whole)}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n{whole}\n{charts.scripts(whole)}"
        "</body></html>\n"
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
    notes = [note(text) for texts in told for text in texts]
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
    told = [fact for fact in summary.facts(report) if fact[0] not in _IN_HEAD]
    told += [("GC time", summary.gc_waits(report)),
             ("simulated", units.time(report.simulated_ns))]  # fmt: skip
    return [
        latency_charts([report]),
        wide(table(summary.latency(report))),
        blame.section([report]),
        table([["", ""], *map(list, told)], "facts"),
        *([wide(table(seeds))] if (seeds := summary.seeds(report)) else []),
    ]


_IN_HEAD = ("drive", "simulated", "GC time")
"""Facts that the head of the page has already, or the table of times, in whole or in part."""


def _several(several: ComparedResults[Run]) -> list[str]:
    read = summary.over_seeds(several)
    inside = ComparedResults(balance.ordered(several))
    return [
        latency_charts(several), *([] if read is None else [f"<p>{read}</p>"]), *tables(several),
        blame.section(inside),
    ]  # fmt: skip


def latency_charts(several: Sequence[RunResults]) -> str:
    """The distribution of latencies, a curve for each scheme: reads, then writes."""
    drawn = latency.distributions([(report.scheme, report) for report in several])
    return charts.legends(drawn) + charts.figures(drawn)


def tables(several: ComparedResults[Run]) -> list[str]:
    """All metrics of several schemes, a row for each, so that any number of them fits."""
    found = []
    inside = ComparedResults(balance.ordered(several))
    for kind in KINDS[:2]:
        rows = summary.latencies(inside, kind)
        if len(rows) > 1:
            found += [f"<h2>Latency of {kind}s</h2>", wide(table(rows))]
    head, *body = summary.work(inside)
    turned = zip(head, *balance.marks(inside), *body, strict=True)
    found += ["<h2>Work</h2>", wide(table(list(map(list, turned)), "heads"))]
    differences = summary.differences(several)
    if differences:
        rows = list(map(list, zip(*differences, strict=True)))
        found += ["<h2>Differences</h2>", wide(table(rows, "heads"))]
    price = floor.rows(inside)
    if price:
        rows = list(map(list, zip(*price, strict=True)))
        why = floor.note(inside)
        found += ["<h2>Price of collection</h2>", wide(table(rows, "heads")),
                  *([] if why is None else [f"<p>{why}</p>"])]  # fmt: skip
    return found


def wide(table: str) -> str:
    """A table that scrolls by itself where the screen is narrower."""
    return f'<div class="wide">{table}</div>'


def note(text: str) -> str:
    """An important note."""
    return f'<p class="note">{html.escape(text)}</p>'


def details(report: RunResults) -> str:
    """All metrics of a report, folded."""
    text = html.escape(json.dumps(report.to_dict(), indent=2))
    name = html.escape(str(report.scheme))
    return f"<details><summary>all metrics of {name}</summary><pre>{text}</pre></details>"
