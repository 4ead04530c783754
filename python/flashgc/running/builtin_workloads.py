"""Workloads with stated targets, and how near they come to them."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

import flashgc._engine as engine
from flashgc.files import reading
from flashgc.running import building, executing, inputs

WITHIN = 0.02
"""A stated metric counts as met within this share of it."""

_KIB, _MIB, _MS = 1024, 1 << 20, 1e6


def _scaled(name: str, unit: float) -> Callable[[dict[str, Any]], float | None]:
    def metric(found: dict[str, Any]) -> float | None:
        value = found[name]
        return None if value is None else float(value) / unit

    return metric


def _per_s(found: dict[str, Any]) -> float | None:
    mean_ns = found["mean_interarrival_ns"]
    return None if mean_ns is None else 1e9 / float(mean_ns)


TARGETS: dict[str, tuple[str, Callable[[dict[str, Any]], float | None]]] = {
    "read_share": ("reads, share", _scaled("read_share", 1)),
    "mean_size_kib": ("mean size, KiB", _scaled("mean_size_bytes", _KIB)),
    "mean_read_size_kib": ("mean size of a read, KiB", _scaled("mean_read_size_bytes", _KIB)),
    "mean_write_size_kib": ("mean size of a write, KiB", _scaled("mean_write_size_bytes", _KIB)),
    "sequential_share": ("sequential, share", _scaled("sequential_share", 1)),
    "read_sequential_share": (
        "sequential reads, share of reads",
        _scaled("read_sequential_share", 1),
    ),
    "write_sequential_share": (
        "sequential writes, share of writes",
        _scaled("write_sequential_share", 1),
    ),
    "arrivals_per_s": ("arrivals, 1/s", _per_s),
    "mean_interarrival_ms": ("mean gap, ms", _scaled("mean_interarrival_ns", _MS)),
    "short_gap_share": ("gaps below 1.5 ms, share", _scaled("short_gap_share", 1)),
    "short_write_gap_share": (
        "gaps between writes below 1.5 ms, share",
        _scaled("short_write_gap_share", 1),
    ),
    "footprint_mib": ("footprint, MiB", _scaled("footprint_bytes", _MIB)),
}
"""The possible targets under [about.targets]: the name of each, and how it is measured."""


def workloads() -> list[dict[str, Any]]:
    """The synthetic workloads, with source, targets, the choices made, and text.

    >>> import flashgc
    >>> "financial-like" in [known["name"] for known in flashgc.workloads()]
    True
    """
    return [_about(inputs.config(name)) for name in inputs.workload_configs()]


def workload(
    config: building.Config,
    *,
    device: str | os.PathLike[str] | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    progress: executing.ProgressCallback | None = None,
) -> dict[str, Any]:
    """The requests of a synthetic workload, compared with its targets; arguments as for `run`.

    `statistics` counts its requests. `metrics` has a row for each target: `target`, `achieved`,
    `off` (relative to the target; the difference itself where that is 0), `within` (the
    allowed difference), `met`, and `why` where more than 2 % is allowed. A configuration without
    [about.targets] has no rows.

    >>> import flashgc
    >>> found = flashgc.workload("cello-like", set={"workload.synthetic.requests": 50_000})
    >>> found["metrics"][0]["what"], found["metrics"][0]["target"]
    ('read_share', 0.1963)
    """
    source = inputs.config(config)
    about = _about(source)
    request = building.request(config, None, None, device, set, seed, unset=unset)
    told = executing.callback(progress)
    found: dict[str, Any] = json.loads(engine.workload_statistics(request, told))
    metrics = [_metric(what, target, found, about) for what, target in about["targets"].items()]
    return {**about, "statistics": found, "metrics": metrics}


def _about(source: reading.Source) -> dict[str, Any]:
    name = os.path.basename(source.name).removesuffix(" (built in)").removesuffix(".toml")
    try:
        keys = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError:
        keys = {}  # the engine reports the error
    about = keys.get("about")
    about = about if isinstance(about, dict) else {}
    tables = {key: _table(about, key) for key in ("targets", "chosen", "wider")}
    return {
        "name": name,
        "title": str(about.get("title", "")),
        "source": str(about.get("source", "")),
        "notes": str(about.get("notes", "")).strip(),
        "original_requests": about.get("original_requests"),
        "device": _table(keys, "device").get("preset"),
        **tables,
        "text": source.text,
    }


def _table(keys: dict[str, Any], name: str) -> dict[str, Any]:
    found = keys.get(name)
    return found if isinstance(found, dict) else {}


def _metric(
    what: str, target: object, found: dict[str, Any], about: dict[str, Any]
) -> dict[str, Any]:
    where = f"about.targets.{what}"
    if what not in TARGETS:
        raise engine.ConfigError(
            f"error: unknown target `{where}`\n  = help: there are: {', '.join(TARGETS)}"
        )
    if isinstance(target, bool) or not isinstance(target, int | float):
        raise engine.ConfigError(f"error: `{where}` is not a number: {target!r}")
    label, metric = TARGETS[what]
    achieved = metric(found)
    wider = _table(about["wider"], what)
    within = float(wider.get("within", WITHIN))
    off = None if achieved is None else (achieved - target) / (target or 1)
    return {
        "what": what,
        "label": label,
        "target": target,
        "achieved": achieved,
        "off": off,
        "within": within,
        "met": off is not None and abs(off) <= within,
        "why": wider.get("why"),
    }


__all__ = ["TARGETS", "WITHIN", "workload", "workloads"]
