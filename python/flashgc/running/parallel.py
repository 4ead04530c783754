"""Several pieces of work at a time, in threads: the first error ends the others."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from flashgc.running import inputs

Result = TypeVar("Result")
Going = Callable[[], None]


class StoppedError(Exception):
    """Another piece of work has failed, or the user has had enough."""


class _Work(Generic[Result]):
    """Pieces of work that threads take one after the other.

    No thread ever waits here. Ctrl-C may come while the main thread is inside `Thread.start`, whose
    thread is then active without a reference: it ends by itself as soon as `stop` is set.
    """

    def __init__(self, count: int, one: Callable[[int, Going], Result]) -> None:
        self.results: dict[int, Result] = {}
        self.errors: list[BaseException] = []
        self.stop = threading.Event()
        self._ended: set[threading.Thread] = set()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._one = one
        self._due = iter(range(count))
        self._lock = threading.Lock()

    def carry_out(self) -> None:
        """The life of a thread."""
        try:
            self._carry_out()
        finally:
            self._ended.add(threading.current_thread())
            self._wake.put(None)

    def wait_for(self, threads: list[threading.Thread]) -> None:
        """Returns when none of these threads is active.

        `Thread.join` and `is_alive` take an active thread for one that has ended when the handler
        of a signal raises in them (CPython 3.10 to 3.12), so that the process could end while the
        engine is running.
        """
        while not self._ended.issuperset(threads):
            # Short waits, so that Ctrl-C is seen.
            with contextlib.suppress(queue.Empty):
                self._wake.get(timeout=0.1)

    def _carry_out(self) -> None:
        while (number := self._next()) is not None:
            try:
                self.results[number] = self._one(number, self._going)
            except StoppedError:
                return
            except BaseException as error:
                self.errors.append(error)
                self.stop.set()

    def _next(self) -> int | None:
        with self._lock:
            return None if self.stop.is_set() else next(self._due, None)

    def _going(self) -> None:
        if self.stop.is_set():
            raise StoppedError


def each(count: int, jobs: int, one: Callable[[int, Going], Result]) -> list[Result]:
    """The results of `one` for the numbers from 0, `jobs` of them at a time.

    `one` calls its second argument whenever it can stop, which raises where it has to.

    >>> from flashgc.running.parallel import each
    >>> each(3, 2, lambda number, going: number * number)
    [0, 1, 4]
    """
    jobs = min(inputs.whole("jobs", jobs, 1), count)
    work = _Work(count, one)
    threads = [threading.Thread(target=work.carry_out) for _ in range(jobs)]
    started: list[threading.Thread] = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
        work.wait_for(started)
    finally:
        work.stop.set()
        work.wait_for(started)
    if work.errors:
        raise work.errors[0]
    return [work.results[number] for number in range(count)]
