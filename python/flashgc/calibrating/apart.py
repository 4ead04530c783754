"""The further measurement that tells two candidates apart: standard loads, simulated with both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flashgc.calibrating import likelihood
from flashgc.calibrating.fits import Fitted, Runs
from flashgc.calibrating.likelihood import Simulated
from flashgc.calibrating.rows import Pattern, Row, Value

ENOUGH = 3.0
"""A difference of this multiple of the noise tells two candidates apart."""

_METRICS = ("iops", "write_amplification", "write_p50", "write_p99", "write_p99_9", "read_p50",
            "read_p99", "read_p99_9")  # fmt: skip
_UNIFORM = Pattern("uniform")
_ZIPF = Pattern("fiozipf", 1.2)
_ZONED = Pattern("zoned", zones=((0.8, 0.2), (0.2, 0.8)))

Told = Callable[[int, int], None]


def loads(full_iops: float) -> list[Row]:
    """The standard loads, for a drive with this rate of random writes."""
    rates = {share: max(1.0, float(f"{share * full_iops:.2g}")) for share in (0.3, 0.6, 0.9)}
    made = [
        Row("uniform-full", "", _UNIFORM, 1.0, 4096, 64),
        Row("uniform-half", "", _UNIFORM, 0.5, 4096, 64),
        Row("zipf-full", "", _ZIPF, 1.0, 4096, 64),
        Row("zoned-full", "", _ZONED, 1.0, 4096, 64, overwrites=5.0),
        Row("reads-next-to-writes", "", _UNIFORM, 1.0, 4096, 32, 0.7),
        *(Row(f"uniform-{100 * share:.0f}-percent", "", _UNIFORM, 1.0, 4096, 64, 0.0, rate)
          for share, rate in rates.items()),
        Row("mixed-60-percent", "", _UNIFORM, 1.0, 4096, 64, 0.5, 2 * rates[0.6]),
    ]  # fmt: skip
    return [replace(row, values={"iops": Value(1.0)}) for row in made]


def best(
    pair: Sequence[tuple[Runs, Fitted]], measured: Sequence[Row], told: Told
) -> dict[str, Any]:
    """The load and the number that differ most between two candidates, each with its runs."""
    full = [row.values["iops"].number for row in measured
            if row.read_share == 0 and row.rate is None and row.readers is None
            and row.pattern.kind != "sequential" and "iops" in row.values]  # fmt: skip
    rows = loads(min(full, default=10_000.0))
    names = [one.name for _, one in pair]
    noise = pair[0][0].noise
    first, second = (_found(runs, one, rows, told) for runs, one in pair)
    found: list[tuple[float, int, str, float, float]] = []
    for at in range(len(rows)):
        for metric in _METRICS:
            ours, theirs = first[at].get(metric), second[at].get(metric)
            if ours is None or theirs is None:
                continue
            miss = likelihood.error(Value(ours), theirs)
            if miss is not None:
                share = abs(miss) / noise[likelihood.kind(metric)]
                found.append((share, at, metric, ours, theirs))
    if not found:
        return {"names": names, "load": None, "file": None, "job": None,
                "metric": None, "simulated": None, "noise": 0.0, "enough": False}  # fmt: skip
    share, at, metric, ours, theirs = max(found, key=lambda one: (one[0], -one[1]))
    row = rows[at]
    return {
        "names": names, "load": row.words(), "file": f"{row.name}.fio",
        "job": job(row), "metric": metric, "simulated": [ours, theirs], "noise": share,
        "enough": share >= ENOUGH,
    }  # fmt: skip


def _found(runs: Runs, of: Fitted, rows: Sequence[Row], told: Told) -> Sequence[Simulated]:
    [found] = runs.fitted([of.point], rows, told, True)
    return found.found


def job(row: Row) -> str:
    """The load as a file for fio, with the overwrites before it."""
    kind = "randwrite" if row.read_share == 0 else "randrw"
    drawn = {"fiozipf": f"random_distribution=zipf:{row.pattern.theta:g}",
             "zoned": f"random_distribution={row.pattern}"}.get(row.pattern.kind)  # fmt: skip
    size = f"{100 * float(row.range):g}%"
    own = [f"rw={kind}", f"iodepth={row.depth}", *([drawn] if drawn else [])]
    if row.read_share > 0:
        own.append(f"rwmixread={100 * row.read_share:g}")
    if row.rate is not None:
        each = [round(row.rate * row.read_share), round(row.rate * (1 - row.read_share))]
        rate = f"{each[0]},{each[1]}" if row.read_share > 0 else f"{each[1]}"
        own += [f"rate_iops={rate}", "rate_process=poisson"]
    before = ["rw=randwrite", "iodepth=64", f"loops={math.ceil(row.overwritten)}",
              *([drawn] if drawn else [])]  # fmt: skip
    lines = [
        "# It destroys the data of the drive. fio FILE --output-format=json+ --output=RESULT.json",
        "[global]", "ioengine=libaio", "direct=1", "filename=/dev/nvme0n1", "bs=4k",
        f"size={size}", "group_reporting=1", "percentile_list=50:90:95:99:99.9:99.99", "",
        "[fill]", "rw=write", "bs=1m", "iodepth=32", "",
        "[overwrite]", "stonewall", *before, "",
        f"[{row.name}]", "stonewall", *own, "time_based=1", "runtime=600",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def is_open(found: Mapping[str, Any] | None) -> bool:
    """Whether not even the best further measurement tells the two apart."""
    return found is not None and not found["enough"]
