"""Objectives and constraints: metrics of a report, and the words in which they are given."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashgc._engine import ConfigError
from flashgc.files.forms import near
from flashgc.formatting import units
from flashgc.results.metrics import found_at
from flashgc.sweeps import columns

ALIASES = {"read": "latency_ns.read.p99_9", "write": "latency_ns.write.p99_9"}
WEAR = "wear"
MAXIMISE = "max:"

DEFAULT_OBJECTIVES = ("write", "write_amplification_bytes")
DEFAULT_CONSTRAINTS = ("read <= 110% of presets",)
OBJECTIVES_MAX = 4

_LABELS = {"read": "read p99.9", "write": "write p99.9", WEAR: "wear",
           "write_amplification_bytes": "byte write amplification"}  # fmt: skip
_HEADS = {**_LABELS, "write_amplification_bytes": "WA in bytes"}
_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_CONSTRAINT = re.compile(
    r"\s*(?P<name>[\w.:]+)\s*(?P<sense><=|>=)\s*(?P<number>\d+(\.\d+)?)\s*"
    r"(?P<unit>%|ns|us|ms|s)?(?P<of>\s+of\s+presets)?\s*"
)

Ratios = Mapping[str, float]
"""The logarithm of each metric's mean ratio to the configuration's own scheme."""


@dataclass(frozen=True)
class Metric:
    """A metric of a report."""

    name: str
    sign: float = 1.0
    """-1 where more is better."""

    @property
    def label(self) -> str:
        """In words."""
        return _LABELS.get(self.name, self.name)

    @property
    def head(self) -> str:
        """At the head of a column."""
        return _HEADS.get(self.name, self.name)

    @property
    def key(self) -> str:
        """Its key in a report."""
        return ALIASES.get(self.name, self.name)

    @property
    def is_time(self) -> bool:
        """Whether it is a time, in ns."""
        return self.key.split(".")[0] == "latency_ns"

    @property
    def text(self) -> str:
        """The text of the configuration."""
        return self.name if self.sign > 0 else MAXIMISE + self.name

    def value(self, report: Mapping[str, Any]) -> float | None:
        """Its value in a report."""
        if self.name == WEAR:
            written = report["pages"]["host_written"]
            erased: float = report["wear"]["mean"] * report["capacity"]["exported_pages"]
            return erased / written if written else None
        found = found_at(report, tuple(self.key.split(".")))
        return None if found is None else float(found)

    def show(self, value: float | None) -> str:
        """A value in words."""
        return units.time(value) if self.is_time else units.figures(value)


@dataclass(frozen=True)
class Constraint:
    """A bound of a metric: of its value, or of its ratio to other schemes."""

    metric: Metric
    text: str
    least: bool
    """Whether the metric must be at least this."""
    limit: float
    relative: bool
    """Whether the limit is a ratio to the configuration's own scheme."""
    of_presets: bool
    """Whether it is a ratio to the best preset."""

    def excess(self, ratio: float, value: float, best_preset: float) -> float:
        """The excess over it, as a logarithm; at most 0 where it is met."""
        log = math.log(self.limit) if self.limit > 0 else -math.inf
        own = ratio if self.relative else math.log(value) if value > 0 else -math.inf
        if own == log == -math.inf:
            return 0.0  # a count of 0 at a limit of 0
        over = own - log - (best_preset if self.of_presets else 0.0)
        return -over if self.least else over


def objectives(given: Sequence[str]) -> list[Metric]:
    """The objectives of these words."""
    found: list[Metric] = []
    for text in given:
        name = text.strip()
        sign = -1.0 if name.startswith(MAXIMISE) else 1.0
        metric = Metric(_known(name.removeprefix(MAXIMISE), "objective"), sign)
        if metric.name in {one.name for one in found}:
            raise ConfigError(f"error: the objective {metric.name!r} is there twice")
        found.append(metric)
    if not 1 <= len(found) <= OBJECTIVES_MAX:
        raise ConfigError(
            f"error: {units.counted(len(found), 'objective')}; 1 to {OBJECTIVES_MAX} are allowed\n"
            f"  = help: for instance {','.join(DEFAULT_OBJECTIVES)}"
        )
    return found


def constraint(text: str) -> Constraint:
    """The constraint of a text, as `read <= 110%`."""
    match = _CONSTRAINT.fullmatch(text)
    if match is None or (match["of"] and match["unit"] != "%"):
        raise ConfigError(
            f"error: the constraint {text!r} cannot be read\n"
            "  = help: METRIC <= LIMIT, where LIMIT is a number, a time, a share of the "
            'configuration\'s own scheme or of the best preset: "read <= 2 ms", "read <= 110%", '
            '"read <= 105% of presets", "throughput.bytes_per_s >= 90%"'
        )
    metric = Metric(_known(match["name"], "constraint"))
    number, unit = float(match["number"]), match["unit"]
    if unit in _TIMES and not metric.is_time:
        raise ConfigError(
            f"error: the constraint {text!r} has a unit of time, but {metric.name} is not a time\n"
            "  = help: give a number or a share"
        )
    if unit is None and metric.is_time:
        raise ConfigError(
            f"error: the constraint {text!r} has no unit\n"
            f'  = help: for instance "{metric.name} {match["sense"]} {match["number"]} ms"'
        )
    relative = unit == "%"
    if number == 0 and (relative or metric.is_time):
        raise ConfigError(
            f"error: the limit of the constraint {text!r} must be above 0\n"
            "  = help: a time or a share of 0 is one that no run has, or that every run has"
        )
    limit = number / 100 if relative else number * _TIMES.get(unit or "", 1.0)
    return Constraint(metric, " ".join(text.split()), match["sense"] == ">=", limit, relative,
                      match["of"] is not None)  # fmt: skip


def _known(name: str, what: str) -> str:
    """A metric that a report has."""
    numbers = [one for one, kind in columns.metrics().items() if kind in {"int64", "float64"}]
    if name in (*ALIASES, WEAR) or name in numbers:
        return name
    common = [*ALIASES, "write_amplification_bytes", WEAR, "write_amplification", "erases"]
    hint = near(name, common, "metrics").replace("valid metrics:", "for instance")
    raise ConfigError(
        f"error: the {what} {name!r} is not a metric of a report\n{hint}; or any number of a "
        "report by its name, such as latency_ns.all.p99 (docs/definitions.md)"
    )
