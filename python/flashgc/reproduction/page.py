"""The page of a reproduction: one file with the verdicts, the story, the figures and the reasons.

1. What failed comes first, then the verdicts by their evidence, and the story.
2. Each figure or table has its charts in the form of the paper, its values, and its claims.
3. What the paper leaves open, other programs, seeds, and the environment follow.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from importlib import resources

from flashgc import charts
from flashgc.formatting import units
from flashgc.formatting.markup import table
from flashgc.pages import page as pages
from flashgc.pages import provenance
from flashgc.reproduction import (
    headline,
    marks,
    pairs,
    prose,
    seeds,
    story,
    surroundings,
    written,
)
from flashgc.reproduction.beside import Beside
from flashgc.reproduction.evidence import PAPER, PREDICTION
from flashgc.reproduction.experiment import ANY
from flashgc.reproduction.grid import MARKED, Grid, cell
from flashgc.reproduction.verdict import NOT_MET, NOT_PREDICTED, Verdict
from flashgc.reproduction.written import Page

_MISSED = (NOT_MET, NOT_PREDICTED)
_PASSED = "Each that is not met has a known reason, and no result differs from its value on record."
_PASSED_QUICK = "A quick run fails by its checks and its values on record alone."
QUICK = (
    "Quick run: small drives and few requests, which shows that everything works. "
    "The numbers mean nothing."
)


def whole(made: Page) -> str:
    """The page."""
    experiment = made.paper.experiment
    own = [one for one in made.grids if not one.item.sensitivity]
    open_ = [one for one in made.grids if one.item.sensitivity]
    loose = [one for one in made.verdicts if ANY in one.claim.parts]
    parts = [
        f"<style>{style()}</style>",
        f"<p>{html.escape(experiment.citation)}{_link(experiment.url)}</p>",
        *([pages.note(QUICK)] if made.quick else []),
        *([pages.note(f"Traces of your own in place of the paper's workloads: {written.OWN}")]
          if made.paper.main is not None else []),
        *_headline(made),
        *_story(made),
        _contents(made),
        *(part for one in own for part in _item(made, one)),
    ]  # fmt: skip
    if loose:
        parts += ['<h2 id="every-run">Every run</h2>', _claims(made, loose)]
    if open_:
        parts += ['<h2 id="open">What the paper leaves open</h2>', f"<p>{_OPEN}</p>",
                  *(part for one in open_ for part in _item(made, one))]  # fmt: skip
    parts += [*_programs(made), *_seeds(made), *surroundings.sections(made), *_about(made)]
    return pages.document(f"{experiment.title}: reproduced", "\n".join(parts), "")


_OPEN = (
    "These runs are not in the paper. They show how far the results depend on choices that it "
    "leaves open, or test a reason for a difference."
)


def style() -> str:
    """The style sheet of reproductions."""
    return (resources.files("flashgc.reproduction") / "page.css").read_text("utf-8")


def _link(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        return ""
    named = html.escape(url)
    return f' <a href="{named}" rel="noreferrer">{named}</a>'


def _headline(made: Page) -> list[str]:
    """The failures, the claims not met, and the verdicts by their evidence."""
    verdicts = made.verdicts
    failing = [one for one in verdicts if one.fails]
    missed = [one for one in verdicts if one.verdict in _MISSED and not one.fails]
    parts = [f'<p class="summary">{html.escape(headline.summary(verdicts))}</p>']
    if failing:
        parts += ["<h2>What fails</h2>", _lines(made, failing)]
    else:
        parts.append(f"<p>No claim fails. {_PASSED_QUICK if made.quick else _PASSED}</p>")
    if missed:
        reason = "" if made.quick else ", with a known reason"
        title = f"{units.counted(len(missed), 'claim')} not met or not predicted{reason}"
        parts.append(f"<details open><summary>{title}</summary>{_lines(made, missed)}</details>")
    parts += [
        "<h2>Verdicts by evidence</h2>",
        pages.wide(table(headline.rows(verdicts), "heads")),
        f"<p>Met or predicted on evidence better than an unfitted workload: "
        f"{headline.solid(verdicts)}.</p>",
    ]
    return parts


def _lines(made: Page, verdicts: Iterable[Verdict]) -> str:
    lines = []
    for one in verdicts:
        claim = one.claim
        source = "" if claim.source == PAPER else f" ({claim.source})"
        lines.append(
            f'<li><a href="#claim-{_number(made, one)}">{html.escape(claim.place)}</a>: '
            f"{html.escape(claim.what + source)}: {html.escape(cell(claim.claimed, claim.unit))}, "
            f"measured {html.escape(cell(one.measured, claim.unit))} "
            f"<small>({html.escape(one.verdict)}; {html.escape(one.evidence)})</small></li>"
        )
    return f'<ul class="missed">{"".join(lines)}</ul>'


def _number(made: Page, one: Verdict) -> int:
    return next(at for at, other in enumerate(made.verdicts, start=1) if other is one)


def _story(made: Page) -> list[str]:
    """The story, with the values of this reproduction where they count."""
    lines = made.paper.experiment.story
    if not lines or made.paper.main is not None:
        return []
    count = [] if made.quick else made.verdicts
    told = story.told(lines, made.paper.claims, count, made.paper.pins)
    recorded = " Its numbers are those on record." if made.quick else ""
    listed = "".join(f"<li>{html.escape(line)}</li>" for line in told)
    return ["<h2>Story</h2>", f'<ul class="story">{listed}</ul>',
            *([f"<p>{recorded.strip()}</p>"] if recorded else [])]  # fmt: skip


def _contents(made: Page) -> str:
    """Links to each figure and table, with the number of its claims that were not met."""
    links = []
    for one in made.grids:
        wrong = sum(item.verdict in _MISSED or item.fails for item in _own(made, one))
        mark = f" <small>({wrong} not met)</small>" if wrong else ""
        title = html.escape(one.item.title)
        links.append(f'<li><a href="#item-{html.escape(one.item.id)}">'
                     f"{html.escape(one.item.id)}</a> {title}{mark}</li>")  # fmt: skip
    return f'<details class="contents"><summary>Figures and tables</summary><ul>{"".join(links)}' \
           "</ul></details>"  # fmt: skip


def _own(made: Page, grid: Grid) -> list[Verdict]:
    return [one for one in made.verdicts if grid.item.id in one.claim.parts]


def _item(made: Page, grid: Grid) -> list[str]:
    """A figure or table: charts, values, claims."""
    item = grid.item
    beside, drawn = made.beside[item.id], made.charts.get(item.id, [])
    own = _own(made, grid)
    parts = [f'<section class="item" id="item-{html.escape(item.id)}">',
             f"<h2>{html.escape(item.id)}: {html.escape(item.title)}</h2>"]  # fmt: skip
    if item.note:
        parts.append(f"<p>{html.escape(item.note)}</p>")
    if drawn:
        parts += [charts.legends(drawn), charts.OFF, charts.figures(drawn)]
    numbers = _pairs(grid, beside, own)
    if numbers:
        parts.append(charts.figures(pairs.charts(f"numbers-{item.id}", numbers)))
    values = [_values(grid, beside)]
    if grid.saturated:
        values.append(f"<p>{html.escape(MARKED)}</p>")
    if drawn:
        values = ["<details><summary>Values</summary>", *values, "</details>"]
    parts += values
    models = [one for one in own if one.evidence == PREDICTION]
    stated = [one for one in own if one.evidence != PREDICTION]
    if stated:
        parts.append(_claims(made, stated))
    if models:
        title = f"{units.counted(len(models), 'prediction')} of our own models"
        parts.append(f"<details><summary>{title}</summary>{_claims(made, models)}</details>")
    return [*parts, "</section>"]


def _pairs(grid: Grid, beside: Beside, own: Sequence[Verdict]) -> list[pairs.Pair]:
    """The numbers of claims that no chart of the figure has."""
    shown = set() if grid.item.form == "table" else {id(one) for one in beside.cells.values()}
    numbers = [one for one in own if one.claim.source == PAPER and id(one) not in shown]
    return pairs.of_claims(numbers, len({one.claim.place for one in numbers}) == 1)


def _values(grid: Grid, beside: Beside) -> str:
    """The cells of a figure or table, each above the number of the paper."""
    head, *body = grid.table()
    several = len(grid.measures)
    lines = ["<tr>" + "".join(f"<th>{html.escape(text)}</th>" for text in head) + "</tr>"]
    for at, (name, *cells) in enumerate(body):
        found = [f"<td>{html.escape(name)}</td>"]
        for index, text in enumerate(cells):
            column, measure = divmod(index, several)
            stated = beside.values.get((measure, at, column))
            unit = grid.measures[measure][1]
            under = "" if stated is None else (
                f'<span class="stated">{html.escape(cell(stated, unit))}</span>')  # fmt: skip
            found.append(f"<td>{html.escape(text)}{under}</td>")
        lines.append(f"<tr>{''.join(found)}</tr>")
    legend = ('<p class="key">Measured, above <span class="stated">the number of the paper</span>'
              "</p>" if beside.values else "")  # fmt: skip
    whole = "".join(lines)
    return legend + pages.wide(f"<table>{whole}</table>")


def _claims(made: Page, verdicts: Sequence[Verdict]) -> str:
    """A row for each claim, with its reason and with the change that would make it fail."""
    lines = ["<tr><th>claim</th><th>paper</th><th>measured</th><th>verdict</th><th>evidence</th>"
             "<th>reason, and what would not be met</th></tr>"]  # fmt: skip
    for one in verdicts:
        claim = one.claim
        source = "" if claim.source == PAPER else f" ({claim.source})"
        kind = "fails" if one.fails else one.verdict.replace(" ", "-")
        why = f"{html.escape(one.note)}<br>" if one.note else ""
        limit = f"<small>not met if {html.escape(one.fails_if)}</small>" if one.fails_if else ""
        fails = " (fails)" if one.fails else ""
        lines.append(
            f'<tr id="claim-{_number(made, one)}" class="{kind}">'
            f"<td><b>{html.escape(claim.place)}</b><br>{html.escape(claim.what + source)}</td>"
            f'<td data-label="paper">{html.escape(cell(claim.claimed, claim.unit))}</td>'
            f'<td data-label="measured">{html.escape(cell(one.measured, claim.unit))}</td>'
            f'<td class="verdict" data-label="verdict">{html.escape(one.verdict)}{fails}</td>'
            f'<td data-label="evidence">{html.escape(one.evidence)}</td><td>{why}{limit}</td></tr>'
        )
    return f'<table class="claims">{"".join(lines)}</table>'


def _programs(made: Page) -> list[str]:
    """The output of the paper's own simulator, and ours."""
    parts: list[str] = []
    for at, one in enumerate(made.paper.experiment.programs, start=1):
        rows = [["", one.name, marks.HERE, ""]]
        rows += [[row.what, cell(row.there, row.unit), cell(row.here, row.unit), row.note]
                 for row in one.rows]  # fmt: skip
        parts += [
            f'<section class="item"><h2 id="program-{at}">{html.escape(one.title)}</h2>',
            *([f"<p>{html.escape(one.note)}</p>"] if one.note else []),
            f"<p>Source: {html.escape(one.source)}. These runs are not part of the reproduction."
            "</p>",
            charts.figures(pairs.of_program(f"program-{at}", one)),
            f"<details><summary>Values</summary>{pages.wide(table(rows, 'facts'))}</details>"
            "</section>",
        ]
    return parts


def _seeds(made: Page) -> list[str]:
    """The seeds, and the orders that were judged with several."""
    rows = seeds.rows(made.verdicts, made.results)
    used = sorted({one.seed for one in made.runs})
    parts = ['<h2 id="seeds">Seeds</h2>',
             f"<p>{'Seed' if len(used) == 1 else 'Seeds'} {', '.join(map(str, used))}. "
             f"{html.escape(seeds.ABOUT)}</p>"]  # fmt: skip
    if len(rows) > 1:
        parts.append(pages.wide(table(rows, "facts")))
    elif not made.quick:
        parts.append("<p>No order was that close.</p>")
    return parts


def _about(made: Page) -> list[str]:
    readme = "\n".join(made.paper.readme.strip().splitlines()[1:])
    command = provenance.command(made.again) if made.again else ""
    return ['<h2 id="about">About this reproduction</h2>', prose.html(readme), command]
