"""One piece of work of a sweep, the same in a process of this machine and on a node of Ray."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import DriveError, FlashgcError, InternalError, RunError
from flashgc._engine_types import Request
from flashgc.axes import own_drive
from flashgc.sweeps import columns
from flashgc.sweeps.store import DONE, FAILED, KILLED, Row


@dataclass(frozen=True)
class Task:
    """A point to run; or a drive to precondition and save, for the points that share it."""

    label: str
    request: Request
    key: str = ""
    """The key of the result; empty for a drive."""
    trace: str | None = None
    awaits_fit: bool = False
    settings: Mapping[str, Any] | None = None
    """The settings of the report, where the run begins with a shared drive."""
    config_hash: str = ""
    drive: str | None = None
    """The file of the drive: to begin with, or to save."""
    drive_key: str | None = None
    table_bytes: int = 0

    @property
    def is_drive(self) -> bool:
        """Whether it saves a drive."""
        return not self.key

    def on(self, drive: str | None) -> Task:
        """The task with this file for its drive."""
        settings = None if drive is None else self.settings
        return replace(self, drive=drive, settings=settings)


def done(task: Task) -> Row:
    """The row of a point's result, or of its error; for a drive the error alone."""
    try:
        request = task.request
        if task.awaits_fit:
            request = {**request, "fitted": engine.fit([request])}
        if task.is_drive:
            assert task.drive is not None
            if not _is_saved(task.drive):
                engine.drive_save(request, task.drive)
            return {"error": None}
        return _row(task, DONE, _report(task, request))
    except (FlashgcError, MemoryError, OSError) as error:
        # The engine ends a run for reasons of the run; all others may be gone the next time.
        is_final = isinstance(error, RunError) and not isinstance(error, InternalError)
        text = "error: not enough memory" if isinstance(error, MemoryError) else str(error)
        return _row(task, FAILED if is_final else KILLED, error=text)


def killed(task: Task, why: str) -> Row:
    """The row of a point whose workers were killed."""
    return _row(task, KILLED, error=why)


def _is_saved(drive: str) -> bool:
    """Whether an earlier attempt has saved the drive: its name stands for its content."""
    try:
        engine.drive_info(drive)
    except DriveError:
        return False
    return True


def _report(task: Task, request: Request) -> dict[str, Any]:
    outcome = None
    if task.drive is not None:
        try:
            outcome = engine.run(request, drive=task.drive)
        except DriveError:
            outcome = None  # it was removed, or is damaged
    if outcome is None:
        outcome = engine.run(request)
    report: dict[str, Any] = json.loads(outcome.report)
    if task.drive is not None:
        assert task.settings is not None
        own_drive.restore(report, task.settings, task.config_hash)
    return report


def _row(
    task: Task, status: str, report: dict[str, Any] | None = None, error: str | None = None
) -> Row:
    of_machine = {name: report.get(name) if report else None for name in columns.OF_MACHINE}
    if report is not None:
        report |= dict.fromkeys(columns.OF_MACHINE)
    return {
        "key": task.key,
        "status": status,
        "error": error,
        "ended_s": time.time(),
        "worker": f"{socket.gethostname()}:{os.getpid()}",
        "trace": task.trace,
        **of_machine,
        "report": None if report is None else json.dumps(report, separators=(",", ":")),
    }


def file_in(folder: Path, name: str, data: bytes) -> Path:
    """A file with this content, whole, in a folder that several processes share."""
    target = folder / name
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f".{name}.{os.getpid()}.part"
        unfinished.write_bytes(data)
        os.replace(unfinished, target)
    return target
