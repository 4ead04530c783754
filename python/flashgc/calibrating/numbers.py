"""The numbers that are fitted: keys of a device, their ranges, and their values in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashgc._engine import ConfigError
from flashgc.formatting import units

SPACE = "device.over_provisioning"
"""The spare space, which `device.user_capacity` leaves of the flash."""
RESERVE = "gc.trigger.watermark.soft"
"""Blocks of each plane that a collector keeps erased."""


@dataclass(frozen=True)
class Kind:
    """A kind of number: its unit, and the range in which it is searched."""

    unit: str
    low: float
    high: float


KINDS: Mapping[str, Kind] = {
    SPACE: Kind("share", 0.005, 1.0),
    RESERVE: Kind("blocks", 2.0, 64.0),
    "device.timing.program": Kind("time", 10.0, 1e8),
    "device.timing.read": Kind("time", 1.0, 1e7),
    "device.timing.copy_read": Kind("time", 1.0, 1e7),
    "device.timing.erase": Kind("time", 10.0, 1e9),
    "device.timing.transfer": Kind("rate", 1e-4, 1e3),
    "device.timing.command": Kind("time", 1.0, 1e6),
    "device.firmware.command": Kind("time", 10.0, 1e6),
    "device.firmware.jitter.exponential": Kind("time", 10.0, 1e6),
    "device.host_link.transfer": Kind("rate", 1e-4, 1e3),
    "device.write_buffer.size": Kind("size", 4096.0, 1e12),
    "device.write_buffer.access": Kind("time", 1.0, 1e6),
}
"""The keys that can be fitted; times are in ns, rates in ns/B, sizes in bytes."""

DEFAULT = (SPACE, "device.timing.program", "device.timing.read", "device.firmware.command")
"""The numbers that are fitted without `--free`, as far as the base has them."""


@dataclass(frozen=True)
class Number:
    """A number that is fitted. Its place in the search is the logarithm of its value."""

    key: str
    start: float
    low: float
    high: float

    @property
    def kind(self) -> Kind:
        """The kind of its key."""
        return KINDS[self.key]

    def clipped(self, value: float) -> float:
        """The nearest value in its range."""
        return min(max(value, self.low), self.high)

    def text(self, value: float) -> str:
        """The value as a configuration has it."""
        return text(self.key, value)


def text(key: str, value: float) -> str:
    """A value as a configuration has it: whole ns, six digits of anything else.

    >>> from flashgc.calibrating import numbers
    >>> numbers.text("device.timing.program", 612_345.6), numbers.text(numbers.SPACE, 0.2812)
    ('612346 ns', '28.12%')
    """
    unit = KINDS[key].unit
    if unit == "share":
        return f"{_plain(100 * value)}%"
    if unit == "size":
        return f"{round(value)} B"
    if unit == "blocks":
        return f"{_plain(value)} blocks"
    return f"{round(value)} ns" if unit == "time" else f"{_plain(value)} ns/B"


def _plain(value: float) -> str:
    digits = max(6 - math.ceil(math.log10(max(value, 1e-6))), 0)
    shown = f"{value:.{min(digits, 6)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def words(key: str, value: float) -> str:
    """A value for people.

    >>> from flashgc.calibrating import numbers
    >>> numbers.words("device.timing.read", 52_300.0), numbers.words(numbers.SPACE, 0.2812)
    ('52.3 us', '28.1 %')
    """
    unit = KINDS[key].unit
    if unit == "share":
        return units.share(value)
    if unit == "time":
        return units.time(value)
    if unit == "size":
        return units.size(round(value))
    return f"{units.figures(value)} {'ns/B' if unit == 'rate' else 'blocks'}"


def of_base(device: Mapping[str, Any], gc: Mapping[str, Any]) -> dict[str, float]:
    """The numbers that a base has, from the settings of its plan."""
    shape, timing = device["shape"], device["timing"]
    pages = shape["blocks_per_plane"] * shape["pages_per_block"]
    found: dict[str, Any] = {SPACE: pages / shape["exported_pages_per_plane"] - 1}
    for name in ("read", "program", "erase", "command"):
        found[f"device.timing.{name}"] = timing[f"{name}_ns"]
    page_bytes = shape["page_bytes"] * shape.get("slots", 1)
    found["device.timing.transfer"] = timing["transfer_ns"] / page_bytes
    found["device.timing.copy_read"] = timing.get("copy_read_ns")
    if "firmware" in device:
        firmware = device["firmware"]
        found["device.firmware.command"] = firmware["command_ns"]
        exponential = firmware.get("jitter", {}).get("exponential", {})
        found["device.firmware.jitter.exponential"] = exponential.get("mean_ns")
    if "host_link" in device:
        link = device["host_link"]
        found["device.host_link.transfer"] = link["ns"] / link["for_bytes"]
    if "write_buffer" in device:
        buffer = device["write_buffer"]
        found["device.write_buffer.size"] = buffer["pages"] * shape["page_bytes"]
        found["device.write_buffer.access"] = buffer["access_ns"]
    found[RESERVE] = gc.get("trigger", {}).get("soft", {}).get("blocks")
    # A list of times has no single number.
    return {key: float(one) for key, one in found.items()
            if isinstance(one, int | float) and one > 0}  # fmt: skip


def free(names: Sequence[str] | None, known: Mapping[str, float]) -> list[Number]:
    """The numbers to fit; by default those of a drive that the base has."""
    chosen = names
    if chosen is None:
        chosen = [key for key in DEFAULT if key in known]
    found = []
    for name in chosen:
        key = key_of(name)
        if key not in known:
            raise ConfigError(
                f"error: --free names {name!r}, which the base does not have as a single number\n"
                f"  = help: set it in the base first; the base has {', '.join(known)}"
            )
        kind = KINDS[key]
        start = min(max(known[key], kind.low), kind.high)
        found.append(Number(key, start, kind.low, kind.high))
    if not found:
        raise ConfigError("error: --free names no key\n"
                          f"  = help: some of {', '.join(known)}")  # fmt: skip
    if len({one.key for one in found}) < len(found):
        raise ConfigError(f"error: --free names a key twice: {', '.join(chosen)}")
    return found


def key_of(name: str) -> str:
    """The key that --free names."""
    shown = name.strip()
    for key in (shown, f"device.{shown}"):
        if key in KINDS:
            return key
    import difflib

    near = difflib.get_close_matches(shown, KINDS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ConfigError(f"error: --free names {name!r}, which cannot be fitted\n"
                      f"  = help: {hint}the keys: {', '.join(KINDS)}")  # fmt: skip
