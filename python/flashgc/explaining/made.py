"""The function `explain`: from a configuration to the stories of some of its requests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import NO_LOGS, Stories
from flashgc.explaining.explanation import Explanation
from flashgc.files import arguments
from flashgc.formatting import units
from flashgc.pages import provenance
from flashgc.reports.report import Report, of_outcome
from flashgc.running import building, executing, inputs, origin

MOST = 1000
"""Stories of one run at most."""
KINDS = ("read", "write")
LAST = 2**64 - 1
"""The last number that the engine can count."""


def explain(
    config: building.Config,
    trace: building.PathLike | None = None,
    *,
    request: int | Iterable[int] | None = None,
    slowest: int | None = None,
    kind: str | None = None,
    scheme: building.AnyScheme | None = None,
    device: building.PathLike | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    drive: building.PathLike | None = None,
    fit: building.Fit | None = None,
    format: str | None = None,
    progress: executing.ProgressCallback | None = None,
) -> Explanation:
    """Runs one configuration and returns the stories of some requests.

    A story has each step of a request, and the work of its units meanwhile.

    Args:
        config: a configuration, as for :func:`flashgc.run`.
        trace: as for :func:`flashgc.run`.
        request: the number of a request in order of arrival, from 0, as in the log of requests; or
            several, at most 1,000.
        slowest: in its place, how many requests of the longest latency, at most 1,000; 3 if neither
            is given.
        kind: `"read"` or `"write"`, to which these are limited.
        scheme: as for :func:`flashgc.run`.
        device: as for :func:`flashgc.run`.
        set: as for :func:`flashgc.run`.
        unset: as for :func:`flashgc.run`.
        seed: as for :func:`flashgc.run`.
        drive: as for :func:`flashgc.run`.
        fit: as for :func:`flashgc.run`.
        format: as for :func:`flashgc.run`.
        progress: as for :func:`flashgc.run`.

    Raises:
        ConfigError: a request that the run did not have, or too many stories; and with every
            mistake of the configuration.
        TraceError: a trace that cannot be read.
        DriveError: a saved drive that cannot be read, or is that of another device.
        RunError: a run that cannot continue, such as a full drive.
        KeyboardInterrupt: on Ctrl-C, at once.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> [one.request for one in flashgc.explain("oltp", request=[7, 5], set=small).stories]
    [5, 7]

    """
    set_ = building.with_format(set, format)
    numbers = _numbers(request, slowest, kind)
    asked: Stories = {"numbers": [min(number, LAST) for number in numbers],
                      "slowest": _count(slowest, numbers), "kind": kind}  # fmt: skip
    arguments.check_paths(drive=drive)
    with inputs.trace_file(trace) as file:
        given = building.request(config, file, scheme, device, set_, seed, fit, unset)
        [sized] = building.sized([given], executing.callback(progress))
        own = None if drive is None else os.fspath(drive)
        logs: Any = {**NO_LOGS, "stories": asked}
        outcome = engine.run(sized, False, logs, executing.callback(progress), own, True)
    report = of_outcome(outcome)
    origin.note([report], given, provenance.call(
        "explain", origin.leading(config, trace),
        {"request": request, "slowest": slowest, "kind": kind, "scheme": scheme, "device": device,
         **origin.settings(given), "drive": drive},
    ))  # fmt: skip
    stories = json.loads(outcome.stories or "[]")
    count = _count_of(report)
    _check_numbers(numbers, count)
    named = {key: report[key] for key in
             ("scheme", "device", "seed", "version", "config_hash", "result_hash")}  # fmt: skip
    return Explanation({**named, "requests": count, "stories": stories}, report)


def _numbers(
    request: int | Iterable[int] | None, slowest: int | None, kind: str | None
) -> list[int]:
    several: Iterable[object] = [] if request is None else [request]
    if isinstance(request, Iterable) and not isinstance(request, (str, bytes)):
        several = request
    numbers = [inputs.whole("request", number, 0) for number in several]
    if request is not None and not numbers:
        raise ConfigError("error: request must be a number or a list with one number or more")
    if numbers and (slowest is not None or kind is not None):
        raise ConfigError(
            "error: give either the numbers of requests, or how many of the slowest\n"
            "  = help: remove `request`, or `slowest` and `kind`"
        )
    if kind is not None and kind not in KINDS:
        raise ConfigError(f'error: kind is "read" or "write", not "{kind}"')
    return numbers


def _count_of(report: Report) -> int:
    """All requests of a run: flushes are counted apart from those that have pages."""
    flush = report.get("flush")
    count: int = sum(report.requests.to_dict().values())
    return count + (flush["requests"] if flush else 0)


def _count(slowest: int | None, numbers: list[int]) -> int:
    count = 3 if slowest is None else inputs.whole("slowest", slowest, 1)
    most = max(count, len(numbers))
    if most > MOST:
        raise ConfigError(f"error: a run has at most {MOST:,} stories, not {most:,}")
    return count


def _check_numbers(numbers: list[int], count: int) -> None:
    missing = [number for number in numbers if number >= count]
    if missing:
        had = units.counted(count, "request")
        allowed = f"a number from 0 to {count - 1:,}" if count > 1 else "0"
        raise ConfigError(
            f"error: there is no request {missing[0]:,}: the run had {had}\n"
            f"  = help: give {allowed}"
        )
