"""Points whose runs are repeated with further seeds: the mean of each number, and its jitter.

A percentile between two humps of a distribution differs from seed to seed. With one seed each, the
best of several points is the one with the luckiest draw, not the nearest to the truth.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from flashgc.calibrating import likelihood
from flashgc.calibrating.drive import Point
from flashgc.calibrating.fits import Fitted, Runs, Told
from flashgc.calibrating.likelihood import Simulated
from flashgc.calibrating.rows import Row

SEEDS = 3
"""Seeds of each point."""

Jitter = tuple[float, ...]


def runs_of(
    runs: Runs, points: Sequence[Point], rows: Sequence[Row], told: Told
) -> list[Sequence[Fitted]]:  # fmt: skip
    """Long runs of each point, with every seed."""

    def part(seed: int) -> Told:
        return lambda done, total: told(seed * total + done, SEEDS * total)

    each = [runs.fitted(points, rows, part(seed), True, seed) for seed in range(SEEDS)]
    return list(zip(*each, strict=True))


def jitter(groups: Sequence[Sequence[Fitted]]) -> Jitter:
    """The standard deviation of the logarithm of each number over the seeds of a point.

    Over several points of a candidate it is the mean variance: three seeds of one point easily show
    half or twice the true one, and each number counts with it.
    """
    found = []
    for index, row in enumerate(groups[0][0].rows):
        for metric in row.values:
            logs = [[math.log(one.found[index][metric]) for one in several
                     if metric in one.found[index]] for several in groups]  # fmt: skip
            spreads = [statistics.variance(own) for own in logs if len(own) > 1]
            found.append(math.sqrt(statistics.fmean(spreads)) if spreads else 0.0)
    return tuple(found)


def mean(several: Sequence[Fitted], jitter_: Jitter, runs: Runs) -> Fitted:
    """A point with the mean of its runs, and noise that has this jitter."""
    first = several[0]
    found = [_mean([one.found[at] for one in several]) for at in range(len(first.rows))]
    return with_jitter(replace(first, found=found), jitter_, runs)


def with_jitter(fit: Fitted, jitter_: Jitter, runs: Runs) -> Fitted:
    """The same runs, with noise that has this jitter."""
    return replace(
        fit, point=replace(fit.point, jitter=jitter_),
        misses=likelihood.misses(fit.rows, fit.found, runs.noise, jitter_),
        widths=likelihood.widths(fit.rows, runs.noise, jitter_),
    )  # fmt: skip


def _mean(runs: Sequence[Simulated]) -> Simulated:
    """The geometric mean of each number that all of these runs have."""
    return {metric: math.exp(statistics.fmean(math.log(one[metric]) for one in runs))
            for metric in runs[0] if all(metric in one for one in runs)}  # fmt: skip
