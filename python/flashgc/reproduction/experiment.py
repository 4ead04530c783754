"""The runs of a paper: axes with their choices, measures, and figures and tables made of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flashgc.axes.choice import Choice, Source
from flashgc.reproduction.formula import Formula

Point = tuple[str, ...]
"""One run: a choice of each axis, in the order of the axes."""

Where = Mapping[str, Sequence[str]]
"""The choices of each axis."""

FORMS = ("table", "bars", "lines", "cdf", "course", "peaks", "moves")
"""A table, groups of bars, lines over an axis of numbers, shares of requests by response time, a
curve over time, the longest responses over time, and pages moved by each collection; all but the
first are drawn."""
WAYS = ("value", "ratio", "reduction", "factor")
"""The comparisons of a value with the value of another run: value, value / other, 1 - value /
other, or other / value."""

ANY = "*"


@dataclass(frozen=True)
class Measure:
    """A value of one run."""

    name: str
    label: str
    unit: str
    formula: Formula


@dataclass(frozen=True)
class Item:
    """A figure or table of the paper: measures over the choices of two axes."""

    id: str
    title: str
    form: str
    measures: tuple[str, ...]
    at: Where
    rows: str
    columns: str
    against: Mapping[str, str]
    way: str
    mean: bool
    note: str
    x: str = ""
    """The title of the rows' numbers, where lines are drawn."""
    course: Course | None = None
    over: str | None = None
    """An axis over whose choices each value is a mean; one that is neither rows nor columns."""
    sensitivity: bool = False
    """Whether it is about a detail that the paper leaves open, not a figure or table."""


@dataclass(frozen=True)
class Course:
    """A column of the rows over time, as a multiple of a value of the run."""

    column: str
    per: Formula
    label: str
    own_time: bool = False
    """Whether each chart has a time of its own; otherwise all have the time of the longest run."""


class Compared(NamedTuple):
    """A value here, and the value of another program in the same situation."""

    what: str
    unit: str
    here: float
    there: float
    note: str


@dataclass(frozen=True)
class Program:
    """The output of the paper's own simulator and ours, as measured in another place."""

    name: str
    title: str
    note: str
    source: str
    rows: tuple[Compared, ...]


@dataclass(frozen=True)
class Experiment:
    """All of an experiment.toml."""

    title: str
    citation: str
    url: str
    base: Source
    axes: Mapping[str, Mapping[str, Choice]]
    measures: Mapping[str, Measure]
    items: tuple[Item, ...]
    story: tuple[str, ...] = ()
    """About ten lines on the paper's statements and our results; see `story`."""
    programs: tuple[Program, ...] = ()

    def points(self, where: Where) -> list[Point]:
        """The runs at these choices."""
        return list(itertools.product(*(where[axis] for axis in self.axes)))

    def moved(self, point: Point, change: Mapping[str, str]) -> Point:
        """The run that differs from this one in these choices."""
        return tuple(change.get(axis, own) for axis, own in zip(self.axes, point, strict=True))

    def label(self, point: Point, axes: Sequence[str] | None = None) -> str:
        """A run in words."""
        named = zip(self.axes, point, strict=True)
        labels = (
            self.axes[axis][name].label for axis, name in named if axes is None or axis in axes
        )
        return ", ".join(filter(None, labels))

    def item_points(self, item: Item) -> list[Point]:
        """All runs that a figure or table needs."""
        own = self.points(item.at)
        against = [self.moved(point, item.against) for point in own] if item.against else []
        return list(dict.fromkeys([*own, *against]))
