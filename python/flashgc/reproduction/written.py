"""The report of a reproduction as Markdown: figures, tables, claims, and the sources used."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flashgc._engine as engine
from flashgc.charts import Chart
from flashgc.formatting import units
from flashgc.pages import provenance
from flashgc.reproduction import headline
from flashgc.reproduction.beside import Beside
from flashgc.reproduction.environment import RunUsed, TraceUsed
from flashgc.reproduction.evidence import PAPER
from flashgc.reproduction.experiment import ANY, Point
from flashgc.reproduction.grid import MARK, MARKED, Grid, cell
from flashgc.reproduction.papers import Paper
from flashgc.reproduction.results import Results
from flashgc.reproduction.verdict import Verdict

CLAIM_HEAD = ["place", "what", "paper", "measured", "verdict"]
_KINDS_MAX = 6
"""Drives of more kinds than this are not listed in the head."""
OWN = "its statements on the order of schemes are judged, and none of its numbers."


@dataclass(frozen=True)
class SourceUsed:
    """The source used for a choice that has alternatives."""

    label: str
    what: str
    requests: int
    differs: str | None
    """The reason why values are not comparable with the paper's; None if they are."""
    fitted: str | None = None
    """The fitted parameters, where values are predictions."""

    def text(self) -> str:
        """In words."""
        return f"{self.what}; {units.counted(self.requests, 'request')}"


@dataclass(frozen=True)
class Page:
    """The content of the report."""

    paper: Paper
    grids: Sequence[Grid]
    verdicts: Sequence[Verdict]
    sources: Sequence[SourceUsed]
    results: Results
    again: str | None = None
    """The command or the call that makes the page."""
    beside: Mapping[str, Beside] = field(default_factory=dict)
    """The numbers of the paper for each figure or table."""
    charts: Mapping[str, Sequence[Chart]] = field(default_factory=dict)
    """The charts of each figure."""
    runs: Sequence[RunUsed] = ()
    traces: Sequence[TraceUsed] = ()
    has_files: bool = False
    """Whether figures are saved as files of their own."""

    @property
    def quick(self) -> bool:
        """Whether runs were so small that numbers mean nothing."""
        return self.results.quick

    @property
    def reports(self) -> Mapping[Point, Mapping[str, Any]]:
        """The reports of the runs, without further seeds."""
        return self.results.reports

    def markdown(self) -> str:
        """The page."""
        experiment = self.paper.experiment
        parts = [
            f"# {experiment.title}: reproduced\n",
            f"{experiment.citation}\n",
            *_verdicts(self.verdicts),
            self._head(),
        ]
        if self.paper.main is not None:
            parts.append(f"**Traces of your own** in place of the paper's workloads: {OWN}\n")
        if self.quick:
            parts.append("**Quick run**: small drives and few requests. No figure counts.\n")
        for grid in self.grids:
            parts += self._item(grid)
        loose = [one for one in self.verdicts if ANY in one.claim.parts]
        if loose:
            parts += ["## Every run\n", _claims(loose)]
        parts += ["## Workloads\n", self._environment(), "## About this reproduction\n"]
        readme = self.paper.readme.strip().splitlines()
        # Its own headings are of a lower level than that of this page.
        parts.append(
            "\n".join(f"##{line}" if line.startswith("#") else line for line in readme[1:])
        )
        return "\n".join(parts).rstrip() + "\n"

    def facts(self) -> list[tuple[str, str]]:
        """Drive, seeds and versions: those that all runs share, or how many kinds there are."""
        reports = list(self.reports.values())
        shapes = [provenance.geometry(one["config"]["device"]["shape"]) for one in reports]
        spaces = [provenance.over_provisioning(one["capacity"]) for one in reports]
        filled = [provenance.preconditioning(one) for one in reports]
        found: list[tuple[str, str]] = []
        for name, texts in (("geometry", shapes), ("over-provisioning", spaces),
                            ("preconditioning", filled)):  # fmt: skip
            kinds = list(dict.fromkeys(texts))
            if len(kinds) > _KINDS_MAX:
                kinds = [f"{len(kinds)} kinds, told by the reports of the runs, under runs/"]
            found += [(name, text) for text in kinds]
        used = sorted({report["seed"] for report in reports})
        versions = sorted({str(report["version"]) for report in reports})
        found.append(("seed", ", ".join(map(str, used))))
        found.append(
            ("version", f"flashgc {', '.join(versions)}; this report by {engine.__version__}")
        )
        return found

    def _head(self) -> str:
        """The facts that all runs share, and the command."""
        lines: list[str] = []
        if len(self.sources) == 1:
            lines.append(f"- workload: {self.sources[0].label}, {self.sources[0].text()}")
        elif self.sources:
            lines.append(f"- workloads: {len(self.sources)}, see [workloads](#workloads)")
        lines += [f"- {name}: {text}" for name, text in self.facts()]
        made = f"\n\nMade by\n\n```sh\n{self.again}\n```" if self.again else ""
        return "\n".join(lines) + made + "\n"

    def _item(self, grid: Grid) -> list[str]:
        item = grid.item
        parts = [f"## {item.id}: {item.title}\n"]
        if item.note:
            parts.append(f"{item.note}\n")
        if item.form != "table" and self.has_files:
            parts.append(f"![{item.title}](figure-{item.id}.svg)\n")
        parts += ["Measured:\n", _table(grid.table())]
        if grid.saturated:
            parts.append(f"{MARKED}\n".replace(MARK, f"\\{MARK}", 1))
        own = [one for one in self.verdicts if item.id in one.claim.parts]
        return [*parts, _claims(own)] if own else parts

    def _environment(self) -> str:
        rows = [["workload", "source", "compared with the paper"]]
        rows += [[one.label, one.text(), one.differs or predicts(one)] for one in self.sources]
        lines = [
            f"- runs: {len(self.reports)}",
            f"- Python {platform.python_version()}, {platform.system()} {platform.machine()}; no "
            "figure depends on the machine",
            "- each run is kept whole under `runs/`, with its configuration\n",
        ]
        return "\n".join(lines) + "\n" + _table(rows)


def predicts(source: SourceUsed) -> str:
    """The comparison of a source's values with the paper."""
    return "yes" if source.fitted is None else f"as predictions: {source.fitted}"


def _verdicts(verdicts: Sequence[Verdict]) -> list[str]:
    """The failures and the claims not met, and then the verdicts by their evidence."""
    missed = [f"- {line}" for line in headline.missed(verdicts)]
    solid = headline.solid(verdicts)
    return [
        f"{headline.summary(verdicts)}\n",
        *(["Not met or not predicted:\n", "\n".join(missed) + "\n"] if missed else []),
        f"Met or predicted on evidence better than an unfitted workload: {solid}.\n",
        _table(headline.rows(verdicts)),
    ]


def claim_rows(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """A row for each claim, with a mark for claims that are not the paper's own."""
    rows = [CLAIM_HEAD]
    for one in verdicts:
        claim = one.claim
        source = "" if claim.source == PAPER else f" ({claim.source})"
        row = [claim.place, claim.what + source, cell(claim.claimed, claim.unit),
               cell(one.measured, claim.unit), one.verdict]  # fmt: skip
        rows.append(row)
    return rows


def _claims(verdicts: Sequence[Verdict]) -> str:
    head, *rows = claim_rows(verdicts)
    noted = [
        [*row, one.evidence, one.fails_if, one.note]
        for row, one in zip(rows, verdicts, strict=True)
    ]
    return _table([[*head, "evidence", "not met if", "note"], *noted])


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [[text.replace("|", "\\|") for text in row] for row in rows]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in body)]) + "\n"
