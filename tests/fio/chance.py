"""Whether two samples of requests come from one distribution."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable

from theirs import Request

CHANCE = 1e-8
"""Samples that are less alike than this are not from one distribution."""
LEAST = 20
"""Requests from which distributions are compared."""


def alike(what: str, fio: Iterable[Hashable], own: Iterable[Hashable]) -> list[str]:
    """Two samples of classes: chi-squared with the classes of few requests together."""
    counts = Counter(fio), Counter(own)
    sums = [sum(one.values()) for one in counts]
    if min(sums) < LEAST:
        return []
    classes = sorted(counts[0] | counts[1], key=lambda one: -(counts[0][one] + counts[1][one]))
    table: list[tuple[int, int]] = []
    rest = (0, 0)
    for one in classes:
        pair = counts[0][one], counts[1][one]
        if min(sums) * (pair[0] + pair[1]) / sum(sums) >= 5:
            table.append(pair)
        else:
            rest = rest[0] + pair[0], rest[1] + pair[1]
    if sum(rest):
        table.append(rest)
    square = 0.0
    for pair in table:
        for found, total in zip(pair, sums, strict=True):
            due = sum(pair) * total / sum(sums)
            square += (found - due) ** 2 / due
    chance = chi_squared(square, len(table) - 1)
    if chance >= CHANCE:
        return []
    return [f"{what}: {_listed(counts[0])} and {_listed(counts[1])} (chance {chance:.1e})"]


def chi_squared(square: float, freedom: int) -> float:
    """The chance of a larger sum of squares."""
    if freedom <= 0:
        return 1.0
    # By the series of the incomplete gamma function, and its continued fraction.
    a, x = freedom / 2, square / 2
    if x <= 0:
        return 1.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, 500):
            term *= x / (a + n)
            total += term
        return max(0.0, 1 - front * total)
    b = x + 1 - a
    c, d = 1e300, 1 / b
    fraction = d
    for n in range(1, 500):
        factor = -n * (n - a)
        b += 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        fraction *= c * d
    return front * fraction


def _listed(counts: Counter[Hashable]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counts.most_common(6))


def eighths(fio: list[Request], own: list[Request]) -> tuple[list[int], list[int]]:
    """The eighth of the whole range in which each request begins."""
    both = [one.offset for one in (*fio, *own)]
    if not both:
        return [], []
    low, width = min(both), (max(both) - min(both)) // 8 + 1
    return ([(one.offset - low) // width for one in fio],
            [(one.offset - low) // width for one in own])  # fmt: skip


def popular(stream: list[Request]) -> list[int]:
    """The rank of the place of each request, up to the fourth."""
    ranks = {offset: rank for rank, (offset, _) in
             enumerate(Counter(one.offset for one in stream).most_common(3))}  # fmt: skip
    return [ranks.get(one.offset, 3) for one in stream]


def neighbours(stream: list[Request]) -> list[bool]:
    """Whether each request begins where the one before ended."""
    pairs = itertools.pairwise(stream)
    return [one.offset + one.bytes == after.offset for one, after in pairs]


def most_popular(stream: list[Request]) -> int:
    """Requests to the place that has the most."""
    return Counter(one.offset for one in stream).most_common(1)[0][1]
