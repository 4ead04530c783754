"""The workers of this machine: a process each, started once, and replaced when it dies.

A thread for each worker waits for its rows. Messages go through pipes of the process itself: no
port is opened.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from typing import Any

from flashgc._engine import RunError
from flashgc.machine.processors import at_once
from flashgc.sweeps.agenda import DEATHS_MAX, Agenda
from flashgc.sweeps.messages import receive, send
from flashgc.sweeps.store import Row
from flashgc.sweeps.work import Task, killed

Ended = tuple[Task, Row]


@contextlib.contextmanager
def _interrupts_blocked() -> Generator[None, None, None]:
    """A process that starts here inherits the blocked SIGINT, which is for the parent.

    A worker ignores it as well, but only once its modules are loaded.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class WorkerDiedError(Exception):
    """A worker has ended without an answer."""


class Worker:
    """A process with an engine."""

    def __init__(self) -> None:
        with _interrupts_blocked():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "flashgc.sweeps.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        try:
            self.pid: int = receive(self._from)
        except EOFError:
            raise RunError(f"error: a worker cannot start; {self._end()}") from None

    def run(self, task: Task) -> Row:
        """The row of a task."""
        try:
            send(self._to, task)
            row: Row = receive(self._from)
        except (EOFError, OSError):
            raise WorkerDiedError(self._end()) from None
        return row

    def _end(self) -> str:
        """The end of the process, in words."""
        status = self._process.wait()
        if status >= 0:
            return f"its exit status was {status}"
        with contextlib.suppress(ValueError):
            return f"it was ended by {signal.Signals(-status).name}"
        return f"it was ended by signal {-status}"

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()

    def close(self) -> None:
        """Waits for the end of the process."""
        with contextlib.suppress(OSError):
            self._to.close()
        self._process.kill()
        self._process.wait()
        self._from.close()


class Local:
    """Workers of this machine."""

    def __init__(self, jobs: int | None) -> None:
        self._jobs = jobs
        self._workers: list[Worker] = []
        self._lock = threading.Lock()
        self._stopped = False

    @property
    def workers(self) -> list[str]:
        """The processes, in words."""
        with self._lock:
            return [str(worker.pid) for worker in self._workers]

    def run(self, agenda: Agenda) -> Generator[Ended]:
        """The row of each point as soon as it is there."""
        count = at_once(self._jobs, agenda.table_bytes)
        ended: queue.SimpleQueue[Ended | BaseException | None] = queue.SimpleQueue()
        threads = [threading.Thread(target=self._serve, args=(agenda, ended), daemon=True)
                   for _ in range(count)]  # fmt: skip
        started: list[threading.Thread] = []
        try:
            for thread in threads:
                thread.start()
                started.append(thread)
            left = count
            while left:
                # Short waits, so that Ctrl-C is seen.
                with contextlib.suppress(queue.Empty):
                    found = ended.get(timeout=0.1)
                    if isinstance(found, BaseException):
                        raise found
                    left -= found is None
                    if found is not None:
                        yield found
        finally:
            agenda.stop()
            with self._lock:
                self._stopped = True
                for one in self._workers:
                    one.kill()
            for thread in started:
                thread.join()

    def _serve(self, agenda: Agenda, ended: queue.SimpleQueue[Any]) -> None:
        """The life of a thread: its tasks, in a worker that is replaced when it dies."""
        own: Worker | None = None
        try:
            while (task := agenda.next()) is not None:
                own = own or self._started()
                if own is None:
                    return
                try:
                    row = own.run(task)
                except WorkerDiedError as death:
                    self._closed(own)
                    own = None
                    if self._stopped:
                        return
                    if not agenda.died(task) and not task.is_drive:
                        ended.put((task, killed(task, _why(death))))
                    continue
                if not task.is_drive:
                    ended.put((task, row))
                agenda.done(task, row["error"] is None)
        except BaseException as error:
            ended.put(error)
        finally:
            if own is not None:
                self._closed(own)
            ended.put(None)

    def _started(self) -> Worker | None:
        made = Worker()
        with self._lock:
            if self._stopped:
                made.kill()
            self._workers.append(made)
        return made

    def _closed(self, one: Worker) -> None:
        one.close()
        with self._lock:
            self._workers.remove(one)


def _why(death: WorkerDiedError) -> str:
    return (
        f"error: each of the {DEATHS_MAX} workers that ran this point died; of the last one {death}"
        "\n  = help: SIGKILL often means that memory is exhausted: try fewer --jobs"
    )
