"""From the points of a sweep to runs that the engine has accepted."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashgc._engine import ConfigError
from flashgc.axes import layers
from flashgc.axes.choice import Choice
from flashgc.axes.layers import Checked, Chooser, Used

if TYPE_CHECKING:
    from flashgc.sweeps.read import Point, Sweep


@dataclass(frozen=True)
class Planned:
    """A point that is ready to run, or the reason why it cannot."""

    number: int
    label: str
    point: Point
    run: Checked | None
    refused: str | None

    @property
    def key(self) -> str | None:
        """The hash of all that decides the result."""
        return None if self.run is None else self.run.key


def plan(
    sweep: Sweep,
    traces: str | os.PathLike[str] | None,
    quick: bool,
    told: Callable[[int, int], object] | None = None,
) -> list[Planned]:
    """All points, checked by the engine. An error where it refuses every one of them."""
    if quick and not _has_quick(sweep):
        raise ConfigError(_NOT_QUICK)
    chooser = Chooser(traces)
    base = chooser.base(sweep.base)
    used = functools.cache(functools.partial(_used, chooser))
    planned: list[Planned] = []
    error: ConfigError | None = None
    for number, point in enumerate(sweep.points):
        label = sweep.label(point)
        try:
            request = chooser.joined([base, *(used(_Same(one)) for one in point)], quick)
            found, why = layers.checked(request, label), None
        except ConfigError as reason:
            error = error or reason
            found, why = None, str(reason)
        planned.append(Planned(number, label, point, found, why))
        if told is not None:
            told(number + 1, len(sweep.points))
    if error is not None and all(one.run is None for one in planned):
        raise error
    return planned


_NOT_QUICK = (
    "error: nothing of this sweep has `quick` settings, so that the short test would be the whole "
    "sweep\n"
    '  = help: add them, as in `base.quick = { "workload.synthetic.requests" = 1000 }`, or omit '
    "`--quick` (`quick=True`)"
)


def _has_quick(sweep: Sweep) -> bool:
    """Whether the base or a choice of a point has settings for a short test."""
    choices = (choice for point in sweep.points for choice in point)
    return bool(sweep.base.quick) or any(one.quick for choice in choices for one in choice.sources)


class _Same:
    """A choice, equal to itself alone."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice

    def __hash__(self) -> int:
        return id(self.choice)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.choice is self.choice


def _used(chooser: Chooser, same: _Same) -> Used:
    return chooser.used(same.choice)


def by_key(planned: Sequence[Planned]) -> dict[str, Planned]:
    """The first point of each key: equal points are run once."""
    found: dict[str, Planned] = {}
    for one in planned:
        if one.key is not None:
            found.setdefault(one.key, one)
    return found
