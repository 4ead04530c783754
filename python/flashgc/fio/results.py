"""The results of jobs under fio's keys and in its units."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flashgc.fio.figures import PERCENTILES, Figure
from flashgc.fio.samples import KINDS, NS_PER_MS, Clone, Sample

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
NS_STEPS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
MS_STEPS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000)
UNIFIED = {"none": "none", "0": "none", "mixed": "mixed", "1": "mixed", "both": "both", "2": "both"}
"""Values of `unified_rw_reporting`, by the word that stands for them."""


@dataclass
class Entry:
    """One entry of fio's list of jobs: a clone, or a group of clones."""

    name: str
    group: int
    options: dict[str, str]
    clones: list[Clone]
    percents: tuple[float, ...] = PERCENTILES
    clat: bool = True
    lat: bool = False
    unified: str = "none"
    window_ms: int = 500
    counts: dict[str, float] = field(default_factory=dict)

    @property
    def samples(self) -> list[Sample]:
        """The requests of all its clones."""
        return [one for clone in self.clones for one in clone.samples]

    @property
    def depth(self) -> int:
        """Requests in flight of one clone."""
        return max((int(clone.job.get("depth", 1)) for clone in self.clones), default=1)


def document(entries: list[Entry], common: Mapping[str, str], own: Mapping[str, Any],
             version: str, *, bins: bool) -> dict[str, Any]:  # fmt: skip
    """The object of --output-format=json, or of json+ with the bins of latencies."""
    now = time.time()
    found: dict[str, Any] = {
        "fio version": version,
        "timestamp": int(now),
        "timestamp_ms": int(now * 1000),
        "time": time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(now)),
    }
    if common:
        found["global options"] = dict(common)
    found["jobs"] = [job(entry, bins=bins) for entry in entries]
    found["flashgc"] = dict(own)
    return found


