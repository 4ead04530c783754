"""The keys of the result of a search: attributes, types and the JSON Schema come from here.

docs/tune.md defines each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from flashgc.schema.section import Section


class TuneObjective(Section):
    """An objective of the search."""

    metric: str
    maximised: bool


class TuneChange(Section):
    """The relative change of a metric, and its 95 % interval where one is known."""

    change: float
    low: float | None
    high: float | None


class TuneChanges(Section):
    """Changes by the names of their metrics."""

    _OTHERS: ClassVar[Any] = TuneChange

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> TuneChange:
            """The change of a metric."""


class TuneMetrics(Section):
    """Means of metrics over the runs, by their names."""

    _OTHERS: ClassVar[Any] = float

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> float:
            """The mean of a metric."""


class TuneSettings(Section):
    """Settings of a configuration, by their keys, each as TOML."""

    _OTHERS: ClassVar[Any] = str

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> str:
            """The value of a key."""


class TunePoint(Section):
    """A trial, or a preset next to the trials, with its longest runs."""

    name: str
    trial: int | None
    preset: str | None
    rung: int
    failed: bool
    feasible: bool
    balanced: bool
    on_front: bool
    metrics: TuneMetrics | None
    changes: TuneChanges | None


class TuneParameter(Section):
    """A parameter of the space, and how much it mattered for each objective."""

    name: str
    chosen: str | None
    importance: TuneMetrics


class TuneRival(Section):
    """The chosen point against another one on unseen samples."""

    name: str
    changes: TuneChanges
    verdict: str


class TuneCheck(Section):
    """The runs on samples that the search has not seen."""

    samples: str
    settings: list[list[str]]
    metrics: TuneMetrics
    feasible: bool
    balanced: bool
    rivals: list[TuneRival]
    confirmed: bool


class TuneChosen(Section):
    """The chosen point."""

    name: str
    trial: int | None
    preset: str | None
    settings: TuneSettings
    metrics: TuneMetrics


class TuneKeys(Section):
    """The keys of a search, see docs/tune.md for each."""

    version: str
    name: str
    study: str
    scheme: str
    device: str
    method: str
    seed: int
    trials: int
    failed: int
    refused_points: int
    objectives: list[TuneObjective]
    constraints: list[str]
    samples: list[str]
    points: list[TunePoint]
    parameters: list[TuneParameter]
    chosen: TuneChosen
    check: TuneCheck
    config: str | None
    warnings: list[str]
    commands: list[str]
