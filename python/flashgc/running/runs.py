"""Runs of one configuration: with one seed, or with several."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flashgc._engine_types import Logs
from flashgc.files import arguments, output
from flashgc.pages import provenance
from flashgc.reports.report import Report
from flashgc.results import metrics
from flashgc.running import building, clock, executing, inputs, origin, seeding
from flashgc.running import request_log as requests_log
from flashgc.running import timeline as timelines
from flashgc.running.building import AnyScheme, Config, Fit, PathLike, Settings
from flashgc.running.executing import Progress, ProgressCallback


def run(
    config: Config,
    trace: PathLike | None = None,
    *,
    scheme: AnyScheme | None = None,
    device: PathLike | None = None,
    set: Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    verify: bool = False,
    blame: bool = False,
    drive: PathLike | None = None,
    fit: Fit | None = None,
    format: str | None = None,
    gc_log: PathLike | None = None,
    series: PathLike | None = None,
    series_interval: str | None = None,
    request_log: PathLike | None = None,
    timeline: PathLike | None = None,
    timeline_window: str | None = None,
    timeline_units: timelines.Units | None = None,
    over_time: bool | None = False,
    untimed: bool = False,
    progress: ProgressCallback | None = None,
) -> Report:
    """Runs one configuration and returns its report.

    Args:
        config: a path, the name of a built-in configuration, TOML text or a dictionary; or a job
            file of fio, whose name ends in `.fio` or `.job`.
        trace: a file with a trace, plain, gzip or zstd; `-` is standard input.
        scheme: the name of a scheme, a path to a file with one, or a scheme in Python, as
            :func:`flashgc.victim` makes it; over the configuration's.
        device: the name of a device; it replaces the configuration's whole device.
        set: settings over all else, as `{"gc.trigger.watermark.soft": "4 blocks"}`, nested, or as
            strings `key.path=value`. A setting replaces keys of the configuration that it
            excludes: `queue_depth` replaces `interarrival`.
        unset: keys taken out of the configuration and its presets, before `set`.
        seed: over the configuration's seed; a whole number from 0.
        verify: whether the checkers watch every operation (slower).
        blame: whether latencies are split into their parts, in the report's `blame`.
        drive: a file of :func:`flashgc.drive.save`; the run begins with this drive, and it is not
            preconditioned.
        fit: the share of the user capacity that the pages of the trace are to be, as `"90%"` or
            0.9: the drive is sized by the trace. `"none"` keeps the size of the device.
        format: the format of the trace, as `"msr"`; by default it is detected.
        gc_log: a csv file that gets a row for each collection; times in ns.
        series: a csv file that gets a row for each interval of simulated time; times in ns.
        series_interval: its length, as `"10 ms"`; otherwise it is chosen so that a few thousand
            rows come out.
        request_log: a file that gets a row for each request, in the order of completion: csv or
            Parquet, as its name ends in `.csv` or `.parquet`. With `blame` a row has the parts of
            the latency as well.
        timeline: a file that Perfetto (https://ui.perfetto.dev) shows: operations of units,
            transfers, collections, requests with their steps, queues. With `blame` a request has
            the parts of its latency.
        timeline_window: the part of the run that it shows, in simulated time, as `"1 s..1.2 s"`.
        timeline_units: the units that it shows, as `[0, 3]` or `"0,4-7"`; all by default.
        over_time: whether the report gets its :attr:`Report.over_time`: the longest responses over
            time, and what each collection moved. The run is slower by the watching. A run without
            a clock cannot have it, which is an error; with None it has none then.
        untimed: whether the run has no clock, as with the setting `engine.timing=none`: the same
            pages move, much faster, and the report has no metric of time.
        progress: called with a :class:`Progress` at most ten times a second; an exception from it
            ends the run.

    Raises:
        ConfigError: with every mistake of the configuration.
        TraceError: a trace that cannot be read.
        DriveError: a saved drive that cannot be read, or is that of another device.
        RunError: a run that cannot continue, such as a full drive.
        OutputError: a log, series or timeline that cannot be written, or an unknown ending of
            `request_log`.
        KeyboardInterrupt: on Ctrl-C, at once.

    Note:
        The GIL is released while the engine works.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> report = flashgc.run("oltp", set=small, seed=3)
    >>> report.seed, report.scheme
    (3, 'greedy')

    """
    arguments.check_paths(gc_log=gc_log, series=series, request_log=request_log,
                          timeline=timeline, drive=drive)  # fmt: skip
    verify, blame = arguments.switch("verify", verify), arguments.switch("blame", blame)
    over_time = None if over_time is None else arguments.switch("over_time", over_time)
    untimed = arguments.switch("untimed", untimed)
    output.check_form(timeline, "timeline", ".pftrace")
    output.check_form(gc_log, "log of collections", ".csv")
    output.check_form(series, "series", ".csv")
    requests_log.check(request_log)
    shown = timelines.asked(timeline, timeline_window, timeline_units)
    output.check_each_own({"timeline": timeline, "log of requests": request_log,
                           "log of collections": gc_log, "series": series})  # fmt: skip
    with inputs.trace_file(trace) as file:
        given = building.with_format(clock.without_clock(set) if untimed else set, format)
        request = building.request(config, file, scheme, device, given, seed, fit, unset)
        for log in (gc_log, series, timeline, request_log):
            output.check_apart(log, config, scheme, device, drive, *building.files_of(request))
        with requests_log.written(request_log) as add:
            interval = inputs.duration("series_interval", series_interval)
            logs: Logs = {"gc_log": gc_log, "series": series, "series_interval": interval,
                          "requests": add, "stories": None, "timeline": shown}  # fmt: skip
            shown_by = executing.callback(progress)
            report = executing.run_one(request, verify, logs, drive, shown_by, over_time, blame)
    origin.note([report], request, provenance.call(
        "run", origin.leading(config, trace),
        {"scheme": scheme, "device": device, **origin.settings(request), "verify": verify,
         "blame": blame, "drive": drive, "over_time": over_time},
    ))  # fmt: skip
    return report


def run_seeds(
    config: Config,
    seeds: int,
    trace: PathLike | None = None,
    *,
    scheme: AnyScheme | None = None,
    device: PathLike | None = None,
    set: Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    verify: bool = False,
    blame: bool = False,
    drive: PathLike | None = None,
    fit: Fit | None = None,
    format: str | None = None,
    untimed: bool = False,
    jobs: int = 2,
    progress: Callable[[int, Progress], object] | None = None,
) -> Report:
    """Runs a configuration with several seeds, the first as :func:`run` does, then one more each.

    The report is that of the first seed. Its `seeds` holds `count`, the `values` of the seeds and,
    under `metrics`, for each main metric its mean and 95 % interval (`mean`, `low`, `high`).

    Args:
        config: a configuration, as for :func:`run`.
        seeds: the number of runs, from 1 to 10,000.
        trace: as for :func:`run`.
        scheme: as for :func:`run`.
        device: as for :func:`run`.
        set: as for :func:`run`.
        unset: as for :func:`run`.
        seed: as for :func:`run`; the first of the seeds.
        verify: as for :func:`run`.
        blame: as for :func:`run`; the blame is that of the first seed.
        drive: as for :func:`run`; each run begins with this saved drive.
        fit: as for :func:`run`.
        format: as for :func:`run`.
        untimed: as for :func:`run`.
        jobs: the number of runs at a time; no result depends on it.
        progress: called with the number of the run, from 0, and its :class:`Progress`.

    Raises:
        ConfigError: with every mistake of the configuration.
        TraceError: a trace that cannot be read.
        DriveError: a saved drive that cannot be read, or is that of another device.
        RunError: a run that cannot continue, such as a full drive; it ends the others.
        KeyboardInterrupt: on Ctrl-C, at once.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> report = flashgc.run_seeds("oltp", 3, set=small)
    >>> report.seeds["values"]
    [1, 2, 3]
    >>> metric = report.seeds.metrics["latency_ns.all.mean"]
    >>> metric.low <= metric.mean <= metric.high
    True

    """
    arguments.check_function(progress=progress)
    seeds = inputs.whole("seeds", seeds, 1, arguments.SEEDS_MAX)
    arguments.check_paths(drive=drive)
    verify, blame = arguments.switch("verify", verify), arguments.switch("blame", blame)
    untimed = arguments.switch("untimed", untimed)
    with inputs.trace_file(trace) as file:
        given = building.with_format(clock.without_clock(set) if untimed else set, format)
        request = building.request(config, file, scheme, device, given, seed, fit, unset)
        [request] = building.sized([request], executing.callback_of_first(progress))
        values = seeding.values(request, seeds)
        requests = [seeding.with_seed(request, value) for value in values]
        reports = executing.run_all(requests, verify, drive, jobs, progress, blame=blame)
    report = reports[0]
    metrics.note(report, seeds=seeding.results(reports, values))
    origin.note([report], request, provenance.call(
        "run_seeds", origin.leading(config, seeds, trace),
        {"scheme": scheme, "device": device, **origin.settings(request), "verify": verify,
         "blame": blame, "drive": drive},
    ))  # fmt: skip
    return report
