"""The functions of `import flashgc`: run, compare, schemes, devices."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Logs, Request
from flashgc.files import arguments, output, reading
from flashgc.pages import provenance
from flashgc.reports.report import Comparison, Report
from flashgc.results import conversion_notes, gc_cost, refusal, statistics
from flashgc.results import over_time as overview
from flashgc.results.metrics import Origin
from flashgc.results.refusal import Refusal
from flashgc.running import inputs, parallel, policies
from flashgc.running import request_log as requests_log
from flashgc.running import timeline as timelines

PathLike = str | os.PathLike[str]
Config = PathLike | Mapping[str, object]
Settings = Mapping[str, object] | Iterable[str]
Fit = str | float


class Progress(NamedTuple):
    """The progress of a run."""

    phase: str
    """`scan` (of a trace, or of all requests for the oracle), `fill`, `overwrite`, `run` or
    `done`; `refused` where a scheme of a comparison cannot run."""
    done: int
    """Rows, pages or requests done in this phase."""
    total: int | None
    """The number of all, where that is known."""
    now_ns: int
    """Simulated time, in ns."""


ProgressCallback = Callable[[Progress], object]


def run(
    config: Config,
    trace: PathLike | None = None,
    *,
    scheme: PathLike | None = None,
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
    for log, what in ((gc_log, "log of collections"), (series, "series"), (timeline, "timeline")):
        output.check_ending(log, what)
    for log in (gc_log, series, timeline, request_log):
        output.check_apart(log, config, trace, scheme, device, drive)
    requests_log.check(request_log, gc_log, series)
    shown = timelines.asked(
        timeline, timeline_window, timeline_units,
        {"log of collections": gc_log, "series": series, "log of requests": request_log},
    )  # fmt: skip
    with inputs.trace_file(trace) as file:
        given = with_format(without_clock(set) if untimed else set, format)
        request = _request(config, file, scheme, device, given, seed, fit, unset)
        with requests_log.written(request_log) as add:
            interval = inputs.duration("series_interval", series_interval)
            logs: Logs = {"gc_log": gc_log, "series": series, "series_interval": interval,
                          "requests": add, "stories": None, "timeline": shown}  # fmt: skip
            report = _run(request, verify, logs, drive, _told(progress), over_time, blame)
    _note_origin([report], request, provenance.call(
        "run", _given(config, trace),
        {"scheme": scheme, "device": device, **_set(request), "verify": verify, "blame": blame,
         "drive": drive,
         "over_time": over_time},
    ))  # fmt: skip
    return report


def run_seeds(
    config: Config,
    seeds: int,
    trace: PathLike | None = None,
    *,
    scheme: PathLike | None = None,
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
    `jobs` runs work at a time. `progress` is called with the number of the run, from 0, and its
    :class:`Progress`.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> report = flashgc.run_seeds("oltp", 3, set=small)
    >>> report.seeds["values"]
    [1, 2, 3]
    >>> metric = report.seeds.metrics["latency_ns.all.mean"]
    >>> metric.low <= metric.mean <= metric.high
    True
    """
    seeds = inputs.whole("seeds", seeds, 1, inputs.SEEDS_MAX)
    arguments.check_paths(drive=drive)
    verify, blame = arguments.switch("verify", verify), arguments.switch("blame", blame)
    untimed = arguments.switch("untimed", untimed)
    with inputs.trace_file(trace) as file:
        given = with_format(without_clock(set) if untimed else set, format)
        request = _request(config, file, scheme, device, given, seed, fit, unset)
        [request] = _sized([request], _told_first(progress))
        values = _seed_values(request, seeds)
        requests = [_with_seed(request, value) for value in values]
        reports = _run_all(requests, verify, drive, jobs, progress, blame=blame)
    report = reports[0]
    report._values["seeds"] = _of_seeds(reports, values)
    _note_origin([report], request, provenance.call(
        "run_seeds", [config, seeds, *_given(config, trace)[1:]],
        {"scheme": scheme, "device": device, **_set(request), "verify": verify, "blame": blame,
         "drive": drive},
    ))  # fmt: skip
    return report


