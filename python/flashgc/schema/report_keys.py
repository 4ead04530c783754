"""The keys of a report: the whole of it, and its parts next to the results of the drive.

Attributes for type checkers, the classes of sections and the JSON Schema all come from here, and
from `request_keys`, `flash_keys`, `collection_keys` and `state_keys`. A new key of the engine's
report is one line here or there, and one row in docs/definitions.md, which defines it. A key that
is not in every report says in `Only` when it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from flashgc.schema.collection_keys import Background, Gc, Hotness, Placement
from flashgc.schema.flash_keys import (
    Buffer,
    Cache,
    Endurance,
    Failures,
    Pages,
    ReadRetry,
    Slots,
    Utilisation,
    Wear,
)
from flashgc.schema.request_keys import Blame, Flush, Job, Latencies, Requests, Throughput
from flashgc.schema.section import TIMED, UNTIMED, Only, Open, Section
from flashgc.schema.state_keys import Balance, Capacity, Fit, Precondition


class Converted(Section):
    """The outcome for the keys of another simulator's configuration."""

    program: str
    files: list[str]
    mapped: list[str]
    differs: list[str]
    not_mapped: list[str]


class Config(Section):
    """Everything that the configuration came to."""

    seed: int
    device: Open
    gc: Open
    workload: Open
    precondition: Open
    engine: Annotated[Open, UNTIMED]


class Interval(Section):
    """The mean over several seeds, and its 95 % interval; None for a single one."""

    mean: float
    low: float | None
    high: float | None


class Intervals(Section):
    """Intervals by the dotted names of their metrics: `metrics["gc.count"]`."""

    _OTHERS: ClassVar[Any] = Interval

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> Interval:
            """The interval of a metric."""


class Differences(Section):
    """The differences of a scheme's metrics from the first scheme's, seed by seed."""

    scheme: str
    metrics: Intervals


class Seeds(Section):
    """Several seeds. The seeds themselves are the item `["values"]`."""

    count: int
    not_steady: int
    metrics: Intervals
    over_first: Annotated[Differences, Only("in a comparison, for schemes after the first")]
    # `values` is a method of every mapping, so that it is an item alone.
    _ITEMS: ClassVar[dict[str, Any]] = {"values": list[int]}


class WithoutGcCost(Section):
    """The scheme with collections whose operations take no time."""

    requests: Requests
    write_amplification: float | None
    latency_ns: Latencies
    throughput: Throughput
    cost: Annotated[Intervals, Only("where several seeds were run")]


class Keys(Section):
    """The keys of a report, see docs/definitions.md for each."""

    version: str
    seed: int
    config: Config
    config_hash: str
    result_hash: str
    scheme: str
    device: str
    saturated: Annotated[bool, TIMED]
    ramp_ns: Annotated[int, Only("with jobs, one of which has a ramp that has ended")]
    requests: Requests
    flush: Annotated[Flush, Only("with flushes of the host")]
    jobs: Annotated[list[Job], Only("with concurrent jobs")]
    pages: Pages
    slots: Annotated[Slots, Only("with a mapping unit below the page")]
    cache: Annotated[Cache, Only("with cache operations")]
    suspended_programs: Annotated[int, Only("with `device.suspend.host_programs`")]
    read_retry: Annotated[ReadRetry, Only("where reads have errors")]
    failures: Annotated[Failures, Only("where programs or erases fail")]
    background: Annotated[Background, Only("with pre-migration")]
    buffer: Annotated[Buffer, Only("with a write buffer")]
    write_amplification: float | None
    write_amplification_bytes: float | None
    steady: Balance
    endurance: Annotated[Endurance, Only("where the device has rated cycles")]
    erases: int
    erase_operations: int
    gc: Gc
    latency_ns: Annotated[Latencies, TIMED]
    blame: Annotated[Blame, Only("with --blame")]
    throughput: Annotated[Throughput, TIMED]
    utilisation: Annotated[Utilisation, TIMED]
    hotness: Annotated[Hotness, Only("where pages are placed by hotness")]
    placement: Annotated[Placement, Only("where pages are sorted into classes")]
    wear: Wear
    free_pages_min: int
    simulated_ns: Annotated[int, TIMED]
    page_operations: int
    untimed: Annotated[bool, UNTIMED]
    precondition: Precondition
    bad_rows: int
    capacity: Capacity
    fit: Annotated[Fit, Only("where the trace sized the drive")]
    converted: Annotated[Converted, Only("of a configuration that flashgc convert has made")]
    notes: list[str]
    scheme_changes: list[str]
    unused_keys: list[str]
    table_bytes: int
    wall_s: float | None
    precondition_wall_s: float | None
    page_operations_per_s: float | None
    peak_rss_bytes: int | None
    seeds: Annotated[Seeds, Only("where several seeds were run")]
    without_gc_cost: Annotated[WithoutGcCost, Only("in a comparison that measures GC cost")]
