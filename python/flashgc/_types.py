"""What the engine is given."""

import os
from typing import TypedDict


class Request(TypedDict):
    """What a run is made of."""

    name: str
    text: str
    scheme: tuple[str, str | None] | None
    device: str | None
    sets: list[str]
    trace_name: str | None
    trace_path: str | os.PathLike[str] | None


class Logs(TypedDict):
    """What a run writes down while it goes on."""

    gc_log: str | os.PathLike[str] | None
    series: str | os.PathLike[str] | None
    series_interval: str | None


class Reading(TypedDict):
    """How a trace is read."""

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
