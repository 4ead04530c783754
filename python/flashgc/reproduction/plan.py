"""From points of an experiment to requests for the engine."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

from flashgc._engine_types import Request
from flashgc.axes import layers
from flashgc.axes.layers import Checked, Chooser, Used
from flashgc.reproduction.environment import TraceUsed, trace_used
from flashgc.reproduction.experiment import Experiment, Point

QUICK = "quick: a small drive and few requests"

Differs = tuple[tuple[str, str], ...]
"""Choices whose values are not comparable with the paper's: the label, and the reason."""


@dataclass(frozen=True)
class Planned:
    """A run that is ready to go."""

    point: Point
    label: str
    run: Checked
    differs: Differs
    fitted: Differs = ()
    """Choices whose values are predictions: the label, and the fitted parameter."""
    file: str = ""
    """The name of the trace, without the ending of a packed one; empty: no trace."""
    trace: TraceUsed | None = None
    extras: frozenset[str] = frozenset()
    """Data kept in addition to the report: `distribution` of latencies, `series` over time."""

    @property
    def request(self) -> Request:
        """The request for the engine."""
        return self.run.request

    @property
    def key(self) -> str:
        """A hash of all that decides the report."""
        return self.run.key

    @property
    def table_bytes(self) -> int:
        """The largest size of the run's tables."""
        return self.run.table_bytes


class Planner:
    """Chooses sources by the files in the user's folder of traces."""

    def __init__(self, experiment: Experiment, traces: str | os.PathLike[str] | None,
                 quick: bool) -> None:  # fmt: skip
        self._experiment, self._quick = experiment, quick
        self._chooser = Chooser(traces)

    @functools.cache  # noqa: B019 - lives as long as one reproduction
    def used(self, axis: str, name: str) -> Used:
        """The first available source of a choice."""
        return self._chooser.used(self._experiment.axes[axis][name])

    def basis(self, point: Point) -> tuple[Differs, Differs]:
        """The choices of a run that are not comparable, and those that make it a prediction."""
        axes = self._experiment.axes
        pairs = [(axes[axis][name].label, self.used(axis, name))
                 for axis, name in zip(axes, point, strict=True)]  # fmt: skip
        differs = tuple((what, used.source.differs) for what, used in pairs if used.source.differs)
        fitted = tuple((what, used.source.fitted) for what, used in pairs if used.source.fitted)
        if fitted and not any(used.source.trace for _, used in pairs):
            differs = ()  # one fitted choice makes the values of a run predictions
        return differs, fitted

    def planned(self, point: Point, seed: int | None = None) -> Planned:
        """The run at a point, checked by the engine; with another seed than its own if given."""
        experiment = self._experiment
        chosen = [self.used(axis, name) for axis, name in zip(experiment.axes, point, strict=True)]
        layered = [self._chooser.base(experiment.base), *chosen]
        request = self._chooser.joined(layered, self._quick, seed)
        label = experiment.label(point) + ("" if seed is None else f", seed {seed}")
        checked = layers.checked(request, label)
        differs, fitted = self.basis(point)
        differs = (("", QUICK),) if self._quick else differs
        traced = next((used for used in layered if used.file is not None), None)
        file, trace = "", None
        if traced is not None and traced.file is not None and checked.trace is not None:
            file = layers.plain_name(traced.file)
            trace = trace_used(traced.file, checked.trace, traced.source.what)
        return Planned(point, label, checked, differs, fitted, file, trace)