def compare(
    config: Config,
    schemes: Sequence[PathLike],
    trace: PathLike | None = None,
    *,
    device: PathLike | None = None,
    set: Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    verify: bool = False,
    blame: bool = False,
    drive: PathLike | None = None,
    fit: Fit | None = None,
    format: str | None = None,
    jobs: int = 2,
    over_time: bool | None = False,
    seeds: int | None = None,
    cost: bool = False,
    progress: Callable[[int, Progress], object] | None = None,
) -> Comparison:
    """Runs several schemes on the same drive with the same requests, `jobs` at a time.

    Takes what :func:`run` takes, with `schemes` in place of `scheme`; with `drive` all of them
    begin with that saved drive; with `fit` they share a drive on which each has room; with
    `over_time` each report has its :attr:`Report.over_time`.
    `progress` is called with the index of the scheme and its :class:`Progress`.

    With `seeds` each scheme runs with as many seeds, the same for all. Each report has the `seeds`
    of :func:`run_seeds`, and those after the first have `seeds.over_first`: for each metric the
    mean difference to the first scheme and its 95 % interval, from pairs of runs with one seed.

    With `cost` each scheme runs a second time without GC cost: the operations of its collections
    take no time, and all else is its own. The report of the scheme has this run as
    `without_gc_cost`. The progress of these runs has the indices behind those of the schemes.

    Properties that should be equal and are not are in :attr:`Comparison.unequal`.

    A scheme that does not fit the device is skipped and listed in :attr:`Comparison.refused`, with
    its reason and the settings that let it run. A ConfigError where none can run, or a name is
    unknown.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> both = flashgc.compare("oltp", ["greedy", "fifo"], set=small)
    >>> list(both.table["scheme"]), both.unequal
    ([...'greedy'..., ...'fifo'...], {})
    >>> both = flashgc.compare("oltp", ["greedy", "fifo"], set=small, seeds=3)
    >>> off = both["fifo"].seeds.over_first.metrics["latency_ns.all.mean"]
    >>> off.low < 0 < off.high  # three short runs cannot tell the two apart
    True
    """
    arguments.check_paths(drive=drive)
    verify, blame = arguments.switch("verify", verify), arguments.switch("blame", blame)
    over_time = None if over_time is None else arguments.switch("over_time", over_time)
    cost = arguments.switch("cost", cost)
    if seeds is not None:
        seeds = inputs.whole("seeds", seeds, 1, inputs.SEEDS_MAX)
        if over_time:
            raise ConfigError("error: over_time shows one run and cannot be combined with seeds")
    schemes = arguments.schemes(schemes)
    if not schemes:
        raise ConfigError("error: there is no scheme to compare\n  = help: `flashgc schemes`")
    given_set = with_format(set, format)
    with inputs.trace_file(trace) as file:
        asked = [
            _bare_request(config, file, name, device, given_set, seed, fit, unset)
            for name in schemes
        ]
        asked, found = _fitting(asked, schemes, drive, _told_first(progress))
        refused = [one for one in found if one is not None]
        places = [index for index, one in enumerate(found) if one is None]
        if progress is not None:
            for index, one in enumerate(found):
                if one is not None:
                    for place in (index, index + len(schemes))[: 1 + cost]:
                        progress(place, Progress("refused", 0, None, 0))

        def tell(index: int, step: Progress, behind: int = 0) -> None:
            if progress is not None:
                progress(behind + places[index % len(places)], step)

        requests = [asked[index] for index in places]
        values = [] if seeds is None else _seed_values(requests[0], seeds)
        # All schemes with one seed, then with the next, so that each shows its own progress.
        seeded = [_with_seed(one, value) for value in values for one in requests]
        done = _run_all(seeded or requests, verify, drive, jobs, tell, over_time=over_time,
                        blame=blame)  # fmt: skip
        runs = [done[at :: len(requests)] for at in range(len(requests))]
        if cost:
            _add_cost(runs, seeded or requests, verify, drive, jobs, tell, len(schemes))
        reports = _paired(runs, values) if values else done
    _note_origin(reports, requests[0], provenance.call(
        "compare", [config, schemes, *_given(config, trace)[1:]],
        {"device": device, **_set(requests[0]), "verify": verify, "blame": blame,
         "drive": drive,
         "over_time": over_time, "seeds": seeds, "cost": cost},
    ))  # fmt: skip
    return Comparison(reports, refused)


