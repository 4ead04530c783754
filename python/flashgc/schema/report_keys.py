"""The keys of a report: the one place that declares them.

Attributes for type checkers, the classes of sections and the JSON Schema all come from here. A new
key of the engine's report is one line here, and one row in docs/definitions.md, which defines it.
A key that is not in every report says in `Only` when it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from flashgc.schema.section import Section


class Only:
    """A key that is in a report only under a condition."""

    def __init__(self, when: str) -> None:
        self.when = when


TIMED = Only('except with engine.timing = "none"')


class Open(Section):
    """Values of a configuration, under the names of the engine."""


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


class Endurance(Section):
    """The amount of host writes before the flash is worn out."""

    rated_cycles: int
    tbw_bytes: int | None
    drive_writes: float | None
    why_not: str | None


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


class Background(Section):
    """Pages that pre-migration moved before any collection."""

    calls: int
    victims: int
    wasted: int
    busy_ns: int


class Buffer(Section):
    """The write buffer."""

    hits_read: int
    hits_write: int
    stalls: int
    dirty_at_end: int


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


class GcTime(Section):
    """The times of collections; not a part of the report, but derived from it."""

    busy_ns: int
    erase_ns: int
    move_ns: int
    background_ns: int
    erase_share: float | None
    move_share: float | None
    background_share: float | None


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


class Throughput(Section):
    """Requests and bytes per second of simulated time."""

    iops: float | None
    bytes_per_s: float | None


class Use(Section):
    """Shares of the time."""

    host: float
    gc: float
    idle: float


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


class Wear(Section):
    """Erases of each block."""

    mean: float
    min: int
    max: int
    stddev: float


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
    engine: Annotated[Open, Only('with engine.timing = "none"')]


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
    untimed: Annotated[bool, Only('with engine.timing = "none"')]
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
