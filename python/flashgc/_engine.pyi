"""The engine of flashgc: private to the package, which says what each of these means."""

import os
from collections.abc import Callable
from typing import Final, final

from flashgc._engine_types import Logs, Reading, Request

__all__ = [
    "REQUEST_KINDS",
    "ConfigError",
    "DriveError",
    "Fitted",
    "FlashgcError",
    "InternalError",
    "Outcome",
    "OutputError",
    "OverTime",
    "RunError",
    "TraceError",
    "__version__",
    "check",
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

_ProgressCallback = Callable[[str, int, int | None, int], object]

@final
class Fitted:
    """The size of a drive, for runs on it."""

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
def trace_formats() -> str: ...
def workload_statistics(request: Request, progress: _ProgressCallback | None = None) -> str: ...
def trace_columns(reading: Reading) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
def trace_ranks(places: bytes, count: int) -> bytes: ...
def trace_again(first: bytes, end: bytes, count: int) -> bytes: ...
def fail_as_a_fault_does() -> None: ...
