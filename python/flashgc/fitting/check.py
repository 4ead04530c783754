"""Compares a trace with its fitted workload on the same drive."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from flashgc.running import building, runs

SPARE_PAGES = 64
"""Fitted workloads may need a few pages more than their trace."""
EXPORTED = 0.85
_BLOCKS_MIN = 40
METRICS: Mapping[str, tuple[str, ...]] = {
    "write amplification": ("write_amplification",),
    "mean latency": ("latency_ns", "all", "mean"),
    "mean read latency": ("latency_ns", "read", "mean"),
    "mean write latency": ("latency_ns", "write", "mean"),
    "p99 latency": ("latency_ns", "all", "p99"),
    "pages read": ("pages", "host_read"),
    "pages written": ("pages", "host_written"),
}
"""The metrics that are compared; the first two count."""


def drive(footprint_pages: int) -> dict[str, Any]:
    """A small drive that the footprint fills: eight SLC chips of one plane each.

    Its exported space is the footprint and little more, in blocks of 64 pages, or of fewer where
    the footprint is small; below some 8 MiB it is larger than the footprint.
    """
    pages = footprint_pages * 1.01 + SPARE_PAGES
    per_plane = pages / EXPORTED / 8
    pages_per_block = 64
    while pages_per_block > 8 and per_plane / pages_per_block < _BLOCKS_MIN:
        pages_per_block //= 2
    blocks = max(_BLOCKS_MIN, math.ceil(per_plane / pages_per_block))
    return {
        "preset": "slc-msr", "planes_per_die": 1, "blocks_per_plane": blocks,
        "pages_per_block": pages_per_block, "exported": EXPORTED,
    }  # fmt: skip


def overwrite(written_pages: int, footprint_pages: int) -> float:
    """Drive writes before the measured part.

    None where the trace writes so little that it would have to be repeated 200 times.
    """
    return 2.0 if written_pages >= footprint_pages / 100 else 0.0


def shared(device: Mapping[str, Any], overwrite: float) -> dict[str, Any]:
    """The common part of both: drive, scheme and preconditioning."""
    return {
        "device": dict(device),
        "gc": {"scheme": "greedy"},
        "precondition": {"fill": "sequential", "overwrite": overwrite},
    }


def compare(
    trace: str | os.PathLike[str],
    workload: Mapping[str, Any],
    device: Mapping[str, Any],
    overwrite: float,
    *,
    reading: Mapping[str, Any],
    name: str | os.PathLike[str] | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seeds: int = 3,
) -> list[dict[str, Any]]:
    """A row for each metric: `original`, the mean of the fitted workloads, and their `difference`.

    Both are preconditioned with `overwrite` drive writes of their own. `low` and `high` are the
    least and the greatest metric of any seed. `name` is that of a device in place of `device`.
    """
    both = shared(device, overwrite)
    replay = {**both, "workload": {"trace": {"address": "compact", **reading}}}
    fitted = {**both, "workload": {"fitted": workload}}
    original = runs.run(replay, trace, device=name, set=set, unset=unset)
    reports = [
        runs.run(fitted, device=name, set=set, unset=unset, seed=seed)
        for seed in range(1, seeds + 1)
    ]
    rows = []
    for metric, path in METRICS.items():
        known = _find(original, path)
        found = [value for value in (_find(one, path) for one in reports) if value is not None]
        if known is None or not found:
            continue
        mean = math.fsum(found) / len(found)
        rows.append({
            "metric": metric, "original": known, "fitted": mean, "low": min(found),
            "high": max(found), "difference": mean / known - 1 if known else None,
        })  # fmt: skip
    return rows


def _find(report: Mapping[str, Any], path: tuple[str, ...]) -> float | None:
    found: Any = report
    for name in path:
        found = found[name]
    return None if found is None else float(found)
