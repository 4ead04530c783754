"""Axes of charts: where a value lies, and which values bear a label."""

from __future__ import annotations

import math
from collections.abc import Sequence

Tick = tuple[float, str]

_TIME_STEPS = (1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 60e9, 600e9, 3600e9, 36_000e9,
               86_400e9, 864_000e9)  # fmt: skip
_DAY_NS, _HOUR_NS, _MINUTE_NS = 86_400e9, 3600e9, 60e9


class Axis:
    """From values to places between 0 and 1, with their labels."""

    def __init__(self, low: float, high: float, ticks: Sequence[Tick], title: str) -> None:
        self.low, self.high, self.title = low, high, title
        self.ticks = [(value, label) for value, label in ticks if low <= value <= high]

    def place(self, value: float) -> float:
        """The place of the value; values beyond the ends lie at the ends."""
        part = (value - self.low) / (self.high - self.low)
        return min(max(part, 0.0), 1.0)


class Log(Axis):
    """Each step is a factor."""

    def place(self, value: float) -> float:
        """See `Axis`; a value of 0 or less lies at the lower end."""
        if value <= self.low:
            return 0.0
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return min(part, 1.0)


def linear(high: float, title: str) -> Axis:
    """From 0 to a round value above `high`."""
    step = _round_step(high / 4) if high > 0 else 1.0
    top = max(math.ceil(high / step - 1e-9), 1) * step
    count = round(top / step)
    return Axis(0.0, top, [(step * at, f"{step * at:,g}") for at in range(count + 1)], title)


def span(high_ns: float, title: str) -> Axis:
    """Time from 0 to exactly `high_ns`."""
    unit_ns, name = _span_unit(max(high_ns, 1.0))
    step = _round_step(high_ns / unit_ns / 5) if high_ns > 0 else 1.0
    marks = [step * at for at in range(int(high_ns / unit_ns / step + 1e-9) + 1)]
    ticks = [(mark * unit_ns, f"{mark:g}") for mark in marks]
    return Axis(0.0, max(high_ns, 1.0), ticks, f"{title}, {name}")


def shares(title: str) -> Axis:
    """From 0 to 100 %."""
    return Axis(0.0, 1.0, [(at / 4, f"{25 * at} %") for at in range(5)], title)


def times(low_ns: float, high_ns: float, title: str) -> Axis:
    """Times by factors, with labels from 1 ns to days."""
    low, high = _apart(low_ns, high_ns)
    inside = [(step, _time(step)) for step in _TIME_STEPS if low <= step <= high]
    return Log(low, high, _thinned(inside, low, high), title)


def sizes(low_bytes: float, high_bytes: float, title: str) -> Axis:
    """Sizes by factors, with labels at powers of two."""
    low, high = _apart(low_bytes, high_bytes)
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    every = max(math.ceil((last - first + 1) / 7), 1)
    powers = [power for power in range(first, last + 1) if power % every == 0]
    return Log(low, high, [(2.0**power, _size(power)) for power in powers], title)


def counts(high: float, title: str) -> Axis:
    """Counts from 1 by factors, with labels at 1, 10, 100 or at the powers of two."""
    low, high = 1.0, max(high, 2.0)
    base = 2 if high <= 256 else 10
    steps = range(int(math.log(high, base) + 1e-9) + 1)
    return Log(low, high, [(float(base**at), f"{base**at:,}") for at in steps], title)


def _apart(low: float, high: float) -> tuple[float, float]:
    low = max(low, 1.0)
    return (low, high * 1.1) if high > 1.5 * low else (low / 2, low * 2)


def _round_step(least: float) -> float:
    """The least of 1, 2, 2.5 and 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= least * 0.999)


def _span_unit(high_ns: float) -> tuple[float, str]:
    for unit_ns, name in ((2 * _DAY_NS, "days"), (2 * _HOUR_NS, "hours"), (5 * _MINUTE_NS, "min"),
                          (2e9, "s"), (2e6, "ms"), (2e3, "us")):  # fmt: skip
        if high_ns >= unit_ns:
            exact = {"days": _DAY_NS, "hours": _HOUR_NS, "min": _MINUTE_NS}
            return exact.get(name, unit_ns / 2), name
    return 1.0, "ns"


def _time(ns: float) -> str:
    for unit_ns, name in ((_DAY_NS, "d"), (_HOUR_NS, "h"), (_MINUTE_NS, "min"), (1e9, "s"),
                          (1e6, "ms"), (1e3, "us")):  # fmt: skip
        if ns >= unit_ns:
            return f"{ns / unit_ns:g} {name}"
    return f"{ns:g} ns"


def _size(power: int) -> str:
    unit, name = next(
        (unit, name)
        for unit, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B"))
        if power >= unit
    )
    return f"{2 ** (power - unit)} {name}"


def _thinned(ticks: list[Tick], low: float, high: float) -> list[Tick]:
    """A part of the ticks, with room for their labels."""
    kept: list[Tick] = []
    apart = math.log(high / low) / 8
    for value, label in ticks:
        if not kept or math.log(value / kept[-1][0]) >= apart:
            kept.append((value, label))
    return kept
