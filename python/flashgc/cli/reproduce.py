"""`flashgc reproduce`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded, interrupted_status, say
from flashgc.formatting import units

if TYPE_CHECKING:
    from flashgc.reproduction import Checked, Reproduction, Reproductions, Step

FAILED, WRONG = 1, 2
_SHOWN = 10

What = Annotated[
    str | None,
    typer.Argument(
        metavar="[PAPER[/FIGURE]]",
        help="A paper, or a comma-separated list of its figures and tables.",
        autocompletion=complete.papers,
        show_default=False,
    ),
]
Traces = Annotated[
    Path | None,
    typer.Option(
        "--traces",
        metavar="DIR",
        help="A folder of traces; synthetic workloads replace the missing ones.",
        show_default=False,
    ),
]
Trace = Annotated[
    list[Path] | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Your own trace instead of the paper's workloads; repeatable.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder for the report, figures and runs (default: runs/reproduce/PAPER).",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, metavar="N", show_default=False,
                 help="Number of parallel runs (default: one per processor)."),
]  # fmt: skip
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Repeat runs whose results are already saved.")
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Run a quick check with small drives and few requests.")
]

Pin = Annotated[
    bool,
    typer.Option(
        "--pin", help="Record the measured values as the reference; PAPER must be a folder."
    ),
]
All = Annotated[bool, typer.Option("--all", help="Reproduce all papers, with a page for them.")]
Bundle = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        metavar="FILE.zip",
        help="Save descriptions, results, hashes and environment in an archive (RO-Crate).",
        show_default=False,
    ),
]
Check = Annotated[
    Path | None,
    typer.Option(
        "--check",
        metavar="FILE.zip",
        help="Run a saved archive again and compare the hash of each result.",
        show_default=False,
    ),
]


@guarded
def reproduce(
    what: What = None,
    traces: Traces = None,
    trace: Trace = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
    out: Out = None,
    jobs: Jobs = None,
    fresh: Fresh = False,
    json: options.Json = False,
    quick: Quick = False,
    pin: Pin = False,
    every: All = False,
    bundle: Bundle = None,
    check: Check = None,
) -> None:
    """Repeat the experiments of a paper and compare the results with its claims."""
    own = {"--trace": trace, "--format": format, "--on-bad-line": on_bad_line,
           "--sort-window": sort_window, "--pin": pin}  # fmt: skip
    if check is not None:
        _refuse("--check", {"PAPER": what, "--all": every, "--bundle": bundle, "--quick": quick,
                            "--fresh": fresh, **own})  # fmt: skip
        _check(check, traces, out, jobs, json)
        return
    if every:
        _refuse("--all", {"PAPER": what, **own})
        _all(traces, out, jobs, fresh, quick, bundle, json)
        return
    if what is None:
        if bundle is not None:
            raise typer.BadParameter("--bundle needs PAPER or --all")
        _list(json)
        return
    from flashgc import reproduction
    from flashgc.reproduction import papers

    paper, figures = papers.split(what)
    with _going_on(), _bar(quiet=json) as shown:
        done = reproduction.reproduce(
            paper,
            figures,
            traces,
            out,
            jobs,
            fresh,
            quick,
            shown,
            trace or (),
            format,
            options.typed(),
            None if on_bad_line is None else on_bad_line.value,
            sort_window,
            pin,
            bundle,
        )
    if json:
        print(done.to_json())
    else:
        _show(done)
        _say_quick(quick)
    _say_bundle(bundle)
    _end(done.failed)


def _refuse(option: str, others: dict[str, object]) -> None:
    """Ends with an error where options were given that this one leaves without a meaning."""
    given = [name for name, value in others.items() if value]
    if given:
        raise typer.BadParameter(f"{option} cannot be combined with {', '.join(given)}")


@contextmanager
def _going_on() -> Iterator[None]:
    """Where runs are interrupted, those that are complete stay."""
    try:
        yield
    except KeyboardInterrupt as error:
        say("interrupted; completed runs are kept, and the same command continues with them")
        raise typer.Exit(interrupted_status(error)) from None


def _end(failed: list[dict[str, Any]]) -> None:
    if failed:
        claims = units.counted(len(failed), "claim was", "claims were")
        say(f"{claims} not met without a known reason, or changed from the value on record")
        raise typer.Exit(FAILED)


def _say_quick(quick: bool) -> None:
    if quick:
        say("a quick run has small drives and few requests, and its figures do not count")


def _say_bundle(bundle: Path | None) -> None:
    if bundle is not None:
        say(f"saved {bundle}; flashgc reproduce --check {bundle} runs it again")


def _all(
    traces: Path | None, out: Path | None, jobs: int | None, fresh: bool, quick: bool,
    bundle: Path | None, json: bool,
) -> None:  # fmt: skip
    from flashgc import reproduction

    with _going_on(), _bar(quiet=json) as shown:
        found = reproduction.reproduce_all(
            traces, out, jobs, fresh, quick, shown, bundle, options.typed()
        )
    if json:
        print(found.to_json())
    else:
        _show_all(found)
        _say_quick(quick)
    for name, text in found.errors.items():
        say(f"{name}: {text}")
    if found.papers:
        _say_bundle(bundle)
    if found.errors:
        raise typer.Exit(WRONG)
    _end(found.failed)


def _show_all(found: Reproductions) -> None:
    from flashgc.cli import show

    if found.papers:
        show.rows(found.rows())
        print()
        show.rows(found.evidence_rows())
    say(f"saved {found.folder / 'index.html'}, which leads to the page of each paper")


def _check(
    check: Path, traces: Path | None, out: Path | None, jobs: int | None, json: bool
) -> None:
    from flashgc import reproduction

    with _bar(quiet=json) as shown:
        found = reproduction.check_bundle(check, traces, out, jobs, shown)
    if json:
        print(found.to_json())
    else:
        _show_check(found)
    if not found.same:
        raise typer.Exit(FAILED)


def _show_check(found: Checked) -> None:
    from flashgc._engine import __version__
    from flashgc.cli import show

    show.rows(found.rows())
    for one in found.differences[:_SHOWN]:
        show.line(f"{one.paper}: {one.label}: was {one.was}, is {one.now}")
    if len(found.differences) > _SHOWN:
        show.line(f"and {len(found.differences) - _SHOWN} more")
    if not found.same and found.version != __version__:
        say(f"the bundle was made by flashgc {found.version}, and this is {__version__}")
    say(f"saved the results of the second time in {found.folder}")


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
    from flashgc.cli import show

    rows = [["figure", "content"]]
    for paper in known:
        claims = units.counted(len(paper.claims), "claim")
        show.line(f"{paper.name}: {paper.experiment.citation}; {claims}", "bold")
        show.words(rows + [[item.id, item.title] for item in paper.experiment.items])
    show.line(
        "`flashgc reproduce PAPER` runs all of a paper, `flashgc reproduce PAPER/FIGURE` a part."
    )


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[Step], None] | None]:
    """One bar for all runs, or nothing without a terminal."""
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
            text = f"{step.runs_done} of {units.counted(step.runs, 'run')}"
            progress.update(task, description=step.label, completed=step.share, text=text)

        yield show


def _show(done: Reproduction) -> None:
    from flashgc.cli import show

    show.line(done.title, "bold")
    for item in done.items:
        print()
        show.line(f"{item.id}: {item.title}", "bold")
        if item.id in done.charts:
            show.rows(done.tables[item.id])
        _claims(done.claim_rows(item.id))
    every = done.claim_rows(None)
    if len(every) > 1:
        print()
        show.line("every run", "bold")
        _claims(every)
    for source in done.sources:
        show.labelled(source.label, source.text())
    print()
    show.rows(done.evidence_rows())
    show.line(done.summary)
    say(
        f"saved {done.folder / done.page} and {done.report}, with the reasons for each verdict; "
        f"{_figures(done)}"
    )
    if done.runs_kept:
        say(
            f"{done.runs_kept} of {units.counted(done.runs, 'run')} already saved; --fresh "
            "repeats them"
        )


def _figures(done: Reproduction) -> str:
    if done.charts and not done.made.has_files:
        return "figures as files need flashgc[figures]"
    return "the figures are in the same folder"


_STYLES = {"met": "green", "predicted": "green", "near": "yellow", "not met": "red",
           "not predicted": "red", "not comparable": "dim"}  # fmt: skip


def _claims(table: list[list[str]]) -> None:
    """Claims, below each other where they are any."""
    from flashgc.cli import show

    if len(table) > 1:
        verdicts = {
            (at, len(row) - 1): _STYLES[row[-1]] for at, row in enumerate(table[1:], start=1)
        }
        show.words(table, right=(2, 3), wraps=(0, 1), styles=verdicts)
