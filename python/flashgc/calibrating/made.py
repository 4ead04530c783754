"""The function `calibrate`: from measurements to a device and a scheme."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.calibrating import (
    candidates,
    choosing,
    drive,
    likelihood,
    numbers,
    one_queue,
    reading,
)
from flashgc.calibrating.drive import Base
from flashgc.calibrating.numbers import Number
from flashgc.calibrating.progress import CalibrateProgress, Told
from flashgc.calibrating.rows import Row
from flashgc.files import arguments
from flashgc.formatting import units
from flashgc.machine import extras
from flashgc.running import building, inputs
from flashgc.sweeps import outcome
from flashgc.sweeps.store import Writer
from flashgc.tuning import space
from flashgc.tuning.pool import Pool

if TYPE_CHECKING:
    from flashgc.calibrating.calibration import Calibration
    from flashgc.calibrating.fits import Fitted, Runs
    from flashgc.calibrating.search import Found

TRIALS = 24
STORE = outcome.STORE


@dataclass(frozen=True)
class _Model:
    """A base with the numbers that are fitted and the collectors that may be inside."""

    base: Base
    free: Sequence[Number]
    candidates: Sequence[candidates.Candidate]


@dataclass(frozen=True)
class _Searched:
    """A model after its search."""

    model: _Model
    runs: Runs
    found: Found


@dataclass(frozen=True)
class _Task:
    """A calibration, with all of its parts checked."""

    models: Sequence[_Model]
    """The given base; then it as one queue, if that is tried."""
    rows: Sequence[Row]
    fitted: Sequence[Row]
    noise: Mapping[str, float]
    notes: Sequence[str]
    trials: int
    seed: int
    drive: str | None


def calibrate(
    results: building.PathLike | Sequence[building.PathLike],
    device: building.PathLike,
    *,
    drive: str | None = None,
    fit_rows: Sequence[str] | None = None,
    free: Sequence[str] | None = None,
    schemes: Sequence[building.PathLike] | None = None,
    noise: Mapping[str, float] | None = None,
    one_queue: bool | None = None,
    trials: int = TRIALS,
    blocks: int | None = None,
    set: building.Settings | None = None,
    seed: int | None = None,
    store: building.PathLike = STORE,
    jobs: int | None = None,
    on: str | None = None,
    progress: Told | None = None,
) -> Calibration:
    """Fits a device and finds the collectors that have the measurements of a real drive.

    Args:
        results: one or several files: fio's output as JSON, or tables; docs/calibrate.md has the
            columns.
        device: the base, a name or a file: its geometry stays, and its numbers are where the fit
            begins.
        drive: the drive of a table with the rows of several.
        fit_rows: the names of the fitted rows; the others judge the fit. By default at most six.
        free: the keys that are fitted, such as `"device.timing.program"`.
        schemes: the candidates, by name or file; by default combinations of slots.
        noise: the standard deviation of kinds of numbers as shares, as in `{"p99_9": 0.2}`.
        one_queue: whether the base is tried as one queue too, with a single plane in place of all
            dies; by default where p99.9 of writes at full rate is within 10 % of the median.
        trials: points that are drawn around the best candidates; with 0 the steps
            alone decide.
        blocks: blocks of each plane of the drive in small.
        set: settings of the base, of its device, `gc` or `engine`; those of a candidate are above
            them.
        seed: the seed of the runs and of the trials.
        store: the folder of all results, as for :func:`flashgc.sweep`.
        jobs: number of workers; one for each processor if not given.
        on: where the runs are: this machine if not given, or Ray, as for :func:`flashgc.sweep`.
        progress: called with a :class:`CalibrateProgress`; an exception from it ends the search.

    Raises:
        ConfigError: mistakes in the results, the base or the arguments; or Optuna is not installed.
        OutputError: results that cannot be written, or another search writes into the folder.

    Needs `pip install flashgc[tune]`. Equal arguments give equal results, whatever the number of
    workers; runs that are done are not repeated.

    """
    extras.library("optuna", "a calibration needs")
    backend = outcome.backend_for(on, jobs)
    several = _files_of(results)
    arguments.check_path("device", device)
    arguments.check_texts(drive=drive)
    arguments.check_function(progress=progress)
    asked = _task(
        several, device, drive, None if fit_rows is None else arguments.words("fit_rows", fit_rows),
        None if free is None else arguments.words("free", free), schemes, noise,
        None if one_queue is None else arguments.switch("one_queue", one_queue), trials,
        None if blocks is None else inputs.whole("blocks", blocks, 1), inputs.settings(set),
        1 if seed is None else seed,
    )  # fmt: skip
    told: Told = progress or (lambda _: None)
    with Writer(store) as writer:
        pool = Pool(writer, backend)
        try:
            return _calibrated(asked, pool, told)
        finally:
            pool.close()


def _files_of(results: object) -> list[building.PathLike]:
    """One file or several.

    A file that is given twice would count twice, with intervals that are too narrow.
    """
    no_list = isinstance(results, str | bytes | os.PathLike | Mapping)
    if no_list or arguments.is_table(results) or not isinstance(results, Iterable):
        arguments.check_path("results", results)
        return [results]  # type: ignore[list-item]
    several = list(results)
    for one in several:
        arguments.check_path("a result", one)
    seen: dict[Path, building.PathLike] = {}
    for one in several:
        if (other := seen.setdefault(Path(one).absolute(), one)) is not one:
            raise ConfigError(f"error: the file {os.fspath(other)} is given twice\n"
                              "  = help: give each file of results once")  # fmt: skip
    return several


def _task(
    results: Sequence[building.PathLike], device: building.PathLike, name: str | None,
    fit_rows: Sequence[str] | None, free: Sequence[str] | None,
    schemes: Sequence[building.PathLike] | None, noise: Mapping[str, float] | None,
    as_one: bool | None, trials: int, blocks: int | None, sets: Sequence[str], seed: int,
) -> _Task:  # fmt: skip
    if not results:
        raise ConfigError("error: no results are given\n  = help: name fio's output, or a table")
    _check_settings(sets)
    seed = inputs.whole("seed", seed, 0, arguments.NUMBER_MAX)
    base = drive.base(device, sets, seed, blocks)
    all_, notes = reading.read(results, name)
    legal = candidates.of(base.with_load, schemes)
    found, more = _with_runs(*reading.on_drive(all_, base.user_bytes), base, legal)
    fitted = choosing.fitted(found) if fit_rows is None else reading.named(found, fit_rows, more)
    chosen = numbers.free(free, base.known)
    count = sum(len(row.values) for row in fitted)
    if count < len(chosen):
        measured = units.counted(count, "measured number")
        raise ConfigError(
            f"error: {measured} cannot give {units.counted(len(chosen), 'free number')}: "
            f"{', '.join(one.key for one in chosen)}\n"
            "  = help: fit more rows, or fewer keys with --free"
        )
    models = [_Model(base, chosen, legal)]
    shown = one_queue.shown(found)
    if _tries_one_queue(as_one, base, shown):
        models += _as_one_queue(base, free, schemes)
    if len(models) > 1 and as_one is None and shown is not None:
        more = [*more, one_queue.note(shown)]
    return _Task(
        models, found, fitted, likelihood.noise(noise), [*notes, *more],
        inputs.whole("trials", trials, 0), seed, name,
    )  # fmt: skip


_IN_PLACE_OF = {
    "workload": "the load of a run is that of its row",
    "precondition": "give `overwrites` in a row",
    "seed": "give --seed",
    "gc.scheme": "give --schemes",
    "gc": "give a key of it, such as gc.trigger.watermark.soft",
}
"""Keys that no setting can change here, and what has their place."""


def _check_settings(sets: Sequence[str]) -> None:
    """Settings that would be without an effect, or not in the files of the result."""
    for text in sets:
        key = text.partition("=")[0].strip()
        table = key if key in _IN_PLACE_OF else key.partition(".")[0]
        if table in _IN_PLACE_OF and (table == key or table != "gc"):
            raise ConfigError(f"error: --set {text}: a calibration takes no setting of {table}\n"
                              f"  = help: {_IN_PLACE_OF[table]}")  # fmt: skip


def _with_runs(
    found: Sequence[Row], notes: Sequence[str], base: Base,
    legal: Sequence[candidates.Candidate],
) -> tuple[list[Row], list[str]]:  # fmt: skip
    """The rows that have a run on the drive in small, and notes on those that have none."""
    points = drive.with_writes(base, legal)
    reasons = [drive.refused(base, points, row) for row in found]
    left_out = [f"{row.where}: the run {row.name!r} was left out: {why}"
                for row, why in zip(found, reasons, strict=True) if why is not None]  # fmt: skip
    if len(left_out) == len(found):
        raise ConfigError("error: the base can simulate none of the runs\n"
                          + "".join(f"  = note: {one}\n" for one in left_out[:5])
                          + "  = help: correct the load of a row, or the base")  # fmt: skip
    kept = [row for row, why in zip(found, reasons, strict=True) if why is None]
    return kept, [*notes, *left_out]


def _tries_one_queue(given: bool | None, base: Base, shown: Row | None) -> bool:
    if given and base.planes == 1:
        raise ConfigError("error: the base has one plane: it is one queue already\n"
                          "  = help: remove --one-queue always")  # fmt: skip
    if given is None:
        return base.planes > 1 and shown is not None
    return given


def _as_one_queue(
    base: Base, free: Sequence[str] | None, schemes: Sequence[building.PathLike] | None
) -> list[_Model]:  # fmt: skip
    other = one_queue.base(base)
    legal = one_queue.candidates_of(other, schemes)
    return [_Model(other, one_queue.free(free, other), legal)] if legal else []


def _calibrated(asked: _Task, pool: Pool, told: Told) -> Calibration:
    from flashgc.calibrating.fits import Runs
    from flashgc.calibrating.search import Asked, Search

    searched = []
    for model in asked.models:
        runs = Runs(model.base, asked.noise, pool)
        search = Asked(asked.fitted, model.free, model.candidates, asked.trials, asked.seed)
        searched.append(_Searched(model, runs, Search(search, runs, told).run()))
    searched.sort(key=lambda one: one.found.kept[0].rank)
    return _made(asked, searched, pool, told)


def _made(
    asked: _Task, searched: Sequence[_Searched], pool: Pool, told: Told
) -> Calibration:  # fmt: skip
    from flashgc.calibrating import findings, intervals, verdicts
    from flashgc.calibrating.calibration import Calibration

    model, runs, found = searched[0].model, searched[0].runs, searched[0].found
    best = found.kept[0]
    if not any(best.found):
        why = drive.problem(model.base, best.point)
        raise ConfigError(
            "error: no candidate has a run with numbers near the measured ones"
            + ("" if why is None else f": {why}")
            + "\n  = help: look for a wrong number in a row, or give another base"
        )
    scale = likelihood.scale(best.cost - best.spread, len(best.misses), len(model.free))
    along = intervals.profiles(runs, best, model.free, scale, _phase(told, "profile"))
    listed = intervals.told(best, model.free, found.slopes, scale, along)
    judged = [row for row in asked.rows if row not in asked.fitted]
    [others] = runs.fitted([best.point], judged, _phase(told, "judge"), True)
    by_name = dict(zip([row.name for row in [*asked.fitted, *judged]],
                       [*best.found, *others.found], strict=True))  # fmt: skip
    points = findings.points(asked.rows, [by_name[row.name] for row in asked.rows], asked.fitted)
    kept = sorted((one for own in searched for one in own.found.kept), key=lambda one: one.rank)
    rest = [one for own in searched for one in own.found.others]
    ranked = verdicts.ranked(kept, rest, scale)
    device, scheme = _files(asked, model, best)
    given = asked.models[0]
    values: dict[str, Any] = {
        "version": engine.__version__, "device": given.base.name, "drive": asked.drive,
        "one_queue": None if len(searched) == 1 else model is not given,
        "seed": asked.seed, "trials": asked.trials, "runs": pool.computed,
        "fitted": [row.name for row in asked.fitted], "judged": [row.name for row in judged],
        "blocks": [model.base.blocks, int(model.base.shape["blocks_per_plane"])],
        "noise": dict(asked.noise), "noise_scale": scale, "numbers": listed,
        "candidates": ranked, "points": points, "errors": findings.errors(points),
        "further": _further(searched, ranked, asked, told),
        "device_toml": device, "scheme_toml": scheme,
    }  # fmt: skip
    for one, number in zip(listed, model.free, strict=True):
        one["limits"] = [number.low, number.high]
    values["runs"] = pool.computed
    values["warnings"] = findings.warnings(values, best, asked.notes)
    values["commands"] = [
        "flashgc devices device.toml", "flashgc run LOAD --device device.toml --scheme scheme.toml"
    ]  # fmt: skip
    return Calibration(values)


def _further(
    searched: Sequence[_Searched], ranked: Sequence[Mapping[str, Any]], asked: _Task, told: Told
) -> dict[str, Any] | None:  # fmt: skip
    """The measurement that tells the best candidate from the nearest that is not excluded."""
    from flashgc.calibrating import apart, verdicts

    near = {one.name: (own.runs, one) for own in searched for one in own.found.kept}
    left = [one["name"] for one in ranked[1:] if one["verdict"] != verdicts.OUT]
    second = next((name for name in left if name in near), None)
    if second is None:
        return None
    pair = [near[ranked[0]["name"]], near[second]]
    return apart.best(pair, asked.rows, _phase(told, "apart"))


def _files(asked: _Task, model: _Model, best: Fitted) -> tuple[str, str]:
    """The device and the scheme, which the engine has accepted together."""
    candidate, values = best.point.candidate, best.point.values
    head = [f"Fitted by flashgc calibrate to {', '.join(row.name for row in asked.fitted)}",
            f"with the scheme of scheme.toml: {candidate.name}"]  # fmt: skip
    device = drive.device_text(model.base, values, candidate.device, head)
    scheme = drive.scheme_text(model.base, candidate)
    if numbers.RESERVE in values:
        scheme = drive.with_reserve(model.base, scheme, values[numbers.RESERVE])
    request: Request = {
        **model.base.with_load, "device": ("device.toml", device),
        "scheme": ("scheme.toml", scheme),
        "sets": [text for text in model.base.with_load["sets"] if text.startswith("workload.")],
    }  # fmt: skip
    refused = space.problem(request)
    if refused is not None:
        raise AssertionError(f"the fitted files are refused: {refused}")
    return device, scheme


def _phase(told: Told, name: str) -> Any:  # noqa: ANN401 - a callback
    return lambda done, total: told(CalibrateProgress(name, done, total))