def _seed_values(request: Request, seeds: int) -> list[int]:
    """The seed of a request and those after it."""
    first = json.loads(engine.check(request))["settings"]["seed"]
    if first + seeds > 1 << 64:
        raise ConfigError(
            f"error: seed {first} and the {seeds - 1} after it are more than 2^64 - 1\n"
            "  = help: give a smaller seed, or fewer of them"
        )
    return list(range(first, first + seeds))


def _paired(runs: Sequence[Sequence[Report]], values: Sequence[int]) -> list[Report]:
    """The first report of each scheme, with the results of all its seeds.

    Also their differences to those of the first scheme.
    """
    for own in runs:
        found = _of_seeds(own, values)
        if own is not runs[0]:
            metrics = statistics.differences(own, runs[0])
            found["over_first"] = {"scheme": runs[0][0].scheme, "metrics": metrics}
        own[0]._values["seeds"] = found
    return [own[0] for own in runs]


def _of_seeds(own: Sequence[Report], values: Sequence[int]) -> dict[str, Any]:
    """The results of several seeds of a scheme."""
    return {
        "count": len(values), "values": list(values),
        "not_steady": sum(one.steady.verdict == "no" for one in own),
        "metrics": statistics.intervals(own),
    }  # fmt: skip


def _add_cost(
    runs: Sequence[Sequence[Report]],
    requests: Sequence[Request],
    verify: bool,
    drive: PathLike | None,
    jobs: int,
    tell: Callable[[int, Progress, int], None],
    behind: int,
) -> None:
    """Runs each scheme without GC cost, and adds that to its first report.

    The requests are those of all schemes with one seed, then with the next. Progress has indices
    from `behind` on.
    """
    asked = [gc_cost.request(one) for one in requests]
    places = [at for at, one in enumerate(asked) if one is not None]

    def step(index: int, how: Progress) -> None:
        tell(places[index] % len(runs), how, behind)

    done = _run_all([one for one in asked if one is not None], verify, drive, jobs, step)
    without = dict(zip(places, done, strict=True))
    for at, own in enumerate(runs):
        found = [without.get(at + len(runs) * seed) for seed in range(len(own))]
        timed = [one for one in found if one is not None]
        if timed:
            gc_cost.note_run(own, timed)


def _fitting(
    asked: Sequence[Request],
    names: Sequence[PathLike],
    drive: PathLike | None,
    progress: Callable[..., object] | None,
) -> tuple[list[Request], list[Refusal | None]]:
    """The requests with their trace and the size of their drive, and those that cannot run."""

    def refusals(requests: Sequence[Request]) -> list[Refusal | None]:
        found = [refusal.of(one, name, drive) for one, name in zip(requests, names, strict=True)]
        refusal.check_any([one for one in found if one is not None], len(found))
        return found

    found = refusals(asked)
    fit = [index for index, one in enumerate(found) if one is None]
    for index in fit:
        if asked[index]["trace_path"] is None:
            _add_own_trace(asked[index])
    sized = _sized([asked[index] for index in fit], progress)
    if sized[0]["fitted"] is None:
        return list(asked), found
    # A drive that the trace has sized may have no room for a scheme.
    fitted: list[Request] = [{**one, "fitted": sized[0]["fitted"]} for one in asked]
    return fitted, refusals(fitted)


def schemes() -> list[dict[str, Any]]:
    """The schemes that come with the package: `name`, `title`, `source`, `slots`, `keys`, `text`.

    >>> import flashgc
    >>> next(s for s in flashgc.schemes() if s["name"] == "greedy")["slots"]["victim"]
    'greedy'
    >>> next(s for s in flashgc.schemes() if s["name"] == "idle")["slots"]["trigger"]
    'watermark + idle'
    """
    return [_preset(entry) for entry in json.loads(engine.schemes())["schemes"]]


def slots() -> list[dict[str, Any]]:
    """The nine slots of a scheme, with the choices of each and their parameters.

    >>> import flashgc
    >>> victim = next(slot for slot in flashgc.slots() if slot["name"] == "victim")
    >>> "greedy" in [choice["name"] for choice in victim["choices"]]
    True
    """
    listed: list[dict[str, Any]] = json.loads(engine.schemes())["slots"]
    return listed


