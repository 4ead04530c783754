"""The summary of a run in words: its head, its latencies, its seeds and its warnings."""

from __future__ import annotations

from collections.abc import Sequence

from flashgc.formatting import units
from flashgc.results import steady_state
from flashgc.results.metrics import KINDS, METRICS, RunResults

PERCENTILES = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99_9": "p99.9",
               "p99_99": "p99.99"}  # fmt: skip
NAMES = {**PERCENTILES, "count": "requests", "stddev": "standard deviation"}
"""The names of metrics of latencies, where they differ from those of the report."""

_CHANGES_SHOWN = 4
"""Changed values of a scheme that are named; all are in the report as JSON."""

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
        rows.append([NAMES.get(name, name), *values])
    return rows


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
