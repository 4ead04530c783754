"""The search: closed reasoning for all candidates, then steps, then trials, then long runs.

1. *closed*: every candidate runs on the fitted rows, and each number moves by the measurement that
   shows it alone: spare space by write amplification, programs by the full rate, reads and
   firmware by requests of an idle drive.
2. *steps*: the better candidates, all numbers together.
3. *trials*: points around the best candidates, drawn by Optuna, so that a better place far from
   the steps is found.
4. *long runs*: the best candidates, with further steps and closed reasoning again.

All runs of a phase are done before the next one begins, so that no result depends on the number of
workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import optuna

from flashgc.axes.choice import Choice, Range, Source
from flashgc.calibrating import drive, fits
from flashgc.calibrating.candidates import Candidate
from flashgc.calibrating.drive import Point
from flashgc.calibrating.fits import Fitted, Matrix, Runs, Steps
from flashgc.calibrating.numbers import Number
from flashgc.calibrating.progress import CalibrateProgress, Told
from flashgc.calibrating.rows import Row
from flashgc.tuning.sampler import TPE, Legal, quiet, suggested
from flashgc.tuning.space import Parameter, Space, Values

CLOSED, STEPS, LONG_STEPS, POLISHED = 3, 2, 5, 1
"""Rounds of each phase."""
SEEDS = 2
"""Further seeds of the long runs, for the jitter of their numbers."""
STEPPED = 10
"""Candidates with steps."""
KEPT = 4
"""Candidates with trials and long runs."""
BATCH = 8
"""Trials that are drawn together, whatever the number of workers."""
_AROUND = 1.3
"""Trials have numbers within this factor of those of the best candidates."""
_RESERVE = 4.0
"""Erased blocks of a plane before any is measured: the threshold of the combinations."""
_NAME = "collector"


@dataclass(frozen=True)
class Asked:
    """What a search is asked for."""

    rows: Sequence[Row]
    """The rows that it fits."""
    free: Sequence[Number]
    candidates: Sequence[Candidate]
    trials: int
    seed: int


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    kept: Sequence[Fitted]
    """The best candidates with long runs, the best one first."""
    slopes: Matrix
    """The slopes of the best one."""
    others: Sequence[Fitted]
    """The candidates without long runs."""
    trials: int


class Search:
    """A search under way."""

    def __init__(self, asked: Asked, runs: Runs, told: Told) -> None:
        self.asked, self.runs, self._told = asked, runs, told
        self._limits = fits.limits(asked.rows, runs.noise)

    def run(self) -> Found:
        """All phases."""
        first = sorted(self._closed(), key=_order)
        after = sorted(self._steps(first[:STEPPED]), key=lambda one: _order(one.fit))
        kept = self._trials(after[:KEPT])
        others = [*(one.fit for one in after[KEPT:]), *first[STEPPED:]]
        return self._long(kept, others)

    def _closed(self) -> list[Fitted]:
        """All candidates, each number by the measurement that shows it alone."""
        asked = self.asked
        values = {one.key: one.start for one in asked.free}
        points = [Point(one, values, _RESERVE) for one in asked.candidates]
        best: list[Fitted] = []
        rounds = CLOSED + 2
        for at in range(rounds):
            found = self._fitted(points, "closed", at, rounds)
            best = found if not best else [min(pair, key=_order)
                                           for pair in zip(best, found, strict=True)]  # fmt: skip
            points = [fits.closed(one, asked.rows, asked.free, self.runs.base) for one in found]
            if at == rounds - 2:
                points = _alike(best)
        return best

    def _steps(self, first: Sequence[Fitted]) -> list[Steps]:
        """These candidates after steps of all numbers."""
        free = self.asked.free
        rounds = STEPS + len(free) + 1
        beside = self._fitted([point for one in first for point in fits.aside(one.point, free)],
                              "steps", 0, rounds, rounds_now=len(free))  # fmt: skip
        count = len(free)
        under_way = [
            Steps(one, free, fits.slopes(one, beside[at * count : (at + 1) * count], self._limits),
                  self._limits)
            for at, one in enumerate(first)
        ]  # fmt: skip
        for at in range(STEPS):
            self._step(under_way, "steps", len(free) + at, rounds)
        points = _alike([one.fit for one in under_way])
        found = self._fitted(points, "steps", rounds - 1, rounds)
        for steps, own in zip(under_way, found, strict=True):
            steps.seen(own)
        return under_way

    def _step(
        self, under_way: Sequence[Steps], phase: str, at: int, rounds: int, long: bool = False
    ) -> None:
        found = self._fitted([one.next() for one in under_way], phase, at, rounds, long)
        for steps, own in zip(under_way, found, strict=True):
            steps.seen(own)

    def _trials(self, stepped: Sequence[Steps]) -> list[Steps]:
        """The candidates, each at its best trial if that is better."""
        asked, kept = self.asked, [one.fit for one in stepped]
        space = _space(self.runs.base, kept, asked.free)
        starts = [_values(one, asked.free) for one in kept]
        sampler = Legal(space, TPE, asked.seed, starts)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with quiet():
            study = optuna.create_study(sampler=sampler, direction="minimize")
        best = {one.name: one for one in kept}
        for begin in range(0, asked.trials, BATCH):
            numbers_ = range(begin, min(begin + BATCH, asked.trials))
            with quiet():
                batch = [study.ask() for _ in numbers_]
                drawn = [suggested(one, space) for one in batch]
            points = [self._point(values, best) for values in drawn]
            self._told(CalibrateProgress("trials", begin, asked.trials))
            found = self.runs.fitted(points, asked.rows)
            with quiet():
                for trial, own in zip(batch, found, strict=True):
                    study.tell(trial, own.cost)
            for own in found:
                best[own.name] = min(best[own.name], own, key=_order)
        return [Steps(best[one.fit.name], asked.free, one.slopes, self._limits)
                for one in stepped]  # fmt: skip

    def _point(self, values: Values, best: dict[str, Fitted]) -> Point:
        """The point of a trial."""
        own = best[str(values[_NAME])].point
        made = {one.key: one.clipped(float(values[one.key]) / _shown(one)) for one in
                self.asked.free}  # fmt: skip
        return Point(own.candidate, made, own.reserve)

    def _long(self, kept: Sequence[Steps], others: Sequence[Fitted]) -> Found:
        """The best candidates with long runs, and the slopes of the best one."""
        free, limits = self.asked.free, self._limits
        rounds = LONG_STEPS + POLISHED + SEEDS + 2
        first = self._fitted([one.fit.point for one in kept], "long", 0, rounds, True)
        first = self._jittered(first, rounds)
        under_way = [Steps(own, free, one.slopes / np.asarray(own.widths)[:, None], limits)
                     for one, own in zip(kept, first, strict=True)]  # fmt: skip
        for at in range(LONG_STEPS):
            self._step(under_way, "long", at + SEEDS + 1, rounds, True)
        for at in range(LONG_STEPS, LONG_STEPS + POLISHED):
            points = [
                fits.closed(one.fit, self.asked.rows, free, self.runs.base) for one in under_way
            ]
            polished = self._fitted(points, "long", at + SEEDS + 1, rounds, True)
            for steps, own in zip(under_way, polished, strict=True):
                steps.seen(own)
        found = sorted((one.fit for one in under_way), key=_order)
        beside = self._fitted(fits.aside(found[0].point, free), "long", rounds - 1, rounds, True)
        return Found(found, fits.slopes(found[0], beside, limits), others, self.asked.trials)

    def _jittered(self, first: Sequence[Fitted], rounds: int) -> list[Fitted]:
        """Long runs, with the noise of the numbers that differ from seed to seed."""
        points = [one.point for one in first]
        more = [self._fitted(points, "long", at, rounds, True, more_seed=at)
                for at in range(1, SEEDS + 1)]  # fmt: skip
        return [fits.with_jitter(several[0], fits.jitter(several), self.runs.noise)
                for several in zip(first, *more, strict=True)]  # fmt: skip

    def _fitted(
        self, points: Sequence[Point], phase: str, at: int, rounds: int, long: bool = False,
        rounds_now: int = 1, more_seed: int = 0,
    ) -> list[Fitted]:  # fmt: skip
        """Points with their runs; the progress is that of one of some rounds of a phase."""
        now = len(points) * len(self.asked.rows)

        def told(done: int, total: int) -> None:
            part = now * done // max(total, 1)
            per_round = now // rounds_now
            self._told(CalibrateProgress(phase, at * per_round + part, rounds * per_round))

        return self.runs.fitted(points, self.asked.rows, told, long, more_seed)


def _alike(fits_: Sequence[Fitted]) -> list[Point]:
    """Each candidate with the numbers of the best one: a search that is stuck begins anew there."""
    best = min(fits_, key=_order).point.values
    return [Point(one.point.candidate, best, one.point.reserve) for one in fits_]


def _order(fit: Fitted) -> tuple[float, str]:
    return fit.cost, fit.name


def _shown(number: Number) -> float:
    """The factor from a value to the number in its text."""
    return 100.0 if number.kind.unit == "share" else 1.0


_UNITS = {"share": "%", "time": " ns", "rate": " ns/B", "size": " B", "blocks": " blocks"}


def _values(fit: Fitted, free: Sequence[Number]) -> Values:
    """A point in the terms of the space of trials."""
    own = {one.key: float(f"{fit.point.values[one.key] * _shown(one):.6g}") for one in free}
    return {_NAME: fit.name, **own}


def _space(base: drive.Base, kept: Sequence[Fitted], free: Sequence[Number]) -> Space:
    """The candidates, and numbers around theirs."""
    choices = {}
    for one in kept:
        own = one.point.candidate
        source = (Source(set=own.settings) if own.settings else
                  Source(scheme=own.scheme[0]))  # fmt: skip
        choices[own.name] = Choice(own.name, own.name, (source,))
    parameters = [Parameter(_NAME, choices)]
    for number in free:
        seen = [one.point.values[number.key] for one in kept]
        low = number.clipped(min(seen) / _AROUND) * _shown(number)
        high = number.clipped(max(seen) * _AROUND) * _shown(number)
        unit = _UNITS[number.kind.unit]
        parameters.append(Parameter(number.key, Range(number.key, low, high, "log", unit)))
    return Space(base.with_load, parameters)
