"""The options that several commands share."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from flashgc._engine import FlashgcError
from flashgc.cli import complete
from flashgc.cli.guard import say
from flashgc.files import arguments, output

EXAMPLE = "[dim]Example:[/]  [bold]{}[/]"


def scheme_names(text: str) -> list[str]:
    """The names of a list that commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]


def save(save: Callable[[Path], Path], folder: Path | None, name: str) -> list[Path]:
    """Saves a result under this name in the folder of `--out`, as a page and as JSON."""
    if folder is None:
        return []
    return [save(folder / f"{name}.html"), save(folder / f"{name}.json")]


def finish(
    save: Callable[[], Sequence[Path | None]],
    show: Callable[[], object],
    text: Callable[[], str] | None,
) -> None:
    """Saves a result and shows it, also where it cannot be saved: a long run is not lost.

    It is saved first, since a reader of standard output may leave. `text` is that of --json.
    """
    shown = show if text is None else lambda: print(text())
    try:
        files = save()
    except FlashgcError:
        shown()
        raise
    shown()
    if text is None:
        say_saved(*files)


_NAMED = 6


def say_saved(*files: Path | None) -> None:
    """Prints the names of saved files, with one line for each folder."""
    folders: dict[Path, list[str]] = {}
    for file in files:
        if file is not None:
            folders.setdefault(file.parent, []).append(str(file))
    for folder, names in folders.items():
        if len(names) > _NAMED:
            say(f"saved {len(names)} files in {folder}")
            continue
        *first, last = names
        say(f"saved {', '.join(first)} and {last}" if first else f"saved {last}")


