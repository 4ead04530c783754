"""The engine of flashgc: private to the package, which says what each of these means."""

import os
from collections.abc import Callable
from typing import TypedDict, final

__version__: str

class FlashgcError(Exception): ...
class ConfigError(FlashgcError): ...
class TraceError(FlashgcError): ...
class RunError(FlashgcError): ...
class OutputError(FlashgcError): ...

class Request(TypedDict):
    """What a run is made of."""

    name: str
    text: str
    scheme: tuple[str, str | None] | None
    device: str | None
    sets: list[str]
    trace_name: str | None
    trace_path: str | os.PathLike[str] | None

class Reading(TypedDict):
    """How a trace is read."""

    name: str
    path: str | os.PathLike[str]
    format: str | None
    on_bad_line: str
    devices: list[str] | None
    start: str | None
    length: str | None
    rows: int | None

@final
class Outcome:
    """What a run leaves."""

    @property
    def report(self) -> str: ...
    @property
    def read(self) -> list[tuple[int, int]]: ...
    @property
    def write(self) -> list[tuple[int, int]]: ...

_ProgressCallback = Callable[[str, int, int | None, int], object]

def run(
    request: Request,
    verify: bool = False,
    gc_log: str | os.PathLike[str] | None = None,
    progress: _ProgressCallback | None = None,
) -> Outcome: ...
def check(request: Request) -> str: ...
def schemes() -> str: ...
def devices() -> str: ...
def trace_info(reading: Reading) -> str: ...
def trace_convert(reading: Reading, target: str | os.PathLike[str] | None, to: str) -> str: ...
def trace_generate(
    request: Request,
    target: str | os.PathLike[str] | None,
    format: str,
    progress: _ProgressCallback | None = None,
) -> str: ...
def trace_formats() -> str: ...
