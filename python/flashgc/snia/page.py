"""The report of the tests as one page, in the form of the specification."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc import charts
from flashgc.formatting.markup import table
from flashgc.pages import page, provenance
from flashgc.reports.report import Report
from flashgc.results import metrics
from flashgc.snia import drawn as figures
from flashgc.snia import words
from flashgc.snia.procedures import Part

_DATA = ("measurements.csv", "rounds.csv", "results.csv", "response-times.csv", "pts.json")


def whole(
    values: Mapping[str, Any], parts: Mapping[str, Sequence[Part]], about: Report, again: str
) -> str:
    """The page."""
    data = f"<h2>Data</h2><p>Next to this page: {', '.join(_DATA)}.</p>"
    body = f"{fragment(values, parts, about, again)}\n{data}"
    title = f"{values['specification']}: {values['device']}"
    return page.document(title, body, page.details(about.scheme, about))


def fragment(
    values: Mapping[str, Any],
    parts: Mapping[str, Sequence[Part]],
    about: Report,
    again: str,
    *,
    drawn: bool = True,
) -> str:
    """The tests; without the charts they are those of a notebook."""
    made = metrics.again(about) or again
    return "\n".join([
        *_form(values),
        *_summary(values),
        provenance.drawn([*words.conditions(values), *_geometry(about)], made),
        f"<p>{html.escape(words.RULE)}</p>",
        *(_test(test, parts[test["test"]], drawn) for test in values["tests"]),
    ])  # fmt: skip


def _geometry(about: Report) -> list[tuple[str, str]]:
    wanted = ("geometry", "over-provisioning")
    return [fact for fact in provenance.facts(about) if fact[0] in wanted]


def _form(values: Mapping[str, Any]) -> list[str]:
    """What differs from the specification, before anything else."""
    told = values["form"]["differences"]
    if not told:
        return [f"<p>Form: {words.AS_SPECIFIED}.</p>"]
    items = "".join(f"<li>{html.escape(one)}</li>" for one in told)
    return [f'<div class="note"><strong>Shortened form</strong>, not that of the specification:'
            f"<ul>{items}</ul></div>"]  # fmt: skip


def _summary(values: Mapping[str, Any]) -> list[str]:
    items = "".join(f"<li>{html.escape(words.title(test))}</li>" for test in values["tests"])
    return [f"<ul>{items}</ul>"]


def _test(test: Mapping[str, Any], parts: Sequence[Part], drawn: bool) -> str:
    name = test["test"]
    told = [f"<h2>{html.escape(words.title(test))}</h2>",
            f"<p>{html.escape(words.DEFINED[name])}</p>"]  # fmt: skip
    for at, (values, part) in enumerate(zip(test["parts"], parts, strict=True), 1):
        told += _part(name, values)
        if drawn:
            shown = figures.of_part(name, part, values, at)
            told.append(f'<section class="drawn">{charts.OFF}{charts.figures(shown)}</section>')
    return "\n".join(told)


def _part(test: str, values: Mapping[str, Any]) -> list[str]:
    warning = words.not_steady(values)
    told = [f"<h3>{html.escape(values['name'])}</h3>"] if values["name"] else []
    about = words.about(values, named=False)
    told.append(f"<p>{html.escape(about[:1].upper() + about[1:])}.</p>")
    told += [] if warning is None else [page.note(warning)]
    tables = [words.window(values), *(rows for _, rows in words.results(test, values)),
              words.responses(values)]  # fmt: skip
    titles = ["Measurement window", *(title for title, _ in words.results(test, values)),
              "Response times"]  # fmt: skip
    for title, rows in zip(titles, tables, strict=True):
        if rows:
            told.append(f"<h4>{html.escape(title)}</h4>{page.wide(table(rows))}")
    return told
