"""Means over several seeds, with the interval that contains the true mean in 95 of 100 cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flashgc.results.metrics import COUNTS, drive_writes, found_at

_T_975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
_Z_975 = 1.959964

PER_DRIVE_WRITE = "per_drive_write"
"""The first part of the name of a count divided by the drive writes of its run."""

SECTIONS = ("requests", "latency_ns", "throughput", "utilisation", "pages", "buffer", "gc", "wear")
SINGLE = ("write_amplification", "erases", "erase_operations", "free_pages_min", "simulated_ns")


def student_t(degrees: int) -> float:
    """The two-sided 95 % point of Student's t.

    >>> from flashgc.results.statistics import student_t
    >>> student_t(4), round(student_t(60), 3), round(student_t(1000), 3)
    (2.7764, 2.0, 1.962)
    """
    if degrees < 1:
        return math.nan
    if degrees <= len(_T_975):
        return _T_975[degrees - 1]
    z = _Z_975  # the expansion around the normal distribution (Abramowitz and Stegun 26.7.5)
    first = (z**3 + z) / (4 * degrees)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    return z + first + second


def interval(values: Sequence[float]) -> dict[str, float | None]:
    """Mean and 95 % interval; the interval of a single value is not known.

    >>> from flashgc.results.statistics import interval
    >>> interval([1.0, 2.0, 3.0])["mean"]
    2.0
    """
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return {"mean": mean, "low": None, "high": None}
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = student_t(count - 1) * math.sqrt(variance / count)
    return {"mean": mean, "low": mean - half, "high": mean + half}


def intervals(reports: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float | None]]:
    """The interval of every metric that all the reports have, by its dotted name."""
    rows = [dict(_metrics(report)) for report in reports]
    shared = [name for name in rows[0] if all(name in row for row in rows)]
    return {name: interval([row[name] for row in rows]) for name in shared}


def differences(
    reports: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, float | None]]:
    """The interval of each metric's difference to the other report with the same seed.

    Requests of one seed are the same, so that the difference cancels their random part.
    """
    rows = [dict(_metrics(report)) for report in (*reports, *others)]
    shared = [name for name in rows[0] if all(name in row for row in rows)]
    pairs = list(zip(rows[: len(reports)], rows[len(reports) :], strict=True))
    return {name: interval([one[name] - two[name] for one, two in pairs]) for name in shared}


def _metrics(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name in SINGLE:
        yield from _numbers(name, report.get(name))
    for name in SECTIONS:
        yield from _numbers(name, report.get(name))
    writes = drive_writes(report)
    if writes:
        for path in COUNTS:
            value = found_at(report, path)
            if value is not None:
                yield ".".join((PER_DRIVE_WRITE, *path)), value / writes


def _numbers(name: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(f"{name}.{key}", inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, float(value)
