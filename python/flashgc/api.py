"""What `import flashgc` offers: run, compare, schemes, devices."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

from flashgc import _engine, _sources, statistics
from flashgc import over_time as overview
from flashgc._engine import ConfigError
from flashgc._types import Logs, Request
from flashgc.report import Comparison, Report

PathLike = str | os.PathLike[str]
Config = PathLike | Mapping[str, object]
Settings = Mapping[str, object] | Iterable[str]


class Progress(NamedTuple):
    """How far a run is."""

    phase: str
    """`scan` (of a trace), `fill`, `overwrite`, `run` or `done`."""
    done: int
    """Rows, pages or requests done in this phase."""
    total: int | None
    """Of how many, where that is known."""
    now_ns: int
    """Simulated time, in ns."""


ProgressCallback = Callable[[Progress], object]


def run(
    config: Config,
    trace: PathLike | None = None,
    *,
    scheme: PathLike | None = None,
    device: str | None = None,
    set: Settings | None = None,
    seed: int | None = None,
    verify: bool = False,
    drive: PathLike | None = None,
    gc_log: PathLike | None = None,
    series: PathLike | None = None,
    series_interval: str | None = None,
    over_time: bool = False,
    progress: ProgressCallback | None = None,
) -> Report:
    """Runs one configuration and gives its report.

    Args:
        config: a path, the name of a built-in configuration, TOML text or a dictionary.
        trace: a file with a trace, plain, gzip or zstd; `-` is standard input.
        scheme: the name of a scheme or a path to a file with one; over the configuration's.
        device: the name of a device; it replaces the configuration's whole device.
        set: settings over all else, as `{"gc.trigger.watermark.soft": "4 blocks"}`, nested, or as
            strings `key.path=value`.
        seed: over the configuration's seed; a whole number from 0.
        verify: whether the checkers watch every operation (slower).
        drive: a file of :func:`flashgc.drive.save`; the run begins with this drive, and it is not
            preconditioned.
        gc_log: a csv file that gets a row for each collection; times in ns.
        series: a csv file that gets a row for each interval of simulated time; times in ns.
        series_interval: its length, as `"10 ms"`; otherwise it is chosen so that a few thousand
            rows come out.
        over_time: whether the report gets its :attr:`Report.over_time`: the longest responses over
            time, and what each collection moved. The run is slower by the watching.
        progress: called with a :class:`Progress` at most ten times a second; what it raises ends
            the run.

    Raises:
        ConfigError: with every mistake of the configuration.
        TraceError: a trace that cannot be read.
        DriveError: a saved drive that cannot be read, or is that of another device.
        RunError: a run that cannot go on, such as a full drive.
        OutputError: a log or series that cannot be written.
        KeyboardInterrupt: on Ctrl-C, at once.

    Note:
        The interpreter's lock is free while the engine works.

    >>> import flashgc
    >>> report = flashgc.run("oltp", set={"workload.synthetic.requests": 2000}, seed=3)
    >>> report.seed, report.scheme
    (3, 'greedy')

    """
    with _sources.trace_file(trace) as file:
        request = _request(config, file, scheme, device, set, seed)
        logs: Logs = {"gc_log": gc_log, "series": series, "series_interval": series_interval}
        return _run(request, verify, logs, drive, _told(progress), over_time)


def run_seeds(
    config: Config,
    seeds: int,
    trace: PathLike | None = None,
    *,
    scheme: PathLike | None = None,
    device: str | None = None,
    set: Settings | None = None,
    seed: int | None = None,
    verify: bool = False,
    drive: PathLike | None = None,
    jobs: int = 2,
    progress: Callable[[int, Progress], object] | None = None,
) -> Report:
    """Runs a configuration with several seeds, the first as :func:`run` does, then one more each.

    The report is that of the first seed. Its `seeds` holds `count`, the `values` of the seeds and,
    under `figures`, for each main figure its mean and 95 % interval (`mean`, `low`, `high`).
    `progress` is called with the number of the run, from 0, and its :class:`Progress`.

    >>> import flashgc
    >>> small = {"workload.synthetic.requests": 2000}
    >>> report = flashgc.run_seeds("oltp", 3, set=small)
    >>> report.seeds["values"]
    [1, 2, 3]
    >>> figure = report.seeds.figures["latency_ns.all.mean"]
    >>> figure.low <= figure.mean <= figure.high
    True
    """
    if seeds < 1:
        raise ConfigError(f"error: {seeds} seeds make no run; give at least one")
    with _sources.trace_file(trace) as file:
        request = _request(config, file, scheme, device, set, seed)
        first = json.loads(_engine.check(request))["settings"]["seed"]
        values = list(range(first, first + seeds))
        requests = [_with_seed(request, value) for value in values]
        reports = _run_all(requests, verify, drive, jobs, progress)
    figures = statistics.intervals(reports)
    report = reports[0]
    report._values["seeds"] = {"count": seeds, "values": values, "figures": figures}
    return report


def compare(
    config: Config,
    schemes: Sequence[PathLike],
    trace: PathLike | None = None,
    *,
    device: str | None = None,
    set: Settings | None = None,
    seed: int | None = None,
    verify: bool = False,
    drive: PathLike | None = None,
    jobs: int = 2,
    over_time: bool = False,
    progress: Callable[[int, Progress], object] | None = None,
) -> Comparison:
    """Runs several schemes on the same drive with the same requests, `jobs` at a time.

    Takes what :func:`run` takes, with `schemes` in place of `scheme`; with `drive` all of them
    begin with that saved drive; with `over_time` each report has its :attr:`Report.over_time`.
    `progress` is called with the index of the scheme and its :class:`Progress`.
    What ought to be equal and is not is in :attr:`Comparison.unequal`.

    >>> import flashgc
    >>> small = {"workload.synthetic.requests": 2000}
    >>> both = flashgc.compare("oltp", ["greedy", "fifo"], set=small)
    >>> list(both.table["scheme"]), both.unequal
    ([...'greedy'..., ...'fifo'...], {})
    """
    if isinstance(schemes, (str, os.PathLike)):
        schemes = [schemes]
    if not schemes:
        raise ConfigError("error: there is no scheme to compare\n  = help: `flashgc schemes`")
    with _sources.trace_file(trace) as file:
        requests = [_request(config, file, name, device, set, seed) for name in schemes]
        return Comparison(_run_all(requests, verify, drive, jobs, progress, over_time=over_time))


def schemes() -> list[dict[str, Any]]:
    """The schemes that come with the package: `name`, `title`, `source`, `slots`, `keys`, `text`.

    >>> import flashgc
    >>> next(s for s in flashgc.schemes() if s["name"] == "greedy")["slots"]["victim"]
    'greedy'
    >>> next(s for s in flashgc.schemes() if s["name"] == "idle")["slots"]["trigger"]
    'watermark + idle'
    """
    return [_preset(entry) for entry in json.loads(_engine.schemes())["schemes"]]


def slots() -> list[dict[str, Any]]:
    """The nine slots of a scheme, with the choices of each and their parameters.

    >>> import flashgc
    >>> victim = next(slot for slot in flashgc.slots() if slot["name"] == "victim")
    >>> "greedy" in [choice["name"] for choice in victim["choices"]]
    True
    """
    listed: list[dict[str, Any]] = json.loads(_engine.schemes())["slots"]
    return listed


def devices() -> list[dict[str, Any]]:
    """The devices that come with the package.

    Each has `name`, `title`, `source`, `keys`, `text` and `capacity_bytes` (physical).

    >>> import flashgc
    >>> [d["keys"]["channels"] for d in flashgc.devices() if d["name"] == "slc-msr"]
    [8]
    """
    return [_with_capacity(_preset(entry)) for entry in json.loads(_engine.devices())]


def _with_capacity(device: dict[str, Any]) -> dict[str, Any]:
    keys = device["keys"]
    pages = math.prod(keys[name] for name in _PAGES)
    number, unit = keys["page_size"].split()
    page_bytes = int(number) * {"B": 1, "KiB": 1024}[unit]
    return {**device, "capacity_bytes": pages * page_bytes}


_PAGES = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die",
          "blocks_per_plane", "pages_per_block")  # fmt: skip


def _preset(entry: dict[str, Any]) -> dict[str, Any]:
    keys = entry["keys"]
    about = keys.pop("about", {})
    named = {"name": entry["name"], "title": about.get("title", "")}
    chosen = {slot: _used(table["use"]) for slot, table in keys.items() if _is_choice(table)}
    more = {"slots": chosen} if chosen else {}
    about = {"source": about.get("source", ""), "notes": about.get("notes", "").strip()}
    return {**named, **about, **more, "keys": keys, "text": entry["text"]}


def _used(choice: str | list[str]) -> str:
    """A slot may join several choices."""
    return choice if isinstance(choice, str) else " + ".join(choice)


def _is_choice(table: object) -> bool:
    return isinstance(table, dict) and "use" in table


def _request(
    config: Config,
    trace: tuple[str, Path] | None,
    scheme: PathLike | None,
    device: str | None,
    set: Settings | None,
    seed: int | None,
) -> Request:
    source = _sources.config(config)
    sets = _sources.settings(set)
    if seed is not None:
        sets.append(f"seed={int(seed)}")
    request: Request = {
        "name": source.name,
        "text": source.text,
        "scheme": _sources.scheme(scheme),
        "device": device,
        "sets": sets,
        "trace_name": trace and trace[0],
        "trace_path": trace and trace[1],
    }
    if trace is None:
        _add_own_trace(request)
    return request


def _add_own_trace(request: Request) -> None:
    """The trace that a configuration names lies beside the configuration."""
    checked = json.loads(_engine.check(request))
    own = checked["trace_file"]
    if checked["needs_trace"] and own is not None:
        path = Path(request["name"]).parent / own
        request["trace_name"] = os.fspath(path)
        request["trace_path"] = path


def _with_seed(request: Request, seed: int) -> Request:
    return {**request, "sets": [*request["sets"], f"seed={seed}"]}


def _told(progress: ProgressCallback | None) -> Callable[..., object] | None:
    return None if progress is None else lambda *step: progress(Progress(*step))


def _run(
    request: Request,
    verify: bool,
    logs: Logs | None,
    drive: PathLike | None,
    progress: Callable[..., object] | None,
    over_time: bool = False,
) -> Report:
    own = None if drive is None else os.fspath(drive)
    if not over_time:
        return Report._of(_engine.run(request, verify, logs, progress, own))
    with overview.recorded(logs) as files:
        report = Report._of(_engine.run(request, verify, files, progress, own))
        report._over_time = overview.read(files, report.simulated_ns)
        return report


class _StoppedError(Exception):
    """Another run has failed, or the user has had enough."""


def _run_all(
    requests: Sequence[Request],
    verify: bool,
    drive: PathLike | None,
    jobs: int,
    progress: Callable[[int, Progress], object] | None,
    done: Callable[[int, Report], object] | None = None,
    logs: Sequence[Logs | None] | None = None,
    over_time: bool = False,
) -> list[Report]:
    """Runs all of them, `jobs` at a time. The first error ends the others.

    `done` is called with each report as soon as it is there, from the thread of its run; `logs` is
    what each of them writes down.
    """
    for request in requests:
        _engine.check(request)  # every mistake is found before the first run
    stop = threading.Event()

    def one(index: int) -> Report:
        def tell(*step: Any) -> None:  # noqa: ANN401
            if stop.is_set():
                raise _StoppedError
            if progress is not None:
                progress(index, Progress(*step))

        log = None if logs is None else logs[index]
        report = _run(requests[index], verify, log, drive, tell, over_time)
        if done is not None:
            done(index, report)
        return report

    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        futures = [pool.submit(one, index) for index in range(len(requests))]
        try:
            # Short waits, so that Ctrl-C is seen.
            while wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in futures):
                    break
        finally:
            stop.set() if any(not future.done() for future in futures) else None
            for future in futures:
                future.cancel()
    failed = [future.exception() for future in futures if not future.cancelled()]
    errors = [error for error in failed if error and not isinstance(error, _StoppedError)]
    if errors:
        raise errors[0]
    return [future.result() for future in futures]
