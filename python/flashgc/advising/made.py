"""The function `advise`: from a configuration to its findings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.advising import candidates, commands, findings, lengths, objectives, ranking, rounds
from flashgc.advising.advice import Advice
from flashgc.advising.candidates import Candidates
from flashgc.advising.objectives import Values
from flashgc.files import arguments
from flashgc.reports.report import Comparison, Report
from flashgc.results import gc_cost
from flashgc.running import building, clock, inputs, origin, policies


def advise(
    config: building.Config,
    trace: building.PathLike | None = None,
    *,
    schemes: Sequence[building.PathLike] | None = None,
    device: building.PathLike | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    fit: building.Fit | None = None,
    format: str | None = None,
    jobs: int = 2,
    progress: rounds.ProgressCallback | None = None,
) -> Advice:
    """Finds the schemes that serve a workload best, and what they cost.

    Short runs narrow the field, and long runs until steady state decide; docs/advise.md has the
    rules.

    Args:
        config: a configuration, as for :func:`flashgc.run`; the changes of the advice are those
            from its own scheme.
        trace: as for :func:`flashgc.run`.
        schemes: the candidates next to the configuration's own scheme, by name or as paths to
            files; by default all presets that the device can run.
        device: as for :func:`flashgc.run`.
        set: as for :func:`flashgc.run`; over each scheme.
        unset: as for :func:`flashgc.run`.
        seed: as for :func:`flashgc.run`; the first of the seeds of the runs.
        fit: as for :func:`flashgc.run`; all schemes have the drive of the configuration's own.
        format: as for :func:`flashgc.run`.
        jobs: the number of runs at a time; no result depends on it.
        progress: called with an :class:`AdviceProgress`; an exception from it ends the advice.

    Raises:
        ConfigError: with every mistake of the configuration; a run without a clock; collections
            that take no time; or a scheme in Python, which no command can repeat.
        TraceError: a trace that cannot be read.
        RunError: a run that cannot continue, such as a full drive.
        KeyboardInterrupt: on Ctrl-C, at once.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 40_000}
    >>> found = flashgc.advise("oltp", schemes=["fifo", "pgc"], set=small)
    >>> found.scheme, found.best.read.scheme
    ('greedy', 'pgc')
    >>> found.collection.read.p99_9.share > 0.5
    True

    """
    arguments.check_function(progress=progress)
    schemes = _names(schemes)
    set_ = building.with_format(set, format)
    with inputs.trace_file(trace) as file:
        given = commands.Given(config, trace, device, inputs.settings(set_),
                               inputs.keys(unset), seed, fit)  # fmt: skip

        def request(scheme: building.PathLike | None) -> Request:
            own = building.bare_request(config, file, None, device, set_, seed, fit, unset)
            return own if scheme is None else {**own, "scheme": inputs.preset(scheme)}

        work = rounds.Rounds(jobs, progress)
        found = schemes_that_run(request, schemes, work)
        return _advised(found, work, given)


def _names(schemes: object) -> list[str] | None:
    """The schemes by name or path: a command, which has no functions, shows each."""
    if schemes is None:
        return None
    found = [] if isinstance(schemes, (str, os.PathLike)) else policies.listed(schemes)
    if not found:
        raise ConfigError("error: schemes must be a list with one name or more")
    for one in found:
        policies.check_named(one, "advise")
    policies.check_once(found)
    return [os.fspath(one) for one in found]


def schemes_that_run(request: Any, listed: Any, work: rounds.Rounds) -> Candidates:  # noqa: ANN401
    """The schemes that can run on the drive of the configuration, which its trace may size."""
    base: Request = request(None)
    if base["trace_path"] is None:
        building.add_own_trace(base)
    [base] = building.sized([base], work.scanned)
    settings = json.loads(engine.check(base))["settings"]
    if not clock.has_clock(settings):
        raise ConfigError(
            'error: the run has no clock (engine.timing = "none"): without latencies, schemes '
            'cannot be recommended\n  = help: remove engine.timing = "none"'
        )
    own = settings["gc"]["scheme"]
    if candidates.is_free(base):
        raise ConfigError(
            f"error: collections of the configuration's own scheme, {own}, take no time, so there "
            'is nothing to advise on\n  = help: set another scheme, as in `gc.scheme = "greedy"`, '
            'and no gc.cost = "none" or gc.copy.use = "instant"'
        )
    names = candidates.presets(own) if listed is None else listed
    wanted = [name for name in names if name != own]
    requests = {name: _shared(request(name), base) for name in wanted}
    return candidates.chosen(base, requests, own, listed is not None)


def _shared(request: Request, base: Request) -> Request:
    """A request with the trace and the size of the drive of another."""
    return {
        **request, "trace_name": base["trace_name"], "trace_path": base["trace_path"],
        "fitted": base["fitted"],
    }  # fmt: skip


def _advised(found: Candidates, work: rounds.Rounds, given: commands.Given) -> Advice:
    base = found.requests[found.own]
    checked = json.loads(engine.check(base))
    workload, seed = checked["settings"]["workload"], checked["settings"]["seed"]
    plan, first = _planned(found, workload, seed, checked["trace_first_row"], work)
    names = list(found.requests)
    if findings.nothing_collected(first, plan):
        reason = "nothing was collected, so schemes cannot differ"
        dropped = {name: reason for name in names if name != found.own}
        short: dict[str, list[Values]] = {}
        kept = [found.own]
    else:
        requests = [found.requests[name] for name in names]
        runs = work.samples("short", requests, plan.short, lengths.unset(workload))
        short = {name: [objectives.values(one) for one in own]
                 for name, own in zip(names, runs, strict=True)}  # fmt: skip
        kept, dropped = ranking.narrowed(short, found.own)
    reports, without = _long(found, kept, plan, work)
    for name in kept:
        gc_cost.note_run(reports[name][:1], without[name][:1])
    result = findings.Found(
        found, plan, short, _values(reports), _values(without), dropped,
        {name: reports[name][0] for name in kept},
        {name: [one.steady.verdict for one in reports[name]] for name in kept},
    )  # fmt: skip
    values = findings.values(result)
    values["commands"] = commands.shown(given, found, values, plan)
    comparison = Comparison([reports[name][0] for name in kept])
    origin.note(comparison, base, given.again())
    return Advice(values, comparison)


def _values(reports: Mapping[str, Sequence[Report]]) -> dict[str, list[Values]]:
    return {name: [objectives.values(one) for one in own] for name, own in reports.items()}


def _planned(
    found: Candidates, workload: Mapping[str, Any], seed: int, first_row: int | None,
    work: rounds.Rounds,
) -> tuple[lengths.Lengths, Report]:  # fmt: skip
    """The lengths of all runs, by a first run of the configuration's scheme."""
    base = found.requests[found.own]
    request = rounds.varied(base, lengths.of_reference(workload), lengths.unset(workload))
    [[first]] = work.samples("first", [request], [[]], [])
    return lengths.planned(workload, first_row, seed, first), first


def _long(
    found: Candidates, names: Sequence[str], plan: lengths.Lengths, work: rounds.Rounds
) -> tuple[dict[str, list[Report]], dict[str, list[Report]]]:
    """The long runs of each scheme, and the same without GC cost.

    The first runs of the schemes themselves are split into the parts of latencies.
    """
    pairs = [(name, sets) for sets in plan.long for name in names]
    own = [rounds.varied(found.requests[name], sets, []) for name, sets in pairs]
    free = [rounds.varied(request, [gc_cost.SETTING], []) for request in own]
    blamed = [at < len(names) for at in range(len(pairs))]
    runs = work.whole("long", [*own, *free], [*blamed, *(False for _ in free)])

    def of(part: Sequence[Report]) -> dict[str, list[Report]]:
        return {name: list(part[at :: len(names)]) for at, name in enumerate(names)}

    return of(runs[: len(own)]), of(runs[len(own) :])


__all__ = ["advise", "schemes_that_run"]