def job(entry: Entry, *, bins: bool) -> dict[str, Any]:
    """One entry."""
    found: dict[str, Any] = {
        "jobname": entry.name,
        "groupid": entry.group,
        "error": 0,
        "eta": 0,
        "elapsed": -(-max((clone.runtime_ms for clone in entry.clones), default=0) // 1000) + 1,
        "job options": entry.options,
    }
    if entry.unified != "mixed":
        for kind in KINDS:
            found[kind] = direction(entry, (kind,), bins=bins)
    if entry.unified != "none":
        found["mixed"] = direction(entry, KINDS, bins=bins)
    if entry.unified != "mixed":
        found["sync"] = _sync(entry, bins=bins)
    found |= {
        "job_runtime": sum(clone.runtime_ms for clone in entry.clones),
        "usr_cpu": 0.0, "sys_cpu": 0.0, "ctx": 0, "majf": 0, "minf": 0,
        "iodepth_level": _depths(entry),
        "iodepth_submit": _one_by_one(entry), "iodepth_complete": _one_by_one(entry),
        **latency_shares(entry),
        "latency_depth": entry.depth, "latency_target": 0, "latency_percentile": 100.0,
        "latency_window": 0,
    }  # fmt: skip
    return found


def direction(entry: Entry, kinds: Iterable[str], *, bins: bool) -> dict[str, Any]:
    """The reads, writes or trims of an entry, or all of them."""
    kinds = set(kinds)
    samples = [one for one in entry.samples if one.kind in kinds]
    runtime_ms = max((clone.runtime_ms for clone in entry.clones), default=0) if samples else 0
    moved = sum(one.bytes for one in samples)
    per_s = 1000 / runtime_ms if runtime_ms else 0.0
    figure = Figure(one.latency_ns for one in samples)
    return {
        "io_bytes": moved,
        "io_kbytes": moved >> 10,
        "bw_bytes": int(moved * per_s),
        "bw": int(moved * per_s) >> 10,
        "iops": round(len(samples) * per_s, 6),
        "runtime": runtime_ms,
        "total_ios": len(samples),
        "short_ios": 0,
        "drop_ios": 0,
        # A request is with the drive as soon as it is issued.
        "slat_ns": Figure().moments(),
        "clat_ns": _times(figure, entry.percents if entry.clat else (), bins=bins),
        "lat_ns": _times(figure, entry.percents if entry.lat else (), bins=bins and entry.lat),
        **_windows(entry, kinds, moved * per_s),
    }


def _times(figure: Figure, percents: Iterable[float], *, bins: bool) -> dict[str, Any]:
    from flashgc.fio.figures import middle

    found: dict[str, Any] = figure.moments()
    percents = tuple(percents)
    if figure.values and percents:
        found["percentile"] = figure.percentiles(percents)
        if bins:
            found["bins"] = {str(middle(at)): count for at, count in sorted(figure.bins().items())}
    return found


def _sync(entry: Entry, *, bins: bool) -> dict[str, Any]:
    figure = Figure(one.latency_ns for one in entry.samples if one.kind == "flush")
    return {"total_ios": len(figure.values),
            "lat_ns": _times(figure, entry.percents, bins=bins)}  # fmt: skip


def _windows(entry: Entry, kinds: set[str], mean_bytes: float) -> dict[str, Any]:
    """Rates of whole windows of time, of all clones."""
    rates: list[tuple[float, float]] = []
    for clone in entry.clones:
        whole = clone.runtime_ms // entry.window_ms
        sums = [[0, 0] for _ in range(whole)]
        for one in clone.samples:
            at = one.ended_ns // (entry.window_ms * NS_PER_MS)
            if one.kind in kinds and at < whole:
                sums[at][0] += one.bytes
                sums[at][1] += 1
        per_s = 1000 / entry.window_ms
        rates += [(moved * per_s / 1024, count * per_s) for moved, count in sums]
    has_any = any(one.kind in kinds for one in entry.samples)
    columns = tuple(zip(*rates, strict=True)) if rates and has_any else ((), ())
    found: dict[str, Any] = {}
    for name, values in zip(("bw", "iops"), columns, strict=True):
        mean = sum(values) / len(values) if values else 0.0
        spread = sum((value - mean) ** 2 for value in values)
        deviation = (spread / (len(values) - 1)) ** 0.5 if len(values) > 1 else 0.0
        found[f"{name}_min"] = int(min(values, default=0))
        found[f"{name}_max"] = int(max(values, default=0))
        if name == "bw":
            share = 100 * mean * 1024 * len(entry.clones) / mean_bytes if mean_bytes else 0.0
            found["bw_agg"] = round(min(share, 100.0), 6)
        found[f"{name}_mean"] = round(mean, 6)
        found["bw_dev" if name == "bw" else "iops_stddev"] = round(deviation, 6)
        found[f"{name}_samples"] = len(values)
    return found


def _depths(entry: Entry) -> dict[str, float]:
    """Shares of the requests by the number in flight, up to the next power of two."""
    found = dict.fromkeys(DEPTHS, 0)
    total = 0
    for clone in entry.clones:
        for depth, count in clone.depths.items():
            found[max(step for step in DEPTHS if step <= depth)] += count
            total += count
    return {(f">={step}" if step == DEPTHS[-1] else str(step)):
            round(100 * count / total, 6) if total else 0.0
            for step, count in found.items()}  # fmt: skip


def _one_by_one(entry: Entry) -> dict[str, float]:
    """Requests are issued, and end, one by one."""
    steps = ("0", "4", "8", "16", "32", "64", ">=64")
    return {step: 100.0 if step == "4" and entry.samples else 0.0 for step in steps}


def latency_shares(entry: Entry) -> dict[str, dict[str, float]]:
    """Shares of the requests by their latency, in ns, us and ms."""
    found = {
        "latency_ns": dict.fromkeys(map(str, NS_STEPS), 0.0),
        "latency_us": dict.fromkeys(map(str, NS_STEPS), 0.0),
        "latency_ms": dict.fromkeys([*map(str, MS_STEPS), ">=2000"], 0.0),
    }
    times = [one.latency_ns for one in entry.samples if one.kind != "flush"]
    for ns in times:
        for name, unit, steps in (("latency_ns", 1, NS_STEPS), ("latency_us", 1000, NS_STEPS),
                                  ("latency_ms", NS_PER_MS, MS_STEPS)):  # fmt: skip
            step = next((step for step in steps if ns < step * unit), None)
            if step is not None:
                found[name][str(step)] += 1
                break
        else:
            found["latency_ms"][">=2000"] += 1
    return {name: {step: round(100 * count / len(times), 6) if times else 0.0
                   for step, count in steps.items()}
            for name, steps in found.items()}  # fmt: skip


def collection_part(entry: Entry) -> dict[str, Any]:
    """The part of collection in the latencies from each percentile on, by the kind of request."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        samples = sorted(
            (one for one in entry.samples if one.kind == kind), key=lambda one: one.latency_ns
        )
        if not samples:
            continue
        parts = {}
        for percent in entry.percents:
            beyond = samples[min(int(len(samples) * percent / 100), len(samples) - 1) :]
            total = sum(one.latency_ns for one in beyond)
            own = sum(one.collection_ns for one in beyond)
            parts[f"{percent:.6f}"] = round(own / total, 6) if total else 0.0
        found[kind] = parts
    return found
