"""Comparisons of schemes: the same drive and the same requests for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.files import arguments
from flashgc.pages import provenance
from flashgc.reports.report import Comparison, Report
from flashgc.results import gc_cost, refusal
from flashgc.results.refusal import Refusal
from flashgc.running import building, executing, inputs, origin, policies, seeding
from flashgc.running.building import AnyScheme, Config, Fit, PathLike, Settings
from flashgc.running.executing import Progress


def compare(
    config: Config,
    schemes: Sequence[AnyScheme],
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

    Properties that should be equal and are not are in :attr:`Comparison.unequal`. A scheme that
    does not fit the device is skipped and listed in :attr:`Comparison.refused`, with its reason and
    the settings that let it run.

    Args:
        config: a configuration, as for :func:`run`.
        schemes: names of schemes, paths to files with one, or schemes in Python; the order is that
            of the reports.
        trace: as for :func:`run`.
        device: as for :func:`run`.
        set: as for :func:`run`; over each scheme.
        unset: as for :func:`run`.
        seed: as for :func:`run`; the same for all schemes.
        verify: as for :func:`run`.
        blame: as for :func:`run`.
        drive: as for :func:`run`; all schemes begin with this saved drive.
        fit: as for :func:`run`; all schemes share a drive on which each has room.
        format: as for :func:`run`.
        jobs: the number of runs at a time; no result depends on it.
        over_time: as for :func:`run`; it excludes `seeds`.
        seeds: with how many seeds each scheme runs, the same for all, from 1 to 10,000. Each report
            has the `seeds` of :func:`run_seeds`, and those after the first have `seeds.over_first`:
            for each metric the mean difference to the first scheme and its 95 % interval, from
            pairs of runs with one seed.
        cost: whether each scheme runs a second time without GC cost: the operations of its
            collections take no time, and all else is its own. The report of the scheme has this run
            as `without_gc_cost`.
        progress: called with the index of the scheme and its :class:`Progress`; with `cost`, the
            indices of the further runs follow those of the schemes.

    Raises:
        ConfigError: with every mistake of the configuration; no scheme can run, or the name of one
            is unknown.
        TraceError: a trace that cannot be read.
        DriveError: a saved drive that cannot be read, or is that of another device.
        RunError: a run that cannot continue, such as a full drive; it ends the others.
        KeyboardInterrupt: on Ctrl-C, at once.

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
        seeds = inputs.whole("seeds", seeds, 1, arguments.SEEDS_MAX)
        if over_time:
            raise ConfigError("error: over_time shows one run and cannot be combined with seeds")
    schemes = policies.listed(schemes)
    if not schemes:
        raise ConfigError("error: there is no scheme to compare\n  = help: `flashgc schemes`")
    policies.check_once(schemes)
    given_set = building.with_format(set, format)
    with inputs.trace_file(trace) as file:
        asked = [
            building.bare_request(config, file, name, device, given_set, seed, fit, unset)
            for name in schemes
        ]
        asked, found = _fitting(asked, schemes, drive, executing.callback_of_first(progress))
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
        values = [] if seeds is None else seeding.values(requests[0], seeds)
        # All schemes with one seed, then with the next, so that each shows its own progress.
        seeded = [seeding.with_seed(one, value) for value in values for one in requests]
        done = executing.run_all(seeded or requests, verify, drive, jobs, tell,
                                 over_time=over_time, blame=blame)  # fmt: skip
        runs = [done[at :: len(requests)] for at in range(len(requests))]
        if cost:
            _add_cost(runs, seeded or requests, verify, drive, jobs, tell, len(schemes))
        reports = seeding.paired(runs, values) if values else done
    origin.note(reports, requests[0], provenance.call(
        "compare", origin.leading(config, schemes, trace),
        {"device": device, **origin.settings(requests[0]), "verify": verify, "blame": blame,
         "drive": drive, "over_time": over_time, "seeds": seeds, "cost": cost},
    ))  # fmt: skip
    return Comparison(reports, refused)


def _fitting(
    asked: Sequence[Request],
    names: Sequence[AnyScheme],
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
            building.add_own_trace(asked[index])
    sized = building.sized([asked[index] for index in fit], progress)
    if sized[0]["fitted"] is None:
        return list(asked), found
    # A drive that the trace has sized may have no room for a scheme.
    fitted: list[Request] = [{**one, "fitted": sized[0]["fitted"]} for one in asked]
    return fitted, refusals(fitted)


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

    done = executing.run_all([one for one in asked if one is not None], verify, drive, jobs, step)
    without = dict(zip(places, done, strict=True))
    for at, own in enumerate(runs):
        found = [without.get(at + len(runs) * seed) for seed in range(len(own))]
        timed = [one for one in found if one is not None]
        if timed:
            gc_cost.note_run(own, timed)
