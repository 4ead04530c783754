"""The numbers of the paper at the places of a figure or table, so that both are drawn together.

1. A claim on a number belongs to a cell if it compares the same measure of the same runs. A mean
   over the rows belongs to the last row.
2. Ratio, reduction and factor are converted into what the figure shows; a mean of factors cannot.
3. Where the paper states two numbers for one cell, the first is taken, and the other is left over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flashgc.reproduction import grid
from flashgc.reproduction.claims import Value
from flashgc.reproduction.evidence import PAPER
from flashgc.reproduction.experiment import Experiment, Item, Point
from flashgc.reproduction.grid import Grid
from flashgc.reproduction.results import Quantity
from flashgc.reproduction.verdict import Verdict

Place = tuple[int, int, int]
"""Measure, row and column, each by its number."""
_Key = tuple[str, frozenset[Point], frozenset[Point]]

_SHARE: dict[str, Callable[[float], float]] = {
    "ratio": lambda value: value,
    "reduction": lambda value: 1 - value,
    "factor": lambda value: 1 / value,
}
"""From a value compared with another to its ratio, and back."""


@dataclass(frozen=True)
class Beside:
    """The numbers of the paper for one figure or table."""

    cells: Mapping[Place, Verdict] = field(default_factory=dict)
    values: Mapping[Place, float] = field(default_factory=dict)
    """The values of the figure."""
    loose: Sequence[Verdict] = ()
    """Claims on numbers that are not in a cell of it."""


def of(measured: Grid, experiment: Experiment, verdicts: Sequence[Verdict]) -> Beside:
    """The numbers that the paper states for a figure or table."""
    item = measured.item
    places = _places(measured, experiment)
    cells: dict[Place, Verdict] = {}
    values: dict[Place, float] = {}
    loose: list[Verdict] = []
    for one in verdicts:
        test, claim = one.claim.test, one.claim
        if item.id not in claim.parts or claim.source != PAPER or not isinstance(test, Value):
            continue
        assert not isinstance(claim.claimed, str)
        place = places.get(_key(test.quantity, experiment, test.point))
        value = None if test.minus else _shown(claim.claimed, test.quantity, item)
        if place is None or value is None or place in cells:
            loose.append(one)
            continue
        cells[place], values[place] = one, value
    return Beside(cells, values, loose)


def _places(measured: Grid, experiment: Experiment) -> dict[_Key, Place]:
    """The cell of each quantity."""
    item = measured.item
    rows, columns = item.at[item.rows], item.at[item.columns]
    first = experiment.points({axis: names[:1] for axis, names in item.at.items()})[0]
    found: dict[_Key, Place] = {}
    for index, measure in enumerate(item.measures):
        quantity = grid.quantity(item, measure)
        for column, name in enumerate(columns):
            for row, choice in enumerate(rows):
                point = experiment.moved(first, {item.rows: choice, item.columns: name})
                found.setdefault(_key(quantity, experiment, point), (index, row, column))
            if item.mean:
                every = replace(quantity, over={**quantity.over, item.rows: rows})
                point = experiment.moved(first, {item.columns: name})
                found.setdefault(_key(every, experiment, point), (index, len(rows), column))
    return found


def _key(quantity: Quantity, experiment: Experiment, point: Point) -> _Key:
    own, others = quantity.sides(experiment, point)
    taken = "" if len(own) == 1 and len(quantity.against) < 2 else quantity.take
    return f"{quantity.measure} {taken}".rstrip(), frozenset(own), frozenset(others)


def _shown(claimed: float, quantity: Quantity, item: Item) -> float | None:
    """A claimed value as the figure shows it; None where that does not follow."""
    ways = {quantity.way, item.way}
    if ways == {"value"}:
        return claimed
    several = bool(quantity.over)
    if "value" in ways or (len(ways) > 1 and several and "factor" in ways):
        return None
    bare = claimed / 100 if quantity.percent else claimed
    if bare == 0 and "factor" in ways:
        return None
    shown = bare if len(ways) == 1 else _SHARE[item.way](_SHARE[quantity.way](bare))
    return 100 * shown if item.way == grid.REDUCTION else shown
