"""The reports of all runs, and values calculated from several of them."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flashgc.reproduction.experiment import Experiment, Point, Where
from flashgc.reproduction.plan import Differs

TAKE: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "max": max,
    "min": min,
    "range": lambda values: max(values) - min(values),
}
"""The ways to combine the values of several choices."""

PERCENT = "%"


@dataclass(frozen=True)
class Results:
    """The reports of the runs, and why some of them are not comparable with the paper."""

    experiment: Experiment
    reports: Mapping[Point, Mapping[str, Any]]
    differs: Mapping[Point, Differs]
    """Runs whose values are not comparable, each with the reasons."""
    quick: bool = False
    fitted: Mapping[Point, Differs] = field(default_factory=dict)
    """Runs whose values are predictions, each with the fitted parameter."""
    files: Mapping[Point, str] = field(default_factory=dict)
    """The traces of the runs that have one."""
    again: tuple[Mapping[Point, Mapping[str, Any]], ...] = ()
    """The reports of the runs that were repeated, for each further seed."""

    def seeds(self) -> list[Results]:
        """The results with each seed; a run that was not repeated has its one report in all."""
        more = [replace(self, reports={**self.reports, **each}, again=()) for each in self.again]
        return [self, *more]

    def why_different(self, points: Iterable[Point]) -> str:
        """The reasons why values of these runs are not comparable; empty if they are."""
        return _told(self.differs, points)

    def what_fitted(self, points: Iterable[Point]) -> str:
        """The fitted parameters of these runs; empty without any."""
        return _told(self.fitted, points)

    def saturated(self, points: Iterable[Point]) -> list[Point]:
        """The saturated runs, in which more arrived than the drive could serve."""
        return [point for point in dict.fromkeys(points) if self.reports[point].get("saturated")]

    def figure(self, measure: str, point: Point) -> float | None:
        """A measure of a run; None where it is undefined."""
        return self.experiment.measures[measure].formula.of(self.reports[point])


def _told(said: Mapping[Point, Differs], points: Iterable[Point]) -> str:
    """The reasons given for choices of these runs, each reason once, with its choices."""
    reasons: dict[str, list[str]] = {}
    for label, why in dict.fromkeys(pair for point in points for pair in said.get(point, ())):
        reasons.setdefault(why, []).append(label)
    told = [f"{', '.join(filter(None, who))}: {why}" for why, who in reasons.items()]
    return "; ".join(text.removeprefix(": ") for text in told)


@dataclass(frozen=True)
class Quantity:
    """The calculation of a value: compared with other runs, and over several choices of an axis."""

    measure: str
    way: str = "value"
    against: tuple[Mapping[str, str], ...] = ()
    """The runs that each value is compared with; each of several gives one more value to take."""
    over: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The axes that values are taken over, with their choices."""
    take: str = "mean"
    percent: bool = False

    def runs(self, experiment: Experiment, point: Point) -> list[Point]:
        """The runs that the value at this point needs."""
        own, others = self.sides(experiment, point)
        return [*own, *others]

    def sides(self, experiment: Experiment, point: Point) -> tuple[list[Point], list[Point]]:
        """The runs of the value at this point, and those that they are compared with."""
        own = self._spread(experiment, point)
        return own, [experiment.moved(each, other) for each in own for other in self.against]

    def of(self, results: Results, point: Point) -> float | None:
        """The value; None where one that it needs is undefined."""
        spread = self._spread(results.experiment, point)
        values = [value for each in spread for value in self._each(results, each)]
        known = [value for value in values if value is not None]
        return TAKE[self.take](known) if len(known) == len(values) else None

    def _spread(self, experiment: Experiment, point: Point) -> list[Point]:
        return [experiment.moved(point, change) for change in changes(self.over)]

    def _each(self, results: Results, point: Point) -> Iterator[float | None]:
        value = results.figure(self.measure, point)
        if not self.against:
            yield value
        for change in self.against:
            other = results.figure(self.measure, results.experiment.moved(point, change))
            yield beside(value, other, self.way, self.percent)


def beside(value: float | None, other: float | None, way: str, percent: bool) -> float | None:
    """A value compared with that of another run, in percent if so wished; see `experiment.WAYS`.

    >>> from flashgc.reproduction.results import beside
    >>> beside(3.0, 4.0, "ratio", True), beside(3.0, 4.0, "reduction", False)
    (75.0, 0.25)
    """
    if way == "value":
        return value
    if value is None or other is None or 0 in (other, value if way == "factor" else other):
        return None
    found = {"ratio": value / other, "reduction": 1 - value / other}.get(way)
    found = other / value if found is None else found
    return 100 * found if percent else found


def changes(change: Where) -> list[dict[str, str]]:
    """Every way to make the change, where several choices of an axis are named."""
    axes = list(change)
    return [
        dict(zip(axes, names, strict=True))
        for names in itertools.product(*(change[axis] for axis in axes))
    ]
