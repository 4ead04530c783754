"""The order of points: feasible ones first, then by fronts, then by the mean of all objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flashgc.tuning.space import Values

MetricValues = dict[str, float]


@dataclass(eq=False)
class Candidate:
    """A point of the search, or a scheme next to it."""

    name: str
    label: str
    trial: int | None = None
    preset: str | None = None
    values: Values = field(default_factory=dict)
    results: dict[int, list[MetricValues]] = field(default_factory=dict)
    """For each rung the metrics of its runs; an empty list where one of them failed."""
    balanced: dict[int, bool] = field(default_factory=dict)
    """For each rung whether no run was short of steady state."""
    scores: dict[int, Score] = field(default_factory=dict)

    @property
    def rung(self) -> int:
        """The longest runs that it has."""
        return max(self.results, default=-1)

    @property
    def score(self) -> Score | None:
        """The score of its longest runs."""
        return self.scores.get(self.rung)


@dataclass(frozen=True)
class Score:
    """The results of one rung for a point."""

    objectives: tuple[float, ...]
    """The logarithm of each objective's ratio to the configuration's own scheme: less is better."""
    excess: tuple[float, ...]
    """The excess of each constraint, and of balance: at most 0 where it is met."""

    @property
    def is_feasible(self) -> bool:
        """Whether all constraints are met."""
        return all(one <= 0 for one in self.excess)

    @property
    def over(self) -> float:
        """The excess over all constraints together."""
        return sum(max(one, 0.0) for one in self.excess)


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether one is nowhere worse and somewhere better."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)


def front(scores: Sequence[tuple[float, ...]]) -> list[int]:
    """The places of those that none dominates.

    >>> from flashgc.tuning.ranking import front
    >>> front([(1.0, 3.0), (2.0, 2.0), (2.0, 3.0)])
    [0, 1]
    """
    return [at for at, one in enumerate(scores) if not any(dominates(two, one) for two in scores)]


def ordered(all_of: Sequence[Candidate], rung: int) -> list[Candidate]:
    """Candidates with results of a rung, the best first."""
    known = [one for one in all_of if rung in one.scores]
    found = unbounded([one for one in known if one.scores[rung].is_feasible], rung)
    rest = [one for one in known if not one.scores[rung].is_feasible]
    return found + sorted(rest, key=lambda one: one.scores[rung].over)


def unbounded(all_of: Sequence[Candidate], rung: int) -> list[Candidate]:
    """Candidates with results of a rung, the best first, whatever the constraints."""
    left = [one for one in all_of if rung in one.scores]
    found: list[Candidate] = []
    while left:
        places = front([one.scores[rung].objectives for one in left])
        best = [left[at] for at in places]
        found += _inside(best, rung)
        left = [one for one in left if one not in best]
    return found


def _inside(best: list[Candidate], rung: int) -> list[Candidate]:
    """A front: the best of each objective first, then by the sum of all."""
    count = len(best[0].scores[rung].objectives)
    ends = [min(best, key=lambda one: one.scores[rung].objectives[at]) for at in range(count)]
    by_sum = sorted(best, key=lambda one: sum(one.scores[rung].objectives))
    found: list[Candidate] = []
    for one in (by_sum[0], *ends, *by_sum):
        if not any(one is other for other in found):
            found.append(one)
    return found


def chosen(all_of: Sequence[Candidate], rung: int) -> Candidate | None:
    """The point with the lowest first objective, where all others are at most the best presets'.

    If there is none, that with the lowest mean of all objectives.
    """
    known = [one for one in all_of if rung in one.scores and one.scores[rung].is_feasible]
    if not known:
        return None
    places = front([one.scores[rung].objectives for one in known])
    best = [known[at] for at in places]
    presets = [one.scores[rung].objectives for one in all_of
               if one.preset is not None and rung in one.scores]  # fmt: skip
    if presets:
        bounds = [min(column) for column in zip(*presets, strict=True)]
        free = [one for one in best if all(
            own <= bound for own, bound in
            zip(one.scores[rung].objectives[1:], bounds[1:], strict=True)
        )]  # fmt: skip
        if free:
            return min(free, key=lambda one: one.scores[rung].objectives[0])
    return min(best, key=lambda one: sum(one.scores[rung].objectives))
