"""`flashgc.reproduce`: repeats the runs of a paper, and compares the results with its claims."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flashgc._engine import ConfigError
from flashgc.files import arguments, output
from flashgc.pages import provenance
from flashgc.reproduction import (
    beside,
    cliffs,
    drawn,
    environment,
    grid,
    page,
    papers,
    runs,
    seeds,
    verdict,
)
from flashgc.reproduction import bundle as bundles
from flashgc.reproduction.claims import Claim
from flashgc.reproduction.derived import with_derived
from flashgc.reproduction.environment import RunUsed, TraceUsed
from flashgc.reproduction.experiment import Item, Point
from flashgc.reproduction.own_traces import OwnTraces
from flashgc.reproduction.papers import Paper
from flashgc.reproduction.plan import Planned, Planner
from flashgc.reproduction.reproduced import Reproduction
from flashgc.reproduction.results import Results
from flashgc.reproduction.runs import Step
from flashgc.reproduction.verdict import Verdict
from flashgc.reproduction.written import Page, SourceUsed

PathLike = str | os.PathLike[str]


def reproduce(
    paper: str,
    figures: Iterable[str] | None = None,
    traces: PathLike | None = None,
    out: PathLike | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    quick: bool = False,
    progress: Callable[[Step], object] | None = None,
    trace: PathLike | Sequence[PathLike] = (),
    trace_format: str | None = None,
    again: str | None = None,
    on_bad_line: str | None = None,
    sort_window: str | None = None,
    pin: bool = False,
    bundle: PathLike | None = None,
) -> Reproduction:
    """Repeats the runs of a paper and compares the results with the paper's claims.

    Args:
        paper: the name of a paper (`flashgc reproduce` lists them), or a folder with
            experiment.toml, claims.toml and README.md.
        figures: only the given figures and tables, such as ["5a", "table-3"].
        traces: a folder of traces; synthetic workloads replace missing traces, and the report says
            so.
        out: where reports, figures and runs go; `runs/reproduce/PAPER` if not given. Runs that are
            there from before are not repeated.
        jobs: number of parallel runs; the number of processors if not given.
        fresh: whether to run everything again.
        quick: whether to run a few requests on small drives, which shows that everything works.
        progress: called with a :class:`flashgc.reproduction.Step`; an exception from it ends all
            runs.
        trace: a trace of your own, or several, in place of the paper's workloads. The figures of
            the main comparison are made, if none are named, and the paper's statements on the
            order of schemes are judged; none of its numbers are.
        trace_format: its format, where it is not to be recognised by the content.
        again: the command that the report names as its origin; this call if not given.
        on_bad_line: `stop` at a line of it that cannot be parsed, or `skip` and count it.
        sort_window: a time such as "10 ms": rows out of order by at most this much are reordered.
        pin: whether the measured values are put on record, in measured.toml of the paper's folder,
            instead of being compared with those on record.
        bundle: a zip file for descriptions, results, hashes and environment, which
            `flashgc reproduce --check` runs again.

    Raises:
        ConfigError: an unknown paper or figure, or mistakes in its files.
        TraceError: a folder or a trace that cannot be read.
        OutputError: results that cannot be written.

    >>> import flashgc, tempfile
    >>> done = flashgc.reproduce("parallel-gc", ["table-5"], out=tempfile.mkdtemp(), quick=True)
    >>> {claim["verdict"] for claim in done.claims} <= {"met", "near", "not comparable"}
    True

    """
    arguments.check_path("paper", paper)
    arguments.check_function(progress=progress)
    if arguments.is_table(trace):
        arguments.check_path("trace", trace)
    own = [trace] if isinstance(trace, str | os.PathLike) else list(trace)
    for one in own:
        arguments.check_path("trace", one)
    figures = None if figures is None else arguments.words("figures", figures)
    command = again or provenance.call("reproduce", [paper], {
        "figures": figures, "traces": traces, "out": out, "quick": quick, "trace": own,
        "trace_format": trace_format, "on_bad_line": on_bad_line, "sort_window": sort_window,
        "bundle": bundle,
    })  # fmt: skip
    if own and bundle is not None:
        raise ConfigError("error: --bundle is for the workloads of a paper, not for --trace")
    target = None if bundle is None else bundles.checked(bundle)
    if own and traces is not None:
        raise ConfigError(
            "error: --trace replaces all workloads and cannot be combined with --traces"
        )
    read = {"--format": trace_format, "--on-bad-line": on_bad_line, "--sort-window": sort_window}
    for option, value in read.items():
        if value is not None and not own:
            raise ConfigError(f"error: {option} needs --trace")
    mine = OwnTraces(own, trace_format, on_bad_line, sort_window) if own else None
    known = papers.load(paper, mine)
    if target is not None:
        bundles.portable(known)
    if pin:
        papers.recordable(paper, own=mine is not None)
    items = known.items(figures)
    claims = [claim for claim in known.claims if claim.belongs([item.id for item in items])]
    planner = Planner(known.experiment, traces, quick)
    extras = _extras(known, items)
    planned = [
        replace(planner.planned(point), extras=extras.get(point, frozenset()))
        for point in _points(known, items, claims)
    ]
    folder = output.folder(Path("runs/reproduce") / _place(known, own) if out is None else out)
    run = _Runs(folder / "runs", jobs, fresh, _Last(progress))
    results = _results(known, planned, run, quick)
    if not quick and mine is None:
        results = _repeated(results, claims, planner, run)
    on_record = None if pin or mine is not None else known.pins
    verdicts = [verdict.judge(known.name, claim, results, on_record) for claim in claims]
    if pin:
        papers.record(paper, known, verdicts)
    made = _page(known, items, results, verdicts, planner, run, command)
    part = "" if figures is None else "-" + "-".join(item.id for item in items)
    made = _save(folder, part, made)
    done = _outcome(made, items, figures, folder, part, run)
    if target is not None:
        bundles.save(target, [done])
    return done


def _page(
    known: Paper, items: Sequence[Item], results: Results, verdicts: Sequence[Verdict],
    planner: Planner, run: _Runs, command: str,
) -> Page:  # fmt: skip
    """All that the report tells."""
    grids = [grid.measured(item, results) for item in items]
    numbers = {one.item.id: beside.of(one, known.experiment, verdicts) for one in grids}
    pictures = {one.item.id: drawn.charts(one, numbers[one.item.id], results) for one in grids}
    return Page(
        paper=known, grids=grids, verdicts=verdicts, sources=_sources(planner, results),
        results=results, again=command, beside=numbers,
        charts={name: several for name, several in pictures.items() if several},
        runs=sorted(run.used.values()), traces=sorted(run.traces),
    )  # fmt: skip


def _outcome(
    made: Page, items: list[Item], figures: list[str] | None, folder: Path, part: str, run: _Runs
) -> Reproduction:
    return Reproduction(
        paper=made.paper.name,
        title=made.paper.experiment.title,
        claims=[one.to_dict() for one in made.verdicts],
        tables={one.item.id: one.table() for one in made.grids},
        charts={name: list(several) for name, several in made.charts.items()},
        sources=list(made.sources),
        folder=folder,
        page=f"report{part}.html",
        report=f"report{part}.md",
        runs=len(run.used),
        runs_kept=run.kept,
        items=items,
        verdicts=list(made.verdicts),
        figures=figures,
        made=made,
    )


def _place(known: Paper, own: Sequence[PathLike]) -> str:
    """The folder of its own that a reproduction has, if none is named."""
    return "-".join([known.name, *(Path(path).name.split(".")[0] for path in own)])


@dataclass
class _Runs:
    """Runs the planned points, and counts the results that were there from before."""

    folder: Path
    jobs: int | None
    fresh: bool
    follow: _Last
    used: dict[str, RunUsed] = field(default_factory=dict)
    traces: set[TraceUsed] = field(default_factory=set)
    kept: int = 0

    def all(self, planned: Sequence[Planned]) -> dict[Point, Mapping[str, Any]]:
        """The reports of these runs."""
        reports = runs.run_all(planned, self.folder, self.jobs, self.fresh, self.follow)
        for one in planned:
            self._note(one, reports[one.point])
        self.kept += self.follow.last.kept
        return {point: with_derived(report) for point, report in reports.items()}

    def _note(self, one: Planned, report: Mapping[str, Any]) -> None:
        """Runs with the same settings are one, under the name of the first."""
        if one.trace is not None:
            self.traces.add(one.trace)
        if one.key not in self.used:
            content = "" if one.trace is None else one.trace.sha256
            name = runs.file_name(one)
            self.used[one.key] = environment.run_used(one.label, one.key, content, name, report)


def _results(known: Paper, planned: Sequence[Planned], run: _Runs, quick: bool) -> Results:
    return Results(
        known.experiment,
        run.all(planned),
        {one.point: one.differs for one in planned if one.differs},
        quick,
        {one.point: one.fitted for one in planned if one.fitted},
        {one.point: one.file for one in planned if one.file},
    )


def _repeated(results: Results, claims: Sequence[Claim], planner: Planner, run: _Runs) -> Results:
    """With the reports of further seeds where the values of an order are close."""
    close = seeds.close(claims, results)
    if not close:
        return results
    planned = {seed: [planner.planned(point, seed) for point in close] for seed in seeds.MORE}
    return replace(results, again=tuple(run.all(planned[seed]) for seed in seeds.MORE))


class _Last:
    """Passes each step on, and keeps the last."""

    def __init__(self, told: Callable[[Step], object] | None) -> None:
        self._told = told
        self.last = Step(0.0, 0, 0, 0, "")

    def __call__(self, step: Step) -> None:
        self.last = step
        if self._told is not None:
            self._told(step)


def _points(known: Paper, items: Sequence[Item], claims: Sequence[Claim]) -> list[Point]:
    """All runs that the given figures, tables and claims need, each once."""
    experiment = known.experiment
    wanted = [experiment.item_points(item) for item in items]
    wanted += [claim.runs(experiment) for claim in claims]
    return list(dict.fromkeys(itertools.chain(*wanted)))


def _sources(planner: Planner, results: Results) -> list[SourceUsed]:
    """The source used for each choice that has alternatives."""
    found = []
    for at, (axis, choices) in enumerate(results.experiment.axes.items()):
        for choice in choices.values():
            reports = [
                report for point, report in results.reports.items() if point[at] == choice.name
            ]
            alternatives = len(choice.sources) > 1 or choice.sources[0].trace is not None
            if alternatives and reports:
                used = planner.used(axis, choice.name)
                requests = sum(reports[0]["requests"].values())
                found.append(
                    SourceUsed(
                        choice.label,
                        used.describe(),
                        requests,
                        used.source.differs,
                        used.source.fitted,
                    )
                )
    return found


def _extras(known: Paper, items: Sequence[Item]) -> dict[Point, frozenset[str]]:
    """The data of runs that figures need in addition to the reports."""
    needs = {
        "cdf": runs.DISTRIBUTION,
        "course": runs.SERIES,
        "peaks": runs.SERIES,
        "moves": cliffs.MOVES,
    }
    wanted: dict[Point, frozenset[str]] = {}
    for item in items:
        extras = {needs[item.form]} if item.form in needs else set()
        if _counts_requests(known, item):
            extras.add(runs.REQUESTS)
        if extras:
            for point in known.experiment.points(item.at):
                wanted[point] = wanted.get(point, frozenset()) | extras
    return wanted


def _counts_requests(known: Paper, item: Item) -> bool:
    """Whether a measure of this figure needs statistics of the requests."""
    formulas = (known.experiment.measures[name].formula for name in item.measures)
    keys = (key for formula in formulas for key in formula.reads())
    return any(key.startswith(f"{runs.REQUESTS}.") for key in keys)


def _save(folder: Path, part: str, made: Page) -> Page:
    """Saves figures, claims, the page, and the same as Markdown."""
    titles = {one.item.id: one.item.title for one in made.grids}
    made = replace(made, has_files=drawn.save(folder, made.charts, titles))
    claims = [one.to_dict() for one in made.verdicts]
    output.write(folder / f"claims{part}.json", json.dumps(claims, indent=2) + "\n")
    output.write(folder / f"report{part}.html", page.whole(made))
    output.write(folder / f"report{part}.md", made.markdown())
    return made
