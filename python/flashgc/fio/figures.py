"""Statistics as fio reports them: moments, and percentiles from the bins of its histogram."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

BITS = 6
"""Each power of two has 2^6 bins."""
GROUPS = 29
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


def bin_of(value: int) -> int:
    """The number of a value's bin.

    >>> from flashgc.fio.figures import bin_of, middle
    >>> middle(bin_of(3346)), middle(bin_of(20_025_746)), middle(bin_of(91))
    (3344, 20054016, 91)
    """
    top = value.bit_length() - 1
    if top <= BITS:
        return value
    shift = top - BITS
    found = ((shift + 1) << BITS) + ((value >> shift) & ((1 << BITS) - 1))
    return min(found, (GROUPS << BITS) - 1)


def middle(number: int) -> int:
    """The middle of a bin, by which fio names it."""
    if number < 1 << (BITS + 1):
        return number
    shift = (number >> BITS) - 1
    base = 1 << (shift + BITS)
    step = number & ((1 << BITS) - 1)
    return base + (step << shift) + (1 << (shift - 1))


class Figure:
    """A sample of times in ns."""

    def __init__(self, values: Iterable[int] = ()) -> None:
        self.values: list[int] = list(values)

    def add(self, other: Figure) -> None:
        """The sample of another clone."""
        self.values += other.values

    def moments(self) -> dict[str, float]:
        """Extremes, mean, standard deviation and number."""
        values = self.values
        if not values:
            return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
        mean = sum(values) / len(values)
        spread = sum((value - mean) ** 2 for value in values)
        stddev = math.sqrt(spread / (len(values) - 1)) if len(values) > 1 else 0.0
        return {"min": min(values), "max": max(values), "mean": round(mean, 6),
                "stddev": round(stddev, 6), "N": len(values)}  # fmt: skip

    def bins(self) -> Counter[int]:
        """Values in each bin."""
        return Counter(map(bin_of, self.values))

    def percentiles(self, percents: Iterable[float]) -> dict[str, int]:
        """The bin in which each share of the values ends."""
        bins = sorted(self.bins().items())
        found, at, below = {}, 0, 0
        for percent in percents:
            due = percent / 100 * len(self.values)
            while at < len(bins) - 1 and below + bins[at][1] < due:
                below += bins[at][1]
                at += 1
            found[f"{percent:.6f}"] = middle(bins[at][0]) if bins else 0
        return found
