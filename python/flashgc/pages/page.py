"""A report as one page that needs nothing else: tables, and charts of the latencies."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from flashgc import charts
from flashgc.charts import activity, course, latency
from flashgc.charts.latency import Named
from flashgc.formatting import markup, units
from flashgc.formatting.markup import table
from flashgc.pages import provenance
from flashgc.results import (
    blame,
    compared,
    conversion_notes,
    gc_cost,
    metrics,
    run_facts,
    steady_state,
    summary,
)
from flashgc.results.metrics import (
    KINDS,
    ComparedResults,
    Run,
    RunResults,
    drive_writes,
    found_at,
    lengths_differ,
    unique,
)

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .8rem; border-bottom: 1px solid #8884; text-align: right; }
th:first-child, td:first-child { text-align: left; }
table.differing td, table.differing th { text-align: left; min-width: 9rem;
  white-space: normal !important; }
table.facts td { text-align: left; }
.note { border-left: 3px solid #c2410c; padding-left: .8rem; }
.wide { overflow-x: auto; max-width: 100%; width: fit-content; }
.wide:focus-visible { outline: 2px solid #0072b2; outline-offset: 2px; }
.wide th, .wide td { white-space: nowrap; }
.wide .heads th { white-space: normal; vertical-align: bottom; }
.wide .heads th, .wide .heads td { padding: .2rem .45rem; }
.drawn { max-width: 72rem; }
pre { overflow-x: auto; font-size: 12px; }
.wide th:first-child, .wide td:first-child { position: sticky; left: 0; background: Canvas; }
table.facts td:first-child { white-space: nowrap; vertical-align: top; }
table.facts td:last-child { overflow-wrap: anywhere; }
p.again { margin-bottom: 0; }
pre.again { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #8884;
  padding-left: .8rem; margin-top: .2rem; }
figure { margin: 0; }
p { max-width: 60rem; }
h4 { margin: 1.5rem 0 0; }
.names { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; }
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; margin: 0; padding: 0; font-size: 11px; }
  .wide { overflow: visible; width: auto; }
  .wide th, .wide td { white-space: normal; padding: .1rem .3rem; font-size: .85em; }
  .wide th:first-child, .wide td:first-child { position: static; }
  h2, h3 { break-after: avoid; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
@media (max-width: 30rem) {
  body { padding: 0 .6rem; }
  th, td { padding: .2rem .3rem; font-size: .85rem; }
  table.facts td:first-child { white-space: normal; }
}
"""
STYLE += blame.STYLE + charts.style()


def whole(reports: Sequence[RunResults], again: str | None = None) -> str:
    """The page of reports; `again` is the command that makes it, if they come from several."""
    several = named(reports)
    title = "flashgc: " + ", ".join(name for name, _ in several)
    body = fragment(reports, _drawn(several), again)
    return document(title, body, "".join(details(name, report) for name, report in several))


def named(reports: Sequence[RunResults]) -> Named:
    """The reports, each with its name in the charts."""
    return list(zip(unique([report.scheme for report in reports]), reports, strict=True))


def drawings(several: Named) -> list[tuple[str, list[charts.Chart]]]:
    """All charts of some runs, below the title of their section."""
    timed = [(name, report) for name, report in several if report.is_timed]
    if not timed:
        return []
    over_time, space, moves = course.drawn(timed)
    sections = [
        ("Latency", [*latency.distributions(timed), *latency.percentiles(timed)]),
        ("Over time", [*over_time, *space]),
        ("Collection", [activity.chart(timed), *moves]),
    ]
    return [(title, drawn) for title, drawn in sections if drawn]


def _drawn(several: Named) -> str:
    """The charts as HTML, below the legend that switches runs on and off."""
    sections = drawings(several)
    parts = [f"<h2>{title}</h2>{charts.figures(drawn)}" for title, drawn in sections]
    legends = charts.legends([chart for _, drawn in sections for chart in drawn])
    watched = any(report.over_time is not None for _, report in several)
    more = "" if watched else f"<p>{html.escape(_MORE)}</p>"
    how = f'<p class="how">{_HOW}</p>'
    return f'<section class="drawn">{legends}{charts.OFF}{"".join(parts)}{more}{how}</section>'


