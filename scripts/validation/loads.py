"""The loads of measured runs, and what a fitted device has under them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from drives import Drive, Point, Run

import flashgc

Config = dict[str, Any]
MIB = 1 << 20
FEWEST, PER_SLOT = 30_000, 100
"""Requests of a closed loop: at least, and for each request under way."""
FILL_S, FLOOD_S = 0.4, 4.0
"""Simulated s that are measured next to writes, after half of it."""
LEAST_READS = 1000
"""Reads a second at fixed rates, so that percentiles are those of many reads."""


def simulate(drive: Drive, run: Run, changes: Mapping[str, Any]) -> list[Point]:
    """Runs the load on the device with these changes, and gives the value of each metric."""
    one = drive.about["sets"][run.set]
    one = {**one, "set": {**one.get("set", {}), **changes}}
    config = deepcopy(drive.about["config"])
    values = KINDS[one["kind"]](config, run.load, one)
    return [
        Point(run.name, metric, measured, values[metric], metric in run.fitted)
        for metric, measured in run.values.items()
    ]


def _closed(config: Config, load: dict[str, float], one: Config) -> dict[str, float]:
    """A number of requests under way; each process is a core of the host."""
    processes = int(load.get("processes", 1))
    depth = int(load["depth"]) * processes
    reads = one.get("of", "reads") == "reads"
    config["workload"] = {"synthetic": {
        "requests": max(FEWEST, PER_SLOT * depth), "read_share": 1.0 if reads else 0.0,
        "size": f"{int(load.get('size_KiB', 4) * 1024)} B", "queue_depth": depth,
        "address": "uniform", "sequential_share": 1.0 if one.get("sequential") else 0.0,
    }}  # fmt: skip
    settings = dict(one["set"])
    if "processes" in load:
        settings["device.firmware.cores"] = processes
    report = flashgc.run(config, set=settings)
    kind = "read" if reads else "write"
    latency = report.latency_ns[kind]
    return {f"{kind}_iops": report.throughput.iops or 0.0, **_latencies(kind, latency)}


def _latencies(kind: str, latency: Any) -> dict[str, float]:  # noqa: ANN401 - of a report
    return {f"{kind}_p50_us": latency.p50 / 1e3, f"{kind}_p99_us": latency.p99 / 1e3}


def _beside_fill(config: Config, load: dict[str, float], one: Config) -> dict[str, float]:
    """Random reads next to one sequential writer with a limit."""
    writer = {"depth": 1, "size": "128 KiB", "random_share": 0.0, **_limit(load)}
    reader = {"depth": int(load["depth"])}
    report = flashgc.run(_beside(config, writer, reader, FILL_S), set=one["set"])
    return _two(report, 128)


def _beside_flood(config: Config, load: dict[str, float], one: Config) -> dict[str, float]:
    """Random reads of one part next to four random writers, each with a part of its own."""
    part = one["part"]
    writer = {"clones": 4, "depth": 32, "size": "1 MiB", "offset": part, "span": part,
              "offset_step": part, **_limit(load)}  # fmt: skip
    reader = {"depth": int(load["depth"]), "span": part}
    report = flashgc.run(_beside(config, writer, reader, FLOOD_S), set=one["set"])
    return _two(report, 1024)


def _limit(load: dict[str, float]) -> Config:
    return {"write_rate": f"{int(load['write_limit_MiBs'] * MIB)} B/s"}


def _beside(config: Config, writer: Config, reader: Config, seconds: float) -> Config:
    times = {"runtime": f"{seconds * 1e3:.0f} ms", "ramp": f"{seconds * 500:.0f} ms",
             "time_based": True, "file": "drive"}  # fmt: skip
    config["workload"] = {"jobs": {"job": [
        {"name": "writer", **times, **writer},
        {"name": "reader", "read_share": 1.0, "size": "4 KiB", **times, **reader},
    ]}}  # fmt: skip
    return config


def _two(report: flashgc.Report, size_kib: int) -> dict[str, float]:
    """The values of a reader and of writers whose requests have this size."""
    writes, reads = report.jobs
    written, read = writes.iops.write or 0.0, reads.iops.read or 0.0
    return {"write_MiBs": written * size_kib / 1024, "read_iops": read,
            **_latencies("read", reads.latency_ns.read)}  # fmt: skip


def _full(config: Config, load: dict[str, float], one: Config) -> dict[str, float]:
    """Random writes at full rate, in steady state."""
    del load
    config["workload"] = {"synthetic": {
        "requests": "0.3 drive writes", "size": "4 KiB", "queue_depth": one["depth"],
        "address": "uniform",
    }}  # fmt: skip
    report = flashgc.run(config, set=one["set"])
    return {
        "write_iops": report.throughput.iops or 0.0,
        **_latencies("write", report.latency_ns.write),
    }


def _rates(config: Config, load: dict[str, float], one: Config) -> dict[str, float]:
    """Random writes and reads at fixed rates, in steady state."""
    gaps = {name: {"exponential": f"{1e9 / rate:.0f} ns"} for name, rate in (
        ("write_interarrival", load["write_rate"]),
        ("read_interarrival", max(load["read_rate"], LEAST_READS)),
    )}  # fmt: skip
    config["workload"] = {"synthetic": {
        "requests": "0.15 drive writes", "size": "4 KiB", "address": "uniform", **gaps,
    }}  # fmt: skip
    report = flashgc.run(config, set=one["set"])
    return {**_latencies("write", report.latency_ns.write),
            **_latencies("read", report.latency_ns.read)}  # fmt: skip


KINDS: dict[str, Callable[[Config, dict[str, float], Config], dict[str, float]]] = {
    "closed": _closed,
    "beside-fill": _beside_fill,
    "beside-flood": _beside_flood,
    "full": _full,
    "rates": _rates,
}
"""By the word `kind` of a set in `drive.toml`."""
