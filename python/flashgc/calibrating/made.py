"""The function `calibrate`: from measurements to a device and a scheme."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.calibrating import candidates, choosing, drive, likelihood, numbers, reading
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
class _Task:
    """A calibration, with all of its parts checked."""

    base: Base
    rows: Sequence[Row]
    fitted: Sequence[Row]
    free: Sequence[Number]
    candidates: Sequence[candidates.Candidate]
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
        trials: points that are drawn around the best candidates; with 0 the steps
            alone decide.
        blocks: blocks of each plane of the drive in small.
        set: settings of the base; those of a candidate are above them.
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
    if not isinstance(results, Iterable):
        arguments.check_path("results", results)
    several = [results] if isinstance(results, str | os.PathLike) else list(results)
    for one in several:
        arguments.check_path("a result", one)
    asked = _task(several, device, drive, fit_rows, free, schemes, noise, trials, blocks,
                  inputs.settings(set), 1 if seed is None else seed)  # fmt: skip
    told: Told = progress or (lambda _: None)
    with Writer(store) as writer:
        pool = Pool(writer, backend)
        try:
            return _calibrated(asked, pool, told)
        finally:
            pool.close()


def _task(
    results: Sequence[building.PathLike], device: building.PathLike, name: str | None,
    fit_rows: Sequence[str] | None, free: Sequence[str] | None,
    schemes: Sequence[building.PathLike] | None, noise: Mapping[str, float] | None, trials: int,
    blocks: int | None, sets: Sequence[str], seed: int,
) -> _Task:  # fmt: skip
    if not results:
        raise ConfigError("error: no results are given\n  = help: name fio's output, or a table")
    base = drive.base(device, sets, inputs.whole("seed", seed, 0), blocks)
    all_, notes = reading.read(results, name)
    found, more = reading.on_drive(all_, base.user_bytes)
    fitted = choosing.fitted(found) if fit_rows is None else reading.named(found, fit_rows)
    chosen = numbers.free(free, base.known)
    count = sum(len(row.values) for row in fitted)
    if count < len(chosen):
        measured = units.counted(count, "measured number")
        raise ConfigError(
            f"error: {measured} cannot give {units.counted(len(chosen), 'free number')}: "
            f"{', '.join(one.key for one in chosen)}\n"
            "  = help: fit more rows, or fewer keys with --free"
        )
    return _Task(
        base, found, fitted, chosen, candidates.of(base.with_load, schemes),
        likelihood.noise(noise), [*notes, *more], inputs.whole("trials", trials, 0), seed, name,
    )  # fmt: skip


def _calibrated(asked: _Task, pool: Pool, told: Told) -> Calibration:
    from flashgc.calibrating.fits import Runs
    from flashgc.calibrating.search import Asked, Search

    runs = Runs(asked.base, asked.noise, pool)
    search = Asked(asked.fitted, asked.free, asked.candidates, asked.trials, asked.seed)
    found = Search(search, runs, told).run()
    return _made(asked, runs, found, pool, told)


def _made(
    asked: _Task, runs: Runs, found: Found, pool: Pool, told: Told
) -> Calibration:  # fmt: skip
    from flashgc.calibrating import findings, intervals, verdicts
    from flashgc.calibrating.calibration import Calibration

    best = found.kept[0]
    scale = likelihood.scale(best.cost - best.spread, len(best.misses), len(asked.free))
    along = intervals.profiles(runs, best, asked.free, scale, _phase(told, "profile"))
    listed = intervals.told(best, asked.free, found.slopes, scale, along)
    judged = [row for row in asked.rows if row not in asked.fitted]
    [others] = runs.fitted([best.point], judged, _phase(told, "judge"), True)
    by_name = dict(zip([row.name for row in [*asked.fitted, *judged]],
                       [*best.found, *others.found], strict=True))  # fmt: skip
    points = findings.points(asked.rows, [by_name[row.name] for row in asked.rows], asked.fitted)
    ranked = verdicts.ranked(found.kept, found.others, scale)
    device, scheme = _files(asked, best)
    values: dict[str, Any] = {
        "version": engine.__version__, "device": asked.base.name, "drive": asked.drive,
        "seed": asked.seed, "trials": found.trials, "runs": pool.computed,
        "fitted": [row.name for row in asked.fitted], "judged": [row.name for row in judged],
        "blocks": [asked.base.blocks, int(asked.base.shape["blocks_per_plane"])],
        "noise": dict(asked.noise), "noise_scale": scale, "numbers": listed,
        "candidates": ranked, "points": points, "errors": findings.errors(points),
        "further": _further(found.kept, ranked, runs, asked, told),
        "device_toml": device, "scheme_toml": scheme,
    }  # fmt: skip
    for one, number in zip(listed, asked.free, strict=True):
        one["limits"] = [number.low, number.high]
    values["runs"] = pool.computed
    values["warnings"] = findings.warnings(values, best, asked.notes)
    values["commands"] = [
        "flashgc devices device.toml", "flashgc run LOAD --device device.toml --scheme scheme.toml"
    ]  # fmt: skip
    return Calibration(values)


def _further(
    kept: Sequence[Fitted], ranked: Sequence[Mapping[str, Any]], runs: Runs, asked: _Task,
    told: Told,
) -> dict[str, Any] | None:  # fmt: skip
    """The measurement that tells the best candidate from the nearest that is not excluded."""
    from flashgc.calibrating import apart, verdicts

    left = [one["name"] for one in ranked[1:] if one["verdict"] != verdicts.OUT]
    second = next((one for one in kept[1:] if one.name in left), None)
    if second is None:
        return None
    return apart.best(runs, [kept[0], second], asked.rows, _phase(told, "apart"))


def _files(asked: _Task, best: Fitted) -> tuple[str, str]:
    """The device and the scheme, which the engine has accepted together."""
    candidate, values = best.point.candidate, best.point.values
    head = [f"Fitted by flashgc calibrate to {', '.join(row.name for row in asked.fitted)}",
            f"with the scheme of scheme.toml: {candidate.name}"]  # fmt: skip
    device = drive.device_text(asked.base, values, candidate.device, head)
    scheme = candidate.text()
    if numbers.RESERVE in values:
        scheme = drive.with_reserve(asked.base, scheme, values[numbers.RESERVE])
    request: Request = {
        **asked.base.with_load, "device": ("device.toml", device),
        "scheme": ("scheme.toml", scheme),
        "sets": [text for text in asked.base.with_load["sets"] if text.startswith("workload.")],
    }  # fmt: skip
    refused = space.problem(request)
    if refused is not None:
        raise AssertionError(f"the fitted files are refused: {refused}")
    return device, scheme


def _phase(told: Told, name: str) -> Any:  # noqa: ANN401 - a callback
    return lambda done, total: told(CalibrateProgress(name, done, total))
