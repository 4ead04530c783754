"""The order of work: drives before the points that share them, and again what a crash has ended.

1. `next` gives a task that may start now; `done` and `died` report its end.
2. A drive that several points share is one task. It releases its points, and its file is removed
   after the last of them.
3. A task whose worker died is given to another worker, up to a limit.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from flashgc.sweeps.plan import Planned
from flashgc.sweeps.store import Store
from flashgc.sweeps.work import Task

DEATHS_MAX = 3
"""The number of workers that a point may end before it is reported and not tried again."""


class Agenda:
    """Tasks that are due, used by several threads."""

    def __init__(self, missing: Sequence[Planned], store: Store, stays: bool = False) -> None:
        self._changed = threading.Condition()
        self._deaths: Counter[str] = Counter()
        self._waiting: dict[str, list[Task]] = {}
        self._left: Counter[str] = Counter()
        self._running = 0
        self._stopped = False
        self._store = store
        self._stays = stays
        """Whether workers wait for more points when there is nothing left to do."""
        self._ready: deque[Task] = deque()
        self.table_bytes = 0
        self.add(missing)

    def add(self, missing: Sequence[Planned]) -> None:
        """More points; they share no drives with earlier points."""
        points = [_task(one, self._store) for one in missing]
        shared = Counter(task.drive_key for task in points if task.drive_key is not None)
        drives: dict[str, Task] = {}
        alone: list[Task] = []
        with self._changed:
            for task in points:
                key = task.drive_key
                if key is None or shared[key] == 1 or key in self._left:
                    alone.append(task.on(None))
                else:
                    self._waiting.setdefault(key, []).append(task)
                    drives.setdefault(key, replace(task, key=""))
            self._left.update({key: len(self._waiting[key]) for key in drives})
            # The longest go first, so that the last ones to end are short.
            first = sorted(drives.values(), key=lambda task: -task.table_bytes)
            self._ready.extend([*first, *sorted(alone, key=lambda task: -task.table_bytes)])
            largest = max((task.table_bytes for task in points), default=0)
            self.table_bytes = max(self.table_bytes, largest)
            self._changed.notify_all()

    def next(self, wait: bool = True) -> Task | None:
        """A task to start. None if all is done or stopped; without `wait` also if none is due."""
        with self._changed:
            while not self._ready and wait and self._is_going():
                self._changed.wait()
            if self._stopped or not self._ready:
                return None
            self._running += 1
            return self._ready.popleft()

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do."""
        with self._changed:
            return not self._is_going()

    def _is_going(self) -> bool:
        left = self._stays or self._ready or self._running or self._waiting
        return not self._stopped and bool(left)

    def stop(self) -> None:
        """No task starts from now on."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def done(self, task: Task, is_saved: bool = True) -> None:
        """A task has ended. Points begin without a drive that could not be saved."""
        with self._changed:
            self._running -= 1
            key = task.drive_key
            if task.is_drive and key is not None:
                points = self._waiting.pop(key)
                path = task.drive if is_saved else None
                # Before all others, so that few drives are kept at a time.
                self._ready.extendleft(one.on(path) for one in reversed(points))
            elif key is not None and task.drive is not None:
                self._left[key] -= 1
                if self._left[key] == 0:
                    del self._left[key]
                    with contextlib.suppress(OSError):
                        Path(task.drive).unlink()
            self._changed.notify_all()

    def died(self, task: Task) -> bool:
        """Its worker has died; whether the task goes to another one."""
        name = task.key or f"drive {task.drive_key}"
        with self._changed:
            self._deaths[name] += 1
            again = self._deaths[name] < DEATHS_MAX
            if again:
                self._running -= 1
                self._ready.append(task)
                self._changed.notify_all()
        if not again:
            self.done(task, is_saved=False)
        return again


def _task(one: Planned, store: Store) -> Task:
    run = one.run
    assert run is not None
    drive = run.drive_key
    return Task(
        one.label, run.request, run.key, run.trace, run.awaits_fit, run.settings, run.config_hash,
        None if drive is None else str(store.drive(drive)), drive, run.table_bytes,
    )  # fmt: skip