_MORE = (
    "--over-time (over_time=True in Python) adds response times, space and collections over time."
)
_HOW = (
    "Hover for values, drag to pan, Ctrl+wheel or pinch to zoom, double-click to reset. Click a "
    "name to hide it, double-click it to show it alone."
)


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


def fragment(reports: Sequence[RunResults], drawn: str = "", again: str | None = None) -> str:
    """The head, the metrics, the charts and the details.

    Without the charts it is that of a notebook.
    """
    refused = reports.refused if isinstance(reports, ComparedResults) else []
    told = [compared.refused(refused)]
    if len(reports) == 1:
        told.append([*steady_state.first(reports[0]), *summary.warnings(reports[0])])
        answer, more = _one(reports[0])
    else:
        several = reports if isinstance(reports, ComparedResults) else ComparedResults(reports)
        unfit = steady_state.warning(several)
        told.insert(0, [] if unfit is None else [unfit])
        told.append(summary.changed(several))
        for one in several:
            texts = (*steady_state.first(one), *summary.warnings(one))
            told.append([f"{one.scheme}: {text}" for text in texts])
        answer, more = _several(several)
    told.append(conversion_notes.told(reports[0]))
    notes = [note(text) for texts in told for text in texts]
    return "\n".join([*_head(reports, again), *notes, *answer, drawn, *more])


def _head(reports: Sequence[RunResults], again: str | None) -> list[str]:
    """The common properties of all runs; differences are in marked rows of the comparison."""
    first = reports[0]
    by = metrics.again(first)
    if len(reports) == 1:
        return [provenance.drawn(provenance.facts(first), again or by)]
    if again is not None:
        return _differing(reports, again)
    several = reports if isinstance(reports, ComparedResults) else ComparedResults(reports)
    facts = [fact for fact in provenance.facts(first) if fact[0] != "scheme"]
    return [f"<p>{compared.shared(several)}</p>", provenance.drawn(facts, by)]


def _differing(reports: Sequence[RunResults], again: str) -> list[str]:
    """The head of runs that may differ in everything: their common and their different settings."""
    every = [dict(provenance.facts(report)) for report in reports]
    every = [{**facts, "made by": metrics.again(report) or units.NOTHING}
             for facts, report in zip(every, reports, strict=True)]  # fmt: skip
    rows = {name: [facts.get(name, units.NOTHING) for facts in every] for name in every[0]}
    shared = [(name, row[0]) for name, row in rows.items() if len(set(row)) == 1]
    apart = [[name, *row] for name, row in rows.items() if len(set(row)) > 1]
    names = [name for name, _ in named(reports)]
    turned = [list(row) for row in zip(["", *names], *apart, strict=True)]
    parts = [f"<p>{len(reports)} runs</p>", provenance.drawn(shared, again)]
    return [*parts, wide(table(turned, "differing"))] if apart else parts


def _one(report: RunResults) -> tuple[list[str], list[str]]:
    """The metrics, and their explanations."""
    told = [fact for fact in run_facts.facts(report) if fact[0] not in _IN_HEAD]
    told += [("GC time", run_facts.gc_waits(report))] if report.is_timed else []
    told += [("simulated", run_facts.simulated(report))]
    latencies = summary.latency(report)
    answer = [
        *([wide(table(latencies))] if latencies else []),
        *_price([report]),
        table([["", ""], *map(list, told)], "facts"),
        *([wide(table(seeds))] if (seeds := summary.seeds(report)) else []),
    ]
    return answer, [blame.section([report]), *_gc_time([report])]


_IN_HEAD = ("drive", "simulated", "GC time")
"""Facts that the head of the page has already, or the table of times, in whole or in part."""


def _several(several: ComparedResults[Run]) -> tuple[list[str], list[str]]:
    read = compared.over_seeds(several)
    inside = ComparedResults(steady_state.ordered(several))
    answer = [*([] if read is None else [f"<p>{read}</p>"]), *tables(several)]
    return answer, [blame.section(inside), *_gc_time(several)]


