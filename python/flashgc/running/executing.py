"""Requests that are run: one, or several at a time, with their progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import flashgc._engine as engine
from flashgc._engine_types import Logs, Request
from flashgc.files import arguments, output
from flashgc.reports.report import Report, of_outcome
from flashgc.results import metrics
from flashgc.results import over_time as overview
from flashgc.running import building, clock, inputs, parallel
from flashgc.running.building import PathLike


class Progress(NamedTuple):
    """The progress of a run."""

    phase: str
    """`scan` (of a trace, or of all requests for the oracle), `fill`, `overwrite`, `run` or
    `done`; `refused` where a scheme of a comparison cannot run."""
    done: int
    """Rows, pages or requests done in this phase."""
    total: int | None
    """The number of all, where that is known."""
    now_ns: int
    """Simulated time, in ns."""


ProgressCallback = Callable[[Progress], object]


def callback(progress: ProgressCallback | None) -> Callable[..., object] | None:
    """The callback for the engine, by one that takes a :class:`Progress`."""
    arguments.check_function(progress=progress)
    return None if progress is None else lambda *step: progress(Progress(*step))


def callback_of_first(
    progress: Callable[[int, Progress], object] | None,
) -> Callable[..., object] | None:
    """Progress of work that several runs share, reported as progress of the first."""
    arguments.check_function(progress=progress)
    return None if progress is None else lambda *step: progress(0, Progress(*step))


def run_one(
    request: Request,
    verify: bool,
    logs: Logs | None,
    drive: PathLike | None,
    progress: Callable[..., object] | None,
    over_time: bool | None = False,
    blame: bool = False,
) -> Report:
    """Runs a request; a trace sizes its drive first, where that is not done yet."""
    if request["fitted"] is None:
        [request] = building.sized([request], progress)
    own = None if drive is None else os.fspath(drive)
    recorded = over_time is not False and clock.is_timed(request)
    if over_time and not recorded:
        raise overview.no_clock("over_time")
    done = engine.run(request, verify, logs, progress, own, blame, recorded)
    _note_logs(logs)
    report = of_outcome(done)
    if done.over_time is not None:
        metrics.note(report, over_time=overview.of_run(done.over_time))
    return report


def run_all(
    requests: Sequence[Request],
    verify: bool,
    drive: PathLike | None,
    jobs: int,
    progress: Callable[[int, Progress], object] | None,
    over_time: bool | None = False,
    blame: bool = False,
) -> list[Report]:
    """Runs all of them, `jobs` at a time. The first error ends the others."""
    inputs.whole("jobs", jobs, 1)
    for request in requests:
        engine.check(request)  # every mistake is found before the first run

    def one(index: int, going: parallel.Going) -> Report:
        def tell(*step: Any) -> None:  # noqa: ANN401
            going()
            if progress is not None:
                progress(index, Progress(*step))

        return run_one(requests[index], verify, None, drive, tell, over_time, blame)

    return parallel.each(len(requests), jobs, one)


def _note_logs(logs: Logs | None) -> None:
    if logs is not None:
        timeline = logs["timeline"]
        output.note(logs["gc_log"], logs["series"], timeline and timeline["path"])
