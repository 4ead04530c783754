"""The requests of flashgc for the same job file, by section and file, with offsets in the file."""

from __future__ import annotations

import csv
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import flashgc
import theirs
from flashgc import ConfigError
from flashgc.conversion import fio_run

DRIVE = """
seed = {seed}
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 256
pages_per_block = 64
page_size = "4 KiB"
exported = 0.9
unit = "die"
allocation = "striped"
[device.timing]
read = "10 us"
program = "20 us"
erase = "50 us"
transfer = "1 ns/B"
[gc]
scheme = "greedy"
[workload]
fio = "ours.fio"
[precondition]
fill = "none"
overwrite = 0.0
"""
PAGE = 4096
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def run(text: str, folder: Path, seed: int = 1) -> theirs.Outcome:
    """Runs a job file; streams have the names that fio gives them."""
    path, log = folder / "ours.fio", folder / "ours.csv"
    path.write_text(text)
    config = folder / "ours.toml"
    config.write_text(DRIVE.format(seed=seed))
    try:
        jobs = tomllib.loads(fio_run.layer(path)[1])["workload"]["jobs"]["job"]
        flashgc.run(config, request_log=log)
    except ConfigError as why:
        return theirs.Outcome({}, {}, str(why))
    return theirs.Outcome(_streams(log, jobs), {"jobs": jobs}, "")


def _streams(log: Path, jobs: list[dict[str, Any]]) -> dict[str, list[theirs.Request]]:
    clones = [(job, clone) for job in jobs for clone in range(job.get("clones", 1))]
    names = [_names(job, clone) for job, clone in clones]
    starts = _starts(clones, names)
    streams: dict[str, list[theirs.Request]] = defaultdict(list)
    with log.open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["request"]))
    for row in rows:
        kind, of = row["kind"], names[int(row["job"])]
        at = int(row["offset_bytes"] or 0)
        # Flushes of several files cannot be assigned to one of them.
        name = of[0] if kind == "flush" else max(
            (name for name in of if starts[name] <= at), key=lambda name: starts[name]
        )  # fmt: skip
        offset, bytes_ = (0, 0) if kind == "flush" else (at - starts[name], int(row["size_bytes"]))
        at_ms, order = int(row["arrival_ns"]) / 1e3, int(row["request"])
        streams[name].append(theirs.Request(at_ms, kind, offset, bytes_, order))
    return dict(streams)


def _names(job: dict[str, Any], clone: int) -> list[str]:
    if "file" in job:
        return str(job["file"]).split(":")
    return [f"{job['name']}.{clone}.{at}" for at in range(job.get("files", 1))]


def _starts(clones: list[tuple[dict[str, Any], int]], names: list[list[str]]) -> dict[str, int]:
    """The start of each file: one behind the other, on whole pages."""
    ends: dict[str, int] = {}
    for (job, clone), of in zip(clones, names, strict=True):
        file = _bytes(job["file_size"], 0) if "file_size" in job else None
        span = _bytes(job["span"], 0) if "span" in job else file or 0
        align = min(_smallest(job[f"{kind}_size"]) for kind in ("read", "write", "trim")
                    if f"{kind}_size" in job)  # fmt: skip
        parts = [job.get("offset", "0 B"), job.get("offset_step", "0 B")]
        offset = _bytes(parts[0], span) + clone * _bytes(parts[1], span)
        if any(isinstance(part, float) for part in parts):
            offset = -(-offset // align) * align
        if file is not None:
            span = min(span, file - offset)
        for name in of:
            ends[name] = max(ends.get(name, 0), offset + span, file or 0)
    starts, start = {}, 0
    for name, end in ends.items():
        starts[name] = start
        start += -(-end // PAGE) * PAGE
    return starts


def _smallest(sizes: str | dict[str, float]) -> int:
    return min(_bytes(size, 0) for size in ([sizes] if isinstance(sizes, str) else sizes))


def _bytes(extent: str | float, of: int) -> int:
    if isinstance(extent, str):
        number, unit = extent.split()
        return int(number) * _UNITS[unit]
    return round(extent * of)


def only_stream(text: str, folder: Path) -> list[theirs.Request]:
    """The requests of a job file with one section and one file."""
    outcome = run(text, folder)
    assert not outcome.error, outcome.error
    (requests,) = outcome.streams.values()
    return requests
