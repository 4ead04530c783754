"""Judges an order: at how many of its places it holds, by which margin, and with every seed.

1. Each place has two values for each seed. It is in order if the means differ by the margin in the
   stated direction, and the values of every seed differ in that direction.
2. Places beyond the capacity of the drive, or without a value, are not judged.
3. The order is met if it holds at every judged place, and at least half of its places are judged.
4. An order that allows a tie needs an effect larger than the tie at half of these places, since it
   would otherwise hold of a scheme that does nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flashgc.reproduction.claims import Claim, Order, pairs
from flashgc.reproduction.experiment import Point
from flashgc.reproduction.grid import cell
from flashgc.reproduction.results import PERCENT, Results

NEAR_SHARE = 0.1
"""An order that fails at no more than this share of its places is near."""
JUDGED_SHARE = 0.5
"""The share of its places at which an order must be judged to have a verdict."""
CLOSE = 2.0
"""A place that holds by less than this number of margins is measured again with further seeds."""
POINT = 1.0
"""A place whose two changes in percent differ by less than this is measured again too: the share by
which 0.3 and 0.4 % differ is large, and the runs behind them differ by a thousandth."""


class Place(NamedTuple):
    """A place of an order: its runs, and its values with each seed."""

    at: Point
    runs: list[Point]
    values: list[tuple[float | None, float | None]]


@dataclass
class Tally:
    """The places of an order, by how they were judged."""

    total: int = 0
    undefined: int = 0
    left_out: int = 0
    left_out_held: int = 0
    effects: int = 0
    """Places whose values differ by more than the margin of equality, in the stated direction."""
    failed: list[Point] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    """The places where it fails: the name, and the two values."""
    saturated: list[Point] = field(default_factory=list)
    closest: tuple[float, str] | None = None
    """The smallest difference of a place that holds, as a share, and the place."""


def places(test: Order, results: Results) -> Iterator[Place]:
    """The places of an order, with the values of every seed."""
    experiment, seeds = results.experiment, results.seeds()
    for point in test.points:
        for left, right in pairs(experiment, test, point):
            runs = test.quantity.runs(experiment, left)
            runs += [] if right is None else test.other.runs(experiment, right)
            values = [
                (test.quantity.of(one, left),
                 test.bound if right is None else test.other.of(one, right))
                for at, one in enumerate(seeds) if at == 0 or _has_all(results, at - 1, runs)
            ]  # fmt: skip
            yield Place(left, runs, values)


def _has_all(results: Results, further: int, runs: Sequence[Point]) -> bool:
    """Whether all runs of a place have this further seed: other orders may have repeated some."""
    return all(run in results.again[further] or run in results.files for run in runs)


def tally(claim: Claim, test: Order, results: Results) -> Tally:
    """Judges every place of an order."""
    found = Tally()
    shown = unit(test, results)
    for place in places(test, results):
        values = [(left, right) for left, right in place.values
                  if left is not None and right is not None]  # fmt: skip
        if len(values) < len(place.values):
            found.undefined += 1
            continue
        beyond = results.saturated(place.runs)
        if beyond and not claim.any_load:
            found.saturated += beyond
            found.left_out += 1
            found.left_out_held += holds(test, values)
            continue
        found.total += 1
        share = _apart(test, values)
        found.effects += _has_effect(test, values)
        name = named(test, results, place.at)
        if not holds(test, values):
            found.failed.append(place.at)
            left, right = _means(values)
            found.wrong.append((name, f"{cell(left, shown)} against {cell(right, shown)}"))
        elif found.closest is None or share < found.closest[0]:
            found.closest = (share, name)
    return found


def is_lost(test: Order, found: Tally) -> bool:
    """Whether an order fails at too many places to be met or near, whatever further seeds show."""
    wrong = len(found.wrong)
    least = found.total / 2 if test.most else NEAR_SHARE * found.total
    return wrong > NEAR_SHARE * found.total and wrong >= least


def holds(test: Order, values: Sequence[tuple[float, float]]) -> bool:
    """Whether the values of a place, with each seed, are in order."""
    if test.word == "equal" or test.tie is not None:
        slack = [0.0 if test.tie is None else test.tie.of(right) for _, right in values]
        apart = [_signed(test, left, right) for left, right in values]
        if test.word == "equal":
            return all(abs(one) <= most for one, most in zip(apart, slack, strict=True))
        return all(-one <= most for one, most in zip(apart, slack, strict=True))
    left, right = _means(values)
    least = test.margin.of(max(abs(left), abs(right)))
    in_each = all(_signed(test, one, other) > 0 for one, other in values)
    return in_each and _signed(test, left, right) >= least


def is_close(test: Order, values: Sequence[tuple[float, float]]) -> bool:
    """Whether a place holds by so little that other seeds may turn it."""
    if test.word == "equal" or test.tie is not None:
        return False
    left, right = _means(values)
    least = test.margin.of(max(abs(left), abs(right)))
    far = CLOSE * least
    if test.quantity.against and test.quantity.percent and test.bound is None:
        far = max(far, POINT)
    return least <= _signed(test, left, right) < far


def _has_effect(test: Order, values: Sequence[tuple[float, float]]) -> bool:
    left, right = _means(values)
    return _signed(test, left, right) > (0.0 if test.tie is None else test.tie.of(right))


def _apart(test: Order, values: Sequence[tuple[float, float]]) -> float:
    """By which share the values differ in the stated direction."""
    left, right = _means(values)
    return _signed(test, left, right) / (max(abs(left), abs(right)) or 1.0)


def _signed(test: Order, left: float, right: float) -> float:
    """The distance of two values in the stated order; negative where they are against it."""
    return left - right if test.word == "above" else right - left


def _means(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    left, right = zip(*values, strict=True)
    return statistics.fmean(left), statistics.fmean(right)


def unit(test: Order, results: Results) -> str:
    """The unit of the values of an order."""
    quantity = test.quantity
    if quantity.against:
        return PERCENT if quantity.percent else ""
    return results.experiment.measures[quantity.measure].unit


def named(test: Order, results: Results, point: Point) -> str:
    """A place by the axes in which the places of the order differ."""
    several = [
        axis for at, axis in enumerate(results.experiment.axes)
        if axis not in test.quantity.over and len({each[at] for each in test.points}) > 1
    ]  # fmt: skip
    several += [test.along] if test.along is not None else []
    return results.experiment.label(point, several or None)
