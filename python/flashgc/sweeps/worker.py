"""A worker: a process with one engine, which runs one task after the other.

It is `python -m flashgc.sweeps.worker`. Tasks come on standard input, and rows go to standard
output. It ends as soon as its parent does, even in the middle of a run.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading

from flashgc.sweeps import work
from flashgc.sweeps.messages import receive, send


def main() -> None:
    """Works until standard input ends."""
    # Ctrl-C in a terminal is for the parent, which then ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing else may be written among the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tasks: queue.SimpleQueue[work.Task] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(tasks,), daemon=True).start()
    send(out, os.getpid())
    while True:
        send(out, work.done(tasks.get()))


def _read(tasks: queue.SimpleQueue[work.Task]) -> None:
    try:
        while True:
            tasks.put(receive(sys.stdin.buffer))
    except (EOFError, OSError):
        os._exit(0)


if __name__ == "__main__":
    main()
