"""Steady state as the specification defines it: the last five rounds, and a line through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WINDOW = 5
"""Rounds of the measurement window."""
ROUNDS_MAX = 25
"""Rounds after which a test ends without steady state."""
RANGE = 0.20
"""The largest distance between two rounds of the window, as a share of their average."""
SLOPE = 0.10
"""The largest change of the best linear fit over the window, as a share of the average."""


class Window(NamedTuple):
    """A series of rounds over the measurement window, and its judgement."""

    average: float
    spread: float
    """The largest value less the smallest."""
    slope: float
    """Of the best linear fit by least squares, per round."""
    first: float
    """The fit at the first round of the window."""

    @property
    def rise(self) -> float:
        """The change of the fit from the first round of the window to the last."""
        return self.slope * (WINDOW - 1)

    @property
    def spread_share(self) -> float:
        """The spread as a share of the average."""
        return _share(self.spread, self.average)

    @property
    def rise_share(self) -> float:
        """The change of the fit as a share of the average, without its sign."""
        return _share(abs(self.rise), self.average)

    @property
    def is_steady(self) -> bool:
        """Whether both lie within their limits; the limits themselves are within.

        Rounds without a finished request are not: they are shorter than a request.
        """
        return self.average > 0 and self.spread_share <= RANGE and self.rise_share <= SLOPE


def _share(part: float, whole: float) -> float:
    """A share; sums of decimal fractions are rounded so that the limits themselves are within."""
    if whole == 0:
        return 0.0 if part == 0 else 1.0
    return round(part / whole, 12)


def window(values: Sequence[float]) -> Window | None:
    """The window of the last rounds of a series; None while there are too few.

    >>> from flashgc.snia.steady import window
    >>> found = window([400, 110, 90, 100, 100, 100])
    >>> found.average, found.spread, found.slope, found.is_steady
    (100.0, 20, -1.0, True)
    """
    if len(values) < WINDOW:
        return None
    last = values[-WINDOW:]
    average = sum(last) / WINDOW
    middle = (WINDOW - 1) / 2
    places = [at - middle for at in range(WINDOW)]
    slope = sum(place * value for place, value in zip(places, last, strict=True))
    slope /= sum(place * place for place in places)
    return Window(average, max(last) - min(last), slope, average - slope * middle)


def reached(series: Sequence[Sequence[float]]) -> bool:
    """Whether every series is steady over its last rounds."""
    found = [window(values) for values in series]
    return bool(found) and all(one is not None and one.is_steady for one in found)
