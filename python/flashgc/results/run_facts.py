"""The metrics of a run that are not latencies: each with its name, and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flashgc.formatting import units
from flashgc.results import steady_state
from flashgc.results.metrics import RunResults

JOBS_SHOWN = 20
"""Jobs with a line of their own; all are in the report as JSON."""

NO_TIME = 'no time (engine.timing = "none"): there are no latencies, no rates and no shares of time'
"""The words of a run without a clock."""

Shown = tuple[str, Callable[[RunResults], str]]


def facts(report: RunResults) -> list[tuple[str, str]]:
    """All of them, each with its name."""
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
    cycles = units.counted(found["rated_cycles"], "P/E cycle")
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
    causes = {
        "idle_collections": "while the drive was idle",
        "read_reclaims": "of blocks read often",
    }
    parts = [f"{units.count(gc[key])} {cause}" for key, cause in causes.items() if key in gc]
    some = f" ({', '.join(parts)})" if parts else ""
    return (
        f"{units.counted(gc.count, 'collection')}{some}, {units.counted(report.erases, 'erase')}, "
        f"{valid} valid pages per victim"
    )


def gc_waits(report: RunResults) -> str:
    """The durations of collections, and the times for which they blocked the host."""
    gc = report.gc
    elapsed, blocked = (units.time(gc[name]) for name in ("elapsed_ns", "blocking_ns"))
    each = f" ({units.time(gc['elapsed_ns'] / gc['count'])} each)" if gc["count"] else ""
    return f"selection to erase {elapsed}{each}; host blocked {blocked}"


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
        f"{units.figures(report.wall_s)} s for "
        f"{units.counted(report.page_operations, 'page operation')} ({speed} per second), "
        f"after {before} s of preparation"
    )
