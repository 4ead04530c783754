"""The search: closed reasoning for all candidates, then steps, trials, and repeated long runs.

1. *closed*: every candidate runs on the fitted rows, and each number moves by the measurement that
   shows it alone: spare space by write amplification, programs by the full rate, reads and
   firmware by requests of an idle drive.
2. *steps*: the better candidates, all numbers together.
3. *trials*: points around the best candidates, drawn by Optuna, so that a better place far from
   the steps is found.
4. *long runs*: the best candidates, with further steps and closed reasoning again. From here on
   a point has the mean of several seeds.
5. *polish*: those that are not excluded, with slopes from runs around their own points.

All runs of a phase are done before the next one begins, so that no result depends on the number of
workers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import optuna

from flashgc.axes.choice import Choice, Range, Source
from flashgc.calibrating import drive, fits, likelihood, repeated, verdicts
from flashgc.calibrating.candidates import Candidate
from flashgc.calibrating.drive import Point
from flashgc.calibrating.fits import Fitted, Matrix, Runs, Steps
from flashgc.calibrating.numbers import Number
from flashgc.calibrating.progress import CalibrateProgress, Told
from flashgc.calibrating.rows import Row
from flashgc.tuning.sampler import TPE, Legal, quiet, suggested
from flashgc.tuning.space import Parameter, Space, Values

CLOSED, STEPS, LONG_STEPS, POLISHED = 3, 2, 3, 2
"""Rounds of each phase."""
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
        self._groups: defaultdict[str, list[Sequence[Fitted]]] = defaultdict(list)
        """The repeated points of each candidate."""

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

    def _step(self, under_way: Sequence[Steps], phase: str, at: int, rounds: int) -> None:
        found = self._fitted([one.next() for one in under_way], phase, at, rounds)
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
        asked = self.asked
        rounds = LONG_STEPS + 2
        first = self._repeated([one.fit.point for one in kept], "long", 0, rounds)
        fits_ = [repeated.mean(own, repeated.jitter([own]), self.runs) for own in first]
        under_way = [Steps(own, asked.free, one.slopes / np.asarray(own.widths)[:, None],
                           self._limits)
                     for one, own in zip(kept, fits_, strict=True)]  # fmt: skip
        for at in range(1, LONG_STEPS + 1):
            self._seen(under_way, [one.next() for one in under_way], "long", at, rounds)
        closed = [fits.closed(one.fit, asked.rows, asked.free, self.runs.base)
                  for one in under_way]  # fmt: skip
        self._seen(under_way, closed, "long", rounds - 1, rounds)
        found, slopes = self._polished(sorted(map(self._jittered, under_way), key=_order))
        return Found(found, slopes, others, asked.trials)

    def _jittered(self, steps: Steps) -> Fitted:
        """The fit of a candidate with the jitter of all of its repeated points."""
        jitter = repeated.jitter(self._groups[steps.fit.name])
        return repeated.with_jitter(steps.fit, jitter, self.runs)

    def _polished(self, found: Sequence[Fitted]) -> tuple[list[Fitted], Matrix]:
        """The candidates that are not excluded after steps with slopes of their own points.

        The second result is the slopes of the best one.
        """
        free, best = self.asked.free, found[0]
        scale = likelihood.scale(best.cost - best.spread, len(best.misses), len(free))
        out = best.cost + verdicts.EXCLUDED * scale
        near = [one for one in found if one.cost < out]
        rounds = len(free) + POLISHED
        points = [point for one in near for point in fits.aside(one.point, free)]
        groups = self._repeated(points, "polish", 0, rounds, len(free))
        polished = []
        for at, one in enumerate(near):
            jitter = repeated.jitter(self._groups[one.name])
            beside = [repeated.mean(own, jitter, self.runs)
                      for own in groups[at * len(free) : (at + 1) * len(free)]]  # fmt: skip
            fit = repeated.with_jitter(one, jitter, self.runs)
            slopes = fits.slopes(fit, beside, self._limits)
            polished.append(Steps(fit, free, slopes, self._limits))
        for at in range(len(free), rounds):
            self._seen(polished, [one.next() for one in polished], "polish", at, rounds)
        polished.sort(key=lambda one: _order(one.fit))
        others = [*(one.fit for one in polished[1:]), *found[len(near) :]]
        return [polished[0].fit, *sorted(others, key=_order)], polished[0].slopes

    def _seen(
        self, under_way: Sequence[Steps], points: Sequence[Point], phase: str, at: int, rounds: int
    ) -> None:  # fmt: skip
        """Repeated long runs of a point for each candidate, which it takes if it is better."""
        groups = self._repeated(points, phase, at, rounds)
        for steps, own in zip(under_way, groups, strict=True):
            steps.seen(repeated.mean(own, steps.fit.point.jitter, self.runs))

    def _repeated(
        self, points: Sequence[Point], phase: str, at: int, rounds: int, rounds_now: int = 1
    ) -> list[Sequence[Fitted]]:  # fmt: skip
        """Long runs of points with every seed."""
        rows = self.asked.rows
        told = self._part(phase, at, rounds, repeated.SEEDS * len(points) * len(rows), rounds_now)
        groups = repeated.runs_of(self.runs, points, rows, told)
        for own in groups:
            self._groups[own[0].name].append(own)
        return groups

    def _fitted(
        self, points: Sequence[Point], phase: str, at: int, rounds: int, rounds_now: int = 1
    ) -> list[Fitted]:  # fmt: skip
        """Points with their runs."""
        now = len(points) * len(self.asked.rows)
        return self.runs.fitted(points, self.asked.rows,
                                self._part(phase, at, rounds, now, rounds_now))  # fmt: skip

    def _part(
        self, phase: str, at: int, rounds: int, now: int, rounds_now: int
    ) -> fits.Told:  # fmt: skip
        """The progress of some of the rounds of a phase, which have this number of runs."""

        def told(done: int, total: int) -> None:
            part = now * done // max(total, 1)
            per_round = now // rounds_now
            self._told(CalibrateProgress(phase, at * per_round + part, rounds * per_round))

        return told


def _alike(fits_: Sequence[Fitted]) -> list[Point]:
    """Each candidate with the numbers of the best one: a search that is stuck begins anew there."""
    best = min(fits_, key=_order).point.values
    return [Point(one.point.candidate, best, one.point.reserve) for one in fits_]


def _order(fit: Fitted) -> tuple[tuple[bool, float], str]:
    return fit.rank, fit.name


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
