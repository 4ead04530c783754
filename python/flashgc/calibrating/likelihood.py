"""How likely a run makes a measurement: errors as logarithms, over a stated noise.

1. The error of a number is the logarithm of simulated over measured. Over the noise of its kind it
   is a *miss*.
2. A miss counts by half its square while it is small. Beyond three times the noise a rate
   counts in proportion (pseudo-Huber), and a latency by its logarithm (Cauchy): a percentile
   between two humps of a distribution jumps with the least change, and must not decide all else.
3. A lower bound that is met counts nothing.
4. The noise of a percentile is that of a long tail. Near the median it is at most that of the
   median and half of the distance between the two: all reads of an idle drive take the same time,
   and each of their percentiles shows it as well as the median does.
5. A percentile between two humps differs from seed to seed of the simulation as well: this jitter
   of a candidate is part of the noise of its long runs, and makes each of its numbers less likely.
6. Where even the best candidate misses by more than the noise, all noise is scaled so that it does
   not: the model is then the larger part of the error.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc._engine import ConfigError
from flashgc.calibrating.rows import AMPLIFICATION, IOPS, STATISTICS, Row, Value
from flashgc.files import arguments

Report = Mapping[str, Any]
Simulated = Mapping[str, float]
"""What a run gives, by metric."""

NOISE: Mapping[str, float] = {
    IOPS: 0.01, AMPLIFICATION: 0.01, "mean": 0.02, "p50": 0.02, "p90": 0.04, "p95": 0.04,
    "p99": 0.06, "p99_9": 0.12, "p99_99": 0.25,
}  # fmt: skip
"""The standard deviation of the logarithm of each kind of number."""
DELTA = 3.0
"""The miss beyond which an error counts less than by its square."""
_OF_DISTANCE = 0.5
"""The part of the distance of a percentile from the median, as a logarithm, that may be noise."""
_WORST = 40.0
"""The miss of a number that a run does not have."""


def noise(given: Mapping[str, float] | None) -> dict[str, float]:
    """The noise of each kind of number, with those that are given."""
    found = dict(NOISE)
    if given is not None and not isinstance(given, Mapping):
        raise ConfigError("error: noise must be a dictionary of shares, as in {'iops': 0.02}, got "
                          f"{arguments.shown(given)}")  # fmt: skip
    for kind, share in (given or {}).items():
        if kind not in NOISE:
            raise ConfigError(f"error: --noise names {kind!r}\n"
                              f"  = help: the kinds: {', '.join(NOISE)}")  # fmt: skip
        if isinstance(share, bool) or not isinstance(share, numbers.Real):
            raise ConfigError(f"error: the noise of {kind} must be a number, got "
                              f"{arguments.shown(share)}\n"
                              "  = help: give a share up to 1, as in {'iops': 0.02}")  # fmt: skip
        if not 0 < share <= 1:
            raise ConfigError(f"error: the noise of {kind} is {share:g}\n"
                              "  = help: give a share up to 100 %, as in iops=2%")  # fmt: skip
        found[kind] = float(share)
    return found


def kind(metric: str) -> str:
    """The kind of a metric: that of its statistic.

    >>> from flashgc.calibrating import likelihood
    >>> likelihood.kind("write_p99_9"), likelihood.kind("iops"), likelihood.kind("read_iops")
    ('p99_9', 'iops', 'iops')
    """
    if metric in (IOPS, AMPLIFICATION):
        return metric
    return metric.partition("_")[2]


def simulated(report: Report) -> dict[str, float]:
    """The numbers of a run under the names of the measured ones."""
    found: dict[str, Any] = {
        IOPS: report["throughput"]["iops"], AMPLIFICATION: report["write_amplification_bytes"],
    }  # fmt: skip
    for way in ("read", "write"):
        for one in STATISTICS:
            found[f"{way}_{one}"] = report["latency_ns"][way][one]
        if "jobs" in report:
            found[f"{way}_{IOPS}"] = sum(job["iops"][way] or 0.0 for job in report["jobs"])
    return {name: float(value) for name, value in found.items() if value is not None and value > 0}


def error(measured: Value, found: float | None) -> float | None:
    """The logarithm of simulated over measured; 0 for a bound that is met, None without a run."""
    if found is None:
        return None
    miss = math.log(found / measured.number)
    return min(miss, 0.0) if measured.is_bound else miss


def misses(
    rows: Sequence[Row], found: Sequence[Simulated], noise_: Mapping[str, float],
    jitter: Sequence[float] = (),
) -> list[float]:  # fmt: skip
    """The miss of each number of the rows, in the order of :func:`metrics`."""
    told: list[float] = []
    wide = widths(rows, noise_, jitter)
    sigmas = noises(rows, noise_)
    for row, own in zip(rows, found, strict=True):
        for metric, value in row.values.items():
            miss = error(value, own.get(metric))
            sigma = sigmas[len(told)] * wide[len(told)]
            told.append(_WORST if miss is None else miss / sigma)
    return told


def noises(rows: Sequence[Row], noise_: Mapping[str, float]) -> list[float]:
    """The noise of each number of the rows, without jitter."""
    return [_noise(row, metric, noise_) for row in rows for metric in row.values]


def _noise(row: Row, metric: str, noise_: Mapping[str, float]) -> float:
    """The noise of a number of a row: that of its kind, less for a percentile near the median."""
    own = noise_[kind(metric)]
    median = row.values.get(f"{metric.partition('_')[0]}_p50")
    if not kind(metric).startswith("p") or median is None or row.values[metric].is_bound:
        return own
    distance = abs(math.log(row.values[metric].number / median.number))
    return min(own, math.hypot(noise_["p50"], _OF_DISTANCE * distance))


def widths(
    rows: Sequence[Row], noise_: Mapping[str, float], jitter: Sequence[float]
) -> list[float]:  # fmt: skip
    """The noise of each number with its jitter, as a multiple of that without."""
    sigmas = noises(rows, noise_)
    if len(jitter) != len(sigmas):
        return [1.0] * len(sigmas)
    return [math.hypot(1.0, one / sigma) for sigma, one in zip(sigmas, jitter, strict=True)]


def metrics(rows: Sequence[Row]) -> list[str]:
    """The metric of each number of the rows, in their order."""
    return [metric for row in rows for metric in row.values]


def cost(metric: str, miss: float) -> float:
    """What a miss takes from the logarithm of the likelihood."""
    if kind(metric) in (IOPS, AMPLIFICATION):
        return float(DELTA**2 * (math.sqrt(1 + (miss / DELTA) ** 2) - 1))
    return float(DELTA**2 / 2 * math.log1p((miss / DELTA) ** 2))


def weight(metric: str, miss: float) -> float:
    """The weight of a miss in a fit by least squares."""
    part = 1 + (miss / DELTA) ** 2
    return float(1 / math.sqrt(part) if kind(metric) in (IOPS, AMPLIFICATION) else 1 / part)


def total(rows: Sequence[Row], all_: Sequence[float]) -> float:
    """The sum of the costs: minus the logarithm of the likelihood."""
    return sum(map(cost, metrics(rows), all_))


def scale(best: float, count: int, free: int) -> float:
    """The factor by which costs shrink, where the best candidate misses by more than the noise."""
    return max(1.0, 2 * best / max(count - free, 1))
