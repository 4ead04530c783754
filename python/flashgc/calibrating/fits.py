"""Points that have run on the measured loads, and the steps from one to the next.

1. `Runs` gives what a point has on each row, on the workers and in the store of sweeps.
2. `closed` moves each number by the measurement that shows it alone.
3. `Steps` moves all of them together: least squares over the logarithms of the numbers, with the
   slopes of an earlier point where its own are not known (Levenberg-Marquardt, with the rank-one
   updates of Broyden).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashgc._engine import ConfigError
from flashgc.calibrating import drive, likelihood
from flashgc.calibrating.drive import Base, Point
from flashgc.calibrating.likelihood import Simulated
from flashgc.calibrating.numbers import SPACE, Number
from flashgc.calibrating.rows import AMPLIFICATION, IOPS, Row
from flashgc.tuning.pool import Pool, Run

Matrix = NDArray[np.float64]
Told = Callable[[int, int], None]

FIRMWARE, READ, PROGRAM = (
    "device.firmware.command", "device.timing.read", "device.timing.program",
)  # fmt: skip
_DEEP = 8
"""With as many requests under way, writes wait for programs."""
_STEP = 0.08
"""The change of a number, as a logarithm, from which its slope is taken."""
_STEEPEST = 1.3
"""The largest power of a number with which a measurement changes; beyond it is a jump."""
_SHORTEST = _STEP / 2
"""The shortest step that corrects slopes: over a shorter one most of the change is jitter."""
_LONGEST = 0.7
"""The longest step of a number, as a logarithm."""
_RIDGE = 1e-3
_LEAST = 0.01
"""The usable spare space at least, for a step from it."""


@dataclass(frozen=True)
class Fitted:
    """A point, its numbers on each row, and its misses."""

    point: Point
    rows: Sequence[Row]
    found: Sequence[Simulated]
    misses: Sequence[float]
    widths: Sequence[float]
    """The noise of each number with jitter, as a multiple of that without."""

    @property
    def cost(self) -> float:
        """Minus the logarithm of its likelihood."""
        return likelihood.total(self.rows, self.misses) + self.spread

    @property
    def rank(self) -> tuple[bool, float]:
        """Its place among points, the best first: one without any run is behind all others.

        The cost of numbers without a run is limited, and a point far from the measured numbers
        costs more.
        """
        return not any(self.found), self.cost

    @property
    def spread(self) -> float:
        """The part of it for jitter: a wider distribution makes each number less likely."""
        return sum(math.log(one) for one in self.widths)

    @property
    def weights(self) -> list[float]:
        """The weight of each miss in a step."""
        return list(map(likelihood.weight, likelihood.metrics(self.rows), self.misses))

    @property
    def name(self) -> str:
        """The name of its collector."""
        return self.point.candidate.name


class Runs:
    """Runs of points on rows."""

    def __init__(self, base: Base, noise: Mapping[str, float], pool: Pool) -> None:
        self.base, self.noise, self._pool = base, noise, pool

    def fitted(
        self, points: Sequence[Point], rows: Sequence[Row], told: Told | None = None,
        long: bool = False, more_seed: int = 0,
    ) -> list[Fitted]:  # fmt: skip
        """The points with their runs, each measured reserve in place of the assumed one."""
        reports = self._reports(points, rows, told, long, more_seed)
        made = []
        for at, point in enumerate(points):
            own = reports[at * len(rows) : (at + 1) * len(rows)]
            found = [{} if one is None else likelihood.simulated(one) for one in own]
            told_ = likelihood.misses(rows, found, self.noise, point.jitter)
            reserve = self._reserve(rows, own)
            kept = point if reserve is None else replace(point, reserve=reserve)
            widths = likelihood.widths(rows, self.noise, point.jitter)
            made.append(Fitted(kept, rows, found, told_, widths))
        return made

    def _reports(
        self, points: Sequence[Point], rows: Sequence[Row], told: Told | None, long: bool,
        more_seed: int,
    ) -> list[Any]:  # fmt: skip
        """The report of each run; None where the engine refuses it, or it ends in an error.

        The whole drive counts as well: a threshold that is a share of all blocks may exceed its
        spare space and not that of the drive in small.
        """
        runs: list[Run | None] = []
        for point in points:
            if drive.problem(self.base, point) is not None:
                runs += [None] * len(rows)
                continue
            for row in rows:
                try:
                    request = drive.request(self.base, point, row, long, more_seed)
                    runs.append(Run(f"{point.candidate.name}: {row.name}", request))
                except ConfigError:
                    runs.append(None)
        kept = [one for one in runs if one is not None]
        reports = iter(self._pool.run(kept, told))
        return [None if one is None else next(reports) for one in runs]

    def _reserve(self, rows: Sequence[Row], reports: Sequence[Any]) -> float | None:
        """Blocks of each plane that were erased in runs with collections."""
        if not self.base.differs:
            return None
        per_plane = int(self.base.shape["pages_per_block"]) * self.base.planes
        seen = []
        for row, report in zip(rows, reports, strict=True):
            if report is None or row.rate is not None or not report["gc"]["count"]:
                continue
            steady = report["steady"]
            ends = (steady["free_pages_begin"], steady["free_pages_end"])
            if None not in ends:
                seen.append(sum(ends) / 2 / per_plane)
        return statistics.median(seen) if seen else None


def closed(fit: Fitted, rows: Sequence[Row], free: Sequence[Number], base: Base) -> Point:
    """The point with each number moved by the measurement that shows it alone."""
    values = dict(fit.point.values)
    pairs = [pair for pair in zip(rows, fit.found, strict=True) if pair[1]]
    space = _space(pairs) if any(one.key == SPACE for one in free) else None
    program = _program(pairs, _bounded(space or 0.0))
    for number in free:
        old = values[number.key]
        if number.key == SPACE and space is not None:
            reserved = fit.point.reserve / base.whole(old)
            values[SPACE] = number.clipped(_respaced(old, _bounded(space), reserved))
        elif number.key == PROGRAM and program is not None:
            values[PROGRAM] = number.clipped(old * math.exp(_bounded(program)))
        for key, share in ((READ, 1.0), (FIRMWARE, 0.0)):
            if number.key == key:
                rest = _unloaded(pairs, share, values[key])
                values[key] = values[key] if rest is None else number.clipped(rest)
    return replace(fit.point, values=values)


def _respaced(space: float, move: float, reserved: float) -> float:
    """The spare space whose usable part differs by a factor.

    The excess of write amplification is inverse to the spare space without the blocks that the
    collector keeps erased, a share of all blocks.
    """
    usable = max((1 + space) * (1 - reserved) - 1, _LEAST)
    return (1 + usable * math.exp(move)) / (1 - reserved) - 1


Pair = tuple[Row, Simulated]


def _is_full(row: Row) -> bool:
    """Whether it has writes alone, at full rate, as many as wait for programs."""
    is_deep = row.depth >= _DEEP or row.block_bytes >= _DEEP * 4096
    is_alone = row.read_share == 0 and row.readers is None
    return row.rate is None and is_alone and is_deep and IOPS in row.values


def _full(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """Writes at full rate: simulated over measured IOPS, and write amplification, as logarithms."""
    found = []
    for row, own in pairs:
        if _is_full(row):
            pages = math.log(max(own.get(AMPLIFICATION, 1.0), 1.0))
            found.append((math.log(own[IOPS] / row.values[IOPS].number), pages))
    return found


def _program(pairs: Sequence[Pair], space: float) -> float | None:
    """Programs are slower by the factor by which too many of them are made in a time.

    Their number is that of the writes times write amplification: the measured one, or that which
    the spare space has after its own move.
    """
    found = []
    for row, own in pairs:
        if not _is_full(row):
            continue
        pages = max(own.get(AMPLIFICATION, 1.0), 1.0)
        measured = row.values.get(AMPLIFICATION)
        due = 1 + (pages - 1) * math.exp(-space) if measured is None else measured.number
        found.append(math.log(own[IOPS] * pages / (row.values[IOPS].number * due)))
    return statistics.median(found) if found else None


def _space(pairs: Sequence[Pair]) -> float | None:
    """From write amplification, or from how IOPS fall with it."""
    direct = []
    for row, own in pairs:
        value = row.values.get(AMPLIFICATION)
        if value is not None and AMPLIFICATION in own:
            excess = max(own[AMPLIFICATION] - 1, 0.01)
            direct.append(math.log(excess / max(value.number - 1, 0.01)))
    if direct:
        return statistics.median(direct)
    full = _full(pairs)
    spread = max((pages for _, pages in full), default=0) - min(
        (pages for _, pages in full), default=0
    )
    if len(full) < 2 or spread < 0.1:
        return None
    slope = statistics.linear_regression([x for _, x in full], [y for y, _ in full]).slope
    pages = statistics.mean(pages for _, pages in full)
    new, old = math.expm1(max(pages * (1 + slope), 0.01)), math.expm1(max(pages, 0.01))
    return math.log(old / new)


def _unloaded(pairs: Sequence[Pair], read_share: float, value: float) -> float | None:
    """What an unloaded request leaves for a number: the measured median without all else.

    Of the rows with one request at a time, or a rate, that with the fewest requests a second; rows
    of reads and writes only where there are no others.
    """
    metric = "read_p50" if read_share == 1 else "write_p50"
    idle = [
        (row.read_share != read_share, own[IOPS],
         row.values[metric].number - (own.get(metric, math.inf) - value))
        for row, own in pairs
        if row.readers is None and metric in row.values
        and (row.depth == 1 or row.rate is not None)
    ]  # fmt: skip
    rest = min(idle)[2] if idle else 0.0
    return rest if rest > 0 else None


def _bounded(move: float) -> float:
    return min(max(move, -1.5), 1.5)


class Steps:
    """The fit of a candidate by steps of all numbers together."""

    def __init__(
        self, fit: Fitted, free: Sequence[Number], slopes: Matrix, limits: Matrix
    ) -> None:  # fmt: skip
        self.fit, self._free, self._limits = fit, free, limits
        self.slopes = slopes
        self._damping = 0.1

    def next(self) -> Point:
        """The point of the next step."""
        z = np.asarray(self.fit.misses)
        weights = np.asarray(self.fit.weights)
        normal = self.slopes.T @ (weights[:, None] * self.slopes)
        ridge = self._damping * np.diag(np.diag(normal)) + _RIDGE * np.eye(len(self._free))
        move = -np.linalg.solve(normal + ridge, self.slopes.T @ (weights * z))
        return moved(self.fit.point, self._free, np.clip(move, -_LONGEST, _LONGEST))

    def seen(self, new: Fitted) -> None:
        """Takes the runs of that point: it counts if it is better, and corrects the slopes."""
        change = places(new.point, self._free) - places(self.fit.point, self._free)
        length = float(change @ change)
        if length > _SHORTEST**2:
            miss = np.asarray(new.misses) - np.asarray(self.fit.misses)
            new_slopes = self.slopes + np.outer(miss - self.slopes @ change, change) / length
            self.slopes = _smooth(new_slopes, self._limits)
        if new.rank < self.fit.rank:
            self.fit, self._damping = new, self._damping / 3
        else:
            self._damping *= 6


def places(point: Point, free: Sequence[Number]) -> Matrix:
    """The numbers of a point as logarithms."""
    return np.log(np.asarray([point.values[one.key] for one in free], dtype=np.float64))


def moved(point: Point, free: Sequence[Number], change: Matrix) -> Point:
    """A point whose numbers differ by these logarithms."""
    values = dict(point.values)
    for number, one in zip(free, change, strict=True):
        values[number.key] = number.clipped(values[number.key] * math.exp(float(one)))
    return replace(point, values=values)


def aside(point: Point, free: Sequence[Number]) -> list[Point]:
    """A point for each number, which alone is a step larger."""
    return [moved(point, free, row) for row in _STEP * np.eye(len(free))]


def slopes(fit: Fitted, beside: Sequence[Fitted], limits: Matrix) -> Matrix:
    """The change of each miss with the logarithm of each number."""
    z = np.asarray(fit.misses)
    found = np.stack([(np.asarray(one.misses) - z) / _STEP for one in beside], axis=1)
    return _smooth(found, limits)


def _smooth(slopes: Matrix, limits: Matrix) -> Matrix:
    """The slopes without those of jumps, which say nothing of the way."""
    return np.where(np.abs(slopes) > limits, 0.0, slopes)


def limits(rows: Sequence[Row], noise: Mapping[str, float]) -> Matrix:
    """The largest slope of each miss: a percentile between two humps jumps, and has none."""
    found = likelihood.noises(rows, noise)
    return _STEEPEST / np.asarray(found, dtype=np.float64)[:, None]
