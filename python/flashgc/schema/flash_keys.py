"""The keys of a report about the flash: its pages, retries, failures, wear and busy times."""

from __future__ import annotations

from typing import Annotated

from flashgc.schema.section import Only, Section


class Pages(Section):
    """Pages that requests touched and that collection moved."""

    host_read: int
    host_written: int
    host_trimmed: int
    unwritten_read: int
    rest_read: int
    gc_moved: int
    background_moved: int
    wasted_copies: int
    overhead: int
    flushed: Annotated[int, Only("with a write buffer")]


class Slots(Section):
    """Flash pages that hold several mapped pages."""

    per_page: int
    collection_page_reads: int
    reads_per_copy: float | None
    padded: Annotated[int, Only("without power-loss protection")]
    programmed_per_write: Annotated[float | None, Only("without power-loss protection")]


class Cache(Section):
    """Operations that began in parallel with another one of their unit: cache operations."""

    reads: int
    programs: int


class Buffer(Section):
    """The write buffer."""

    hits_read: int
    hits_write: int
    stalls: int
    dirty_at_end: int


class Retries(Section):
    """Flash pages that were read and corrected, by their retries."""

    page_reads: int
    retried_share: float | None
    retries_per_read: float | None
    reads_by_retries: list[int]
    soft_decoded: int
    uncorrectable: int


class ReadRetry(Section):
    """Retries of reads for the host, and for collection."""

    host: Retries
    collection: Retries


class Failures(Section):
    """Programs and erases that failed, and bad blocks."""

    program: int
    erase: int
    retired_blocks: int
    failing_blocks: int
    spare_blocks: int
    read_only: bool


class Endurance(Section):
    """The amount of host writes before the flash is worn out."""

    rated_cycles: int
    tbw_bytes: int | None
    drive_writes: float | None
    why_not: str | None


class Wear(Section):
    """Erases of each block."""

    mean: float
    min: int
    max: int
    stddev: float


class Use(Section):
    """Shares of the time."""

    host: float
    gc: float
    idle: float


class LinkUse(Section):
    """Shares of the time of the host's link, of a direction of it, or of the firmware."""

    host: float
    idle: float


class Utilisation(Section):
    """Busy times of units and buses, as shares."""

    unit: Use
    bus: Use
    firmware: Annotated[LinkUse, Only("where the firmware takes time")]
    host_link: Annotated[LinkUse, Only("where the host's link takes time and is half-duplex")]
    host_link_in: Annotated[LinkUse, Only("where the host's link takes time and is full-duplex")]
    host_link_out: Annotated[LinkUse, Only("where the host's link takes time and is full-duplex")]
