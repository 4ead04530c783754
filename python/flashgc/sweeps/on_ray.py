"""Points on Ray: on this machine, or on a cluster. Ray places the tasks and repeats lost ones.

Nodes share no files with the sweep. The content of a trace, and each shared drive, is an object of
Ray; a node writes it into a folder of its own once, under the name of its content.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import RunError
from flashgc._engine_types import Request
from flashgc.machine import extras
from flashgc.machine.processors import processors
from flashgc.sweeps import work
from flashgc.sweeps.agenda import DEATHS_MAX, Agenda
from flashgc.sweeps.store import Row
from flashgc.sweeps.work import Task

HERE = "ray"
CLUSTER = "ray://"

_FILES_MAX = 16
"""Drives and traces that a node keeps."""
_AHEAD = 2
"""Tasks that are submitted for each processor, so that none waits for the next."""
_LOOPBACK = "127.0.0.1"
_OF_THIS_MACHINE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
"""Read when Ray is imported. Without clusters of several machines it stays on the loopback."""


class OnRay:
    """Workers of Ray: at `ray://HOST:PORT`, or `ray` for a cluster of this machine alone."""

    def __init__(self, on: str, jobs: int | None) -> None:
        if on == HERE:
            os.environ.update(_OF_THIS_MACHINE)
        self._ray = extras.library("ray", "a sweep on a cluster needs")
        self._on, self._jobs = on, jobs
        self.workers: list[str] = []

    def run(self, agenda: Agenda) -> Generator[tuple[Task, Row]]:
        """The row of each point as soon as it is there."""
        with self._connected():
            yield from _Run(self._ray, agenda, self._ahead()).rows()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        ray = self._ray
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._on == HERE:
            how = {"address": "local", "num_cpus": self._jobs or processors(),
                   "include_dashboard": False, "_node_ip_address": _LOOPBACK, **quiet}  # fmt: skip
        else:
            how = {"address": self._on, **quiet}
        try:
            ray.init(**how)
        except (ConnectionError, OSError, RuntimeError, ValueError) as reason:
            raise RunError(
                f"error: Ray at {self._on} cannot be used: {str(reason).splitlines()[0]}"
            ) from None
        try:
            if self._on == HERE and ray.util.get_node_ip_address() != _LOOPBACK:
                raise RunError(
                    "error: Ray would accept connections from other machines\n  = help: import Ray "
                    "after the sweep, or set RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 before"
                )
            yield
        finally:
            ray.shutdown()

    def _ahead(self) -> int:
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        count = int(sum(node["Resources"].get("CPU", 0) for node in nodes))
        self.workers = [f"{node['NodeManagerAddress']} ({node['Resources'].get('CPU', 0):g} CPUs)"
                        for node in nodes]  # fmt: skip
        return _AHEAD * max(self._jobs or count, 1)


class _Run:
    """The tasks of a sweep on a cluster that is connected."""

    def __init__(self, ray: Any, agenda: Agenda, ahead: int) -> None:  # noqa: ANN401 - a module
        self._ray, self._agenda, self._ahead = ray, agenda, ahead
        # A task whose worker or node is lost goes to another one, and is given up in the end.
        self._remote = ray.remote(num_cpus=1, max_retries=DEATHS_MAX - 1)(_on_node)
        self._traces: dict[str, Any] = {}
        self._drives: dict[str, Any] = {}
        self._pending: dict[Any, Task] = {}

    def rows(self) -> Generator[tuple[Task, Row]]:
        """The row of each point as soon as it is there."""
        try:
            while True:
                self._submit()
                if not self._pending:
                    return
                # Short waits, so that Ctrl-C is seen.
                ended, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=0.2)
                for reference in ended:
                    task = self._pending.pop(reference)
                    row = self._row(reference, task)
                    if not task.is_drive:
                        yield task, row
        finally:
            self._agenda.stop()
            for reference in self._pending:
                self._ray.cancel(reference, force=True)

    def _submit(self) -> None:
        while len(self._pending) < self._ahead:
            task = self._agenda.next(wait=False)
            if task is None:
                return
            drive = None if task.is_drive else self._drives.get(task.drive or "")
            sent = replace(task, request=_bare(task.request))
            # In a list an object is fetched only when the task does so.
            objects = [self._trace(task), drive]
            self._pending[self._remote.remote(sent, objects, engine.__version__)] = task

    def _trace(self, task: Task) -> Any:  # noqa: ANN401 - a reference of Ray
        path = task.request["trace_path"]
        if path is None or task.trace is None:
            return None
        if task.trace not in self._traces:
            self._traces[task.trace] = self._ray.put(Path(path).read_bytes())
        return self._traces[task.trace]

    def _row(self, reference: Any, task: Task) -> Row:  # noqa: ANN401 - a reference of Ray
        errors = self._ray.exceptions
        try:
            row, drive = self._ray.get(reference)
        except errors.RayTaskError as reason:
            raise RunError(f"error: a node of Ray cannot run flashgc: {reason.cause}") from None
        except errors.RayError as reason:
            row, drive = work.killed(task, _why(reason)), None
        if drive is not None:
            self._drives[task.drive or ""] = drive
        is_saved = drive is not None
        self._agenda.done(task, is_saved)
        return dict(row)


def _on_node(task: Task, objects: list[Any], version: str) -> tuple[Row, Any]:
    """A task on a node: its row, and the drive that it has made."""
    ray = extras.library("ray", "a sweep on a cluster needs")
    if version != engine.__version__:
        raise RuntimeError(f"it has version {engine.__version__}, and the sweep has {version}")
    folder = _folder()
    request = task.request
    trace, drive = objects
    if trace is not None:
        suffix = "".join(Path(request["trace_name"] or "").suffixes[-2:])
        path = _fetched(ray, folder, f"{task.trace}{suffix}", trace)
        request = {**request, "trace_path": path}
    if task.is_drive:
        target = folder / f"{task.drive_key}.drive"
        row = work.done(replace(task, request=request, drive=str(target)))
        made = ray.put(target.read_bytes()) if row["error"] is None else None
        return row, made
    file = None if drive is None else str(_fetched(ray, folder, f"{task.drive_key}.drive", drive))
    return work.done(replace(task, request=request, drive=file)), None


def _fetched(ray: Any, folder: Path, name: str, what: Any) -> Path:  # noqa: ANN401 - Ray's own
    """The file with the content of an object, which the node may have already."""
    path = folder / name
    if not path.exists():
        _make_room(folder)
        work.file_in(folder, name, ray.get(what))
    return path


def _make_room(folder: Path) -> None:
    """The oldest files go; a run whose drive is gone preconditions its own."""
    files = sorted(folder.glob("*.drive"), key=lambda path: path.stat().st_mtime)
    for path in files[: -_FILES_MAX + 1]:
        path.unlink(missing_ok=True)


def _folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"flashgc-sweeps-{user}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _bare(request: Request) -> Request:
    """The request without the path of its trace, which a node does not have."""
    return {**request, "trace_path": None}


def _why(reason: BaseException) -> str:
    what = type(reason).__name__
    return (
        f"error: Ray gave this point up after {DEATHS_MAX} attempts: {what}\n"
        "  = help: its workers often die if memory is exhausted: try fewer --jobs"
    )
