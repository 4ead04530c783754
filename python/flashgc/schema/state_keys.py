"""The keys of a report about the state of the drive: size, preconditioning, steady state."""

from __future__ import annotations

from typing import Annotated

from flashgc.schema.section import Only, Open, Section


class Capacity(Section):
    """Pages and bytes of the drive."""

    physical_pages: int
    physical_bytes: int
    exported_pages: int
    exported_bytes: int
    over_provisioning: float
    reserve_pages: int
    extra_pages: Annotated[int, Only("where the scheme adds blocks")]
    isolation_pages: Annotated[int, Only("where sub-blocks are erased")]
    spare_pages: Annotated[int, Only("where sub-blocks are erased")]


class Fit(Section):
    """The size that the trace gave the drive."""

    share: float
    footprint_pages: int
    footprint_share: float
    changed: Open


class TraceFill(Section):
    """Pages that a trace filled."""

    read_pages: int
    write_pages: int
    shifted_pages: int


class Steady(Section):
    """Whether preconditioning came to a steady state."""

    reached: bool
    windows: list[float]
    how: str


class Carried(Section):
    """The changes of a scheme when it took over a drive."""

    padded_pages: int
    sealed_blocks: int
    collected_blocks: int
    moved_pages: int


class SavedDrive(Section):
    """The saved drive on which a run began."""

    file: str
    key: str
    version: str
    seed: int


class Precondition(Section):
    """The preparation of the drive's first state."""

    scheme: str
    filled_pages: int
    trace_fill: TraceFill | None
    aged_pages: int
    mapped_pages: Annotated[int, Only("with precondition.reads")]
    overwritten_pages: int
    drive_writes: float
    programmed_pages: int
    write_amplification: float | None
    write_amplification_quarters: Annotated[list[float], Only("where pages were overwritten")]
    steady: Steady | None
    carried: Carried
    drive: SavedDrive | None


class Until(Section):
    """The end of a run that was to continue until it is in steady state."""

    reached: bool
    confidence: float
    within: float
    p99_9_interval_ns: list[int] | None


class Balance(Section):
    """Whether the run has reached steady state."""

    verdict: str
    reasons: list[str]
    more_requests: int | None
    written_pages: int
    reclaimed_pages: int
    free_pages_begin: int
    free_pages_end: int
    write_amplification_halves: list[float] | None
    write_amplification_interval: list[float] | None
    turnovers: float
    turnovers_before: float
    nothing_moved: str | None
    until: Annotated[Until, Only("with workload.until")]
