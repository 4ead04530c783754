"""The types of the engine's arguments, and the least request."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypedDict


class Request(TypedDict):
    """The inputs of a run."""

    name: str
    text: str
    scheme: tuple[str, str | None] | None
    device: tuple[str, str | None] | None
    sets: list[str]
    unsets: list[str]
    trace_name: str | None
    trace_path: str | os.PathLike[str] | None
    jobs: tuple[str, str] | None
    """The job file that `workload.fio` names: its name, and its content as TOML."""
    fitted: object | None
    """The size of the drive, where the trace has decided it, as `_engine.fit` returns it."""
    policies: Functions | None
    """The functions in the slots of the scheme, where it has any."""


def of_text(name: str, text: str) -> Request:
    """The request for a configuration as it stands, with no setting from outside it."""
    return {"name": name, "text": text, "scheme": None, "device": None, "sets": [], "unsets": [],
            "trace_name": None, "trace_path": None, "jobs": None, "fitted": None,
            "policies": None}  # fmt: skip


class Functions(TypedDict):
    """For each slot with a function its name and a maker, which is called for each drive."""

    victim: tuple[str, Callable[[], Callable[..., int | None]]] | None
    placement: tuple[str, Callable[[], Callable[..., int]], int] | None
    """With the number of classes."""
    pacing: tuple[str, Callable[[], Callable[..., object]]] | None


class Logs(TypedDict):
    """The files that a run writes while it runs."""

    gc_log: str | os.PathLike[str] | None
    series: str | os.PathLike[str] | None
    series_interval: str | None
    requests: Callable[[dict[str, bytes]], None] | None
    """Takes the rows of requests, in batches of columns."""
    stories: Stories | None
    """The requests whose stories are kept."""
    timeline: TimelineLog | None
    """The timeline that is recorded."""


class TimelineLog(TypedDict):
    """A file for Perfetto, and the part of the run that it shows."""

    path: str | os.PathLike[str]
    window: str | None
    units: list[int] | None


class AnimatedPart(TypedDict):
    """The part of a run that is recorded as pictures."""

    window: str | None
    units: list[int] | None
    requests: int | None


class Stories(TypedDict):
    """The requests of these numbers, or without any the slowest, of one kind if it is given."""

    numbers: list[int]
    slowest: int
    kind: str | None


NO_LOGS: Logs = {"gc_log": None, "series": None, "series_interval": None, "requests": None,
                 "stories": None, "timeline": None}  # fmt: skip


class Stimulus(TypedDict):
    """A closed loop of requests on a component."""

    depth: int
    size: int
    """Bytes of each request."""
    span: int
    """The bytes of the drive that are used, a multiple of the size."""
    read_share: float
    next: int | None
    """The first place of requests that follow each other; None where places are drawn."""
    seed: int
    stream: str
    length_ns: int | None
    requests: int | None
    part_ns: int | None
    tenant: int
    """The number of the tenant of its requests."""


class Reading(TypedDict):
    """The options for reading a trace."""

    name: str
    path: str | os.PathLike[str]
    format: str | None
    on_bad_line: str
    devices: list[str] | None
    start: str | None
    length: str | None
    first_row: int | None
    rows: int | None
    sort_window: str | None
