"""The function `tune`: from a configuration to the best one of a space."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.advising import lengths
from flashgc.files import arguments, output
from flashgc.formatting import units
from flashgc.machine import extras
from flashgc.reports.report import Report
from flashgc.running import building, inputs
from flashgc.sweeps import outcome
from flashgc.sweeps.store import Writer
from flashgc.tuning import builtin, chosen, read, samples
from flashgc.tuning.metrics import Metric
from flashgc.tuning.pool import Pool, Run
from flashgc.tuning.progress import Told, TuneProgress
from flashgc.tuning.read import Asked, Layers, Options
from flashgc.tuning.samples import Samples

if TYPE_CHECKING:
    from flashgc.tuning.ranking import Candidate
    from flashgc.tuning.search import Search
    from flashgc.tuning.tuning import Tuning

STORE = outcome.STORE


def tune(
    config: building.Config,
    trace: building.PathLike | None = None,
    *,
    objectives: Sequence[str] | None = None,
    constraints: Sequence[str] | None = None,
    trials: int | None = None,
    method: str | None = None,
    batch: int | None = None,
    search_seed: int | None = None,
    scheme: building.AnyScheme | None = None,
    device: building.PathLike | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    fit: building.Fit | None = None,
    format: str | None = None,
    store: building.PathLike = STORE,
    jobs: int | None = None,
    on: str | None = None,
    progress: Told | None = None,
) -> Tuning:
    """Searches slots and parameters for the best configuration of a workload and a device.

    Args:
        config: a configuration, as for :func:`flashgc.run`: then the space is the slots of a scheme
            and their parameters. Or a TUNE.toml, its text, or a dictionary with the same tables:
            `base`, `space`, `objectives`, `constraints`, `search`; docs/tune.md has the syntax.
        trace: as for :func:`flashgc.run`.
        scheme: as there; the scheme to which ratios of constraints and changes refer.
        device: as there.
        set: as there.
        unset: as there.
        seed: as there; the first of the seeds of the runs.
        format: as there.
        fit: as there; all points have the same drive.
        objectives: metrics, one or several: `read` and `write` (p99.9), `wear`, or any number of a
            report by its name; less is better, or more with `max:` before the name.
        constraints: bounds such as `"read <= 110%"` (of the configuration's own scheme),
            `"read <= 105% of presets"` (of the best preset), `"read <= 2 ms"`.
        trials: the number of points to try.
        method: `"tpe"`, `"nsga-ii"` or `"random"`.
        batch: trials that are asked for together, whatever the number of workers.
        search_seed: the seed of the search itself.
        store: the folder of all results, as for :func:`flashgc.sweep`; the search's journal too.
        jobs: number of workers; one for each processor if not given.
        on: where the runs are: this machine if not given, or Ray, as for :func:`flashgc.sweep`.
        progress: called with a :class:`TuneProgress`; an exception from it ends the search.

    Raises:
        ConfigError: mistakes in the search or in its configuration; or Optuna is not installed.
        TraceError: a trace that cannot be read.
        OutputError: results that cannot be written, or another search writes into the folder.

    Needs `pip install flashgc[tune]`. Interrupted or killed, a search continues at the next call
    with the same arguments. Equal arguments give equal results, whatever the number of workers.

    >>> import flashgc, tempfile
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> space = {"scheme": ["greedy", "pgc"], "gc.trigger.watermark.soft": ["3 blocks", "5 blocks"]}
    >>> searched = {"base": {"config": "oltp", "set": small}, "space": space}
    >>> found = flashgc.tune(searched, trials=4, jobs=1, store=tempfile.mkdtemp())
    >>> found.trials, found.failed, found.chosen.settings["gc.scheme"]
    (4, 0, '"pgc"')

    """
    arguments.check_function(progress=progress)
    set_ = building.with_format(set, format)
    extras.library("optuna", "a search needs")
    backend = outcome.backend_for(on, jobs)
    told: Told = progress or (lambda _: None)
    given = Layers(config, scheme, device, inputs.settings(set_), inputs.keys(unset), seed, fit,
                   trace)  # fmt: skip
    options = Options(
        inputs.listed(objectives), inputs.listed(constraints), trials, batch, method, search_seed
    )
    found = read.form_of(config)
    name = read.name_of(config)
    if found is not None:
        form, name, folder = found
        given = read.layers_of(form, folder, given)
    with inputs.trace_file(given.trace) as file:
        base = read.shaped(read.bare(given, file), _scan(told))
        asked = read.asked(found[0] if found else None, name, given, base, options)
        with Writer(store) as writer:
            pool = Pool(writer, backend)
            try:
                return _searched(asked, pool, Path(store), told)
            finally:
                pool.close()


def _scan(told: Told) -> Any:  # noqa: ANN401 - a callback
    return lambda phase, done, total, now_ns: told(TuneProgress("scan", float(done), total))


def _searched(asked: Asked, pool: Pool, store: Path, told: Told) -> Tuning:
    from flashgc.tuning import findings
    from flashgc.tuning.search import Search

    first, plan = _planned(asked, pool, told)
    asked = _with_defined(asked, [first], "for this workload")
    own = _own_runs(asked, plan, pool, told)
    asked = _with_defined(asked, own, "in a part of the workload that the search runs")
    folder = output.folder(store / "tunes" / asked.study, "--store")
    search = Search(asked, plan, pool, folder, told)
    finalists = search.run()
    best, left_out = _completed(search, finalists)
    kept = [one for one in finalists if one not in left_out]
    values = findings.values(search, kept, best)
    return _made(search, best, values, (first, left_out))


def _completed(search: Search, finalists: Sequence[Candidate]) -> tuple[Candidate, list[Candidate]]:
    """The best point that completes the runs of the check, and those before it that do not.

    The configuration's own scheme completes them: its runs were the first of the search.
    """
    from flashgc.tuning import findings

    left_out: list[Candidate] = []
    rivals = [one for one in finalists if one.preset is not None]
    while True:
        best = findings.chosen(search, [one for one in finalists if one not in left_out])
        search.check(list({id(one): one for one in [search.own, best, *rivals]}.values()))
        if findings.is_checked(best):
            return best, left_out
        left_out.append(best)


def _planned(asked: Asked, pool: Pool, told: Told) -> tuple[Report, Samples]:
    """The first run, which shows the length and the mix of the workload."""
    checked = json.loads(engine.check(asked.base))
    workload = checked["settings"]["workload"]
    sets = lengths.of_reference(workload)
    first: Request = {
        **asked.base, "sets": [*asked.base["sets"], *sets],
        "unsets": [*asked.base["unsets"], *lengths.unset(workload)],
    }  # fmt: skip
    told(TuneProgress("first", 0, 1))
    [report] = pool.run([Run("the first run", first)])
    if report is None:
        raise ConfigError("error: the configuration's own scheme cannot complete its first run\n"
                          "  = help: `flashgc run` shows why")  # fmt: skip
    made = Report(dict(report))
    return made, samples.planned(workload, checked["trace_first_row"],
                                 checked["settings"]["seed"], made)  # fmt: skip


def _own_runs(asked: Asked, plan: Samples, pool: Pool, told: Told) -> list[Report]:
    """The runs of the configuration's own scheme, with which those of all points are compared."""
    runs = [Run(asked.own, plan.request(asked.base, sets))
            for sets in [*itertools.chain(*plan.rungs), *plan.check]]  # fmt: skip
    reports = pool.run(runs, lambda done, total: told(TuneProgress("presets", done, total)))
    found = [Report(dict(report)) for report in reports if report is not None]
    if len(found) < len(reports):
        raise ConfigError("error: the configuration's own scheme cannot complete all runs of the "
                          "search\n  = help: `flashgc run` with other seeds, or other rows of the "
                          "trace, shows why")  # fmt: skip
    return found


def _with_defined(asked: Asked, reports: Sequence[Report], where: str) -> Asked:
    """The same search without default constraints that these runs leave undefined.

    Any other metric that they leave undefined is an error.
    """
    if not asked.has_own_bounds:
        kept = [one for one in asked.constraints if _is_defined(one.metric, reports)]
        asked = replace(asked, constraints=kept)
    for metric in [*asked.objectives, *(one.metric for one in asked.constraints)]:
        if _is_defined(metric, reports):
            continue
        if "latency_ns" not in reports[0].to_dict():
            raise ConfigError(
                f'error: the run has no clock (engine.timing = "none"): {metric.label} '
                'is undefined\n  = help: remove engine.timing = "none"; or give a trace, with '
                "objectives and constraints other than times, as in --objectives "
                'write_amplification --constraint "erases <= 110%"'
            )
        raise ConfigError(
            f"error: {metric.label} is undefined {where}\n"
            "  = help: name other objectives with --objectives, and constraints with --constraint"
        )
    return asked


def _is_defined(metric: Metric, reports: Sequence[Report]) -> bool:
    return all(metric.value(report) is not None for report in reports)


def _made(
    search: Search, best: Candidate, values: dict[str, Any],
    others: tuple[Report, Sequence[Candidate]],
) -> Tuning:  # fmt: skip
    from flashgc.tuning.tuning import Tuning

    asked = search.asked
    first, left_out = others
    request = search.request(best)
    name = values["chosen"]["name"]
    own = next(one for one in values["points"] if one["name"] == name)
    why = "Chosen" if own["feasible"] else "Kept, since no point meets the constraints,"
    head = [f"{why} by `flashgc tune`: {name} of {asked.study}."]
    config = chosen.text(request, head)
    values |= {
        "device": first.device, "config": config, "warnings": _warnings(values, config, left_out),
        "commands": _commands(asked, values),
    }  # fmt: skip
    return Tuning(values)


def _warnings(
    values: Mapping[str, Any], config: str | None, left_out: Sequence[Candidate]
) -> list[str]:  # fmt: skip
    found = [
        f"{one.label} was better in the search, but on unseen samples a run of it ends in an "
        "error, such as a full drive, or leaves a metric undefined"
        for one in left_out
    ]
    if config is None:
        found.append("the chosen configuration is not a single file: the command has its settings")
    if not values["check"]["confirmed"]:
        found.append("not confirmed: on unseen samples the chosen configuration breaks a "
                     "constraint, or a preset is better")  # fmt: skip
    if not values["check"]["balanced"]:
        found.append(
            "on unseen samples not all runs of the chosen configuration are in steady state"
        )
    own = next(one for one in values["points"] if one["name"].endswith("(own)"))
    if not own["balanced"]:
        found.append(f"{values['scheme']} is not in steady state in its longest runs, so that it "
                     "was not required of others")  # fmt: skip
    longest = max(one["rung"] for one in values["points"])
    drifting = [
        one["name"]
        for one in values["points"]
        if one["rung"] == longest and not one["balanced"] and not one["feasible"]
    ]
    if drifting and own["balanced"]:
        found.append(
            f"{units.counted(len(drifting), 'point')} with the longest runs "
            f"{'was' if len(drifting) == 1 else 'were'} not in steady state, and could not be "
            "chosen; longer runs may admit more: raise the configured requests"
        )
    if values["failed"]:
        found.append(f"{values['failed']} of {values['trials']} trials ended in an error of their "
                     "runs, such as a full drive")  # fmt: skip
    return found


def _commands(asked: Asked, values: Mapping[str, Any]) -> list[str]:
    """A command that runs the chosen configuration."""
    import shlex

    given = asked.given
    if not isinstance(given.config, (str, os.PathLike)) or "\n" in str(given.config):
        return []
    words = ["flashgc", "run", os.fspath(given.config)]
    words += [] if given.trace is None else ["--trace", os.fspath(given.trace)]
    settings = dict(values["chosen"]["settings"])
    scheme: object = settings.pop("gc.scheme", None)
    if scheme is not None:
        scheme = json.loads(str(scheme))
    elif values["chosen"]["trial"] is not None and asked.compared:
        scheme = builtin.BASE
    else:
        scheme = given.scheme
    words += [] if scheme is None else ["--scheme", str(scheme)]
    words += [] if given.device is None else ["--device", os.fspath(given.device)]
    words += [word for key in asked.base["unsets"] for word in ("--unset", key)]
    sets = building.without_scheme(asked.base["sets"], scheme)
    words += [word for text in sets for word in ("--set", text)]
    words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return [shlex.join(words)]
