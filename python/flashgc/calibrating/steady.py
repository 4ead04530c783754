"""Measured rows of the table `steady.csv`: medians of runs of iob, the benchmark of SSD-iq."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping

from flashgc._engine import ConfigError
from flashgc.calibrating import rows, tables
from flashgc.calibrating.rows import Pattern, Row, Value

COLUMNS = ("experiment", "active_GiB", "threads_max", "w50_us", "w99.9_us")
"""Columns by which such a table is known."""
END_US = 19_998
"""The end of the histogram: percentiles there are lower bounds."""
KEPT_UP = 0.97
"""A run with a rate reached it if its writes have this share of it."""
_NO_LIMIT = 1.5
"""A run whose writes exceed its rate by this factor had no limit, whatever the table says."""
_STATED = 0.8
"""Values are medians over the last 40 % of a run, so those of its state at 80 %."""
_WRITERS = {4: 512, 7: 384}
"""Requests under way by the number of threads: 4 writers, or 3 next to 4 readers."""
_LIMITED = 256
"""Those of a thread with a rate at most: one that misses its rate has 290 (rate times median)."""
_PERCENTILES = {"50": "p50", "99": "p99", "99.9": "p99_9", "99.99": "p99_99"}
_ZONE = re.compile(r"s([\d.]+) f([\d.]+)")


def is_such(text: str) -> bool:
    """Whether a table has this form."""
    first = [one.strip() for one in text.partition("\n")[0].split(",")]
    return set(COLUMNS) <= set(first)


def read(text: str, name: str, drive: str | None) -> tuple[list[Row], int]:
    """The rows of one drive, and the number of those that no row of ours can say."""
    reader = csv.DictReader(io.StringIO(text))
    found, left = [], 0
    for line, cells in tables.chosen(tables.numbered(reader), name, drive):
        where = f"{name}, line {line}"
        try:
            row = _row(cells, where)
        except KeyError as missing:
            raise ConfigError(
                f"error: {name} has some columns of `steady.csv`, but no column {missing.args[0]!r}"
                "\n  = help: give all of its columns, or those of docs/calibrate.md"
            ) from None
        except (ArithmeticError, TypeError, ValueError) as reason:
            raise ConfigError(
                f"error: {where} cannot be read: {type(reason).__name__}: {reason}\n"
                "  = help: each line needs all columns of the first one"
            ) from None
        if row is None:
            left += 1
        else:
            found.append(row)
    return rows.unique(found), left


def _row(cells: Mapping[str, str], where: str) -> Row | None:
    writes, reads = float(cells["write_iops"]), float(cells["read_iops"])
    limit = float(cells["rate_iops"])
    rate = _rate(limit, writes)
    pattern = _pattern(cells["pattern"], cells["details"])
    if pattern is None or writes <= 0:
        return None
    if reads > 0 and (rate is None or writes < KEPT_UP * limit):
        return None  # readers of a rate of their own, next to writers at full rate
    total = writes + reads
    share = round(reads / total, 4)
    active_gib, threads = float(cells["active_GiB"]), int(cells["threads_max"])
    block = 2 ** round(math.log2(float(cells["write_MiBs"]) * 2**20 / writes))
    written_gib = float(cells["write_MiBs"]) * float(cells["duration_s"]) / 1024
    p50_us = float(cells["w50_us"])
    under_way = _power(writes * p50_us / 1e6)
    depth = _WRITERS.get(threads) or (under_way if rate is None else max(under_way, _LIMITED))
    values = {"iops": Value(total)}
    for way, letter in (("write", "w"), ("read", "r")):
        for percent, statistic in _PERCENTILES.items():
            us = float(cells[f"{letter}{percent}_us"])
            if us > 0 and (way == "write" or share > 0):
                bound = us >= END_US
                values[f"{way}_{statistic}"] = Value((END_US if bound else us) * 1e3, bound)
    label = f"{pattern} {active_gib:g} GiB"
    label += "" if rate is None else f" {limit:.0f}/s"
    label += "" if depth in (512, 384) else f" depth {depth}"
    overwrites = round(max(_STATED * written_gib / active_gib, 0.0), 1)
    return Row(
        label, where, pattern, round(active_gib * 2**30), block, depth, share,
        None if rate is None else rate / (1 - share),
        # Short runs follow others, on a drive that is in its steady state.
        overwrites=overwrites if overwrites >= 1 and pattern.kind != "sequential" else None,
        values=values,
    )  # fmt: skip


def _rate(limit: float, writes: float) -> float | None:
    """Writes a second that come, or None at full rate.

    Of a run that kept up they are those that were measured: some generators exceed their limit.
    """
    if limit == 0 or writes > _NO_LIMIT * limit:
        return None
    return max(limit, writes)


def _pattern(kind: str, details: str) -> Pattern | None:
    base, _, order = kind.partition("-")
    if base in ("uniform", "sequential"):
        return Pattern(base)
    if base in ("zipf", "fiozipf") and order == "shuffle":
        return Pattern(base, float(details))
    zones = tuple((float(f), float(s)) for s, f in _ZONE.findall(details))
    return Pattern("scattered", zones=zones) if base == "zones" and zones else None


def _power(under_way: float) -> int:
    """The nearest power of two, at least 1."""
    return int(2 ** max(round(math.log2(max(under_way, 1.0))), 0))
