"""The keys of the result of a calibration: attributes, types and the JSON Schema come from here.

docs/calibrate.md defines each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from flashgc.schema.section import Section


class CalibrateNumbers(Section):
    """Numbers by their names."""

    _OTHERS: ClassVar[Any] = float

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> float:
            """The number of a name."""


class CalibrateStep(Section):
    """A value of a number, and the fall of the likelihood there."""

    value: float
    fall: float


class CalibrateNumber(Section):
    """A fitted number, with its intervals."""

    key: str
    start: float
    value: float
    text: str
    low: float | None
    high: float | None
    together_low: float
    together_high: float
    limits: list[float]
    known: str
    profile: list[CalibrateStep]


class CalibrateAgainst(Section):
    """The measurement that speaks most against a candidate."""

    row: str
    metric: str
    measured: float
    best: float | None
    here: float | None


class CalibrateCandidate(Section):
    """A collector, and how likely it makes the results."""

    name: str
    verdict: str
    log_likelihood: float
    share: float
    long: bool
    by: CalibrateAgainst | None
    numbers: CalibrateNumbers


class CalibratePoint(Section):
    """A measured number next to the simulated one."""

    row: str
    load: str
    fitted: bool
    metric: str
    measured: float
    bound: bool
    simulated: float | None
    error: float | None


class CalibrateErrors(Section):
    """The errors of some rows."""

    count: int
    median: float
    worst: float
    within: list[int]


class CalibrateKind(Section):
    """The errors of a kind of number."""

    kind: str
    fitted: CalibrateErrors | None
    judged: CalibrateErrors | None


class CalibrateFurther(Section):
    """The further measurement that tells two candidates apart."""

    names: list[str]
    load: str | None
    file: str | None
    job: str | None
    metric: str | None
    simulated: list[float] | None
    noise: float
    enough: bool


class CalibrateKeys(Section):
    """The keys of a calibration, see docs/calibrate.md for each."""

    version: str
    device: str
    drive: str | None
    one_queue: bool | None
    seed: int
    trials: int
    runs: int
    fitted: list[str]
    judged: list[str]
    blocks: list[int]
    noise: CalibrateNumbers
    noise_scale: float
    numbers: list[CalibrateNumber]
    candidates: list[CalibrateCandidate]
    points: list[CalibratePoint]
    errors: list[CalibrateKind]
    further: CalibrateFurther | None
    device_toml: str
    scheme_toml: str
    warnings: list[str]
    commands: list[str]
