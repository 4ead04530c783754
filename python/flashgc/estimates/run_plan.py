"""The plan of a run, without running it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import flashgc._engine as engine
from flashgc._engine import RunError, TraceError
from flashgc._engine_types import Request
from flashgc.files import reading
from flashgc.running import building, inputs
from flashgc.running.building import AnyScheme, Config, PathLike, Settings

_FILLS = ("sequential", "by-block", "sprandom", "none")
"""Fills whose pages are known before the run."""
_OF_TRACE = "the trace is not read, so that the number of its requests is unknown"
_SIZED = (
    "the trace is not read: the run sizes the drive by it, which may change this capacity "
    "(`workload.trace.fit`, --fit)"
)


class RunPlan(NamedTuple):
    """The plan of a run."""

    device: str
    scheme: str
    physical_bytes: int
    user_bytes: int
    table_bytes: int
    """Memory of the drive's tables; the workload and logs come on top."""
    workload: str
    """Its kind: synthetic, jobs, fitted or trace."""
    requests: int | None
    """The number of its requests, where that is known before the run."""
    precondition: str
    """The preconditioning of the drive, in words."""
    precondition_pages: int | None
    """Pages that the host writes for it, where that is known; without copies."""
    unused_keys: tuple[str, ...]
    notes: tuple[str, ...]


def plan(
    config: Config,
    trace: PathLike | None = None,
    *,
    scheme: AnyScheme | None = None,
    device: building.PathLike | None = None,
    set: Settings | None = None,
    seed: int | None = None,
    fit: building.Fit | None = None,
    unset: Iterable[str] | None = None,
) -> RunPlan:
    """Checks a configuration and says what its run would do; arguments are those of a run.

    A trace is not read: the number of its requests is unknown. Where it sizes the drive
    (`workload.trace.fit`), the pages of the preconditioning are unknown, too, and the capacity is
    that of the device.

    Raises:
        ConfigError: with every mistake of the configuration.
        TraceError: if there is no such trace.
        RunError: if the workload is a trace, and none is given.

    >>> import flashgc
    >>> plan = flashgc.plan("oltp", set={"device.blocks_per_plane": 64})
    >>> plan.scheme, plan.requests, plan.precondition
    ('greedy', 5000000, 'sequential fill, then 2 drive writes')

    """
    with inputs.trace_file(trace) as file:
        return of_request(building.request(config, file, scheme, device, set, seed, fit, unset))


def of_request(request: Request) -> RunPlan:
    """The plan of a request for the engine."""
    checked = json.loads(engine.check(request))
    settings, sizes = checked["settings"], checked["capacity"]
    kind, workload = next(iter(settings["workload"].items()))
    before = settings["precondition"]
    notes = []
    if checked["needs_trace"]:
        _check_trace(request)
        notes = [_SIZED] if checked["awaits_fit"] else [_OF_TRACE] if kind == "trace" else []
    # Other overwriting depends on the writes of the trace.
    is_known = kind != "trace" or not before["overwrite"] or _is_uniform(before)
    pages = None
    if is_known and not checked["awaits_fit"]:
        pages = _pages(before, sizes["user_bytes"] // sizes["page_bytes"])
    return RunPlan(
        device=checked["device"],
        scheme=settings["gc"]["scheme"],
        physical_bytes=sizes["physical_bytes"],
        user_bytes=sizes["user_bytes"],
        table_bytes=sizes["table_bytes"],
        workload=kind,
        requests=workload.get("requests") if isinstance(workload.get("requests"), int) else None,
        precondition=_words(before),
        precondition_pages=pages,
        unused_keys=tuple(checked["unused_keys"]),
        notes=(*checked["notes"], *notes),
    )


def _check_trace(request: Request) -> None:
    """The trace is there, as far as is known without reading it."""
    path = request["trace_path"]
    if path is None:
        raise RunError(engine.NO_TRACE)
    try:
        os.stat(path)
    except OSError as reason:
        name = reading.printable(path)
        raise TraceError(f"error: {reading.describe(path, reason)}\n  --> {name}") from None


def _is_uniform(before: Mapping[str, Any]) -> bool:
    return before.get("overwrite_with") == "uniform"


def _words(before: Mapping[str, Any]) -> str:
    fill = {"none": "no fill"}.get(before["fill"], f"{before['fill']} fill")
    if before["until_steady"]:
        return f"{fill}, then overwritten until steady"
    if not before["overwrite"]:
        return fill
    with_ = "" if before.get("overwrite_with", "workload") == "workload" else (
        f" ({before['overwrite_with']})"
    )  # fmt: skip
    times = before["overwrite"]
    return f"{fill}, then {times:g} drive {'write' if times == 1 else 'writes'}{with_}"


def _pages(before: Mapping[str, Any], user_pages: int) -> int | None:
    if before["until_steady"] or before["fill"] not in _FILLS:
        return None
    fill = 0 if before["fill"] == "none" else user_pages
    if before["fill"] == "sprandom":
        fill += int(before["sprandom"]["over_provisioning"] * user_pages + 0.5)
    return fill + int(before["overwrite"] * user_pages)
