"""`flashgc reproduce`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import INTERRUPTED, guarded, say

if TYPE_CHECKING:
    from flashgc.reproduction import Reproduction, Step

FAILED = 1

What = Annotated[
    str | None,
    typer.Argument(
        metavar="[PAPER[/FIGURE]]",
        help="A paper, or some of its figures and tables, with commas between.",
        autocompletion=complete.papers,
        show_default=False,
    ),
]
Traces = Annotated[
    Path | None,
    typer.Option(
        "--traces",
        metavar="DIR",
        help="A folder of traces; look-alikes take the place of what is not there.",
        show_default=False,
    ),
]
Trace = Annotated[
    list[Path] | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="A trace of your own in place of the paper's workloads; may be given again.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Where report, figures and runs go; runs/reproduce/PAPER if not given.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, metavar="N", show_default=False,
                 help="So many runs at a time; one for each processor if not given."),
]  # fmt: skip
Fresh = Annotated[bool, typer.Option("--fresh", help="Repeat runs that are there from before.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="Only show that it works: small drives, few requests.")
]


@guarded
def reproduce(
    what: What = None,
    traces: Traces = None,
    trace: Trace = None,
    format: options.Format = None,
    out: Out = None,
    jobs: Jobs = None,
    fresh: Fresh = False,
    json: options.Json = False,
    quick: Quick = False,
) -> None:
    """Run what a paper ran, and hold the results against what the paper says."""
    if what is None:
        _list(json)
        return
    from flashgc import reproduction
    from flashgc.reproduction import papers

    paper, figures = papers.split(what)
    try:
        with _bar(quiet=json) as shown:
            done = reproduction.reproduce(
                paper, figures, traces, out, jobs, fresh, quick, shown, trace or (), format
            )
    except KeyboardInterrupt:
        say("interrupted; the runs that were done are kept, and the same command goes on with them")
        raise typer.Exit(INTERRUPTED) from None
    if json:
        print(done.to_json())
    else:
        _show(done)
    if done.failed:
        say(f"{len(done.failed)} claims were not met, for no known reason")
        raise typer.Exit(FAILED)


def _list(json: bool) -> None:
    from flashgc.reproduction import papers

    known = [papers.load(name) for name in papers.names()]
    if json:
        import json as encoder

        listed = [
            {"paper": paper.name, "title": paper.experiment.title,
             "figures": [item.id for item in paper.experiment.items],
             "claims": len(paper.claims)}
            for paper in known
        ]  # fmt: skip
        print(encoder.dumps(listed, indent=2))
        return
    from flashgc.cli import presets

    rows = [["figure", "what it shows"]]
    for paper in known:
        print(f"{paper.name}: {paper.experiment.citation}; {len(paper.claims)} claims")
        presets.table(rows + [[item.id, item.title] for item in paper.experiment.items])
    print("`flashgc reproduce PAPER` runs all of a paper, `flashgc reproduce PAPER/FIGURE` a part.")


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[Step], None] | None]:
    """One bar for all runs, or nothing where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"),
               TimeElapsedColumn(), Remaining(compact=True))  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("checking", total=1.0, text="")

        def show(step: Step) -> None:
            text = f"{step.runs_done} of {step.runs} runs"
            progress.update(task, description=step.label, completed=step.share, text=text)

        yield show


def _show(done: Reproduction) -> None:
    from rich.markup import escape

    from flashgc.cli import show

    out = show.console()
    out.print(f"[bold]{escape(done.title)}[/]")
    for item in done.items:
        out.print(f"\n[bold]{escape(item.id)}: {escape(item.title)}[/]")
        if item.id in done.figures:
            out.print(show.rows(done.tables[item.id]))
        rows = done.claim_rows(item.id)
        if len(rows) > 1:
            out.print(_claims(rows))
    every = done.claim_rows(None)
    if len(every) > 1:
        out.print("\n[bold]every run[/]")
        out.print(_claims(every))
    for source in done.sources:
        out.print(f"[bold]{escape(source.label)}[/] {escape(source.text())}")
    out.print(done.summary)
    say(f"saved {done.folder / done.report}, with reasons for each verdict; figures beside it")
    if done.runs_kept:
        say(f"{done.runs_kept} of {done.runs} runs were there from before; --fresh repeats them")


_STYLES = {"met": "green", "near": "yellow", "not met": "red", "not comparable": "dim"}


def _claims(table: list[list[str]]) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    head, *body = table
    shown = Table(box=box.SIMPLE, pad_edge=False)
    for index, name in enumerate(head):
        shown.add_column(name, justify="right" if index in (2, 3) else "left", no_wrap=True)
    for row in body:
        cells = [Text(cell) for cell in row]
        cells[-1].stylize(_STYLES[row[-1]])
        shown.add_row(*cells)
    return shown
