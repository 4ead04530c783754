"""Several runs next to each other in words: a row for each metric, a column for each scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.formatting import units
from flashgc.results import steady_state
from flashgc.results.metrics import (
    COUNTS,
    KINDS,
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
from flashgc.results.summary import NAMES, PERCENTILES, Rows

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
    rows = [["", *(NAMES.get(name, name) for name in names)]]
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
    paths = [(f"{kind} {NAMES.get(name, name)}", units.time, ("latency_ns", kind, name))
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
        [
            f"! {name} {'differ' if name.endswith('s') else 'differs'}",
            *(_plain(value) for value in values),
        ]
        for name, values in reports.unequal.items()
        if name != "requests"
    ]


def _plain(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        told = {key: inner for key, inner in value.items() if inner is not None}
        return ", ".join(f"{key.replace('_', ' ')} {_plain(inner)}" for key, inner in told.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return units.figures(value)
    return str(value)
