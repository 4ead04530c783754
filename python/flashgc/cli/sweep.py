"""`flashgc sweep` and `flashgc sweep status`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import complete, help_texts, options
from flashgc.cli.guard import guarded, interrupted_status, say
from flashgc.cli.options import example
from flashgc.formatting import units

if TYPE_CHECKING:
    from flashgc.sweeps import SweepProgress, SweepResults
    from flashgc.sweeps.status import Status

INCOMPLETE = 1
"""The exit status of a sweep with points that have no result."""

_POINTS_SHOWN = 24
_ERRORS_SHOWN = 5
_METRICS = ("write_amplification", "latency_ns.all.p50", "latency_ns.all.p99",
            "latency_ns.all.p99_9", "erases")  # fmt: skip

app = help_texts.App(
    runs=True,
    no_args_is_help=True,
    help="Run a configuration at every point of some axes, in parallel, each point once.",
    epilog=example("flashgc sweep SWEEP.toml", "flashgc sweep status"),
)

Sweep = Annotated[
    Path,
    typer.Argument(
        metavar="SWEEP.toml",
        help="The axes, and the configuration below them.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Store = Annotated[
    Path,
    typer.Option("--store", metavar="DIR", help="The folder of all results."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, metavar="N", show_default=False,
                 help="Number of workers (default: one per processor)."),
]  # fmt: skip
On = Annotated[
    str | None,
    typer.Option("--on", metavar="ray|ray://HOST:PORT", show_default=False,
                 help="Run on Ray: on this machine, or on a cluster."),
]  # fmt: skip


def check_jobs(jobs: int | None, on: str | None) -> None:
    """Refuses more workers than one machine may have, by the name of the option."""
    from flashgc.running import inputs
    from flashgc.sweeps import outcome

    if jobs is not None and on is None:
        inputs.whole("--jobs", jobs, 1, outcome.WORKERS_MAX)


Traces = Annotated[
    Path | None,
    typer.Option(
        "--traces",
        metavar="DIR",
        help="A folder of traces, for choices with `files`.",
        show_default=False,
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Apply the `quick` settings: a short test.")]
Retry = Annotated[bool, typer.Option("--retry", help="Run points again that ended in an error.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print which points have to run, and why; run nothing.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Save a row for each point as .parquet, .csv or .arrow, or a page as .html.",
        show_default=False,
    ),
]
Figures = Annotated[
    Path | None,
    typer.Option(
        "--figures",
        metavar="DIR",
        help="Save write amplification, p99 and p99.9 over the axes as figures for a column of a "
        "paper; needs flashgc\\[figures].",
        show_default=False,
    ),
]
DEFAULT_STORE = Path("runs/sweeps")


@app.command(
    epilog=example(
        "flashgc sweep SWEEP.toml",
        "flashgc sweep SWEEP.toml --explain",
        "flashgc sweep status",
    )
)
@guarded
def run(
    sweep: Sweep,
    store: Store = DEFAULT_STORE,
    jobs: Jobs = None,
    on: On = None,
    traces: Traces = None,
    quick: Quick = False,
    retry: Retry = False,
    explain: Explain = False,
    out: Out = None,
    figures: Figures = None,
    json: options.Json = False,
) -> None:
    """Run the points of a sweep that have no result yet, and show the results of all."""
    from flashgc import sweeps
    from flashgc.files import output
    from flashgc.sweeps import results

    if explain:
        options.refuse_with("--explain runs nothing", {
            "--out": out, "--figures": figures, "--jobs": jobs, "--on": on,
        })  # fmt: skip
        found = sweeps.explain(sweep, store=store, traces=traces, quick=quick, retry=retry)
        _explain(found, json)
        return
    options.refuse_standard_output(json, {"--out": out})
    check_jobs(jobs, on)
    if out is not None:
        results.table_file(out)
    if figures is not None:
        output.folder(figures, "--figures")
    try:
        with _bar(quiet=json) as shown:
            done = sweeps.sweep(
                sweep, store=store, jobs=jobs, on=on, traces=traces, quick=quick,
                retry=retry, progress=shown,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        say("interrupted; completed points are kept, and the same command continues with them")
        raise typer.Exit(interrupted_status(error)) from None
    if out is not None:
        done.save(out, options.typed())
    drawn = [] if figures is None else done.save_figures(figures)
    if json:
        _print_json(done)
    else:
        _show(done)
        if out is not None:
            say(f"saved {out}")
        options.say_saved(*drawn)
    if figures is not None and done.without_figure:
        say(f"no figure of {', '.join(done.without_figure)}: no point has a value of it")
    if done.counts["done"] < len(done):
        raise typer.Exit(INCOMPLETE)


@app.command(epilog=example("flashgc sweep status", "flashgc sweep status --store results"))
@guarded
def status(
    sweep: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Only this sweep.", show_default=False),
    ] = None,
    store: Store = DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Show the sweeps of a folder: points by their status, rate and time left."""
    from flashgc.cli import show
    from flashgc.sweeps import status as states

    found = states.every(store, sweep)
    if json:
        import json as encoder

        print(encoder.dumps([one._asdict() for one in found], indent=2))
        return
    if not found:
        show.line(f"{store} has no sweeps")
    for one in found:
        show.line(one.name, "bold")
        show.pairs(_facts(one), indent=2)


