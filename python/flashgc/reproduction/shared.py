"""Runs several at a time, where those with the same preconditioned drive precondition it once.

A drive that several runs share is saved, used by each of them, and removed after the last one. The
results are those of runs that precondition their own.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import flashgc._engine as engine
from flashgc._engine import FlashgcError, InternalError
from flashgc._engine_types import Logs
from flashgc.axes import own_drive
from flashgc.axes.layers import Checked
from flashgc.reports.report import Report
from flashgc.results import metrics
from flashgc.running import executing, parallel

Told = Callable[[int, executing.Progress], object]


@dataclass
class _Drive:
    """A drive that several runs share."""

    made_by: Checked
    runs: list[int]
    file: Path
    is_saved: bool = False
    is_made: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def make(self, tell: Callable[..., object]) -> None:
        """Saves it. Runs begin without a drive that could not be saved."""
        try:
            engine.drive_save(self.made_by.request, self.file, progress=tell)
            self.is_saved = True
        except InternalError:
            raise
        except FlashgcError:
            self.is_saved = False
        finally:
            self.is_made.set()

    def released(self, index: int) -> None:
        """A run does not need it any more."""
        with self.lock:
            self.runs.remove(index)
            if not self.runs:
                with contextlib.suppress(OSError):
                    self.file.unlink()


_Work = tuple[_Drive | None, int | None]
"""A drive to save, or the run of this number with its shared drive, if any."""


def run_all(
    checked: Sequence[Checked],
    folder: Path,
    jobs: int,
    progress: Told,
    done: Callable[[int, Report], object],
    logs: Sequence[Logs | None],
) -> None:
    """Runs all of them in their order, but those that share a drive after each other.

    `done` is called with each report as soon as it is there, from the thread of its run. The first
    error ends the others. Drives are kept in the folder while runs share them.
    """
    work = list(_ordered(checked, folder, jobs))

    def one(number: int, going: parallel.Going) -> None:
        drive, index = work[number]

        def tell(*step: object) -> None:
            going()
            if index is not None:
                progress(index, executing.Progress(*step))  # type: ignore[arg-type]

        if index is None:
            assert drive is not None
            drive.make(tell)
            return
        while drive is not None and not drive.is_made.wait(0.1):
            going()
        file = drive.file if drive is not None and drive.is_saved else None
        run = checked[index]
        report = executing.run_one(run.request, False, logs[index], file, tell)
        if file is not None:
            restored = report.to_dict()
            own_drive.restore(restored, run.settings, run.config_hash)
            metrics.note(report, **restored)
        if drive is not None:
            drive.released(index)
        done(index, report)

    try:
        parallel.each(len(work), jobs, one)
    finally:
        for drive, _ in work:
            if drive is not None:
                with contextlib.suppress(OSError):
                    drive.file.unlink()


def _ordered(checked: Sequence[Checked], folder: Path, jobs: int) -> Iterator[_Work]:
    """Each drive before its runs, and a further drive in advance for each worker."""
    keys = [run.drive_key for run in checked]
    by_key: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        if key is not None:
            by_key.setdefault(key, []).append(index)
    drives = [
        _Drive(checked[runs[0]], list(runs), folder / f"{key[:16]}.drive")
        for key, runs in by_key.items() if len(runs) > 1
    ]  # fmt: skip
    alone = ((None, index) for index, key in enumerate(keys)
             if key is None or len(by_key[key]) == 1)  # fmt: skip
    ahead: list[_Drive | None] = [*drives, *([None] * jobs)]
    for at, drive in enumerate(ahead):
        if drive is not None:
            yield drive, None
        elif at < jobs:
            yield from itertools.islice(alone, 1)
        if at >= jobs:
            ready = drives[at - jobs]
            yield from ((ready, index) for index in list(ready.runs))
    yield from alone
