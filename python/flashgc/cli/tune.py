"""`flashgc tune`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import options, sweep
from flashgc.cli.guard import guarded, interrupted_status, say
from flashgc.cli.options import example

if TYPE_CHECKING:
    from flashgc.tuning import TuneProgress, Tuning

EXAMPLES = (
    "flashgc tune oltp",
    "flashgc tune replay --trace my-trace.csv.zst --out runs/tuned",
    'flashgc tune oltp --objectives write,wear --constraint "read <= 2 ms"',
    "flashgc tune TUNE.toml --trials 300",
)
EPILOG = example(*EXAMPLES)

_PHASES = {"scan": "reading the trace", "first": "first run", "presets": "presets",
           "search": "search", "final": "until steady", "check": "check"}  # fmt: skip
_COUNTED = dict.fromkeys(_PHASES, "runs") | {"scan": "rows", "search": "trials"}


@guarded
def tune(
    config: options.Config,
    trace: options.Trace = None,
    objectives: Annotated[
        str | None,
        typer.Option("--objectives", metavar="A,B", show_default=False,
                     help="Metrics to minimise: read, write, wear, or numbers of a report; "
                     "`max:` before a name maximises it \\[default: write, "
                     "write_amplification_bytes]."),
    ] = None,
    constraints: Annotated[
        list[str] | None,
        typer.Option("--constraint", metavar="BOUND", show_default=False,
                     help='A bound, such as "read <= 110%" (of the own scheme), "read <= 105% of '
                     'presets" or "read <= 2 ms"; repeatable '
                     '\\[default: read <= 110% of presets].'),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", min=1, metavar="N", show_default=False,
                     help="The number of points to try \\[default: 160]."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="NAME", show_default=False,
                     help="How points are drawn: tpe, nsga-ii or random \\[default: tpe]."),
    ] = None,
    search_seed: Annotated[
        int | None,
        typer.Option("--search-seed", min=0, metavar="N", show_default=False,
                     help="The seed of the search; --seed is that of the runs \\[default: 1]."),
    ] = None,
    scheme: options.Scheme = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    fit: options.Fit = None,
    json: options.Json = False,
    out: Annotated[
        Path | None, options.out("tune.html, tune.json, tuned.toml and front.svg")
    ] = None,
    store: sweep.Store = sweep.DEFAULT_STORE,
    jobs: sweep.Jobs = None,
    on: sweep.On = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
) -> None:  # fmt: skip
    """Search slots and parameters for the best configuration of a workload."""
    from flashgc import charts, tuning
    from flashgc.files import output

    sweep.check_jobs(jobs, on)
    folder = output.folder_apart(out, ["tuned.toml"], config, scheme, device, trace)
    if folder is not None:
        charts.writers()  # a missing package is an error before the search
    set_ = options.settings(sets, format, on_bad_line, sort_window)
    goals = None if objectives is None else objectives.split(",")
    try:
        with _bar(quiet=json) as shown:
            found = tuning.tune(
                config, trace, objectives=goals, constraints=constraints, trials=trials,
                method=method, search_seed=search_seed, scheme=scheme, device=device, set=set_,
                unset=unsets, seed=seed, fit=fit, store=store, jobs=jobs, on=on, progress=shown,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        say("interrupted; completed runs are kept, and the same command continues with them")
        raise typer.Exit(interrupted_status(error)) from None
    options.finish(
        lambda: [] if folder is None else _save(found, folder),
        lambda: _print(found),
        found.to_json if json else None,
    )


def _save(found: Tuning, folder: Path) -> list[Path]:
    """The result, the configuration and the figure."""
    from flashgc import charts
    from flashgc.tuning import figure

    files = options.save(found.save, folder, "tune")
    if found.config is not None:
        files.append(found.save(folder / "tuned.toml"))
    return [*files, *charts.save(figure.charts(found.to_dict()), folder, ("svg",))]


def _print(found: Tuning) -> None:
    from flashgc.cli import show
    from flashgc.tuning import words

    values = found.to_dict()
    show.line(words.head(values), "bold")
    show.line(words.about(values))
    show.words(words.points(values), right=range(1, len(words.metrics(values)) + 1))
    for title, rows in (
        ("parameters that mattered", words.parameters(values)),
        ("check on unseen samples", words.check(values)),
    ):
        if rows:
            show.line(title, "bold")
            show.words(rows)
    for text in values["warnings"]:
        show.note(text)
    show.line(f"{values['chosen']['name']}", "bold")
    show.pairs(words.chosen(values), indent=2)
    show.line("")
    show.line(words.verdict(values), "bold")
    show.line("")
    for command in values["commands"]:
        show.command(command)


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[TuneProgress], None] | None]:
    """One bar for each phase, or nothing without a terminal."""
    from flashgc.cli import progress

    with progress.phases(_PHASES, quiet, _COUNTED) as show:
        yield None if show is None else lambda step: show(step.phase, step.done, step.total)
