"""The options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flashgc.cli import complete

Saver = Callable[[Path], Path]

EXAMPLE = "[dim]Example:[/]  [bold]{}[/]"


def example(*commands: str) -> str:
    """The last lines of a help text."""
    return "\n\n".join(EXAMPLE.format(command) for command in commands)


class OnBadLine(StrEnum):
    """What to do with a line of a trace that is not understood."""

    stop = "stop"
    skip = "skip"


Config = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="A TOML file, or the name of a built-in one: oltp, replay.",
        autocompletion=complete.configs,
        show_default=False,
    ),
]
Trace = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="The trace to replay: plain, gzip or zstd; - is standard input.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        metavar="NAME|FILE",
        help="The GC scheme, by name or as a TOML file; over the configuration's.",
        autocompletion=complete.schemes,
        show_default=False,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help="The device, by name; it replaces the whole \\[device] of the configuration.",
        autocompletion=complete.devices,
        show_default=False,
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="A setting over all others; may be given several times.",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, metavar="N", help="The seed of all random numbers.",
                 show_default=False),
]  # fmt: skip
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Let the checkers watch every operation (slower)."),
]
Drive = Annotated[
    str | None,
    typer.Option(
        "--drive",
        metavar="FILE",
        help="Begin with a saved drive, in place of preconditioning one.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print JSON, and nothing else, on standard output."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Save report.json and report.html there.",
        show_default=False,
    ),
]
OverTime = Annotated[
    bool,
    typer.Option(
        "--over-time",
        help="Show the longest responses over time and what each collection moved on the page of "
        "--out (slower).",
    ),
]
BadLine = Annotated[
    OnBadLine | None,
    typer.Option("--on-bad-line", help="Stop at a line that is not understood, or count it.",
                 show_default=False),
]  # fmt: skip
Jobs = Annotated[
    int,
    typer.Option("--jobs", min=1, metavar="N", help="So many runs at a time."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="F",
        help="The format of the trace, where it is not to be recognised by the content.",
        autocompletion=complete.formats,
        show_default=False,
    ),
]
TraceFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A trace: plain, gzip or zstd; - is standard input.",
        autocompletion=complete.files,
        show_default=False,
    ),
]


def settings(
    sets: list[str] | None, format: str | None, on_bad_line: OnBadLine | None
) -> list[str]:
    """What was set, with what has an option of its own."""
    own = []
    if format is not None:
        own.append(f"workload.trace.format={json.dumps(format)}")
    if on_bad_line is not None:
        own.append(f"workload.trace.on_bad_line={on_bad_line.value}")
    return [*own, *(sets or [])]
