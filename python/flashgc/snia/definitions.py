"""The definitions of the specification: tests, sizes, mixes and lengths, and the shortened form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flashgc.snia import steady

SPECIFICATION = "SNIA SSS PTS 2.0.2"
"""The specification and its version."""
KIB = 1024
SECOND_NS = 10**9
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS

TESTS = {
    "wsat": "Write saturation",
    "iops": "IOPS",
    "tp": "Throughput",
    "lat": "Latency",
    "hir": "Host idle recovery",
    "xsr": "Cross stimulus recovery",
    "dirth": "Demand intensity",
}
"""The tests, in the order in which they are reported."""

PRECONDITION_BYTES = 128 * KIB
"""The size of the sequential writes before a test that are independent of its workload."""
PRECONDITION_TIMES = 2
"""The amount of these writes, as a multiple of the user capacity."""
SEQUENTIAL_DEPTH = 32
"""Requests at a time, of one thread, of sequential writes and of cross stimuli."""

MIXES = (1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0)
"""Shares of reads, in the order in which they are measured."""
IOPS_BYTES = (1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512)
"""Sizes of random requests, in the order in which each mix measures them."""
IOPS_TRACKED = ((4 * KIB, 0.0), (64 * KIB, 0.65), (1024 * KIB, 1.0))
"""Sizes and shares of reads whose IOPS must all be steady."""

THROUGHPUT_BYTES = (1024 * KIB, 128 * KIB)
"""Sizes of sequential requests; each has a purge and rounds of its own."""
THROUGHPUT_MIXES = (1.0, 0.0)

LATENCY_BYTES = (8 * KIB, 4 * KIB, 512)
LATENCY_MIXES = (1.0, 0.65, 0.0)

SATURATION_BYTES = 4 * KIB
"""The size of random writes of write saturation and of host idle recovery."""
SATURATION_TIMES = 4
"""User capacities that are written at most until a drive is saturated."""
SATURATION_NS = 6 * HOUR_NS

WAITS_S = (5, 10, 15, 25, 50)
"""Idle times of host idle recovery, in s."""

CROSS_BYTES = (1024 * KIB, 8 * KIB, 1024 * KIB)
"""Sizes of the writes of cross stimulus recovery: sequential, random, sequential."""
CROSS_HOURS = (8, 6, 8)


DEMAND_BYTES = 4 * KIB
"""The size of random requests of demand intensity."""
DEMAND_THREADS = (32, 16, 8, 6, 4, 2, 1)
DEMAND_DEPTHS = (32, 16, 8, 6, 4, 2, 1)
DEMAND_RESPONSE_NS = 5 * 10**6
"""The mean response time below which the most IOPS count."""


def percent(share: float) -> str:
    """A share as it was given.

    >>> from flashgc.snia import definitions
    >>> definitions.percent(0.75), definitions.percent(0.125), definitions.percent(0.004)
    ('75%', '12.5%', '0.4%')
    """
    return f"{100 * share:.6g}%"


class Form(NamedTuple):
    """The lengths of a test: those of the specification, or shorter ones."""

    round_ns: int
    """What takes a minute in the specification: the measurement of one size and mix."""
    rounds_max: int
    """Rounds after which a test ends without steady state."""
    active_range: float
    """The share of the user capacity that is used."""
    demand_mix: float
    """The share of reads of demand intensity."""
    seed: int

    @property
    def is_short(self) -> bool:
        """Whether lengths differ from those of the specification."""
        return self.round_ns != MINUTE_NS

    @property
    def round_gap(self) -> int:
        """Measurements between two rounds of write saturation."""
        return 0 if self.is_short else 30

    @property
    def half_hour_ns(self) -> int:
        """What takes half an hour: rounds of host idle recovery."""
        return self.round_ns if self.is_short else HOUR_NS // 2

    @property
    def histogram_ns(self) -> int:
        """What takes 20 minutes: writes whose response times are a histogram."""
        return (4 if self.is_short else 20) * self.round_ns

    @property
    def demand_ns(self) -> int:
        """What takes 5 minutes: writes before each round of demand intensity."""
        return (1 if self.is_short else 5) * self.round_ns

    @property
    def second_ns(self) -> int:
        """What takes a second: accesses and waits of host idle recovery."""
        return self.round_ns // 60

    @property
    def accesses(self) -> int:
        """Pairs of writes and a wait of host idle recovery."""
        return 12 if self.is_short else 360

    @property
    def hour_ns(self) -> int:
        """What takes an hour: cross stimuli."""
        return 2 * self.half_hour_ns

    @property
    def begin_times(self) -> int:
        """User capacities that are written before a round of a drive as new counts."""
        return PRECONDITION_TIMES if self.is_short else 0

    def differences(self, tests: Sequence[str]) -> list[str]:
        """What differs from the specification, in words."""
        told = []
        if self.is_short:
            told += self._shorter(tests)
        if self.rounds_max != steady.ROUNDS_MAX:
            told.append(f"a test ends after {self.rounds_max} rounds, in place of "
                        f"{steady.ROUNDS_MAX}")  # fmt: skip
        if self.active_range != 1.0:
            told.append(f"the active range is {percent(self.active_range)} of the user capacity")
        return told

    def _shorter(self, tests: Sequence[str]) -> list[str]:
        short = seconds(self.round_ns)
        told = [f"a measurement of one size and mix lasts {short}, in place of 1 min"]
        if "wsat" in tests:
            told.append("write saturation: each measurement is a round, in place of each 31st")
        if "dirth" in tests:
            told.append(f"demand intensity: rounds of writes of {seconds(self.half_hour_ns)}, in "
                        "place of 30 min")  # fmt: skip
        if {"wsat", "hir"} & {*tests}:
            told.append(
                f"write saturation and host idle recovery: since a round is shorter than a fill of "
                f"the drive, rounds begin once {self.begin_times} user capacities are written"
            )
        if {"wsat", "lat"} & {*tests}:
            told.append(f"histograms: {seconds(self.histogram_ns)}, in place of 20 min")
        if "dirth" in tests:
            told.append(
                f"demand intensity: writes of {seconds(self.demand_ns)} before each round, in "
                f"place of 5 min, and of {seconds(self.hour_ns)} before each histogram, in place "
                f"of 60 min; histograms of {seconds(self.histogram_ns // 2)}, in place of 10 min"
            )
        if "hir" in tests:
            told.append(
                f"host idle recovery: rounds of {seconds(self.half_hour_ns)}, in place of 30 min; "
                f"{self.accesses} accesses of {seconds(5 * self.second_ns)}, in place of 360 of "
                f"5 s; and waits of {seconds(self.second_ns)} for each second"
            )
        if "xsr" in tests:
            told.append(f"cross stimulus recovery: {seconds(self.hour_ns)} for each hour")
        return told


def seconds(ns: float) -> str:
    """A length of time, without digits that say nothing.

    >>> from flashgc.snia.definitions import seconds
    >>> seconds(5e9), seconds(5e9 / 12), seconds(60e9), seconds(1_500_000)
    ('5 s', '0.417 s', '1 min', '1.5 ms')
    """
    if ns >= MINUTE_NS and ns % MINUTE_NS == 0:
        return f"{ns // MINUTE_NS:.0f} min"
    if ns < SECOND_NS / 10:
        return f"{ns / 1e6:.3g} ms"
    return f"{ns / SECOND_NS:.3g} s"


def size(bytes_: int) -> str:
    """A size of requests.

    >>> from flashgc.snia.definitions import size
    >>> size(512), size(4096), size(1 << 20)
    ('0.5 KiB', '4 KiB', '1024 KiB')
    """
    return f"{bytes_ / KIB:g} KiB"


def mix(read_share: float) -> str:
    """The shares of reads and writes.

    >>> from flashgc.snia.definitions import mix
    >>> mix(0.65), mix(1.0)
    ('65/35', '100/0')
    """
    return f"{100 * read_share:.6g}/{100 - 100 * read_share:.6g}"
