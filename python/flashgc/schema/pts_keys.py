"""The keys of the output of `pts`: attributes, types and the JSON Schema come from here.

docs/pts.md defines each of them.
"""

from __future__ import annotations

from flashgc.schema.section import Section


class PtsForm(Section):
    """The lengths and the requests of the tests, and what differs from the specification."""

    round_ns: int
    rounds_max: int
    active_range: float
    demand_mix: float
    threads: int
    depth: int
    differences: list[str]


class PtsPreconditioning(Section):
    """Writes before the rounds that do not depend on the workload of the test."""

    bytes: int
    times: int
    took_ns: int


class PtsTracked(Section):
    """A tracking variable in each round, and over the measurement window."""

    name: str
    unit: str
    rounds: list[float]
    average: float | None
    spread: float | None
    slope: float | None
    first: float | None
    spread_share: float | None
    rise_share: float | None
    steady: bool


class PtsResult(Section):
    """The average of measurements of one kind."""

    phase: str
    bytes: int
    read_share: float
    sequential: bool
    threads: int
    depth: int
    iops: float
    mb_per_s: float
    mean_ns: float
    p99_999_ns: float | None
    max_ns: int


class PtsResponses(Section):
    """The response times of the writes of a histogram."""

    requests: int
    mean_ns: float
    p50_ns: int | None
    p99_ns: int | None
    p99_9_ns: int | None
    p99_99_ns: int | None
    p99_999_ns: int | None
    max_ns: int


class PtsRecovery(Section):
    """The time that throughput needs after a change of the stimulus."""

    group: int
    settled_mb_per_s: float
    recovered_ns: int | None


class PtsPart(Section):
    """A part of a test, with a purge of its own or on the drive of the part before."""

    name: str
    steady: bool | None
    rounds: int
    continues: bool
    drive_writes: float
    preconditioning: PtsPreconditioning | None
    tracked: list[PtsTracked]
    results: list[PtsResult]
    response_times: PtsResponses | None
    recovery: list[PtsRecovery]


class PtsTest(Section):
    """A test of the specification."""

    test: str
    title: str
    steady: bool | None
    parts: list[PtsPart]


class PtsKeys(Section):
    """The keys of the output of `pts`, see docs/pts.md for each."""

    version: str
    specification: str
    device: str
    scheme: str
    seed: int
    config_hash: str
    user_bytes: int
    page_bytes: int
    form: PtsForm
    tests: list[PtsTest]


__all__ = ["PtsKeys"]
