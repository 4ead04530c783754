"""Several pieces of work at a time, in threads: the first error ends the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from flashgc import _sources

Result = TypeVar("Result")
Going = Callable[[], None]


class StoppedError(Exception):
    """Another piece of work has failed, or the user has had enough."""


def each(count: int, jobs: int, one: Callable[[int, Going], Result]) -> list[Result]:
    """The results of `one` for the numbers from 0, `jobs` of them at a time.

    `one` calls its second argument whenever it can stop, which raises where it has to.

    >>> from flashgc.parallel import each
    >>> each(3, 2, lambda number, going: number * number)
    [0, 1, 4]
    """
    jobs = _sources.whole("jobs", jobs, 1)
    stop = threading.Event()

    def going() -> None:
        if stop.is_set():
            raise StoppedError

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = [pool.submit(one, number, going) for number in range(count)]
        try:
            # Short waits, so that Ctrl-C is seen.
            while wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in futures):
                    break
        finally:
            stop.set() if any(not future.done() for future in futures) else None
            for future in futures:
                future.cancel()
    failed = [future.exception() for future in futures if not future.cancelled()]
    errors = [error for error in failed if error and not isinstance(error, StoppedError)]
    if errors:
        raise errors[0]
    return [future.result() for future in futures]
