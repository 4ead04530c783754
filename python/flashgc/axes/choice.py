"""The choices of an axis, with their changes to a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WORDS = ("config", "device", "scheme", "trace")
"""Keys of an axis beyond those of a configuration: each names a layer of the run."""

SCALES = ("linear", "log")


@dataclass(frozen=True)
class Source:
    """One way to run a choice: settings, and the files that the user's folder must have for it."""

    files: tuple[str, ...] = ()
    trace: str | None = None
    """A trace that is there, as a path."""
    config: str | None = None
    device: str | None = None
    scheme: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    what: str = ""
    differs: str | None = None
    """The reason why values of this source are not comparable with the paper's, or None."""
    fitted: str | None = None
    """The parameter and the number of the paper that it was fitted to; others are predictions."""


@dataclass(frozen=True)
class Choice:
    """A choice of an axis, with its name in the paper; the first available source counts."""

    name: str
    label: str
    sources: tuple[Source, ...]
    value: float | None = None
    """The number that it means, where the axis is one of numbers."""
    shown: str = ""
    """Its name in tables and figures, where the label is empty."""


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included, from which values are drawn."""

    key: str
    low: float
    high: float
    scale: str
    unit: str
    """A text after each number, which makes it a text."""

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def at(self, share: float) -> Choice:
        """The value at a share of the range, from 0 to 1.

        >>> from flashgc.axes.choice import Range
        >>> Range("seed", 1, 10, "linear", "").at(0.99).name
        '10'
        >>> Range("device.exported", 0.5, 0.9, "linear", "").at(0.25).value
        0.6
        """
        # Each whole number gets the same share of the range.
        low, high = (self.low, self.high + 1) if self.is_whole else (self.low, self.high)
        if self.scale == "log":
            number = low * math.exp(share * math.log(high / low))
        else:
            number = low + share * (high - low)
        if self.is_whole:
            return self.choice(min(math.floor(number), int(self.high)))
        # The digits that its name has, and no more.
        return self.choice(float(f"{number:.6g}"))

    def choice(self, number: float) -> Choice:
        """The choice of a number."""
        return choice(self.key, f"{plain(number)}{self.unit}" if self.unit else number)


def choice(key: str, value: object) -> Choice:
    """The choice of one value of a key, or of the name of a layer."""
    name = plain(value)
    number = float(value) if isinstance(value, int | float) else None
    layer: dict[str, Any] = {key: str(value)} if key in WORDS else {"set": {key: value}}
    return Choice(name, name, (Source(**layer),), number)


def plain(value: object) -> str:
    """The name of a value: a text as it is, anything else as a configuration has it."""
    from flashgc.files import toml

    return value if isinstance(value, str) else toml.value(value, "")
