"""Progress on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashgc.formatting import units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.progress import Progress, TaskID

    from flashgc.running import executing

    Shown = Callable[[int, executing.Progress], None]
    Told = Callable[[str, float, float | None], None]
    """Called with a phase, the amount done in it, and its total where that is known."""

PHASES = {"scan": "reading the requests", "fill": "filling the drive",
          "overwrite": "overwriting the drive", "run": "measuring", "done": "done",
          "refused": "cannot run here"}  # fmt: skip


@contextmanager
def bars(names: list[str], quiet: bool) -> Iterator[Shown | None]:
    """A bar for each run, or nothing without a terminal; the bars go when all is done."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[text]}"),
        TimeRemainingColumn(compact=True),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as progress:
        runs = [f"{name}: " if len(names) > 1 else "" for name in names]
        tasks = [progress.add_task(f"{run}starting", total=None, text="") for run in runs]
        phases = ["" for _ in names]

        def show(index: int, step: executing.Progress) -> None:
            if phases[index] != step.phase:
                phases[index] = step.phase
                # Fields that are given replace all others of the task, so `text` is the only one.
                progress.reset(tasks[index], description=runs[index] + PHASES[step.phase], text="")
                # `reset` keeps the total of the phase before where this phase has none.
                progress.tasks[index].total = step.total
            progress.update(tasks[index], completed=step.done, total=step.total, text=_text(step))

        yield show


@contextmanager
def one(first: str, quiet: bool) -> Iterator[tuple[Progress, TaskID] | None]:
    """One bar for all runs of a command, or nothing without a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20),
               TextColumn("{task.fields[text]}"), TimeRemainingColumn(compact=True))  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield progress, progress.add_task(first, total=None, text="")


@contextmanager
def phases(
    names: Mapping[str, str], quiet: bool, things: Mapping[str, str] | None = None
) -> Iterator[Told | None]:
    """One bar that begins anew with each phase, or nothing without a terminal.

    `names` has the words for each phase, and `things` the objects that it counts.
    """
    with one("starting", quiet) as bar:
        if bar is None:
            yield None
            return
        progress, task = bar
        phase = ""

        def show(step: str, done: float, total: float | None) -> None:
            nonlocal phase
            if step != phase:
                phase = step
                progress.reset(task, description=names[step], text="")
                progress.tasks[task].total = total
            of = "" if total is None else f" of {total:,}"
            kind = f" {things[step]}" if things else ""
            progress.update(task, completed=done, total=total, text=f"{int(done):,}{of}{kind}")

        yield show


def _text(step: executing.Progress) -> str:
    of = f" of {units.count(step.total)}" if step.total is not None else ""
    at = f", at {units.time(step.now_ns)}" if step.now_ns else ""
    return f"{units.count(step.done)}{of}{at}"
