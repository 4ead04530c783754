"""`flashgc top`."""

from __future__ import annotations

import contextlib
import sys
from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example

if TYPE_CHECKING:
    from flashgc.watching import Status

EPILOG = example("flashgc top drive.status", "flashgc top drive.status --json")


@guarded
def top(
    socket: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="The socket of `flashgc serve --status`.",
            autocompletion=complete.files,
            show_default=False,
        ),
    ],
    every: Annotated[
        float,
        typer.Option("--every", metavar="SECONDS", min=0.1, max=3600.0, help="Refresh interval."),
    ] = 1.0,
    json: options.Json = False,
) -> None:
    """Live view of a served drive; prints one snapshot when piped."""
    import flashgc.watching as served

    now = served.status(socket)
    if json:
        from json import dumps

        print(dumps(now, indent=2))
    elif sys.stdout.isatty():
        _watch(socket, every, now)
    else:
        _show(now)


def _watch(socket: str, every: float, now: Status) -> None:
    from rich.live import Live
    from rich.text import Text

    import flashgc.watching as served
    from flashgc._engine import RunError
    from flashgc.cli import show

    def drawn() -> Text:
        with show.console().capture() as lines:
            _show(now)
        return Text.from_ansi(lines.get())

    with contextlib.suppress(KeyboardInterrupt), Live(drawn(), auto_refresh=False) as screen:
        while True:
            sleep(every)
            try:
                now = served.status(socket)
            except RunError:
                break
            screen.update(drawn(), refresh=True)
        screen.stop()
        say("the drive has ended")


def _show(now: Status) -> None:
    import flashgc.watching as served
    from flashgc.cli import show
    from flashgc.results import summary
    from flashgc.results.metrics import RunResults

    show.line(summary.head(RunResults(now["report"])), "bold")
    show.rows(served.rates(now))
    show.pairs(served.facts(now))
