"""Texts for a report: the same words and metrics on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashgc.formatting import units
from flashgc.results import steady_state
from flashgc.results.metrics import (
    COUNTS,
    KINDS,
    METRICS,
    ComparedResults,
    Run,
    RunResults,
    drive_writes,
    found_at,
    lengths_differ,
    requests,
)
from flashgc.results.refusal import Refusal
from flashgc.results.statistics import PER_DRIVE_WRITE

PERCENTILES = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99_9": "p99.9",
               "p99_99": "p99.99"}  # fmt: skip
_NAMES = {**PERCENTILES, "count": "requests", "stddev": "standard deviation"}

_CHANGES_SHOWN = 4
"""Changed values of a scheme that are named; all are in the report as JSON."""

JOBS_SHOWN = 20
"""Jobs with a line of their own; all are in the report as JSON."""

NO_TIME = 'no time (engine.timing = "none"): there are no latencies, no rates and no shares of time'
"""The words of a run without a clock."""

Rows = list[list[str]]


def head(report: RunResults) -> str:
    """One line: device, size, scheme, seed."""
    physical = units.size(report.capacity.physical_bytes)
    exported = units.size(report.capacity.exported_bytes)
    sizes = f"{physical}, user capacity {exported}"
    return f"device {report.device} ({sizes}), scheme {scheme(report)}, seed {report.seed}"


def scheme(report: RunResults) -> str:
    """The name of the scheme, with its values that differ from the preset."""
    changed = report.get("scheme_changes") or []
    return f"{report.scheme} ({_some(changed)})" if changed else str(report.scheme)


def changed(reports: Sequence[RunResults]) -> list[str]:
    """The values of schemes that differ from their presets."""
    found: dict[tuple[str, ...], list[str]] = {}
    for report in reports:
        found.setdefault(tuple(report.get("scheme_changes") or ()), []).append(report.scheme)
    every = "all schemes" if len(found) == 1 else ""
    return [f"{every or ', '.join(names)}: not as the preset, but {_some(values)}"
            for values, names in found.items() if values]  # fmt: skip


def _some(changes: Sequence[str]) -> str:
    more = len(changes) - _CHANGES_SHOWN
    shown = ", ".join(changes[:_CHANGES_SHOWN])
    return f"{shown} and {units.counted(more, 'more change')}" if more > 0 else shown


def latency(report: RunResults) -> Rows:
    """A row for each metric, a column each for reads, writes and all; none without a clock."""
    if not report.is_timed:
        return []
    rows = [["latency", *KINDS]]
    for name in METRICS:
        show = units.count if name == "count" else units.time
        values = [show(report.latency_ns[kind][name]) for kind in KINDS]
        rows.append([_NAMES.get(name, name), *values])
    return rows


def facts(report: RunResults) -> list[tuple[str, str]]:
    """The other metrics, each with its name."""
    return [
        ("requests", _requests(report)),
        *_jobs(report),
        *steady_state.amplification(report),
        ("steady state", steady_state.told(report)),
        *_endurance(report),
        ("pages", _pages(report.pages)),
        *_buffer(report),
        ("garbage collection", _gc(report)),
        *_times(report, ("GC time", _gc_time)),
        ("wear", _wear(report)),
        *_failures(report),
        *_times(report, ("units", _units), ("buses", _buses)),
        *_drive(report),
        ("simulated", _simulated(report)),
        ("took", _took(report)),
    ]


def warnings(report: RunResults) -> list[str]:
    """Warnings, and the notes of the engine."""
    told = []
    if report.get("saturated"):
        told.append(
            "saturated: requests arrived faster than the drive could serve them, so latencies "
            "depend on the length of the run"
        )
    # The warning that no page was moved comes first.
    told += [note for note in report.notes if note not in steady_state.first(report)]
    if report.unused_keys:
        told.append(f"no effect in this run: {', '.join(report.unused_keys)}")
    return told


def seeds(report: RunResults) -> Rows:
    """Mean and interval of the main metrics, where several seeds were run."""
    found = report.get("seeds")
    if not found:
        return []
    not_steady = f", {steady_state.NOT_STEADY}" if steady_state.is_out(report) else ""
    rows = [[units.counted(found["count"], "seed"), "mean", f"95 % interval{not_steady}"]]
    names = ["write_amplification", *(f"latency_ns.all.{name}" for name in ("mean", *PERCENTILES))]
    names += ["throughput.iops", "gc.count", "erases"]
    for name in names:
        metric = found["metrics"].get(name)
        if metric is None:
            continue
        show = units.time if name.startswith("latency_ns") else units.figures
        low, high = show(metric["low"]), show(metric["high"])
        shown = name.replace("latency_ns.all.", "latency ").replace("_", " ")
        rows.append([shown.replace("p99 9", "p99.9"), show(metric["mean"]), f"{low} to {high}"])
    return rows


def comparison(reports: ComparedResults[Run]) -> Rows:
    """A row for each metric, a column for each scheme; rows of unequal properties are marked."""
    inside = ComparedResults(steady_state.ordered(reports))
    rows = [["", *(report.scheme for report in inside)], *steady_state.marks(inside)]
    for kind in KINDS[:2]:
        head, *body = zip(*latencies(inside, kind), strict=True)
        if body and len(head) > 1:
            rows += [[f"{kind} {name}", *values] for name, *values in body]
    return [*rows, *work(inside)[1:]]


def shared(reports: ComparedResults[Run]) -> str:
    """The common settings of the runs of a comparison, in one line."""
    unequal, count = reports.unequal, units.counted(len(reports), "scheme")
    if "requests" in unequal:
        counts = [found for found in unequal["requests"] if found is not None]
        return (
            f"{count}, each with a run of its own length: {units.count(min(counts))} to "
            f"{units.counted(max(counts), 'request')}"
        )
    return f"{count} with the same requests{'' if unequal else ', space and preconditioning'}"


def unlike(reports: ComparedResults[Run]) -> list[str]:
    """Notes on a comparison of runs that are not alike."""
    told = []
    if any(name != "requests" for name in reports.unequal):
        told.append("! marks values that differ but should be equal in a fair comparison")
    if lengths_differ(reports):
        told.append("the runs have different lengths: counts and times of work are per drive write")
    return told


def latencies(reports: Sequence[RunResults], kind: str) -> Rows:
    """The latencies of one kind of request: a row for each scheme."""
    names = ("mean", *PERCENTILES, "max")
    rows = [["", *(_NAMES.get(name, name) for name in names)]]
    if any(found_at(report, ("latency_ns", kind, "count")) for report in reports):
        for report in reports:
            cells = [_cell(report, ("latency_ns", kind, name), units.time) for name in names]
            rows.append([report.scheme, *cells])
    return rows


def _cell(report: RunResults, path: Sequence[str], show: Any) -> str:  # noqa: ANN401 - a formatter
    """A metric; of several seeds their mean, and half the width of the 95 % interval."""
    metrics = found_at(report, ("seeds", "metrics"))
    if metrics is None or isinstance(found_at(report, path), bool):
        return str(show(found_at(report, path)))
    return _interval(metrics.get(".".join(path)), show, is_steady=not steady_state.is_out(report))


def _interval(
    metric: Mapping[str, Any] | None,
    show: Any,  # noqa: ANN401 - a formatter
    sign: str = "",
    is_steady: bool = True,
) -> str:
    """The mean, and half the interval, with a mark for runs that are not steady."""
    if metric is None:
        return units.NOTHING
    mean = show(abs(metric["mean"]) if sign else metric["mean"])
    signed = f"{sign if metric['mean'] >= 0 else '-'}{mean}" if sign else str(mean)
    if metric["low"] is None:
        return signed
    half = show((metric["high"] - metric["low"]) / 2)
    return f"{signed} +/- {half}{'' if is_steady else f' ({steady_state.NOT_STEADY})'}"


def differences(reports: Sequence[RunResults]) -> Rows:
    """The difference of each scheme to the first, with its interval: a row for each metric."""
    later = [report for report in reports if found_at(report, ("seeds", "over_first"))]
    if not later:
        return []
    first = later[0].seeds.over_first.scheme
    rows = [[f"over {first}", *(report.scheme for report in later)]]
    paths = [(f"{kind} {_NAMES.get(name, name)}", units.time, ("latency_ns", kind, name))
             for kind in KINDS[:2] for name in ("mean", *PERCENTILES, "max")]  # fmt: skip
    per = lengths_differ(reports) and all(map(drive_writes, reports))
    base = next((report for report in reports if report.scheme == first), None)
    steady = [
        not any(steady_state.is_out(one) for one in (report, base) if one) for report in later
    ]
    for label, show, path in (*paths, *_COMPARED):
        is_per = per and path in COUNTS
        name = ".".join((PER_DRIVE_WRITE, *path) if is_per else path)
        found = [report.seeds.over_first.metrics.get(name) for report in later]
        if any(metric and (metric["mean"] or metric["high"]) for metric in found):
            exact = units.figures if is_per and show is units.count else show
            cells = (_interval(metric, exact, "+", known)
                     for metric, known in zip(found, steady, strict=True))  # fmt: skip
            rows.append([f"{label} per drive write" if is_per else label, *cells])
    return rows


def over_seeds(reports: Sequence[RunResults]) -> str | None:
    """Notes on metrics of several seeds."""
    found = next((report.get("seeds") for report in reports if report.get("seeds")), None)
    if not found:
        return None
    text = (
        f"{units.counted(found['count'], 'seed')}: means and half-widths of 95 % intervals; "
        "differences are between runs with the same seed, and one whose interval contains 0 may "
        "be chance"
    )
    out = [report.scheme for report in reports if steady_state.is_out(report)]
    return f"{text}; {steady_state.of_this_length(out)}" if out else text


def work(reports: ComparedResults[Run]) -> Rows:
    """All other metrics: a row for each, a column for each scheme."""
    rows = [["", *(report.scheme for report in reports)]]
    differ = lengths_differ(reports)
    if any(report.get("requests") for report in reports):
        counts = [_cell_of_requests(report) for report in reports]
        rows.append(["! requests" if differ else "requests", *counts])
    writes = list(map(drive_writes, reports))
    per = differ and all(writes)
    for label, show, path in _COMPARED:
        found = [found_at(report, path) for report in reports]
        if label == "write amplification, bytes" and not any(map(steady_state.differs, reports)):
            continue
        if label in _OF_TIME and not any(report.is_timed for report in reports):
            continue
        if not any(found) and label in _IF_ANY:
            continue
        if per and path in COUNTS:
            exact = units.figures if show is units.count else show
            cells = [_cell_per_write(report, path, exact) for report in reports]
            rows.append([f"{label} per drive write", *cells])
        else:
            rows.append([label, *(_cell(report, path, show) for report in reports)])
    rows += unequal(reports)
    return rows


def _cell_of_requests(report: RunResults) -> str:
    """The requests of a run; of several seeds, their mean."""
    metrics = found_at(report, ("seeds", "metrics"))
    if metrics is None or "requests.read" not in metrics:
        return units.count(requests(report))
    return units.count(sum(metrics[f"requests.{kind}"]["mean"]
                           for kind in ("read", "write", "trim")))  # fmt: skip


def _cell_per_write(report: RunResults, path: Sequence[str], show: Any) -> str:  # noqa: ANN401
    """A count for each drive write; of several seeds the mean, and half the interval."""
    metrics = found_at(report, ("seeds", "metrics"))
    if metrics is None:
        value, writes = found_at(report, path), drive_writes(report)
        return str(show(None if value is None or not writes else value / writes))
    metric = metrics.get(".".join((PER_DRIVE_WRITE, *path)))
    return _interval(metric, show, is_steady=not steady_state.is_out(report))


def refused(schemes: Sequence[Refusal]) -> list[str]:
    """Schemes that could not run, each with its reason and advice."""
    return [f"{one.scheme} did not run: {one.reason}; {one.advice}" for one in schemes]


def unequal(reports: ComparedResults[Run]) -> Rows:
    """Properties that should be equal and are not: the marked name, and each scheme's value.

    The requests have a row of their own.
    """
    return [
        [f"! {name} differ", *(_plain(value) for value in values)]
        for name, values in reports.unequal.items()
        if name != "requests"
    ]


_COMPARED = (
    ("write amplification, bytes", units.figures, ("write_amplification_bytes",)),
    ("write amplification", units.figures, ("write_amplification",)),
    ("throughput, requests/s", units.figures, ("throughput", "iops")),
    ("collections", units.count, ("gc", "count")),
    ("valid pages per victim", units.figures, ("gc", "valid_per_victim")),
    ("pages moved", units.count, ("pages", "gc_moved")),
    ("pages pre-migrated", units.count, ("pages", "background_moved")),
    ("erases", units.count, ("erases",)),
    ("GC busy", units.time, ("gc", "total_busy_ns")),
    ("GC busy, in the background", units.time, ("background", "busy_ns")),
    ("host blocked", units.time, ("gc", "blocking_ns")),
    ("most erases of a block", units.count, ("wear", "max")),
    ("blocks retired", units.count, ("failures", "retired_blocks")),
    ("saturated", lambda value: "yes" if value else "no", ("saturated",)),
)


_OF_TIME = ("throughput, requests/s", "GC busy", "host blocked", "saturated")
"""Rows that runs without a clock lack."""

_IF_ANY = ("pages pre-migrated", "GC busy, in the background", "blocks retired")
"""Rows that most comparisons have no use for."""


def _plain(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return units.figures(value)
    return str(value)


def _requests(report: RunResults) -> str:
    requests = report.requests
    parts = [units.counted(requests[kind], kind) for kind in ("read", "write", "trim")]
    parts += _flushes(report)
    if not report.is_timed:
        return ", ".join(parts)
    per_s = units.figures(report.throughput.iops)
    speed = units.size(report.throughput.bytes_per_s)
    return f"{', '.join(parts)}; {per_s} per second, {speed}/s"


def _flushes(report: Mapping[str, Any]) -> list[str]:
    """The number of flushes of a run, or of its workload jobs, where there are any."""
    flush = report.get("flush")
    return [units.counted(flush["requests"], "flush", "flushes")] if flush else []


def _jobs(report: RunResults) -> list[tuple[str, str]]:
    """The requests by job, where several ran concurrently."""
    return [(f"job {job['name']}", _job(job)) for job in report.get("jobs", [])[:JOBS_SHOWN]]


def _job(job: Mapping[str, Any]) -> str:
    parts = []
    for kind in ("read", "write", "trim"):
        if job["requests"][kind]:
            mean = units.time(job["latency_mean_ns"][kind])
            per_s = units.figures(job["iops"][kind])
            counted = units.counted(job["requests"][kind], kind)
            parts.append(f"{counted}, {per_s} per second, mean {mean}")
    if flush := job.get("flush"):
        mean = units.time(flush["latency_ns"]["mean"])
        parts.append(f"{_flushes(job)[0]}, mean {mean}")
    times = f"{units.time(job['begun_ns'])} to {units.time(job['ended_ns'])}"
    clones = f"{units.count(job['clones'])} clones, " if job["clones"] > 1 else ""
    return f"{clones}depth {units.count(job['depth'])}; {'; '.join(parts) or 'nothing'}; {times}"


def _endurance(report: RunResults) -> list[tuple[str, str]]:
    """TBW, where the device has rated P/E cycles."""
    found = report.get("endurance")
    if not found:
        return []
    cycles = f"{units.count(found['rated_cycles'])} P/E cycles"
    if found["tbw_bytes"] is None:
        return [("endurance", f"not stated for {cycles}: {found['why_not']}")]
    written = f"{units.figures(found['tbw_bytes'] / 1e12)} TBW"
    writes = units.figures(found["drive_writes"])
    amplification = units.figures(report.write_amplification_bytes)
    return [("endurance", f"{written} ({writes} drive writes) at {cycles} and a write "
                          f"amplification in bytes of {amplification}")]  # fmt: skip


def _pages(pages: Mapping[str, Any]) -> str:
    read, written, moved = (
        units.count(pages[name]) for name in ("host_read", "host_written", "gc_moved")
    )
    parts = [f"{read} read and {written} written by the host", f"{moved} moved by GC"]
    for name in ("background_moved", "wasted_copies", "overhead"):
        if pages[name]:
            parts.append(f"{units.count(pages[name])} {name.replace('_', ' ')}")
    return ", ".join(parts)


def _buffer(report: RunResults) -> list[tuple[str, str]]:
    """The counts of the write buffer, where the device has one."""
    buffer = report.get("buffer")
    if not buffer:
        return []
    parts = [
        f"{units.counted(buffer['hits_read'], 'page')} read from it",
        f"{units.count(buffer['hits_write'])} rewritten in it",
        f"{units.count(report.pages['flushed'])} flushed",
        f"{units.count(buffer['stalls'])} waited for space",
        f"{units.count(buffer['dirty_at_end'])} left at the end",
    ]
    return [("write buffer", ", ".join(parts))]


def _gc(report: RunResults) -> str:
    gc = report.gc
    if not gc.victim_blocks:
        return "none"
    valid = units.figures(gc.valid_per_victim)
    idle = (
        f" ({units.count(gc['idle_collections'])} while the drive was idle)"
        if "idle_collections" in gc
        else ""
    )
    return (
        f"{units.counted(gc.count, 'collection')}{idle}, {units.counted(report.erases, 'erase')}, "
        f"{valid} valid pages per victim"
    )


def gc_waits(report: RunResults) -> str:
    """The durations of collections, and the times for which they blocked the host."""
    gc = report.gc
    elapsed, blocked = (units.time(gc[name]) for name in ("elapsed_ns", "blocking_ns"))
    each = units.time(gc["elapsed_ns"] / gc["count"]) if gc["count"] else units.NOTHING
    return f"selection to erase {elapsed} ({each} each); host blocked {blocked}"


def _gc_time(report: RunResults) -> str:
    time = report.gc_time
    busy = units.time(report.gc.total_busy_ns)
    if time.erase_share is not None:
        busy += f", {units.share(time.erase_share)} of it erasing"
    if time.background_ns:
        busy += f" and {units.share(time.background_share)} moving pages in the background"
    return f"units busy {busy}; {gc_waits(report)}"


def _wear(report: RunResults) -> str:
    wear = report.wear
    return (
        f"{units.figures(wear.mean)} erases per block, {units.count(wear.min)} to "
        f"{units.count(wear.max)}, standard deviation {units.figures(wear.stddev)}"
    )


def _failures(report: RunResults) -> list[tuple[str, str]]:
    """Bad blocks, where programs or erases fail."""
    found = report.get("failures")
    if found is None:
        return []
    failed = f"{units.counted(found['erase'], 'erase')} and " \
        f"{units.counted(found['program'], 'program')} failed"  # fmt: skip
    bad = found["retired_blocks"] + found["failing_blocks"]
    left = "the drive is read-only" if found["read_only"] else \
        f"{units.counted(found['spare_blocks'], 'spare block')} left"  # fmt: skip
    return [("bad blocks", f"{units.count(bad)}; {failed}; {left}")]


Shown = tuple[str, Callable[[RunResults], str]]


def _times(report: RunResults, *facts: Shown) -> list[tuple[str, str]]:
    """Metrics of time, where there was a clock."""
    return [(name, show(report)) for name, show in facts] if report.is_timed else []


def _units(report: RunResults) -> str:
    return _use(report.utilisation.unit)


def _buses(report: RunResults) -> str:
    return _use(report.utilisation.bus)


def _use(use: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {units.share(use[name])}" for name in ("host", "gc", "idle"))


def filled(how: Mapping[str, Any], done: Mapping[str, Any]) -> str:
    """The fill of a drive, with its number of pages."""
    if how["fill"] == "none":
        return "not at all"
    if how["fill"] == "aged":
        return f"aged: {units.counted(done['aged_pages'], 'invalid page')}"
    return f"{how['fill']}: {units.counted(done['filled_pages'], 'page')} written"


def overwritten(done: Mapping[str, Any]) -> str:
    """The overwriting of a drive after that."""
    if not done["drive_writes"]:
        return "not at all"
    amplification = units.figures(done["write_amplification"])
    steady = done["steady"]
    until = "" if steady is None else ", until steady" if steady["reached"] else ", not steady yet"
    writes = units.figures(done["drive_writes"])
    return f"{writes} drive writes, write amplification {amplification}{until}"


def _drive(report: RunResults) -> list[tuple[str, str]]:
    """The saved drive that a run began with."""
    before = report.get("precondition") or {}
    drive = before.get("drive")
    if not drive:
        return []
    return [("drive", f"{drive['file']}, filled by {before['scheme']}, key {drive['key']}")]


def _simulated(report: RunResults) -> str:
    before = report.get("precondition") or {}
    writes = before.get("drive_writes")
    told = f"; preconditioned with {units.figures(writes)} drive writes" if writes else ""
    steady = before.get("steady")
    if steady:
        told += " until steady" if steady["reached"] else ", and not steady yet"
    return f"{simulated(report)}{told}"


def simulated(report: RunResults) -> str:
    """The simulated time, or why there is none."""
    return units.time(report.simulated_ns) if report.is_timed else NO_TIME


def _took(report: RunResults) -> str:
    speed = units.count(report.page_operations_per_s)
    before = units.figures(report.precondition_wall_s)
    return (
        f"{units.figures(report.wall_s)} s for {units.count(report.page_operations)} page "
        f"operations ({speed} per second), after {before} s of preparation"
    )
