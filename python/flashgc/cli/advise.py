"""`flashgc advise`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded
from flashgc.cli.options import example

if TYPE_CHECKING:
    from flashgc.advising import Advice, AdviceProgress

EXAMPLES = (
    "flashgc advise oltp",
    "flashgc advise replay --trace my-trace.csv.zst --out runs/advice",
    "flashgc advise job.fio --schemes greedy,cost-benefit,fpgc",
)
EPILOG = example(*EXAMPLES)

_ROUNDS = {"scan": "reading the trace", "first": "first run", "short": "short runs",
           "long": "long runs"}  # fmt: skip


@guarded
def advise(
    config: options.Config,
    trace: options.Trace = None,
    schemes: Annotated[
        str | None,
        typer.Option(
            "--schemes",
            metavar="A,B,C",
            autocompletion=complete.scheme_lists,
            help="Candidates, by name or as TOML files; by default all presets that the device "
            "can run.",
            show_default=False,
        ),
    ] = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    fit: options.Fit = None,
    json: options.Json = False,
    out: Annotated[Path | None, options.out("advice.html and advice.json")] = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
    jobs: options.Jobs = 2,
) -> None:
    """Measure what GC costs a workload and recommend schemes, with trade-offs."""
    from flashgc import advising
    from flashgc.files import output
    from flashgc.pages import provenance

    folder = None if out is None else output.folder(out)
    names = None if schemes is None else options.scheme_names(schemes)
    set_ = options.settings(sets, format, on_bad_line, sort_window)
    with _bar(quiet=json) as shown:
        found = advising.advise(
            config, trace, schemes=names, device=device, set=set_, unset=unsets, seed=seed,
            fit=fit, jobs=jobs, progress=shown,
        )  # fmt: skip
    provenance.by_command(found.reports, options.typed())
    options.finish(
        lambda: options.save(found.save, folder, "advice"),
        lambda: _print(found),
        found.to_json if json else None,
    )


def _print(found: Advice) -> None:
    from flashgc.advising import words
    from flashgc.cli import show
    from flashgc.results import summary

    advice = found.to_dict()
    show.line(summary.head(found.reports[0]), "bold")
    show.line(words.about(advice))
    for table in (words.collection(advice), words.schemes(advice), words.costs(advice)):
        if table:
            show.rows(table)
    best = words.best(advice)
    if best:
        show.words(best)
    prices = words.prices(advice)
    if prices:
        show.line(f"changes over {advice['scheme']}", "bold")
        show.pairs(prices)
    others = words.others(advice)
    if others:
        show.line("schemes without long runs", "bold")
        show.pairs(others)
    for text in advice["warnings"]:
        show.note(text)
    show.line("")
    for text in advice["advice"]:
        show.line(text, "bold")
    show.line("")
    for command in advice["commands"]:
        show.command(command)


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[AdviceProgress], None] | None]:
    """One bar for each round, or nothing without a terminal."""
    from flashgc.cli import progress

    with progress.phases(_ROUNDS, quiet) as show:
        yield None if show is None else lambda step: show(step.round, step.done, step.total)