def devices() -> list[dict[str, Any]]:
    """The devices that come with the package.

    Each has `name`, `title`, `source`, `keys`, `text` and `capacity_bytes` (physical).

    >>> import flashgc
    >>> [d["keys"]["channels"] for d in flashgc.devices() if d["name"] == "slc-msr"]
    [8]
    """
    return [_with_capacity(_preset(entry)) for entry in json.loads(engine.devices())]


def _with_capacity(device: dict[str, Any]) -> dict[str, Any]:
    keys = device["keys"]
    if "user_capacity" in keys:
        return {**device, "capacity_bytes": _sized_bytes(device["name"])}
    pages = math.prod(keys[name] for name in _PAGES)
    number, unit = keys["page_size"].split()
    page_bytes = int(number) * {"B": 1, "KiB": 1024}[unit]
    return {**device, "capacity_bytes": pages * page_bytes}


def _sized_bytes(name: str) -> int:
    """The physical capacity of a device whose blocks follow from its user capacity."""
    one = {"device": {"preset": name}, "workload": {"synthetic": {"requests": 1, "queue_depth": 1}}}
    checked = json.loads(engine.check(_bare_request(one, None, None, None, None, None)))
    return int(checked["capacity"]["physical_bytes"])


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
    device: PathLike | None,
    set: Settings | None,
    seed: int | None,
    fit: Fit | None = None,
    unset: Iterable[str] | None = None,
) -> Request:
    request = _bare_request(config, trace, scheme, device, set, seed, fit, unset)
    if trace is None:
        _add_own_trace(request)
    return request


def _bare_request(
    config: Config,
    trace: tuple[str, Path] | None,
    scheme: PathLike | None,
    device: PathLike | None,
    set: Settings | None,
    seed: int | None,
    fit: Fit | None = None,
    unset: Iterable[str] | None = None,
) -> Request:
    """The request without the trace that the configuration itself may name."""
    arguments.check_paths(scheme=scheme, device=device)
    source = inputs.config(config)
    sets = inputs.settings(set)
    if seed is not None:
        sets.append(f"seed={inputs.whole('seed', seed, 0)}")
    if fit is not None:
        sets.append(f"workload.trace.fit={json.dumps(str(fit))}")
    own = scheme if isinstance(scheme, policies.Scheme) else None
    if own is not None:
        sets = [*policies.settings(own), *sets]
    return {
        "name": source.name,
        "text": source.text,
        "scheme": inputs.preset(scheme) if own is None else policies.source(own),
        "device": inputs.preset(device),
        "sets": [reading.printable(text) for text in sets],
        "unsets": [reading.printable(key) for key in inputs.keys(unset)],
        "trace_name": trace and trace[0],
        "trace_path": trace and trace[1],
        "jobs": source.jobs or inputs.jobs(source, sets, inputs.keys(unset)),
        "fitted": None,
        "policies": None if own is None else policies.functions(own),
    }


def _add_own_trace(request: Request) -> None:
    """The trace that a configuration names is in the same folder as the configuration."""
    if not any("trace" in part for part in (request["text"], *request["sets"])):
        return  # and no need to read the whole configuration
    checked = json.loads(engine.check(request))
    own = checked["trace_file"]
    if checked["needs_trace"] and own is not None:
        path = Path(request["name"]).parent / own
        request["trace_name"] = os.fspath(path)
        request["trace_path"] = path


def _sized(requests: Sequence[Request], progress: Callable[..., object] | None) -> list[Request]:
    """The requests with the size of their drive, where their trace decides it."""
    if all(request["trace_path"] is None for request in requests):
        return list(requests)
    fitted = engine.fit(list(requests), progress)
    return [{**request, "fitted": fitted} for request in requests]


def _given(config: Config, trace: PathLike | None) -> list[object]:
    """The arguments that come before all others."""
    return [config] if trace is None else [config, trace]


def _set(request: Request) -> dict[str, object]:
    """The settings of a request, the seed and the size of the drive included."""
    return {"set": request["sets"], "unset": request["unsets"]}


