"""The interval of each number: the likelihood around the best point.

1. *alone*: one number varies and the others stay. The interval ends where the logarithm of the
   likelihood has fallen by 2, which is 95 % where the noise is that of the results.
2. *together*: the same while all others follow it, from the slopes at the best point. Two numbers
   of which only a sum or a ratio shows have a short interval alone, and a long one together.
3. A number is *known* if its interval together is within 10 % of it, *roughly known* within 30 %,
   and beyond that *not known* from these results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from flashgc.calibrating import fits
from flashgc.calibrating.drive import Point
from flashgc.calibrating.fits import Fitted, Matrix, Runs
from flashgc.calibrating.numbers import Number

FALL = 2.0
"""By how much the logarithm of the likelihood falls to the end of an interval."""
KNOWN, ROUGHLY = 0.10, 0.30
STEPS = (-0.3, -0.15, -0.08, -0.04, -0.02, 0.02, 0.04, 0.08, 0.15, 0.3)
"""The changes of a number for its profile, as logarithms."""
_WIDEST = math.log(10)

Told = Callable[[int, int], None]


def profiles(
    runs: Runs, best: Fitted, free: Sequence[Number], scale: float, told: Told
) -> list[list[tuple[float, float]]]:
    """For each number its values around the best one, each with the fall of the likelihood."""
    points: list[Point] = [best.point]
    for at in range(len(free)):
        for step in STEPS:
            points.append(fits.moved(best.point, free, step * np.eye(len(free))[at]))
    found = runs.fitted(points, best.rows, told)
    least = found[0].cost
    made = []
    for at, number in enumerate(free):
        own = found[1 + at * len(STEPS) : 1 + (at + 1) * len(STEPS)]
        pairs = [(one.point.values[number.key], (one.cost - least) / scale) for one in own]
        made.append(sorted([*pairs, (best.point.values[number.key], 0.0)]))
    return made


def told(
    best: Fitted, free: Sequence[Number], slopes: Matrix, scale: float,
    along: Sequence[Sequence[tuple[float, float]]],
) -> list[dict[str, Any]]:  # fmt: skip
    """Each number with its intervals, and whether it is known."""
    widths = together(best, slopes, scale)
    found = []
    for at, number in enumerate(free):
        value = best.point.values[number.key]
        low, high = _ends(along[at], value)
        wide = widths[at]
        unsure = math.exp(wide) - 1
        found.append({
            "key": number.key, "start": number.start, "value": value,
            "text": number.text(value), "low": low, "high": high,
            "together_low": value * math.exp(-wide), "together_high": value * math.exp(wide),
            "known": "yes" if unsure <= KNOWN else "roughly" if unsure <= ROUGHLY else "no",
            "profile": [{"value": one, "fall": fall} for one, fall in along[at]],
        })  # fmt: skip
    return found


def together(best: Fitted, slopes: Matrix, scale: float) -> list[float]:
    """Half of the interval of each number while all others follow it, as a logarithm."""
    weights = np.asarray(best.weights)
    information = slopes.T @ (weights[:, None] * slopes) / scale
    # A direction without any slope is as wide as the range of a search.
    floor = 2 * FALL / _WIDEST**2
    covariance = np.linalg.inv(information + floor * np.eye(information.shape[0]))
    return [min(math.sqrt(2 * FALL * float(one)), _WIDEST) for one in np.diag(covariance)]


def _ends(along: Sequence[tuple[float, float]], value: float) -> tuple[float | None, float | None]:
    """The ends of the interval alone; None where the profile does not reach them."""

    def end(pairs: Sequence[tuple[float, float]]) -> float | None:
        inside = (value, 0.0)
        for one, fall in pairs:
            if fall >= FALL:
                part = (FALL - inside[1]) / (fall - inside[1])
                return float(inside[0] * (one / inside[0]) ** part)
            inside = (one, max(fall, 0.0))
        return None

    below = [pair for pair in reversed(along) if pair[0] < value]
    above = [pair for pair in along if pair[0] > value]
    return end(below), end(above)
