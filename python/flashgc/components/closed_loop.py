"""A closed loop of requests on a component: the end of each is answered with the next one."""

from __future__ import annotations

import contextlib
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import flashgc._engine as engine
from flashgc._engine import RunError
from flashgc.files.arguments import shown
from flashgc.formatting import units
from flashgc.running import inputs

DEPTH_MAX = 1_000_000
"""The most requests at a time, as those of a closed loop of a configuration."""
PARTS_MAX = 1 << 20
"""The most parts of a loop that are counted by themselves."""


class Parts(NamedTuple):
    """The requests that were done in each part of the length of a loop."""

    reads: NDArray[np.uint64]
    writes: NDArray[np.uint64]
    sum_ns: NDArray[np.uint64]
    """The sum of their latencies."""
    max_ns: NDArray[np.uint64]
    """The longest of them."""


class Loop:
    """The results of :meth:`flashgc.Component.closed_loop`."""

    def __init__(self, found: engine.Loop) -> None:
        totals = found.totals()
        self.reads, self.writes, self.sum_ns, self.max_ns = totals[:4]
        """Requests of each kind, the sum of their latencies in ns, and the longest one."""
        self.begin_ns, self.end_ns, self.next_offset = totals[4:]
        """The begin, the end of the last request, and the place behind the last in order."""
        self.parts = Parts(*(np.frombuffer(column, dtype="<u8") for column in found.parts()))
        """The requests that were done in each part of the length."""
        first, last, count = (np.frombuffer(column, dtype="<u8") for column in found.latencies())
        self.buckets = np.stack([first, last, count])
        """Latencies in ns: the smallest and the largest one of each bucket, and their number."""

    @property
    def requests(self) -> int:
        """All requests."""
        return self.reads + self.writes

    @property
    def mean_ns(self) -> float:
        """The mean latency."""
        return self.sum_ns / self.requests if self.requests else math.nan

    def __repr__(self) -> str:
        shown = f"{units.counted(self.reads, 'read')}, {units.counted(self.writes, 'write')}"
        return f"Loop({shown}, {units.time(self.end_ns - self.begin_ns)})"

    def percentile_ns(self, share: float) -> int | None:
        """A percentile by nearest rank, within 0.1 %; None with too few requests for it.

        The share is from 0 to 1: 0.99 for p99.
        """
        return percentile_ns(self.buckets, checked_share("share", share), self.max_ns)


def percentile_ns(buckets: NDArray[np.uint64], share: float, most_ns: int) -> int | None:
    """The percentile of a share by nearest rank, from buckets; None where none lies above it.

    >>> import numpy as np
    >>> from flashgc.components.closed_loop import percentile_ns
    >>> buckets = np.array([[10, 20, 30], [10, 20, 31], [50, 49, 1]], dtype=np.uint64)
    >>> percentile_ns(buckets, 0.5, 31), percentile_ns(buckets, 0.99, 31)
    (10, 20)
    >>> percentile_ns(buckets, 0.999, 31) is None
    True
    """
    first, last, count = buckets
    total = int(count.sum())
    # A share of 0.999 has a thousandth above it: that must be one request at least.
    if total * round(1e9 * (1 - share)) < 10**9:
        return None
    rank = max(math.ceil(round(total * share, 6)), 1)
    at = int(np.searchsorted(np.cumsum(count), rank))
    return min(int(first[at]) + -(-int(last[at] - first[at]) // 2), most_ns)


def depth(given: int) -> int:
    """Requests at a time."""
    found = inputs.whole("depth", given, 1)
    if found > DEPTH_MAX:
        raise RunError(
            f"error: {found:,} requests at a time\n  = help: give a depth up to {DEPTH_MAX:,}"
        )
    return found


def checked_share(name: str, given: float) -> float:
    """A share, from 0 to 1."""
    with contextlib.suppress(TypeError, ValueError):
        found = float(given)
        if not isinstance(given, str) and 0.0 <= found <= 1.0:
            return found
    raise RunError(f"error: {name} is {shown(given)}\n  = help: give a share from 0 to 1")


def whole(name: str, given: int, least: int) -> int:
    """A whole number of 64 bits."""
    found = inputs.whole(name, given, least)
    if found >= 1 << 64:
        raise RunError(f"error: {name} is {found}\n  = help: give at most {(1 << 64) - 1}")
    return found


def name(given: str) -> str:
    """The name of a stream of draws."""
    if isinstance(given, str):
        with contextlib.suppress(UnicodeEncodeError):  # half of a character
            given.encode()
            return given
    raise RunError(f'error: stream is {shown(given)}\n  = help: give a text, such as "reader"')


def optional(name: str, given: int | None, least: int) -> int | None:
    """A whole number, where one is given."""
    return None if given is None else whole(name, given, least)


def part(name: str, given: int | None, length_ns: int | None) -> int | None:
    """The length of a part; a loop has a limited number of them."""
    found = optional(name, given, 1)
    if found is not None and length_ns is not None and length_ns > PARTS_MAX * found:
        raise RunError(
            f"error: {name} = {found} makes {-(-length_ns // found):,} parts of {length_ns} ns\n"
            f"  = help: give {name} = {-(-length_ns // PARTS_MAX)} or more: at most "
            f"{PARTS_MAX:,} parts are counted"
        )
    return found
