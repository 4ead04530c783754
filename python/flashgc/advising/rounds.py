"""The rounds of runs: a first one, short ones of all schemes, long ones of those that are left."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import flashgc._engine as engine
from flashgc._engine_types import Request
from flashgc.reports.report import Report
from flashgc.running import executing, parallel


class AdviceProgress(NamedTuple):
    """Progress of `advise`."""

    round: str
    """`scan` (of a trace), `first`, `short` or `long`."""
    done: float
    """Runs that are done; a part of one for each that is running."""
    total: int | None
    """The number of all, where that is known."""


ProgressCallback = Callable[[AdviceProgress], object]


class Rounds:
    """Runs, some at a time, whose progress counts for their round."""

    def __init__(self, jobs: int, progress: ProgressCallback | None) -> None:
        self._jobs = jobs
        self._progress = progress

    def scanned(self, phase: str, done: int, total: int | None, now_ns: int) -> None:
        """The progress of a trace that is read."""
        self._tell("scan", float(done), total)

    def whole(self, name: str, requests: Sequence[Request], blamed: Sequence[bool]) -> list[Report]:
        """A run of each request, with its own preconditioning."""
        parts = [0.0] * len(requests)

        def one(at: int, going: parallel.Going) -> Report:
            tell = self._teller(name, parts, at, 1, going)
            report = executing.run_one(requests[at], False, None, None, tell, blame=blamed[at])
            self._ended(name, parts, at)
            return report

        return parallel.each(len(requests), self._jobs, one)

    def samples(
        self, name: str, requests: Sequence[Request], samples: Sequence[Sequence[str]],
        unset: Sequence[str],
    ) -> list[list[Report]]:  # fmt: skip
        """The runs of each request on all samples.

        With several samples, each begins with the drive of the request, preconditioned once.
        """
        parts = [0.0] * (len(requests) * len(samples))

        def one(at: int, going: parallel.Going) -> list[Report]:
            each = [varied(requests[at], sample, unset) for sample in samples]
            first = at * len(samples)
            tellers = [self._teller(name, parts, first + place, 1, going)
                       for place in range(len(each))]  # fmt: skip

            def run(place: int, drive: str | None) -> Report:
                report = executing.run_one(each[place], False, None, drive, tellers[place])
                self._ended(name, parts, first + place)
                return report

            if len(each) == 1:
                return [run(0, None)]
            with tempfile.TemporaryDirectory(
                prefix="flashgc-", ignore_cleanup_errors=True
            ) as folder:
                drive = os.fspath(Path(folder) / "own.drive")
                engine.drive_save(requests[at], drive, False, lambda *step: going())
                return [run(place, drive) for place in range(len(each))]

        return parallel.each(len(requests), self._jobs, one)

    def _teller(
        self, name: str, parts: list[float], at: int, whole: float, going: parallel.Going
    ) -> Callable[..., None]:
        def tell(phase: str, done: int, total: int | None, now_ns: int) -> None:
            going()
            if phase == "run" and total:
                parts[at] = whole * min(done / total, 1.0)
            self._tell(name, sum(parts), len(parts))

        return tell

    def _ended(self, name: str, parts: list[float], at: int) -> None:
        parts[at] = 1.0
        self._tell(name, sum(parts), len(parts))

    def _tell(self, name: str, done: float, total: int | None) -> None:
        if self._progress is not None:
            self._progress(AdviceProgress(name, done, total))


def varied(request: Request, sets: Sequence[str], unset: Sequence[str]) -> Request:
    """A request with more settings, over its own."""
    return {**request, "sets": [*request["sets"], *sets], "unsets": [*request["unsets"], *unset]}
