"""The procedures of the tests: what each measures, in which order, and when it ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from flashgc._engine import RunError
from flashgc.components import closed_loop
from flashgc.snia import definitions, steady
from flashgc.snia.definitions import Form
from flashgc.snia.measuring import Histogram, Load, Point, Preconditioned, Rig
from flashgc.snia.steady import Window


class Series(NamedTuple):
    """A tracking variable: its value in each round."""

    name: str
    unit: str
    values: list[float]

    @property
    def window(self) -> Window | None:
        """Its measurement window, at the last rounds."""
        return steady.window(self.values)


class Part(NamedTuple):
    """A test, or a part of it."""

    name: str
    precondition: Preconditioned | None
    tracked: list[Series]
    rounds: list[list[Point]]
    """The measurements of each round."""
    points: list[Point]
    """All measurements, in order."""
    histogram: Histogram | None = None
    continues: bool = False
    """Whether it has the drive of the part before it, without a purge."""

    @property
    def is_steady(self) -> bool | None:
        """Whether all tracking variables are steady; None of a test that has none."""
        return steady.reached([one.values for one in self.tracked]) if self.tracked else None

    @property
    def last(self) -> list[list[Point]]:
        """The rounds of the measurement window."""
        return self.rounds[-steady.WINDOW :]


class Outstanding(NamedTuple):
    """Threads, and requests of each at a time."""

    threads: int
    depth: int

    def checked(self) -> Outstanding:
        """An error where they are more than a drive is given at a time."""
        closed_loop.depth(self.depth)
        if self.threads * self.depth > closed_loop.DEPTH_MAX:
            raise RunError(
                f"error: {self.threads:,} threads with {self.depth:,} requests each are "
                f"{self.threads * self.depth:,} at a time\n"
                f"  = help: give fewer: together at most {closed_loop.DEPTH_MAX:,}"
            )
        return self


Value = Callable[[list[Point]], float]
"""The value of a tracking variable, from the measurements of a round."""
Procedure = Callable[[Callable[[str], Rig], Outstanding], list[Part]]
"""Takes a maker of purged drives, by the name of the part, and the requests at a time."""


def _tracked(
    measured: Iterator[list[Point]], form: Form, tracked: Sequence[tuple[Series, Value]]
) -> list[list[Point]]:
    """Rounds until all variables are steady, or as many as the form has."""
    rounds = []
    for points in measured:
        rounds.append(points)
        for series, value in tracked:
            series.values.append(value(points))
        if steady.reached([series.values for series, _ in tracked]):
            break
        if len(rounds) == form.rounds_max:
            break
    return rounds


def _iops_of(size: int, read_share: float) -> Value:
    return lambda points: _of(points, size, read_share).iops


def _of(points: Sequence[Point], size: int, read_share: float) -> Point:
    return next(point for point in points if (point.bytes, point.read_share) == (size, read_share))


def _matrix(
    rig: Rig, mixes: Sequence[float], sizes: Sequence[int], at: Outstanding
) -> Iterator[list[Point]]:
    """Rounds of all sizes of each mix."""
    for number in itertools.count(1):
        yield [
            rig.measure(f"round {number}", number, Load(size, mix, *at), rig.form.round_ns)
            for mix in mixes
            for size in sizes
        ]


def iops(purged: Callable[[str], Rig], at: Outstanding) -> list[Part]:
    """Random requests of eight sizes and seven mixes."""
    rig = purged("")
    before = rig.precondition()
    tracked = [
        (Series(f"{definitions.size(size)} {definitions.mix(mix)}", "IOPS", []),
         _iops_of(size, mix))
        for size, mix in definitions.IOPS_TRACKED
    ]  # fmt: skip
    measured = _matrix(rig, definitions.MIXES, definitions.IOPS_BYTES, at)
    rounds = _tracked(measured, rig.form, tracked)
    return [Part("", before, [series for series, _ in tracked], rounds, rig.points)]


def throughput(purged: Callable[[str], Rig], at: Outstanding) -> list[Part]:
    """Sequential reads and writes of two sizes, each on a purged drive."""
    del at
    return [_throughput(purged(definitions.size(size)), size)
            for size in definitions.THROUGHPUT_BYTES]  # fmt: skip


def _throughput(rig: Rig, size: int) -> Part:
    before = rig.precondition(size)

    def measured() -> Iterator[list[Point]]:
        for number in itertools.count(1):
            loads = [
                Load(size, mix, 1, definitions.SEQUENTIAL_DEPTH, is_sequential=True)
                for mix in definitions.THROUGHPUT_MIXES
            ]
            yield [rig.measure(f"round {number}", number, load, rig.form.round_ns)
                   for load in loads]  # fmt: skip

    series = Series(f"{definitions.size(size)} 0/100", "MB/s", [])
    rounds = _tracked(
        measured(), rig.form, [(series, lambda points: _of(points, size, 0.0).mb_per_s)]
    )
    return Part(definitions.size(size), before, [series], rounds, rig.points)


def latency(purged: Callable[[str], Rig], at: Outstanding) -> list[Part]:
    """Single random requests of three sizes and three mixes, and a histogram of writes."""
    del at
    rig = purged("")
    before = rig.precondition()
    size = definitions.SATURATION_BYTES
    series = Series(f"{definitions.size(size)} 0/100 mean", "us", [])
    one = Outstanding(1, 1)
    measured = _matrix(rig, definitions.LATENCY_MIXES, definitions.LATENCY_BYTES, one)
    rounds = _tracked(
        measured, rig.form, [(series, lambda points: _of(points, size, 0.0).mean_ns / 1e3)]
    )
    found = rig.histogram("histogram", Load(size, 0.0, *one), rig.form.histogram_ns)
    return [Part("", before, [series], rounds, rig.points, found)]


def saturation(purged: Callable[[str], Rig], at: Outstanding) -> list[Part]:
    """Random writes of 4 KiB on a drive as new, until it is steady or has been written often."""
    rig = purged("")
    load = Load(definitions.SATURATION_BYTES, 0.0, *at)
    series = Series("4 KiB 0/100", "IOPS", [])
    rounds: list[list[Point]] = []
    gap = 0
    most_ns = definitions.SATURATION_NS
    while rig.written < definitions.SATURATION_TIMES and rig.now_ns < most_ns:
        begins = rig.written >= rig.form.begin_times and gap == 0
        number = len(rounds) + 1 if begins else 0
        point = rig.measure("writes", number, load, rig.form.round_ns)
        if not begins:
            gap = max(gap - 1, 0)
            continue
        gap = rig.form.round_gap
        rounds.append([point])
        series.values.append(point.iops)
        if steady.reached([series.values]):
            break
    found = rig.histogram("histogram", load, rig.form.histogram_ns)
    return [Part("", None, [series], rounds, rig.points, found)]


def idle_recovery(purged: Callable[[str], Rig], at: Outstanding) -> list[Part]:
    """Random writes until steady, then short ones between waits of several lengths."""
    rig = purged("")
    form = rig.form
    load = Load(definitions.SATURATION_BYTES, 0.0, *at)

    def measured() -> Iterator[list[Point]]:
        while rig.written < form.begin_times:
            rig.measure("writes", 0, load, form.half_hour_ns)
        for number in itertools.count(1):
            yield [rig.measure("writes", number, load, form.half_hour_ns)]

    series = Series("4 KiB 0/100", "IOPS", [])
    rounds = _tracked(measured(), form, [(series, lambda points: points[0].iops)])
    for wait in definitions.WAITS_S:
        for _ in range(form.accesses):
            rig.measure(waiting(wait), 0, load, 5 * form.second_ns)
            rig.wait(wait * form.second_ns)
        rig.measure(baseline(wait), 0, load, form.half_hour_ns)
    return [Part("", None, [series], rounds, rig.points)]


def waiting(wait: int) -> str:
    """The phase of writes with a wait of this length between them, in s of the specification."""
    return f"wait {wait} s"


def baseline(wait: int) -> str:
    """The phase of writes without waits that follows."""
    return f"after wait {wait} s"


def cross_stimulus(purged: Callable[[str], Rig], at: Outstanding) -> list[Part]:
    """Large sequential writes, small random ones, and large sequential ones again."""
    del at
    rig = purged("")
    minute_ns = rig.form.hour_ns // 60
    both = zip(definitions.CROSS_BYTES, definitions.CROSS_HOURS, strict=True)
    for number, (size, hours) in enumerate(both, 1):
        load = Load(size, 0.0, 1, definitions.SEQUENTIAL_DEPTH, is_sequential=number != 2)
        rig.course(f"group {number}", load, 60 * hours * minute_ns, minute_ns)
    return [Part("", None, [], [], rig.points)]


def demand(purged: Callable[[str], Rig], at: Outstanding) -> list[Part]:
    """Random requests of each number of threads and depth, then histograms of three of them."""
    del at
    rig = purged("")
    form = rig.form
    before = rig.precondition()
    writes = Load(definitions.DEMAND_BYTES, 0.0, 32, 32)

    def written() -> Iterator[list[Point]]:
        for number in itertools.count(1):
            yield [rig.measure("writes", number, writes, form.half_hour_ns)]

    series = Series("4 KiB 0/100, 32 x 32", "IOPS", [])
    rounds = _tracked(written(), form, [(series, lambda points: points[0].iops)])
    parts = [Part("writes", before, [series], rounds, _taken(rig))]
    parts.append(_demanded(rig, writes))
    for name, load in _chosen(parts[-1]):
        rig.measure(name, 0, writes, form.hour_ns)
        found = rig.histogram("histogram", load, form.histogram_ns // 2)
        told = f"{name} ({load.threads} x {load.depth})"
        parts.append(Part(told, None, [], [], _taken(rig), found, continues=True))
    return parts


def _demanded(rig: Rig, writes: Load) -> Part:
    """Rounds of all numbers of threads and depths, each after writes."""
    form = rig.form
    mix = form.demand_mix
    loads = [
        Load(definitions.DEMAND_BYTES, mix, threads, depth)
        for threads in definitions.DEMAND_THREADS for depth in definitions.DEMAND_DEPTHS
    ]  # fmt: skip

    def measured() -> Iterator[list[Point]]:
        for number in itertools.count(1):
            rig.measure("writes before the round", 0, writes, form.demand_ns)
            yield [rig.measure(f"round {number}", number, load, form.round_ns) for load in loads]

    series = Series(f"4 KiB {definitions.mix(mix)}, 32 x 32", "IOPS", [])
    rounds = _tracked(measured(), form, [(series, lambda points: points[0].iops)])
    return Part("demand", None, [series], rounds, _taken(rig), continues=True)


def _taken(rig: Rig) -> list[Point]:
    """The measurements since the last part."""
    points, rig.points = rig.points, []
    return points


def _chosen(part: Part) -> list[tuple[str, Load]]:
    """The loads of the histograms: the most IOPS with short responses, the least, and between."""
    found = []
    for points in zip(*part.last, strict=True):
        mean_ns = sum(point.mean_ns for point in points) / len(points)
        iops = sum(point.iops for point in points) / len(points)
        first = points[0]
        load = Load(first.bytes, first.read_share, first.threads, first.depth)
        found.append((iops, mean_ns, load))
    least_iops, _, least = found[-1]
    fast = [one for one in found if one[1] < definitions.DEMAND_RESPONSE_NS]
    most_iops, _, most = max(fast, key=lambda one: one[0], default=found[-1])
    half = (least_iops + most_iops) / 2
    middle = min(found, key=lambda one: abs(one[0] - half))[2]
    return [("MaxIOPS", most), ("MidIOPS", middle), ("MinIOPS", least)]


PROCEDURES: dict[str, Procedure] = {
    "wsat": saturation,
    "iops": iops,
    "tp": throughput,
    "lat": latency,
    "hir": idle_recovery,
    "xsr": cross_stimulus,
    "dirth": demand,
}
"""The procedure of each test."""