def _facts(one: Status) -> list[tuple[str, str]]:
    counts = ", ".join(f"{count:,} {word}" for word, count in one.counts.items() if count)
    facts = [("points", f"{one.points:,}: {counts}")]
    if one.running is None:
        return facts
    facts.append(("running", f"process {one.running} on {one.host}"))
    if one.workers:
        facts.append(("workers", ", ".join(one.workers)))
    if one.per_s:
        left = "" if one.left_s is None else f", {units.time(one.left_s * 1e9)} left"
        facts.append(("rate", f"{one.per_s:,.1f} points/s{left}"))
    return facts


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[SweepProgress], None] | None]:
    """One bar for all points, or nothing without a terminal."""
    from flashgc.cli import progress as bars

    with bars.one("checking", quiet) as bar:
        if bar is None:
            yield None
            return
        progress, task = bar
        began_s, phase = time.monotonic(), "check"

        def show(step: SweepProgress) -> None:
            nonlocal began_s, phase
            if step.phase != phase:
                began_s, phase = time.monotonic(), step.phase
                progress.reset(task, description="running", text="")
            rate = (step.done - step.kept) / max(time.monotonic() - began_s, 1e-3)
            text = f"{step.done:,} of {units.counted(step.total, 'point')}, {rate:,.1f}/s"
            progress.update(task, completed=step.done, total=step.total, text=text)

        yield show


def _explain(found: dict[str, list[str]], json: bool) -> None:
    from flashgc.cli import show

    if json:
        import json as encoder

        print(encoder.dumps(found, indent=2))
        return
    if not found:
        show.line("every point has a result")
        return
    table = [["points", "why", "the first of them"]]
    table += [[f"{len(labels):,}", why, labels[0]] for why, labels in found.items()]
    show.words(table, right=(0,))


def _print_json(done: SweepResults) -> None:
    import json as encoder

    rows = done.to_arrow().to_pylist()
    print(encoder.dumps({"name": done.name, "counts": done.counts, "points": rows}, indent=2))


def _show(done: SweepResults) -> None:
    from flashgc.cli import show

    counts = ", ".join(f"{count:,} {word}" for word, count in done.counts.items() if count)
    show.line(f"{done.name}: {units.counted(len(done), 'point')}, {counts}", "bold")
    if len(done) <= _POINTS_SHOWN:
        show.rows(*_table(done))
    if done.saturated:
        show.note(_saturated(done.saturated))
    errors: dict[str, list[str]] = {}
    for label, error in done.errors:
        errors.setdefault(error.partition("\n")[0].removeprefix("error: "), []).append(label)
    for error, labels in list(errors.items())[:_ERRORS_SHOWN]:
        more = f", and {len(labels) - 1:,} more" if len(labels) > 1 else ""
        show.note(f"{labels[0]}{more}: {error}")
    if len(errors) > _ERRORS_SHOWN:
        more = units.counted(len(errors) - _ERRORS_SHOWN, "more error")
        show.note(f"{more}; --json shows all")
    new = units.counted(done.computed, "point was computed", "points were computed")
    say(f"{new} now; all results are in {done.store / 'results'}")


def _saturated(labels: Sequence[str]) -> str:
    """The saturated points, and the meaning of saturation."""
    from flashgc.sweeps import columns

    shown = "; ".join(labels[:_ERRORS_SHOWN])
    more = f"; and {len(labels) - _ERRORS_SHOWN:,} more" if len(labels) > _ERRORS_SHOWN else ""
    return f"{columns.about_saturated(len(labels))}: {shown}{more}"


def _table(done: SweepResults) -> tuple[list[list[str]], int]:
    """A row for each point with the main metrics, and how many columns name it.

    The status of the points is among these, where not all are done.
    """
    from flashgc.sweeps import columns

    names = [name for name in _METRICS if name not in done.axes]
    rows = done.to_arrow().select([*done.axes, "status", "saturated", *names]).to_pylist()
    states = [columns.state(row) for row in rows]
    has_states = len(set(states)) > 1 or states[:1] not in ([], ["done"])
    heads = [name.removeprefix("latency_ns.all.").replace("_9", ".9").replace("_", " ")
             for name in names]  # fmt: skip
    own = [*done.axes, *(["status"] if has_states else [])]
    table = [[*own, *heads]]
    for row, state in zip(rows, states, strict=True):
        choices = [str(row[axis]) for axis in done.axes]
        cells = [_cell(name, row[name]) for name in names]
        table.append([*choices, *([state] if has_states else []), *cells])
    return table, len(own)


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return units.NOTHING
    return units.time(value) if name.startswith("latency_ns") else units.figures(value)
