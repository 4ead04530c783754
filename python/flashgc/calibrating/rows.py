"""Measured rows: the load of a run on the real drive, and the numbers that it gave."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from flashgc._engine import ConfigError
from flashgc.formatting import units

_DIRECTIONS = ("read", "write")
PERCENTILES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99")
STATISTICS = ("mean", *PERCENTILES)
IOPS, AMPLIFICATION = "iops", "write_amplification"
EACH_IOPS = tuple(f"{way}_{IOPS}" for way in _DIRECTIONS)
"""The rates of readers and of writers that are two groups."""
METRICS = (IOPS, AMPLIFICATION, *EACH_IOPS,
           *(f"{way}_{one}" for way in _DIRECTIONS for one in STATISTICS))  # fmt: skip
"""The names of what can be measured; latencies are in ns."""

PATTERNS = ("uniform", "once", "sequential", "zipf:THETA", "fiozipf:THETA", "zoned:A/S:A/S",
            "scattered:A/S:A/S")  # fmt: skip
_SIZE = re.compile(r"([\d.]+)\s*(|b|k|m|g|t|kib|mib|gib|tib|kb|mb|gb|tb)", re.IGNORECASE)
_POWERS = "bkmgt"
_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class Value(NamedTuple):
    """A measured number."""

    number: float
    is_bound: bool = False
    """Whether the true number is this or larger: the end of a histogram, for instance."""


@dataclass(frozen=True)
class Pattern:
    """Where requests go."""

    kind: str
    """`uniform`, `once`, `sequential`, `zipf`, `fiozipf`, `zoned` or `scattered`."""
    theta: float = 0.0
    zones: tuple[tuple[float, float], ...] = ()
    """The share of the requests and that of the space of each zone."""

    def address(self) -> Any:  # noqa: ANN401 - a value of a configuration
        """As `workload.synthetic.address` has it."""
        if self.kind in ("uniform", "once", "sequential"):
            return "uniform"
        if self.kind == "zipf":
            return {"zipf": self.theta}
        if self.kind == "fiozipf":
            return {"zipf": self.theta, "ranks": "hashed", "draw": "formula"}
        groups = [{"places": space, "requests": share} for share, space in self.zones]
        return {"groups": groups, **({"scatter": 1} if self.kind == "scattered" else {})}

    def __str__(self) -> str:
        if self.kind in ("zipf", "fiozipf"):
            return f"{self.kind}:{self.theta:g}"
        if self.zones:
            parts = (f"{100 * share:g}/{100 * space:g}" for share, space in self.zones)
            return ":".join([self.kind, *parts])
        return self.kind


@dataclass(frozen=True)
class Readers:
    """Readers next to the writers of a row, with a load of their own."""

    pattern: Pattern = Pattern("uniform")
    block_bytes: int = 4096
    depth: int = 1
    rate: float | None = None
    """Reads a second at most, or None at full rate."""

    def words(self) -> str:
        """The load in words."""
        return (f"{self.pattern} reads of {units.size(self.block_bytes)}, depth {self.depth}, "
                f"{_rate(self.rate)}")  # fmt: skip


def _rate(rate: float | None) -> str:
    return "full rate" if rate is None else f"{rate:,.0f}/s"


@dataclass(frozen=True)
class Row:
    """A run of the real drive."""

    name: str
    where: str
    """The file and the line, for messages."""
    pattern: Pattern = Pattern("uniform")
    range: float | int = 1.0
    """The part that is used: a share of the user capacity, or bytes if it is a whole number."""
    block_bytes: int = 4096
    depth: int = 1
    read_share: float = 0.0
    rate: float | None = None
    """Requests a second at most, or None at full rate."""
    is_poisson: bool = True
    """Whether the gaps of a rate are exponential, or all the same."""
    overwrites: float | None = None
    """How often the used part was overwritten before; None for the default of the load."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """The measured numbers, by metric."""
    readers: Readers | None = None
    """Readers at the same time, on the same range; all else is then that of the writers."""

    @property
    def overwritten(self) -> float:
        """How often the used part was overwritten before the measurement."""
        if self.overwrites is not None:
            return self.overwrites
        return 0.0 if self.read_share == 1.0 or self.pattern.kind == "sequential" else 3.0

    def with_values(self, more: Mapping[str, Value]) -> Row:
        """The row with further measurements."""
        return replace(self, values={**self.values, **more})

    def words(self) -> str:
        """The load in words, in the terms of a table of results."""
        reads = {0.0: "writes", 1.0: "reads"}.get(
            self.read_share, f"{100 * self.read_share:g} % reads"
        )
        span = (f"{100 * self.range:g} %" if isinstance(self.range, float)
                else units.size(self.range))  # fmt: skip
        own = (f"{self.pattern} {reads} of {units.size(self.block_bytes)} over {span}, "
               f"depth {self.depth}, {_rate(self.rate)}")  # fmt: skip
        return own if self.readers is None else f"{own}, next to {self.readers.words()}"


def wrong(where: str, what: str, given: object, allowed: str) -> ConfigError:
    """The error of a value: its place, its name, the value itself, and the allowed ones."""
    return ConfigError(f"error: {where}: {what} is {str(given)[:60]!r}\n  = help: {allowed}")


def label(text: str) -> str:
    r"""A name in one line, without characters that steer a terminal: it is a comment of a file.

    >>> from flashgc.calibrating import rows
    >>> rows.label("full,\n  32 jobs")
    'full, 32 jobs'
    """
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(one) in ("Cc", "Cs") else one
                   for one in " ".join(text.split()))  # fmt: skip


def pattern(text: str, where: str) -> Pattern:
    """A pattern as it is written.

    >>> from flashgc.calibrating import rows
    >>> str(rows.pattern("zoned:80/20:20/80", "here")), rows.pattern("zipf:0.9", "here").theta
    ('zoned:80/20:20/80', 0.9)
    """
    kind, _, rest = text.strip().lower().partition(":")
    help_ = f"give one of {', '.join(PATTERNS)}, as in zipf:0.9 or zoned:80/20:20/80"
    if kind in ("uniform", "once", "sequential") and not rest:
        return Pattern(kind)
    if kind in ("zipf", "fiozipf"):
        theta = _plain(rest)
        if theta is not None and 0 < theta <= 10 and not (kind == "fiozipf" and theta == 1):
            return Pattern(kind, theta)
        but = ", but not 1" if kind == "fiozipf" else ""
        raise wrong(where, "pattern", text, f"the exponent of {kind} is a number above 0, up to "
                    f"10{but}, as in {kind}:0.9")  # fmt: skip
    if kind in ("zoned", "scattered"):
        return Pattern(kind, zones=_zones(text, rest, where))
    raise wrong(where, "pattern", text, help_)


def _zones(text: str, rest: str, where: str) -> tuple[tuple[float, float], ...]:
    found = []
    for part in rest.split(":"):
        share, _, space = part.partition("/")
        a, s = _plain(share), _plain(space)
        if a is None or s is None or not s > 0:
            raise wrong(where, "pattern", text, "a zone is two percentages, the share of the "
                        "requests and that of the space, as in zoned:80/20:20/80")  # fmt: skip
        found.append((a / 100, s / 100))
    sums = [sum(column) for column in zip(*found, strict=True)]
    if any(abs(one - 1) > 1e-6 for one in sums):
        told = " and ".join(f"{100 * one:g} %" for one in sums)
        raise wrong(where, "pattern", text, "the shares of the requests and those of the space "
                    f"each add up to 100 %; here they are {told}")  # fmt: skip
    return tuple(found)


def size(text: str, what: str, where: str) -> int:
    """A size in bytes: `4k`, `4 KiB`, `512`; a bare letter is a power of two, as in fio.

    >>> from flashgc.calibrating import rows
    >>> rows.size("4k", "bs", "here"), rows.size("800 GB", "range", "here")
    (4096, 800000000000)
    """
    match = _SIZE.fullmatch(text.strip())
    number = None if match is None else _plain(match[1])
    if match is None or number is None or not number > 0:
        raise wrong(where, what, text, "give a size above 0, such as 4k, 4 KiB or 800 GB")
    unit = match[2].lower()
    base = 1000 if len(unit) == 2 and unit[1] == "b" else 1024
    found = number * float(base ** _POWERS.index((unit or "b")[0]))
    if found < 1:
        raise wrong(where, what, text, "give a size of 1 B or more, such as 4k")
    return round(found)


def span(text: str, where: str) -> float | int:
    """The used part: `100%`, `0.5`, or a size."""
    shown = text.strip()
    number = _plain(shown.removesuffix("%").strip())
    if number is None:
        return size(shown, "range", where)
    share = number / 100 if shown.endswith("%") else number
    if not 0 < share <= 1:
        raise wrong(where, "range", text, "give a share above 0, up to 100 %, such as 50% or 0.5, "
                    "or a size with its unit, such as 372 GiB")  # fmt: skip
    return float(share)


def share(text: str, what: str, where: str) -> float:
    """A share from 0 to 1, also in percent."""
    number = _plain(text.strip().removesuffix("%").strip())
    found = None if number is None else number / 100 if text.strip().endswith("%") else number
    if found is None or not 0 <= found <= 1:
        raise wrong(where, what, text, "give a share from 0 to 1, such as 0.7 or 70%")
    return found


def depth(text: str, where: str) -> int:
    """Requests under way: `32`, or `32x4` for four jobs of 32."""
    parts = text.lower().split("x")
    if len(parts) <= 2 and all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        found = math.prod(int(part) for part in parts)
        if found <= 1_000_000:
            return found
    raise wrong(where, "depth", text, "give a whole number from 1 to 1000000, or iodepth and "
                "numjobs such as 128x4")  # fmt: skip


def positive(text: str, what: str, where: str, *, may_be_0: bool = False) -> float:
    """A number above 0, or from 0."""
    found = _plain(text.strip().replace("_", ""))
    if found is None or found < 0 or (found == 0 and not may_be_0):
        allowed = "from 0" if may_be_0 else "above 0"
        raise wrong(where, what, text, f"give a number {allowed}, without a unit")
    return found


_LEAST, _MOST = 1e-6, 1e15
"""The range of measured numbers: rates in requests a second, times in ns."""


def measured(text: str, what: str, where: str, factor: float = 1.0) -> Value:
    """A measured number; `>19998` is a lower bound of it."""
    shown = text.strip()
    is_bound = shown.startswith(">")
    least = 0.0
    number = _plain(shown.lstrip(">=").strip().replace("_", ""))
    if number is None or not number > least:
        raise wrong(where, what, text, "give a number above 0, or > and a number where the "
                    "histogram ends there; leave it empty where it was not measured")  # fmt: skip
    if not _LEAST <= number * factor <= _MOST:
        raise wrong(where, what, text, "no drive has such a number")
    if what == AMPLIFICATION and number < 0.999:
        raise wrong(where, what, text, "bytes programmed for each byte written are 1 or more")
    return Value(number * factor, is_bound)


def _plain(text: str) -> float | None:
    """A plain decimal number, or None."""
    found = float(text) if _NUMBER.fullmatch(text.strip()) else None
    return found if found is not None and math.isfinite(found) else None


def unique(found: Sequence[Row]) -> list[Row]:
    """The rows, with names that differ: the second one of a name has the next free number."""
    given = {row.name for row in found}
    taken: set[str] = set()
    made = []
    for row in found:
        name, at = row.name, 1
        while name in taken or (at > 1 and name in given):
            at += 1
            name = f"{row.name} ({at})"
        taken.add(name)
        made.append(row if at == 1 else replace(row, name=name))
    return made
