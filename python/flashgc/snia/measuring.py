"""A drive under test: its purge, its preconditioning, and the measurements one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashgc.components.closed_loop import Loop
from flashgc.components.component import Component
from flashgc.snia import definitions
from flashgc.snia.definitions import Form

FIVE_NINES = 0.99999
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999, "p99_999": FIVE_NINES}
Told = Callable[[str, float], object]
"""Called with the name of a phase and its progress, from 0 to 1."""


class Point(NamedTuple):
    """A measurement of one size and mix of requests."""

    phase: str
    round: int
    """From 1; 0 where the measurement is of no round."""
    begin_ns: int
    """From the purge on."""
    length_ns: int
    bytes: int
    read_share: float
    is_sequential: bool
    threads: int
    depth: int
    """Requests of each thread at a time."""
    done: int
    """Requests that were done within the length."""
    requests: int
    """All requests, those included that were under way at its end."""
    mean_ns: float
    p99_999_ns: int | None
    max_ns: int
    written: float
    """User capacities that the host has written since the purge, at its end."""

    @property
    def iops(self) -> float:
        """Requests per second."""
        return self.done / self.length_ns * 1e9

    @property
    def mb_per_s(self) -> float:
        """Throughput, in millions of bytes per second."""
        return self.done * self.bytes / self.length_ns * 1e3


class Preconditioned(NamedTuple):
    """Sequential writes that do not depend on the workload of a test."""

    bytes: int
    """Of each write."""
    times: int
    """User capacities written."""
    took_ns: int


class Histogram(NamedTuple):
    """The response times of a measurement."""

    point: Point
    buckets: NDArray[np.uint64]
    """The smallest and the largest response time of each bucket, in ns, and their number."""
    percentiles_ns: dict[str, int | None]


class Load(NamedTuple):
    """Requests of one kind."""

    bytes: int
    read_share: float
    threads: int = 1
    depth: int = 1
    is_sequential: bool = False


class Rig:
    """A purged drive, and the measurements that it has had."""

    def __init__(self, name: str, drive: Component, form: Form, tell: Told) -> None:
        self.name = name
        self.form = form
        self.points: list[Point] = []
        self._drive = drive
        self._tell = tell
        self._written = 0
        self._loops = 0
        self._next = 0

    @property
    def capacity(self) -> int:
        """The user capacity, in bytes."""
        return self._drive.bytes

    @property
    def now_ns(self) -> int:
        """The time since the purge, in ns."""
        return self._drive.now_ns

    @property
    def written(self) -> float:
        """User capacities that were written since the purge."""
        return self._written / self.capacity

    def precondition(self, size: int = definitions.PRECONDITION_BYTES) -> Preconditioned:
        """Writes the whole drive twice in sequence."""
        begun = self.now_ns
        times = definitions.PRECONDITION_TIMES
        count = -(-times * self.capacity // size)
        load = Load(size, 0.0, 1, definitions.SEQUENTIAL_DEPTH, is_sequential=True)
        self._loop("preconditioning", load, span=self.capacity, requests=count)
        return Preconditioned(size, times, self.now_ns - begun)

    def measure(self, phase: str, round_: int, load: Load, length_ns: int) -> Point:
        """Lets requests run for this length, and keeps what they have taken."""
        begun = self.now_ns
        found = self._loop(phase, load, length_ns=length_ns)
        return self._kept(phase, round_, load, begun, length_ns, found)

    def histogram(self, phase: str, load: Load, length_ns: int) -> Histogram:
        """The same with the response times of all requests."""
        begun = self.now_ns
        found = self._loop(phase, load, length_ns=length_ns)
        point = self._kept(phase, 0, load, begun, length_ns, found)
        percentiles = {name: found.percentile_ns(share) for name, share in PERCENTILES.items()}
        return Histogram(point, found.buckets, percentiles)

    def course(self, phase: str, load: Load, length_ns: int, part_ns: int) -> None:
        """Lets requests run for this length without a pause, and keeps each part of it."""
        begun = self.now_ns
        before = self._written
        found = self._loop(phase, load, length_ns=length_ns, part_ns=part_ns)
        counts = zip(*(column.tolist() for column in found.parts), strict=True)
        written = before
        for at, (reads, writes, sum_ns, max_ns) in enumerate(counts):
            written += writes * load.bytes
            done = reads + writes
            self.points.append(Point(
                phase, 0, begun + at * part_ns, part_ns, load.bytes, load.read_share,
                load.is_sequential, load.threads, load.depth, done, done,
                sum_ns / done if done else 0.0, None, max_ns, written / self.capacity,
            ))  # fmt: skip

    def wait(self, length_ns: int) -> None:
        """Lets time pass without any request."""
        self._drive.advance(self.now_ns + length_ns)
        self._drive.rest()

    def _kept(
        self, phase: str, round_: int, load: Load, begun: int, length_ns: int, found: Loop
    ) -> Point:
        done = int(found.parts.reads.sum() + found.parts.writes.sum())
        point = Point(
            phase, round_, begun, length_ns, load.bytes, load.read_share, load.is_sequential,
            load.threads, load.depth, done, found.requests, found.mean_ns,
            found.percentile_ns(FIVE_NINES), found.max_ns, self.written,
        )  # fmt: skip
        self.points.append(point)
        return point

    def _loop(
        self, phase: str, load: Load, *, span: int | None = None, length_ns: int | None = None,
        requests: int | None = None, part_ns: int | None = None,
    ) -> Loop:  # fmt: skip
        room = span or int(self.capacity * self.form.active_range)
        room = max(room // load.bytes, 1) * load.bytes
        self._loops += 1
        begin = self._next if load.is_sequential else None
        # Requests of another size begin at a multiple of theirs.
        begin = None if begin is None else begin // load.bytes * load.bytes % room
        found = self._drive.closed_loop(
            depth=load.threads * load.depth, bytes=load.bytes, length_ns=length_ns,
            requests=requests, part_ns=part_ns, read_share=load.read_share, span=room,
            next_offset=begin, seed=self.form.seed, stream=f"{self.name} {self._loops}",
            progress=lambda step: self._tell(phase, step.done / step.total if step.total else 0.0),
        )  # fmt: skip
        if load.is_sequential:
            self._next = found.next_offset
        self._written += found.writes * load.bytes
        self._tell(phase, 1.0)
        return found
