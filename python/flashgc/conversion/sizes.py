"""Sizes of requests as a table of sizes with weights."""

from __future__ import annotations

import math

from flashgc.conversion.values import size

SECTOR_BYTES = 512
CUT = 4
"""Standard deviations at which the normal distribution is cut."""
MOST = 200
"""Sizes of a table at most."""


def normal(mean: float, deviation: float, multiple: int = 1) -> dict[str, float]:
    """A normal distribution in sectors, rounded up to a multiple and to one multiple at least.

    >>> from flashgc.conversion.sizes import normal
    >>> {size: round(weight, 3) for size, weight in normal(16, 4, multiple=8).items()}
    {'4 KiB': 0.023, '8 KiB': 0.477, '12 KiB': 0.477, '16 KiB': 0.023}
    """
    low = max(1, math.floor((mean - CUT * deviation) / multiple))
    high = max(low, math.ceil((mean + CUT * deviation) / multiple))
    step = -(-(high - low + 1) // MOST)
    table: dict[str, float] = {}
    below = 0.0
    for top in range(low + step - 1, high + step, step):
        part = _below(top * multiple, mean, deviation)
        weight = round(part - below, 9)
        if weight > 0:
            table[size(top * multiple * SECTOR_BYTES)] = weight
        below = part
    return table


def _below(sectors: float, mean: float, deviation: float) -> float:
    return 0.5 * (1 + math.erf((sectors - mean) / (deviation * math.sqrt(2))))
