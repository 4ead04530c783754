"""The statements of a paper, claim by claim, read from its claims.toml."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flashgc.reproduction.experiment import ANY, Experiment, Point, Where
from flashgc.reproduction.results import Quantity

KINDS = ("value", "order", "check")
WORDS = ("below", "above", "equal", "rising")
"""The relations of an order."""


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of a value: a share of the claimed one, or in its unit."""

    met: float
    near: float
    relative: bool


@dataclass(frozen=True)
class Tie:
    """A difference that counts for nothing: a share of the second value, or in its unit."""

    amount: float
    relative: bool

    def of(self, figure: float) -> float:
        """In the unit of the value."""
        return self.amount * abs(figure) if self.relative else self.amount


NO_MARGIN = Tie(0.0, relative=True)


@dataclass(frozen=True)
class Value:
    """A number that the paper states."""

    quantity: Quantity
    point: Point
    minus: Mapping[str, str]
    """The run whose value is subtracted; empty: none."""
    tolerance: Tolerance


@dataclass(frozen=True)
class Order:
    """A statement on which value is larger, at every one of several runs."""

    quantity: Quantity
    other: Quantity
    points: tuple[Point, ...]
    word: str
    """`below`, `above`, `equal`, or `rising` along an axis."""
    than: tuple[Mapping[str, str], ...]
    bound: float | None
    along: str | None
    choices: tuple[str, ...]
    tie: Tie | None = None
    """The largest difference of values that count as equal, and so in order; None: zero."""
    most: bool = False
    """Whether it is about most places: it is met if it holds at more than half of them."""
    margin: Tie = NO_MARGIN
    """The least difference of two values that are in order."""


@dataclass(frozen=True)
class Check:
    """A check that must hold in every run."""

    name: str


@dataclass(frozen=True)
class Remark:
    """A note on some of the values of a claim, or on some of the places of an order."""

    at: Where
    note: str
    why_not: str | None
    backed_by: tuple[str, ...] = ()
    """The figures and tables whose runs show the reason."""
    fitted_to: bool = False
    """Whether a synthetic workload was fitted to these values."""

    def fits(self, names: Mapping[str, str]) -> bool:
        """Whether it is on these choices."""
        return all(names.get(axis) in wanted for axis, wanted in self.at.items())


@dataclass(frozen=True)
class Claim:
    """One statement with its place, and how it is tested."""

    parts: tuple[str, ...]
    place: str
    what: str
    unit: str
    source: str
    claimed: float | str
    test: Value | Order | Check
    note: str
    why_not: str | None
    """The reason why it cannot be met, where that is known."""
    any_load: bool = False
    """Whether it is also about loads that the drive cannot serve."""
    any_workload: bool = False
    """Whether no workload decides it, so that a synthetic workload is as good as the paper's."""
    fitted_to: bool = False
    """Whether a synthetic workload was fitted to its number, so that it predicts nothing."""
    backed_by: tuple[str, ...] = ()
    """The figures and tables whose runs show the reason `why_not`."""
    remarks: tuple[Remark, ...] = ()
    """The reasons why an order cannot hold at some of its places."""

    def runs(self, experiment: Experiment) -> list[Point]:
        """The runs that it needs; a check needs none of its own."""
        match self.test:
            case Value(quantity, point, minus):
                other = [experiment.moved(point, minus)] if minus else []
                return [run for each in (point, *other) for run in quantity.runs(experiment, each)]
            case Order() as order:
                return list(_order_runs(experiment, order))
        return []

    def belongs(self, items: Sequence[str]) -> bool:
        """Whether it belongs to one of the given figures or tables."""
        return ANY in self.parts or any(part in items for part in self.parts)


def _order_runs(experiment: Experiment, order: Order) -> Iterator[Point]:
    for point in order.points:
        for pair in pairs(experiment, order, point):
            yield from order.quantity.runs(experiment, pair[0])
            if pair[1] is not None:
                yield from order.other.runs(experiment, pair[1])


def pairs(experiment: Experiment, order: Order, point: Point) -> list[tuple[Point, Point | None]]:
    """The pairs of runs that are compared, the smaller first where values are to rise."""
    if order.along is not None:
        steps = [experiment.moved(point, {order.along: name}) for name in order.choices]
        return list(itertools.pairwise(steps))
    if order.bound is not None:
        return [(point, None)]
    return [(point, experiment.moved(point, change)) for change in order.than]
