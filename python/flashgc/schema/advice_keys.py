"""The keys of the output of `advise`: attributes, types and the JSON Schema come from here.

docs/advise.md defines each of them.
"""

from __future__ import annotations

from flashgc.schema.section import Section


class Objectives(Section):
    """A metric for each objective; None where it is undefined."""

    read: float | None
    write: float | None
    write_amplification: float | None
    wear: float | None


class Change(Section):
    """The relative change of a metric, and its 95 % interval where one is known."""

    change: float
    low: float | None
    high: float | None


class Changes(Section):
    """The change of each objective against the scheme of the configuration."""

    read: Change | None
    write: Change | None
    write_amplification: Change | None
    wear: Change | None


class Candidate(Section):
    """A scheme, and how far it came."""

    scheme: str
    outcome: str
    reason: str | None
    balance: str | None
    requests: int | None
    objectives: Objectives | None
    changes: Changes | None
    without_gc_cost: Objectives | None


class Best(Section):
    """The best scheme for one objective."""

    scheme: str
    value: float
    changes: Changes
    known: str
    not_separable: list[str]
    take: str


class Bests(Section):
    """The best scheme for each objective; None without requests of its kind."""

    read: Best | None
    write: Best | None
    write_amplification: Best | None
    wear: Best | None


class Share(Section):
    """The part of GC in a percentile, and the same percentile without GC cost."""

    latency_ns: float
    collection_ns: float
    share: float
    without_gc_cost_ns: float | None


class Shares(Section):
    """The parts of the percentiles of one kind of request."""

    mean: Share | None
    p50: Share | None
    p99: Share | None
    p99_9: Share | None
    p99_99: Share | None


class Collection(Section):
    """The part of GC in latencies, under the scheme of the configuration."""

    read: Shares
    write: Shares


class Samples(Section):
    """The repetitions from which intervals come."""

    kind: str
    count: int
    requests: int
    until_steady: bool
    at_most_drive_writes: float | None


class AdviceKeys(Section):
    """The keys of the output of `advise`, see docs/advise.md for each."""

    version: str
    seed: int
    device: str
    scheme: str
    samples: Samples
    schemes: list[Candidate]
    collection: Collection
    best: Bests
    warnings: list[str]
    advice: list[str]
    commands: list[str]


__all__ = ["AdviceKeys", "Candidate", "Share"]
