"""The engine of flashgc: private to the package, which says what each of these means."""

import os
from collections.abc import Callable
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from flashgc._engine_types import AnimatedPart, Logs, Reading, Request, Stimulus

__all__ = [
    "NO_TRACE",
    "OPERATIONS",
    "PARTS",
    "REQUEST_KINDS",
    "Completions",
    "Component",
    "ConfigError",
    "DriveError",
    "Fitted",
    "FlashgcError",
    "InternalError",
    "Loop",
    "Outcome",
    "OutputError",
    "OverTime",
    "Recorded",
    "RunError",
    "Snapshot",
    "TraceError",
    "__version__",
    "animate",
    "check",
    "check_duration",
    "check_fit",
    "check_format",
    "check_format_to_write",
    "check_window",
    "devices",
    "drive_info",
    "drive_save",
    "fail_as_a_fault_does",
    "fit",
    "papers",
    "problems",
    "run",
    "schemes",
    "trace_again",
    "trace_columns",
    "trace_convert",
    "trace_formats",
    "trace_generate",
    "trace_info",
    "trace_merge",
    "trace_ranks",
    "workload_statistics",
]

__version__: str
NO_TRACE: Final[str]
OPERATIONS: Final[tuple[str, ...]]
PARTS: Final[tuple[str, ...]]
REQUEST_KINDS: Final[tuple[tuple[str, bool], ...]]

class FlashgcError(Exception): ...
class ConfigError(FlashgcError): ...
class TraceError(FlashgcError): ...
class DriveError(FlashgcError): ...
class RunError(FlashgcError): ...
class OutputError(FlashgcError): ...
class InternalError(FlashgcError): ...

@final
class Outcome:
    """What a run leaves."""

    @property
    def report(self) -> str: ...
    @property
    def read(self) -> list[tuple[int, int]]: ...
    @property
    def write(self) -> list[tuple[int, int]]: ...
    @property
    def stories(self) -> str | None: ...
    @property
    def over_time(self) -> OverTime | None: ...

@final
class OverTime:
    """A run over time, as columns."""

    @property
    def interval_ns(self) -> int: ...
    def rows(self) -> dict[str, list[float]]: ...
    def collections(self) -> dict[str, list[int]]: ...
    def wear(self) -> tuple[list[int], list[int], list[int]]: ...

@final
class Recorded:
    """The pictures of a part of a run."""

    @property
    def head(self) -> str: ...
    @property
    def packed(self) -> bytes: ...

_ProgressCallback = Callable[[str, int, int | None, int], object]

@final
class Fitted:
    """The size of a drive, for runs on it."""

_Column = NDArray[np.uint64]

@final
class Completions:
    """Requests that are done, as packed columns or as rows."""

    def __len__(self) -> int: ...
    def columns(self) -> list[bytes]: ...
    def part(self, part: int) -> bytes: ...
    def rows(self) -> list[tuple[int, int, int, int, bool, list[int] | None]]: ...

@final
class Snapshot:
    """A state of a component."""

@final
class Loop:
    """The results of a closed loop, as packed columns."""

    def totals(self) -> list[int]: ...
    def parts(self) -> list[bytes]: ...
    def latencies(self) -> list[bytes]: ...

@final
class Component:
    """A drive that has its requests from outside."""

    def __new__(
        cls,
        request: Request,
        drive: str | os.PathLike[str] | None,
        depth: int | None,
        parts: bool,
        verify: bool,
        progress: _ProgressCallback | None,
    ) -> Component: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def under_way(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def page_bytes(self) -> int: ...
    @property
    def tenants(self) -> list[str]: ...
    @property
    def is_read_only(self) -> bool: ...
    def submit(
        self,
        at_ns: int,
        op: int,
        offset_bytes: int,
        bytes: int,
        tag: int,
        hint: int,
        high: bool,
        fua: bool,
        tenant: int,
    ) -> bool: ...
    def submit_all(
        self,
        at_ns: _Column,
        op: _Column,
        offset_bytes: _Column,
        bytes: _Column,
        tag: _Column,
        hint: _Column | None,
        tenant: _Column | None,
    ) -> int: ...
    def next_event(self) -> int | None: ...
    def advance(self, to_ns: int) -> Completions: ...
    def advance_to_completion(self, limit_ns: int) -> Completions: ...
    def drain(self) -> Completions: ...
    def closed_loop(self, stimulus: Stimulus, progress: _ProgressCallback | None) -> Loop: ...
    def rest(self) -> None: ...
    def statistics(self) -> Outcome: ...
    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...
    def finish(self) -> Outcome: ...

def fit(requests: list[Request], progress: _ProgressCallback | None = None) -> Fitted | None: ...
def run(
    request: Request,
    verify: bool = False,
    logs: Logs | None = None,
    progress: _ProgressCallback | None = None,
    drive: str | os.PathLike[str] | None = None,
    blame: bool = False,
    over_time: bool = False,
) -> Outcome: ...
def animate(
    request: Request,
    part: AnimatedPart,
    drive: str | None = None,
    progress: _ProgressCallback | None = None,
) -> tuple[Outcome, Recorded]: ...
def check(request: Request) -> str: ...
def problems(request: Request, drive: str | os.PathLike[str] | None = None) -> str: ...
def drive_save(
    request: Request,
    target: str | os.PathLike[str],
    verify: bool = False,
    progress: _ProgressCallback | None = None,
) -> str: ...
def drive_info(path: str | os.PathLike[str]) -> str: ...
def schemes() -> str: ...
def devices() -> str: ...
def papers() -> str: ...
def trace_info(reading: Reading) -> str: ...
def trace_convert(
    reading: Reading, target: str | os.PathLike[str] | None, to: str | None, keep: bool
) -> str: ...
def trace_merge(
    readings: list[Reading],
    target: str | os.PathLike[str] | None,
    to: str | None,
    renumber: bool,
    align: bool,
) -> str: ...
def trace_generate(
    request: Request,
    target: str | os.PathLike[str] | None,
    format: str,
    progress: _ProgressCallback | None = None,
) -> str: ...
def check_duration(text: str) -> None: ...
def check_fit(text: str) -> None: ...
def check_format(text: str) -> None: ...
def check_format_to_write(text: str) -> None: ...
def check_window(text: str) -> None: ...
def trace_formats() -> str: ...
def workload_statistics(request: Request, progress: _ProgressCallback | None = None) -> str: ...
def trace_columns(reading: Reading) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
def trace_ranks(places: bytes, count: int) -> bytes: ...
def trace_again(first: bytes, end: bytes, count: int) -> bytes: ...
def fail_as_a_fault_does() -> None: ...