def _note_origin(reports: Sequence[Report], request: Request, again: str) -> None:
    file, text = request["jobs"] or (request["name"], request["text"])
    conversion_notes.note(reports, text)
    for report in reports:
        report._origin = Origin(file, request["trace_name"], again)


def _with_seed(request: Request, seed: int) -> Request:
    return {**request, "sets": [*request["sets"], f"seed={seed}"]}


def _told(progress: ProgressCallback | None) -> Callable[..., object] | None:
    return None if progress is None else lambda *step: progress(Progress(*step))


def _told_first(
    progress: Callable[[int, Progress], object] | None,
) -> Callable[..., object] | None:
    """Progress of work that several runs share, reported as progress of the first."""
    return None if progress is None else lambda *step: progress(0, Progress(*step))


def _run(
    request: Request,
    verify: bool,
    logs: Logs | None,
    drive: PathLike | None,
    progress: Callable[..., object] | None,
    over_time: bool | None = False,
    blame: bool = False,
) -> Report:
    if request["fitted"] is None:
        [request] = _sized([request], progress)
    own = None if drive is None else os.fspath(drive)
    recorded = over_time is not False and _is_timed(request)
    if over_time and not recorded:
        raise overview.no_clock("over_time")
    done = engine.run(request, verify, logs, progress, own, blame, recorded)
    _note_logs(logs)
    report = Report._of(done)
    if done.over_time is not None:
        report._over_time = overview.of_run(done.over_time)
    return report


def _is_timed(request: Request) -> bool:
    return has_clock(json.loads(engine.check(request))["settings"])


def settings_before(config: Config, **how: Any) -> Mapping[str, Any] | None:  # noqa: ANN401
    """The settings of a run with these arguments, before it begins.

    Its trace is not read, which may come from a pipe. None where the configuration has a mistake,
    which is an error of the run itself.
    """
    try:
        settings: Mapping[str, Any] = json.loads(engine.check(_bare_request(config, None, **how)))[
            "settings"
        ]
    except ConfigError:
        return None
    return settings


def has_clock(settings: Mapping[str, Any]) -> bool:
    """Whether a run with these settings, checked by the engine, has times."""
    return "engine" not in settings


def without_clock(given: Settings | None) -> list[str]:
    """The settings with that of a run without a clock behind them.

    >>> from flashgc.running import api
    >>> api.without_clock({"seed": 3})
    ['seed=3', 'engine.timing="none"']
    """
    return [*inputs.settings(given), 'engine.timing="none"']


def with_format(given: Settings | None, format: str | None) -> Settings | None:
    """The settings with that of the format of the trace before them, where it is given.

    >>> from flashgc.running import api
    >>> api.with_format({"seed": 3}, "msr")
    ['workload.trace.format="msr"', 'seed=3']
    """
    if format is None:
        return given
    return [f"workload.trace.format={json.dumps(format)}", *inputs.settings(given)]


def _note_logs(logs: Logs | None) -> None:
    if logs is not None:
        timeline = logs["timeline"]
        output.note(logs["gc_log"], logs["series"], timeline and timeline["path"])


def _run_all(
    requests: Sequence[Request],
    verify: bool,
    drive: PathLike | None,
    jobs: int,
    progress: Callable[[int, Progress], object] | None,
    done: Callable[[int, Report], object] | None = None,
    logs: Sequence[Logs | None] | None = None,
    over_time: bool | None = False,
    blame: bool = False,
) -> list[Report]:
    """Runs all of them, `jobs` at a time. The first error ends the others.

    `done` is called with each report as soon as it is there, from the thread of its run; `logs` has
    the log files of each of them.
    """
    inputs.whole("jobs", jobs, 1)
    for request in requests:
        engine.check(request)  # every mistake is found before the first run

    def one(index: int, going: parallel.Going) -> Report:
        def tell(*step: Any) -> None:  # noqa: ANN401
            going()
            if progress is not None:
                progress(index, Progress(*step))

        log = None if logs is None else logs[index]
        report = _run(requests[index], verify, log, drive, tell, over_time, blame)
        if done is not None:
            done(index, report)
        return report

    return parallel.each(len(requests), jobs, one)
