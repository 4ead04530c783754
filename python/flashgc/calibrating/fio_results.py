"""Measured rows from fio's output: `--output-format=json` or `json+`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc._engine import ConfigError
from flashgc.calibrating import fio_form, rows
from flashgc.calibrating.rows import AMPLIFICATION, IOPS, PERCENTILES, Pattern, Row, Value
from flashgc.conversion import fio_values
from flashgc.conversion.fio_keys import SYNCHRONOUS

_NEEDED_MAJOR = 3
_KEYS = {one: f"{float(one[1:].replace('_', '.')):.6f}" for one in PERCENTILES}
_WAYS = {"read": 1.0, "randread": 1.0, "write": 0.0, "randwrite": 0.0}
_MIXED = ("rw", "readwrite", "randrw")
_UNSAID = {"thinktime": "0", "percentage_random": "100", "zonemode": "none"}
"""Options that change which requests come, or when, each with its value without an effect."""
Job = Mapping[str, Any]


def read(document: Mapping[str, Any], name: str) -> tuple[list[Row], list[str]]:
    """A row for each entry of fio, or group of them, and notes on those without one."""
    version = str(document.get("fio version", ""))
    major = re.match(r"(?:fio-)?(\d+)", version)
    if major is not None and int(major[1]) < _NEEDED_MAJOR:
        raise ConfigError(
            f"error: {name} is of {version}, whose times are in us without saying so\n"
            "  = help: measure again with fio 3 or later"
        )
    fio_form.check(document, name)
    common = document.get("global options", {})
    groups: dict[tuple[object, object], list[Job]] = {}
    together: dict[object, dict[str, None]] = {}
    for job in document["jobs"]:
        groups.setdefault((job.get("groupid"), job.get("jobname")), []).append(job)
        together.setdefault(job.get("groupid"), {})[str(job.get("jobname"))] = None
    found: list[Row] = []
    notes: list[str] = []
    for (group, _), jobs in groups.items():
        options = {**common, **jobs[0].get("job options", {})}
        where = f"{name}, job {jobs[0].get('jobname')}"
        others = [one for one in together[group] if one != str(jobs[0].get("jobname"))]
        if others:
            notes.append(f"{where} was left out: it ran at the same time as {', '.join(others)}; "
                         "give stonewall to a job that is measured alone")  # fmt: skip
            continue
        row = _row(jobs, options, where)
        if isinstance(row, str):
            notes.append(row)
            continue
        found.append(row)
        engine, depth = _engine(options), str(options.get("iodepth") or "1")
        if engine in SYNCHRONOUS and depth != "1":
            notes.append(f"{where}: ioengine={engine} is synchronous, and has one request in "
                         f"flight, not iodepth={depth}")  # fmt: skip
    return found, notes


def _row(jobs: Sequence[Job], options: Mapping[str, str], where: str) -> Row | str:
    """The row of an entry; or the reason why there is none."""
    kind, _, walk = str(options.get("rw") or options.get("readwrite") or "read").partition(":")
    if kind not in _WAYS and kind not in _MIXED:
        return f"{where} was left out: rw={kind} is neither reads nor writes"
    size = str(options.get("bs") or options.get("blocksize") or "4k")
    if len(set(size.split(","))) > 1 or "bsrange" in options or "bssplit" in options:
        return f"{where} was left out: its requests have several sizes"
    unsaid = [f"rw={kind}:{walk}"] if walk else []
    unsaid += [f"{one}={options[one]}" for one, plain in _UNSAID.items()
               if str(options.get(one, plain)) != plain]  # fmt: skip
    if unsaid:
        return f"{where} was left out: no row has a load with {' and '.join(unsaid)}"
    errors = [job.get("error") for job in jobs if job.get("error")]
    if errors:
        raise ConfigError(f"error: {where} ended with the error {errors[0]} of fio\n"
                          "  = help: repeat the measurement, or remove the job")  # fmt: skip
    share = _WAYS.get(kind, _whole(options, "rwmixread", "50", where) / 100)
    if options.get("rwmixwrite") and kind in _MIXED:
        share = 1 - _whole(options, "rwmixwrite", "50", where) / 100
    clones = _whole(options, "numjobs", "1", where)
    block = _number(size.partition(",")[0] or "4k", "bs", options, where)
    row = Row(
        rows.label(str(jobs[0].get("jobname"))), where, _pattern(kind, options, where),
        _span(options, where), block, _depth(options, where) * clones, share,
        _rate(options, share, clones, block, where), options.get("rate_process") == "poisson",
    )  # fmt: skip
    return row.with_values(_values(jobs, share))


def _whole(options: Mapping[str, str], name: str, default: str, where: str) -> int:
    """An option that is a number in fio's own notation, such as 4k, 4ki or 1g."""
    return _number(str(options.get(name) or default), name, options, where)