def _gc_time(reports: Sequence[RunResults]) -> list[str]:
    """The times of collections, a row for each run."""
    reports = [report for report in reports if report.is_timed]
    if not reports:
        return []
    times = [report.gc_time for report in reports]
    title = "<h2>Time of collection: moving pages and erasing</h2>"
    if not any(time.busy_ns for time in times):
        return [title, "<p>No collection worked in the measured part.</p>"]
    parts = {"moving pages": "move_share", "erasing": "erase_share"}
    if any(time.background_ns for time in times):
        parts["in the background"] = "background_share"
    writes = [drive_writes(report) or 0 for report in reports]
    per = lengths_differ(reports) and all(writes)
    rows = [["", f"units busy{' per drive write' * per}", *parts]]
    for report, time, of in zip(reports, times, writes, strict=True):
        name = report.scheme if len(reports) > 1 else "collection"
        shares = [units.share(time[key]) for key in parts.values()]
        rows.append([name, units.time(time.busy_ns / of if per else time.busy_ns), *shares])
    more = _BACKGROUND if len(parts) > 2 else ""
    return [title, wide(table(rows)), f"<p>{_TIME}{more}</p>"]


_TIME = (
    "Erasing is the number of erase operations times the time of one, over the time in which units "
    "worked for collection. Moving pages is the rest, including the cost of serving requests "
    "meanwhile."
)
_BACKGROUND = " In the background: pages that moved before their collection."


def latency_charts(several: Sequence[RunResults]) -> str:
    """The distribution of latencies, a curve for each scheme: reads, then writes."""
    drawn = latency.distributions([(report.scheme, report) for report in several])
    section = f"{charts.legends(drawn)}{charts.OFF}{charts.figures(drawn)}"
    return f'<section class="drawn">{section}</section>'


def tables(several: ComparedResults[Run]) -> list[str]:
    """All metrics of several schemes, a row for each, so that any number of them fits."""
    found = []
    inside = ComparedResults(steady_state.ordered(several))
    counts = {kind: [found_at(one, ("latency_ns", kind, "count")) for one in inside]
              for kind in KINDS[:2]}  # fmt: skip
    both = [kind for kind, found_ in counts.items() if any(found_)]
    for kind, title in (*((kind, f"{kind}s") for kind in both), ("all", "all requests")):
        if both and (kind != "all" or len(both) > 1):
            rows = compared.latencies(inside, kind)
            found += [f"<h2>Latency of {title}</h2>", wide(table(rows))]
    head, *body = compared.work(inside)
    found += ["<h2>Work</h2>", _fitting([head, *steady_state.marks(inside), *body])]
    found += [f"<p>{text}</p>" for text in compared.unlike(inside)]
    differences = compared.differences(several)
    if differences:
        found += ["<h2>Differences</h2>", _fitting(differences)]
    return [*found, *_price(inside)]


_COLUMNS_MAX = 7
"""Schemes that have a column each; of more, each has a row."""


def _fitting(rows: Sequence[Sequence[str]]) -> str:
    """A row for each metric and a column for each scheme, or the reverse where these are many."""
    if len(rows[0]) <= _COLUMNS_MAX + 1:
        return wide(table(rows))
    return wide(table(list(map(list, zip(*rows, strict=True))), "heads"))


def _price(reports: Sequence[RunResults]) -> list[str]:
    """The price of collection, for each scheme that has run without GC cost too."""
    price = gc_cost.rows(reports)
    if not price:
        return []
    head, *body = price
    parts = ["<h2>Price of collection</h2>"]
    for kind in (*KINDS[:2], "requests"):
        own = [row for row in body if row[0].startswith(kind)]
        if own:
            parts.append(_fitting([["", *head[1:]], *own]))
    return [*parts, *(f"<p>{html.escape(why)}</p>" for why in gc_cost.notes(reports))]


wide = markup.wide


def note(text: str) -> str:
    """An important note."""
    return f'<p class="note">{html.escape(text)}</p>'


def details(name: str, report: RunResults) -> str:
    """The configuration and all metrics of a report, folded."""
    values = report.to_dict()
    config = values.pop("config", {})
    folded = [
        (f"configuration of {name}, hash {values.get('config_hash')}", config),
        (f"all metrics of {name}, hash of the result {values.get('result_hash')}", values),
    ]
    return "".join(
        f"<details><summary>{html.escape(title)}</summary>"
        f"<pre>{html.escape(json.dumps(what, indent=2))}</pre></details>"
        for title, what in folded
    )