def refuse_with(what: str, given: dict[str, object]) -> None:
    """Refuses the options that would have no effect, by the reason and their names."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter(f"{what} and cannot be combined with {name}; omit one of them")


def refuse_standard_output(json: bool, files: dict[str, Path | None]) -> None:
    """Refuses with --json a file, by its option, that is standard output: both would mix there."""
    for option, path in files.items():
        if json and path is not None and output.is_standard(path):
            raise typer.BadParameter(
                f"--json prints on standard output, and {option} {path} is the same file; give "
                f"{option} the name of another file, or omit --json"
            )


def say_checked(verify: bool) -> None:
    """Prints that the checkers have watched to the end, where they have."""
    if verify:
        say(
            "checked every operation and the whole drive at the end: nothing differs from the model"
        )


def typed() -> str:
    """The command as it was typed, so that a shell takes it again."""
    return shlex.join(["flashgc", *sys.argv[1:]])


def example(*commands: str) -> str:
    """The last lines of a help text."""
    return "\n\n".join(EXAMPLE.format(command) for command in commands)


def checked(check: str) -> Callable[[str | None], str | None]:
    """A callback by which an error names the option, and not the key or the argument behind it.

    `check` is the engine's function that refuses a wrong text.
    """

    def refuse(given: str) -> None:
        import flashgc._engine as engine

        getattr(engine, check)(given)

    return _named(refuse)


def _named(refuse: Callable[[str], object]) -> Callable[[str | None], str | None]:
    def callback(given: str | None) -> str | None:
        try:
            if given is not None:
                refuse(given)
        except FlashgcError as error:
            told = str(error).removeprefix("error: ").replace("\n  = help: ", "; ")
            named = told if f"`{given}`" in told else f"`{given}`: {told}"
            raise typer.BadParameter(named) from None
        return given

    return callback


DURATION, WINDOW = checked("check_duration"), checked("check_window")
FORMAT, TO = checked("check_format"), checked("check_format_to_write")


def up_to(least: int, most: int) -> Callable[[int | None], int | None]:
    """A callback that refuses a larger number, where the help shows no largest one."""

    def callback(given: int | None) -> int | None:
        if given is not None and given > most:
            raise typer.BadParameter(f"must be a whole number from {least} to {most}, got {given}")
        return given

    return callback


def units_of(what: str) -> Callable[[str | None], str | None]:
    """As `checked`, for the numbers of units that a timeline or an animation shows."""

    def refuse(given: str) -> None:
        from flashgc.running import timeline

        timeline.numbers(given, what)

    return _named(refuse)


class OnBadLine(StrEnum):
    """The action for a trace line that cannot be parsed."""

    stop = "stop"
    skip = "skip"


Config = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="A TOML file, the name of a built-in configuration (oltp, replay, real-programs), or "
        "a job file of fio (JOB.fio).",
        autocompletion=complete.configs,
        show_default=False,
    ),
]
Trace = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="FILE|NAME",
        help="The trace to replay: plain, gzip or zstd; - reads standard input. Or the name of a "
        "built-in one: `flashgc trace list`.",
        autocompletion=complete.traces,
        show_default=False,
    ),
]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        metavar="NAME|FILE",
        help="The GC scheme, by name or as a TOML file; replaces the scheme of the configuration.",
        autocompletion=complete.schemes,
        show_default=False,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME|FILE",
        help="The device, by name or as a TOML file; replaces \\[device] of the configuration as a "
        "whole.",
        autocompletion=complete.devices,
        show_default=False,
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Override one setting; repeatable.",
        show_default=False,
    ),
]
Unsets = Annotated[
    list[str] | None,
    typer.Option(
        "--unset",
        metavar="KEY.PATH",
        help="Remove a key from the configuration and its presets; repeatable.",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, metavar="N",
                 callback=up_to(0, arguments.NUMBER_MAX), help="Seed of all random numbers.",
                 show_default=False),
]  # fmt: skip
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Check every operation against the rules of the model (slower)."),
]
Drive = Annotated[
    str | None,
    typer.Option(
        "--drive",
        metavar="FILE",
        help="Start with a saved drive instead of preconditioning one.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print only JSON on standard output."),
]


def out(files: str) -> Any:  # noqa: ANN401 - an option of Typer
    """The option --out of a command that saves these files."""
    return typer.Option(
        "--out", metavar="DIR", help=f"Save {files} in this folder.", show_default=False
    )


Out = Annotated[
    Path | None,
    out("report.html, report.json and curves.json, which `flashgc report` reads again,"),
]
OverTime = Annotated[
    bool,
    typer.Option(
        "--over-time",
        help="Show response times, space, collections and wear over time on the page of --out; "
        "this is the default, except with --seeds.",
    ),
]
NoOverTime = Annotated[
    bool,
    typer.Option("--no-over-time", help="Omit time series (faster)."),
]
Blame = Annotated[
    bool,
    typer.Option(
        "--blame",
        help="Split latencies into their parts: service, and waits for other requests, for "
        "collection, for space and for the write buffer.",
    ),
]
Untimed = Annotated[
    bool,
    typer.Option(
        "--untimed",
        help="Run without a clock: write amplification, collections and wear in a fraction of the "
        "time, and no latencies.",
    ),
]
RequestLog = Annotated[
    Path | None,
    typer.Option(
        "--request-log",
        metavar="FILE",
        show_default=False,
        help="Write a row for each request, as .csv or .parquet; with --blame also the parts of "
        "its latency.",
    ),
]
Timeline = Annotated[
    Path | None,
    typer.Option(
        "--timeline",
        metavar="FILE",
        show_default=False,
        help="Write a timeline of units, buses and requests for https://ui.perfetto.dev.",
    ),
]
TimelineWindow = Annotated[
    str | None,
    typer.Option(
        "--timeline-window",
        metavar="FROM..TO",
        callback=WINDOW,
        show_default=False,
        help='Record only this part of the run, such as "1 s..1.2 s".',
    ),
]
TimelineUnits = Annotated[
    str | None,
    typer.Option(
        "--timeline-units",
        metavar="LIST",
        callback=units_of("timeline"),
        show_default=False,
        help="Record only these units, such as 0,4-7.",
    ),
]
BadLine = Annotated[
    OnBadLine | None,
    typer.Option("--on-bad-line", help="Stop at a line that cannot be parsed, or skip "
        "and count it.",
                 show_default=False),
]  # fmt: skip
Jobs = Annotated[
    int,
    typer.Option("--jobs", min=1, metavar="N", help="Number of parallel runs."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="F",
        callback=FORMAT,
        help="The format of the trace; by default it is recognised from the content.",
        autocompletion=complete.formats,
        show_default=False,
    ),
]
Fit = Annotated[
    str | None,
    typer.Option(
        "--fit",
        metavar="SHARE",
        callback=checked("check_fit"),
        help="Size the drive to the trace: its pages fill this share of the user capacity, "
        "such as 90%; none keeps the size of the device.",
        show_default=False,
    ),
]
TraceFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE|NAME",
        help="A trace: plain, gzip or zstd; - reads standard input. Or the name of a built-in one.",
        autocompletion=complete.traces,
        show_default=False,
    ),
]


SortWindow = Annotated[
    str | None,
    typer.Option("--sort-window", metavar="TIME", show_default=False, callback=DURATION,
                 help="Reorder rows that arrive out of order by at most this much, such as "
                 '"10 ms".'),
]  # fmt: skip


def settings(
    sets: list[str] | None,
    format: str | None,
    on_bad_line: OnBadLine | None,
    sort_window: str | None,
) -> list[str]:
    """The settings of `--set`, together with the options for single keys."""
    own = []
    if format is not None:
        own.append(f"workload.trace.format={json.dumps(format)}")
    if on_bad_line is not None:
        own.append(f"workload.trace.on_bad_line={on_bad_line.value}")
    if sort_window is not None:
        own.append(f"workload.trace.sort_window={json.dumps(sort_window)}")
    return [*own, *(sets or [])]
