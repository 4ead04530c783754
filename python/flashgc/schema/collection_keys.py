"""The keys of a report about collection, and about the placement of pages."""

from __future__ import annotations

from typing import Annotated

from flashgc.schema.section import TIMED, Only, Section


class Gc(Section):
    """Garbage collection."""

    count: int
    open: int
    victim_blocks: int
    valid_per_victim: float | None
    moved_per_gc: float | None
    copy_steps: int
    valid_distribution: list[list[int]]
    reclaimed_pages: int
    erased_at_selection: float | None
    busy_ns: Annotated[int, TIMED]
    total_busy_ns: Annotated[int, TIMED]
    busy_open_ns: Annotated[int, TIMED]
    elapsed_ns: Annotated[int, TIMED]
    blocking_ns: Annotated[int, TIMED]
    transfer_ns: Annotated[int, TIMED]
    preempted: Annotated[int, TIMED]
    suspended: Annotated[int, TIMED]
    merged: Annotated[int, TIMED]
    pipelined: Annotated[int, TIMED]
    merged_read: Annotated[int, Only("where requests are served during collections")]
    merged_write: Annotated[int, Only("where requests are served during collections")]
    pipelined_read: Annotated[int, Only("where requests are served during collections")]
    pipelined_write: Annotated[int, Only("where requests are served during collections")]
    exhausted: Annotated[int, Only("where requests are served during collections")]
    wait_max_ns: Annotated[int, Only("where requests are served during collections")]
    response_max_ns: Annotated[int, Only("where requests are served during collections")]
    blocked: Annotated[int, Only('with gc.blocking.use = "blocks"')]
    fallbacks: Annotated[int, Only("with the trigger used-space")]
    neighbours_moved: Annotated[int, Only("where sub-blocks are erased")]
    time_slices: Annotated[int, Only("where collections run in time slices")]
    stall_max_ns: Annotated[int, Only("where collections run in time slices")]
    below_floor_ns: Annotated[int, Only("where collections run in time slices")]
    unpaid_copies: Annotated[int, Only("where writes pay for copies")]
    copies_between_writes_max: Annotated[int, Only("where writes pay for copies")]
    idle_collections: Annotated[int, Only("with the trigger idle")]
    read_reclaims: Annotated[int, Only("with read-reclaim")]


class GcTime(Section):
    """The times of collections; not a part of the report, but derived from it."""

    busy_ns: int
    erase_ns: int
    move_ns: int
    background_ns: int
    erase_share: float | None
    move_share: float | None
    background_share: float | None


class Background(Section):
    """Pages that pre-migration moved before any collection."""

    calls: int
    victims: int
    wasted: int
    busy_ns: int


class Hotness(Section):
    """The hotness of pages, and the groups of blocks that follow it."""

    updates: int
    hot_updates: int
    decays: int
    counter_bytes: int
    group_bytes: int
    groups_formed: int


class ClassPages(Section):
    """The pages that a class took."""

    writes: int
    copies: int


class Handle(Section):
    """The bytes of a placement handle."""

    host_bytes: int
    media_bytes: int
    available_bytes: int
    write_amplification: float | None


class PlacementEvents(Section):
    """The counts of the log of placement events."""

    invalid_placement_identifier: int
    media_reallocated: int
    reallocated_bytes: int


class Group(Section):
    """The blocks of a group."""

    most_blocks: int | None
    blocks: int
    collections: int
    valid_share: float | None


class Placement(Section):
    """The pages of each class."""

    classes: list[ClassPages]
    fallbacks: int
    table_bytes: int
    handles: Annotated[list[Handle], Only("with placement handles")]
    erased_bytes: Annotated[int, Only("with placement handles")]
    events: Annotated[PlacementEvents, Only("with placement handles")]
    groups: Annotated[list[Group], Only("with groups of blocks")]