def _number(text: str, name: str, options: Mapping[str, str], where: str) -> int:
    """A part of an option in that notation."""
    try:
        return fio_values.whole(text, 1000 if str(options.get("kb_base")) == "1000" else 1024)
    except fio_values.WrongError as why:
        raise rows.wrong(where, name, text, str(why)) from None


def _span(options: Mapping[str, str], where: str) -> float | int:
    """The used part: a percentage, or a size, which is in bytes where it has no unit."""
    used = str(options.get("size") or "100%").strip()
    return rows.span(used, where) if used.endswith("%") else _whole(options, "size", "", where)


def _depth(options: Mapping[str, str], where: str) -> int:
    """Requests under way of one clone; a synchronous engine has one, whatever its iodepth."""
    return 1 if _engine(options) in SYNCHRONOUS else _whole(options, "iodepth", "1", where)


def _engine(options: Mapping[str, str]) -> str:
    """The engine, which is psync by default."""
    return str(options.get("ioengine") or "psync").partition(":")[0]


def _pattern(kind: str, options: Mapping[str, str], where: str) -> Pattern:
    if not kind.startswith("rand"):
        return Pattern("sequential")
    drawn = str(options.get("random_distribution") or "random").lower()
    if drawn in ("random", "uniform"):
        repeats = str(options.get("norandommap", "0")) not in ("0", "false")
        return Pattern("uniform" if repeats else "once")
    if drawn.startswith("zipf"):
        # As fio draws it: some places have several ranks.
        return rows.pattern(f"fio{drawn}", where)
    if drawn.startswith("zoned:"):
        return rows.pattern(drawn.rstrip("/:"), where)
    raise rows.wrong(where, "random_distribution", drawn,
                     "give random, zipf:THETA or zoned:A/S:A/S")  # fmt: skip


def _rate(
    options: Mapping[str, str], share: float, clones: int, block: int, where: str
) -> float | None:
    """Requests a second of all clones, from a limit in requests or in bytes."""
    name, each = ("rate_iops", 1) if options.get("rate_iops") else ("rate", block)
    given = options.get(name)
    if not given:
        return None
    numbers = [_number(part, name, options, where) / each
               for part in str(given).split(",") if part.strip()]  # fmt: skip
    if not any(numbers):
        return None  # 0 stands for none
    if 0 < share < 1:
        # One limit is that of each direction.
        return clones * (sum(numbers[:2]) if len(numbers) > 1 else
                         numbers[0] / max(share, 1 - share))  # fmt: skip
    return clones * numbers[-1 if share == 0 and len(numbers) > 1 else 0]


def _values(jobs: Sequence[Job], share: float) -> dict[str, Value]:
    """IOPS of all clones; percentiles of one, or of the bins of several."""
    total = sum(float(job[way]["iops"]) for job in jobs for way in ("read", "write"))
    found = {IOPS: Value(total)} if total > 0 else {}
    for way in ("read", "write"):
        if (share == 0 and way == "read") or (share == 1 and way == "write"):
            continue
        times = [_times(job[way]) for job in jobs]
        counts = [int(one.get("N", 0)) for one in times]
        if sum(counts) > 0:
            mean = sum(one["mean"] * count for one, count in zip(times, counts, strict=True))
            if mean > 0:
                found[f"{way}_mean"] = Value(mean / sum(counts))
        for statistic, ns in _percentiles(times).items():
            if ns > 0:
                found[f"{way}_{statistic}"] = Value(ns)
    for job in jobs:
        amplification = job.get(AMPLIFICATION)
        if share < 1 and isinstance(amplification, int | float) and 1 <= amplification < math.inf:
            found[AMPLIFICATION] = Value(float(amplification))
    return found


def _times(way: Job) -> Mapping[str, Any]:
    """The latencies of a direction: completion, or of the whole request where asked for."""
    for name in ("clat_ns", "lat_ns"):
        one = way.get(name)
        if isinstance(one, Mapping) and one.get("percentile"):
            return one
    found = way.get("clat_ns", {})
    return found if isinstance(found, Mapping) else {}


def _percentiles(times: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The percentiles of one clone; of several by their bins, which json+ has."""
    if len(times) == 1:
        known = times[0].get("percentile", {})
        return {one: float(known[key]) for one, key in _KEYS.items() if key in known}
    if not all(one.get("bins") for one in times):
        return {}
    bins: dict[int, int] = {}
    for one in times:
        for ns, count in one["bins"].items():
            bins[int(ns)] = bins.get(int(ns), 0) + int(count)
    total, found, below = sum(bins.values()), {}, 0
    due = [(float(key) / 100 * total, one) for one, key in _KEYS.items()]
    for ns, count in sorted(bins.items()):
        below += count
        while due and below >= due[0][0]:
            found[due.pop(0)[1]] = float(ns)
    return found
