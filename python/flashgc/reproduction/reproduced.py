"""The results of `flashgc.reproduce` and `flashgc.reproduce_all`."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flashgc.charts import Chart
from flashgc.formatting import markup, units
from flashgc.reproduction import evidence, headline, written
from flashgc.reproduction.experiment import ANY, Item
from flashgc.reproduction.verdict import VERDICTS, Verdict, counted
from flashgc.reproduction.written import Page, SourceUsed


@dataclass(frozen=True)
class Reproduction:
    """The results of a reproduction."""

    paper: str
    """The name of the paper."""
    title: str
    claims: list[dict[str, Any]]
    """A claim each: `paper`, `place`, `what`, `unit`, `claimed`, `measured`, `verdict` (not met,
    not predicted, near, met, predicted, not comparable), `note`; more: `source`, `in` (figures and
    tables), `fails`, `evidence`, `fails_if`, `drift`."""
    tables: dict[str, list[list[str]]]
    """The measured cells of each figure and table, as text; the first row is the head."""
    charts: dict[str, list[Chart]]
    """The charts of each figure; a notebook draws them."""
    sources: list[SourceUsed]
    """The source used for each workload, or for another choice that has alternatives."""
    folder: Path
    """The folder with all files."""
    page: str
    """The name of the page in there."""
    report: str
    """The name of the same as Markdown."""
    runs: int
    runs_kept: int
    """The number of runs that were there from before."""
    items: list[Item]
    """The figures and tables that were reproduced."""
    figures: list[str] | None
    """The requested figures; None: all."""
    made: Page = field(repr=False)
    """The content of its page: the runs and traces with their hashes, and the paper itself."""
    verdicts: list[Verdict]
    """The claims, each with how it was tested."""

    @property
    def claims_file(self) -> str:
        """The name of the file with the claims in its folder."""
        return f"claims{self.page.removeprefix('report').removesuffix('.html')}.json"

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The claims that were not met without a known reason, or that differ from the record."""
        return [claim for claim in self.claims if claim["fails"]]

    @property
    def summary(self) -> str:
        """The number of claims that fail, and of claims by verdict."""
        return headline.summary(self.verdicts)

    def evidence_rows(self) -> list[list[str]]:
        """The number of claims with each verdict, by their evidence, below a head."""
        return headline.rows(self.verdicts)

    def claim_rows(self, item: str | None) -> list[list[str]]:
        """The claims of a figure or table below a head; of none of them where it is None."""
        wanted = ANY if item is None else item
        return written.claim_rows([one for one in self.verdicts if wanted in one.claim.parts])

    def to_json(self, indent: int | None = 2) -> str:
        """The claims as a JSON list."""
        return json.dumps(self.claims, indent=indent)

    def _repr_html_(self) -> str:
        told = [f"<p>{html.escape(text)}</p>" for text in (self.title, self.summary)]
        for title, item in [*((one.title, one.id) for one in self.items), ("Every run", None)]:
            rows = self.claim_rows(item)
            if len(rows) > 1:
                told.append(f"<h2>{html.escape(title)}</h2>{markup.wide(markup.table(rows))}")
        return "\n".join([*told, markup.wide(markup.table(self.evidence_rows()))])


@dataclass(frozen=True)
class Reproductions:
    """The results of several papers."""

    papers: Mapping[str, Reproduction]
    """The papers that could be reproduced, by name."""
    errors: Mapping[str, str]
    """The reasons of the others."""
    folder: Path
    """The folder with all files: a folder for each paper, index.html and index.json."""
    again: str = field(default="", repr=False)

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The claims of all papers that fail."""
        return [claim for one in self.papers.values() for claim in one.failed]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims of all papers."""
        return [claim for one in self.papers.values() for claim in one.claims]

    def rows(self) -> list[list[str]]:
        """A row for each paper below a head: how many claims have which verdict."""
        table = [["paper", "runs", "fail", *VERDICTS]]
        for name, one in self.papers.items():
            counts = counted(one.verdicts)
            cells = [one.runs, len(one.failed), *(counts[word] for word in VERDICTS)]
            table.append([name, *(units.count(cell) if cell else units.NOTHING for cell in cells)])
        return table

    def evidence_rows(self) -> list[list[str]]:
        """The number of claims of all papers with each verdict, by their evidence."""
        return headline.rows([one for each in self.papers.values() for one in each.verdicts])

    def _repr_html_(self) -> str:
        errors = [f"<p>{html.escape(f'{name}: {why}')}</p>" for name, why in self.errors.items()]
        return "\n".join([markup.wide(markup.table(self.rows())), *errors])

    def to_json(self, indent: int | None = 2) -> str:
        """A list with an object for each paper: its verdicts by evidence, or its error."""
        found = [_described(one) for one in self.papers.values()]
        found += [{"paper": name, "error": text} for name, text in self.errors.items()]
        return json.dumps(sorted(found, key=lambda one: str(one["paper"])), indent=indent)


def _described(one: Reproduction) -> dict[str, Any]:
    by_evidence = {}
    for kind in evidence.KINDS:
        counts = counted(each for each in one.verdicts if each.evidence == kind)
        if any(counts.values()):
            by_evidence[kind] = {word: count for word, count in counts.items() if count}
    return {
        "paper": one.paper, "title": one.title, "page": f"{one.paper}/{one.page}",
        "runs": one.runs, "claims": len(one.claims), "fails": len(one.failed),
        "on_good_evidence": headline.solid(one.verdicts), "evidence": by_evidence,
    }  # fmt: skip
