"""The keys of a report about requests: their numbers, rates, latencies and parts of these."""

from __future__ import annotations

from typing import Annotated

from flashgc.schema.section import Only, Section


class Requests(Section):
    """Requests that ended."""

    read: int
    write: int
    trim: int


class Rates(Section):
    """A number per second for each kind of request, where there is one."""

    read: float | None
    write: float | None
    trim: float | None


class Times(Section):
    """A time for each kind of request, where there is one."""

    read: float | None
    write: float | None
    trim: float | None


class Throughput(Section):
    """Requests and bytes per second of simulated time."""

    iops: float | None
    bytes_per_s: float | None


class Latency(Section):
    """Latencies of one kind of request, in ns."""

    count: int
    mean: float | None
    stddev: float | None
    min: int | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p99_9: int | None
    p99_99: int | None
    max: int | None


class Latencies(Section):
    """Latencies of reads, of writes and of both, in ns."""

    read: Latency
    write: Latency
    all: Latency


class CollectionWait(Section):
    """The wait for collection, by the operation that occupied the unit or the bus."""

    copies_ns: float
    erase_ns: float
    bus_ns: float
    switch_ns: float
    blocked_ns: float


class Split(Section):
    """A latency and its parts."""

    latency_ns: float
    requests: int
    service_ns: float
    retries_ns: Annotated[float, Only("where reads were retried")]
    host_ns: float
    collection_ns: float
    collection: CollectionWait
    space_ns: float
    buffer_ns: float


class Splits(Section):
    """The parts of latencies, by percentile."""

    mean: Split | None
    p50: Split | None
    p99: Split | None
    p99_9: Split | None
    p99_99: Split | None


class Blame(Section):
    """The parts of latencies."""

    read: Splits
    write: Splits


class Flush(Section):
    """Flushes of the host."""

    requests: int
    latency_ns: Latency


class JobLatencies(Section):
    """Latencies of reads and of writes, by job, in ns."""

    read: Latency
    write: Latency


class Job(Section):
    """One of several concurrent jobs, with all its clones."""

    name: str
    clones: int
    depth: int
    in_flight_max: int
    begun_ns: int
    ended_ns: int
    requests: Requests
    bytes: Requests
    iops: Rates
    asked_iops: Rates
    latency_mean_ns: Times
    latency_max_ns: Requests
    latency_ns: JobLatencies
    flush: Annotated[Flush, Only("where it has flushes")]
    ramp_ns: Annotated[int, Only("where it has a ramp that has ended")]
    blame: Annotated[Blame, Only("with --blame")]
