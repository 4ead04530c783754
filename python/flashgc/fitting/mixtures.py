"""Values with weights, as the generator takes them, and kinds of things that are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Weights = list[tuple[float, float]]

SAMPLE = 50_000
"""The most things that kinds are found on; the kinds then apply to all."""


def mixture(values: NDArray[Any], most: int, *, tail: bool = False) -> Weights:
    """At most `most` values with weights, in rising order.

    Few values are kept as they are. Of many, ranges with equal numbers of values are each
    represented by their mean, so that the mean of all is kept; with `tail`, the greatest values
    have finer ranges.
    """
    if len(values) == 0:
        return []
    known, counts = np.unique(values, return_counts=True)
    if len(known) <= most:
        return list(zip(known.tolist(), (counts / len(values)).tolist(), strict=True))
    ordered = np.sort(values).astype(np.float64)
    shares = np.linspace(0, 1, most + 1)
    if tail:
        shares = np.concatenate([shares, 1 - 1 / most / np.array([4.0, 16.0, 64.0])])
    ends = np.unique(np.round(np.unique(shares) * len(ordered)).astype(int))
    ranges = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return [(float(ordered[a:b].mean()), (b - a) / len(ordered)) for a, b in ranges]


def sizes(values: NDArray[Any], most: int) -> Weights:
    """A mixture of sizes in whole sectors."""
    found: dict[float, float] = {}
    for value, weight in mixture(values, most):
        sectors = max(round(value / 512), 1) * 512.0
        found[sectors] = found.get(sectors, 0.0) + weight
    return list(found.items())


def ages(ranks: Floats, most: int, oldest: float = 0.9) -> Weights:
    """Ranges of ranks by their upper ends. Ranks above `oldest` count as the oldest.

    Where many writes have one and the same rank, the range before it ends just below, so that it
    stays sharp.
    """
    if len(ranks) == 0:
        return []
    young = np.sort(ranks[ranks <= oldest])
    found: Weights = []
    if len(young):
        ends = np.quantile(young, np.linspace(0, 1, most + 1), method="inverted_cdf")
        weight = len(young) / len(ranks) / most
        if ends[0] > 0:
            found.append((float(ends[0]), 0.0))
        for before, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            if found and end == before == found[-1][0]:
                found[-1] = (end, found[-1][1] + weight)
            else:
                found.append((end, weight))
    if len(young) < len(ranks):
        if found and found[-1][0] < oldest:
            found.append((oldest, 0.0))
        found.append((1.0, 1 - len(young) / len(ranks)))
    return found


def kinds(features: Floats, weights: Floats, most: int) -> Ints:
    """The kind of each row, at most `most` kinds: k-means, the same every time."""
    generator = np.random.default_rng(0)
    rows = len(features)
    some = generator.permutation(rows)[:SAMPLE]
    sample, weight = features[some], weights[some]
    centres = _begin(sample, weight, most, generator)
    for _ in range(30):
        nearest = _nearest(sample, centres)
        for at in range(len(centres)):
            mine = nearest == at
            if mine.any():
                centres[at] = np.average(sample[mine], axis=0, weights=weight[mine])
    found = _nearest(features, centres)
    # Numbers without gaps.
    numbers: Ints = np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers


def _begin(sample: Floats, weight: Floats, most: int, generator: np.random.Generator) -> Floats:
    """Centres far apart (k-means++)."""
    first = generator.choice(len(sample), p=weight / weight.sum())
    centres = [sample[first]]
    distance = ((sample - centres[0]) ** 2).sum(axis=1)
    while len(centres) < min(most, len(sample)):
        chance = distance * weight
        if chance.sum() <= 0:
            break
        centres.append(sample[generator.choice(len(sample), p=chance / chance.sum())])
        distance = np.minimum(distance, ((sample - centres[-1]) ** 2).sum(axis=1))
    return np.array(centres, dtype=np.float64)


def _nearest(rows: Floats, centres: Floats) -> Ints:
    best = np.zeros(len(rows), dtype=np.int64)
    least = np.full(len(rows), np.inf)
    for at, centre in enumerate(centres):
        distance = ((rows - centre) ** 2).sum(axis=1)
        nearer = distance < least
        best[nearer], least[nearer] = at, distance[nearer]
    return best
