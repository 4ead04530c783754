"""What people are told of a report: the same words and figures on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc import units
from flashgc.report import FIGURES, KINDS, Comparison, Report

PERCENTILES = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99_9": "p99.9",
               "p99_99": "p99.99"}  # fmt: skip
_NAMES = {**PERCENTILES, "count": "requests", "stddev": "deviation"}

Rows = list[list[str]]


def head(report: Report) -> str:
    """One line: device, size, scheme, seed."""
    physical = units.size(report.capacity.physical_bytes)
    exported = units.size(report.capacity.exported_bytes)
    sizes = f"{physical}, of which the host sees {exported}"
    return f"device {report.device} ({sizes}), scheme {report.scheme}, seed {report.seed}"


def latency(report: Report) -> Rows:
    """A row for each figure, a column each for reads, writes and all."""
    rows = [["latency", *KINDS]]
    for name in FIGURES:
        show = units.count if name == "count" else units.time
        values = [show(report.latency_ns[kind][name]) for kind in KINDS]
        rows.append([_NAMES.get(name, name), *values])
    return rows


def facts(report: Report) -> list[tuple[str, str]]:
    """The other figures, each with its name."""
    return [
        ("requests", _requests(report)),
        ("write amplification", units.figures(report.write_amplification)),
        ("pages", _pages(report.pages)),
        *_buffer(report),
        ("garbage collection", _gc(report)),
        ("GC time", _gc_time(report)),
        ("wear", _wear(report)),
        ("units", _use(report.utilisation.unit)),
        ("buses", _use(report.utilisation.bus)),
        *_drive(report),
        ("simulated", _simulated(report)),
        ("took", _took(report)),
    ]


def warnings(report: Report) -> list[str]:
    """What must not be overlooked, and what the engine noted."""
    told = []
    if report.saturated:
        told.append(
            "saturated: requests arrived faster than the drive could serve them, so that latencies "
            "depend on the length of the run"
        )
    told += report.notes
    if report.unused_keys:
        told.append(f"without effect in this run: {', '.join(report.unused_keys)}")
    return told


def seeds(report: Report) -> Rows:
    """Mean and interval of the main figures, where several seeds were run."""
    found = report.get("seeds")
    if not found:
        return []
    rows = [[f"{found['count']} seeds", "mean", "95 % interval"]]
    names = ["write_amplification", *(f"latency_ns.all.{name}" for name in ("mean", *PERCENTILES))]
    names += ["throughput.iops", "gc.count", "erases"]
    for name in names:
        figure = found["figures"].get(name)
        if figure is None:
            continue
        show = units.time if name.startswith("latency_ns") else units.figures
        low, high = show(figure["low"]), show(figure["high"])
        shown = name.replace("latency_ns.all.", "latency ").replace("_", " ")
        rows.append([shown.replace("p99 9", "p99.9"), show(figure["mean"]), f"{low} to {high}"])
    return rows


def comparison(reports: Comparison) -> Rows:
    """A row for each figure, a column for each scheme; rows of what is unequal are marked."""
    rows = [["", *(report.scheme for report in reports)]]
    for kind in KINDS[:2]:
        if any(report.latency_ns[kind]["count"] for report in reports):
            for name in ("mean", *PERCENTILES, "max"):
                values = [units.time(report.latency_ns[kind][name]) for report in reports]
                rows.append([f"{kind} {_NAMES.get(name, name)}", *values])
    for label, show, path in _COMPARED:
        found = [_find(report, path) for report in reports]
        if any(found) or label not in _IF_ANY:
            rows.append([label, *(show(value) for value in found)])
    rows += unequal(reports)
    return rows


def unequal(reports: Comparison) -> Rows:
    """What should be equal and is not: its name with a mark, and the value of each scheme."""
    return [
        [f"! {name} differ", *(_plain(value) for value in values)]
        for name, values in reports.unequal.items()
    ]


_COMPARED = (
    ("write amplification", units.figures, ("write_amplification",)),
    ("throughput, requests/s", units.figures, ("throughput", "iops")),
    ("collections", units.count, ("gc", "count")),
    ("valid pages per victim", units.figures, ("gc", "valid_per_victim")),
    ("pages moved", units.count, ("pages", "gc_moved")),
    ("pages moved ahead", units.count, ("pages", "assist_moved")),
    ("erases", units.count, ("erases",)),
    ("GC busy", units.time, ("gc", "busy_ns")),
    ("host shut out", units.time, ("gc", "hold_ns")),
    ("erases of a block, at most", units.count, ("wear", "max")),
    ("saturated", lambda value: "yes" if value else "no", ("saturated",)),
)


_IF_ANY = ("pages moved ahead",)
"""Rows that most comparisons have no use for."""


def _plain(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return units.figures(value)
    return str(value)


def _find(report: Mapping[str, Any], path: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    found: Any = report
    for name in path:
        found = found[name]
    return found


def _requests(report: Report) -> str:
    requests = report.requests
    parts = [f"{units.count(requests[kind])} {kind}s" for kind in ("read", "write", "trim")]
    per_s = units.figures(report.throughput.iops)
    speed = units.size(report.throughput.bytes_per_s)
    return f"{', '.join(parts)}; {per_s} a second, {speed}/s"


def _pages(pages: Mapping[str, Any]) -> str:
    read, written, moved = (
        units.count(pages[name]) for name in ("host_read", "host_written", "gc_moved")
    )
    parts = [f"{read} read and {written} written by the host", f"{moved} moved by GC"]
    for name in ("assist_moved", "wasted_copies", "overhead"):
        if pages[name]:
            parts.append(f"{units.count(pages[name])} {name.replace('_', ' ')}")
    return ", ".join(parts)


def _buffer(report: Report) -> list[tuple[str, str]]:
    """What the write buffer did, where the device has one."""
    buffer = report.get("buffer")
    if not buffer:
        return []
    parts = [
        f"{units.count(buffer['hits_read'])} pages read from it",
        f"{units.count(buffer['hits_write'])} rewritten in it",
        f"{units.count(report.pages['flushed'])} flushed",
        f"{units.count(buffer['stalls'])} waited for a place",
        f"{units.count(buffer['dirty_at_end'])} left at the end",
    ]
    return [("write buffer", ", ".join(parts))]


def _gc(report: Report) -> str:
    gc = report.gc
    if not gc.victim_blocks:
        return "none"
    valid = units.figures(gc.valid_per_victim)
    idle = f" ({units.count(gc['idle_jobs'])} of an idle drive)" if "idle_jobs" in gc else ""
    return (
        f"{units.count(gc.count)} collections{idle}, {units.count(report.erases)} erases, "
        f"{valid} valid pages per victim"
    )


def _gc_time(report: Report) -> str:
    gc, erasing = report.gc, report.gc_time.erase_share
    busy, elapsed, hold = (units.time(gc[name]) for name in ("busy_ns", "elapsed_ns", "hold_ns"))
    each = units.time(gc["elapsed_ns"] / gc["count"]) if gc["count"] else units.NOTHING
    if erasing is not None:
        busy += f", {units.share(erasing)} of it erasing"
    return f"units busy {busy}; selection to erase {elapsed} ({each} each); host shut out {hold}"


def _wear(report: Report) -> str:
    wear = report.wear
    return (
        f"{units.figures(wear.mean)} erases a block, {units.count(wear.min)} to "
        f"{units.count(wear.max)}, deviation {units.figures(wear.stddev)}"
    )


def _use(use: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {units.share(use[name])}" for name in ("host", "gc", "idle"))


def filled(how: Mapping[str, Any], done: Mapping[str, Any]) -> str:
    """How a drive was filled, and with how many pages."""
    if how["fill"] == "none":
        return "not at all"
    if how["fill"] == "aged":
        return f"aged: {units.count(done['aged_pages'])} invalid pages"
    return f"{how['fill']}: {units.count(done['filled_pages'])} pages written"


def overwritten(done: Mapping[str, Any]) -> str:
    """How much of a drive was overwritten after that."""
    if not done["drive_writes"]:
        return "not at all"
    amplification = units.figures(done["write_amplification"])
    steady = done["steady"]
    until = "" if steady is None else ", until steady" if steady["reached"] else ", not steady yet"
    writes = units.figures(done["drive_writes"])
    return f"{writes} drive writes, write amplification {amplification}{until}"


def _drive(report: Report) -> list[tuple[str, str]]:
    """The saved drive that a run began with."""
    before = report.get("precondition") or {}
    drive = before.get("drive")
    if not drive:
        return []
    return [("drive", f"{drive['file']}, filled by {before['scheme']}, key {drive['key']}")]


def _simulated(report: Report) -> str:
    before = report.get("precondition") or {}
    writes = before.get("drive_writes")
    told = f"; before it {units.figures(writes)} drive writes" if writes else ""
    steady = before.get("steady")
    if steady:
        told += " until steady" if steady["reached"] else ", and not steady yet"
    return f"{units.time(report.simulated_ns)}{told}"


def _took(report: Report) -> str:
    speed = units.count(report.page_operations_per_s)
    before = units.figures(report.precondition_wall_s)
    return (
        f"{units.figures(report.wall_s)} s for {units.count(report.page_operations)} page "
        f"operations ({speed} a second), and {before} s before it"
    )
