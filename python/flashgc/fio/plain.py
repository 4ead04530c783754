"""fio's normal output."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from flashgc.fio.results import Entry, direction, job
from flashgc.fio.samples import KINDS

_UNITS = (("nsec", 1), ("usec", 1000), ("msec", 1_000_000))


def text(entries: list[Entry], version: str, own: Mapping[str, Any]) -> str:
    """All of it."""
    lines = [version, ""]
    for entry in entries:
        lines += [*_entry(entry), ""]
    groups: dict[int, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    for number, found in groups.items():
        lines += [*_group(number, found), ""]
    lines += _own(own)
    return "\n".join(lines) + "\n"


def size(count: float, base: int) -> str:
    """A size with four digits, as fio has it.

    >>> from flashgc.fio.plain import size
    >>> size(3928 << 10, 1024), size(6236000, 1000), size(500, 1000)
    ('3928KiB', '6236kB', '500B')
    """
    letters = ("B", "KiB", "MiB", "GiB", "TiB") if base == 1024 else ("B", "kB", "MB", "GB", "TB")
    at = 0
    while count >= 10_000 and at < len(letters) - 1:
        count /= base
        at += 1
    shown = f"{count:.0f}" if at == 0 or count >= 1000 else f"{count:.1f}".removesuffix(".0")
    return f"{shown}{letters[at]}"


def _both(rate: float) -> str:
    return f"{size(rate, 1024)}/s ({size(rate, 1000)}/s)"


def _entry(entry: Entry) -> Iterator[str]:
    found = job(entry, bins=False)
    now = time.strftime("%a %b %e %H:%M:%S %Y")
    yield f"{entry.name}: (groupid={entry.group}, jobs={len(entry.clones)}): err= 0: pid=0: {now}"
    for kind in ("mixed", *KINDS):
        if kind in found and found[kind]["total_ios"]:
            yield from _direction(kind, found[kind], entry)
    for name, unit in (("latency_ns", "nsec"), ("latency_us", "usec"), ("latency_ms", "msec")):
        shares = [f"{step}={share:.2f}%" for step, share in found[name].items() if share]
        for at in range(0, len(shares), 5):
            yield f"  lat ({unit})   : {', '.join(shares[at : at + 5])}"
    sync = found.get("sync", {"total_ios": 0})
    if sync["total_ios"]:
        yield "  fsync/fdatasync/sync_file_range:"
        yield from _times("sync", sync["lat_ns"], "    ")
    yield "  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=0"
    for name, label in (("iodepth_level", "IO depths    "), ("iodepth_submit", "   submit    "),
                        ("iodepth_complete", "   complete  ")):  # fmt: skip
        shares = [f"{step}={share:.1f}%" for step, share in found[name].items()]
        yield f"  {label}: {', '.join(shares)}"
    counts = [found[kind]["total_ios"] if kind in found else 0 for kind in KINDS]
    rwts = ",".join(map(str, [*counts, sync["total_ios"]]))
    yield f"     issued rwts: total={rwts} short=0,0,0,0 dropped=0,0,0,0"
    yield f"     latency   : target=0, window=0, percentile=100.00%, depth={entry.depth}"


def _direction(kind: str, found: Mapping[str, Any], entry: Entry) -> Iterator[str]:
    rate, runtime = found["bw_bytes"], found["runtime"]
    zones = "; 0 zone resets" if kind == "write" else ""
    yield (f"  {kind}: IOPS={count(found['iops'])}, BW={_both(rate)}"
           f"({size(found['io_bytes'], 1024)}/{runtime}msec){zones}")  # fmt: skip
    yield from _times("clat", found["clat_ns"], "    ")
    yield from _times(" lat", found["lat_ns"], "    ")
    if found["bw_samples"]:
        yield (f"   bw (  KiB/s): min={found['bw_min']:5d}, max={found['bw_max']:5d}, "
               f"per={found['bw_agg']:.2f}%, avg={found['bw_mean']:.2f}, "
               f"stdev={found['bw_dev']:.2f}, samples={found['bw_samples']}")  # fmt: skip
        yield (f"   iops        : min={found['iops_min']:5d}, max={found['iops_max']:5d}, "
               f"avg={found['iops_mean']:.2f}, stdev={found['iops_stddev']:.2f}, "
               f"samples={found['iops_samples']}")  # fmt: skip


def count(number: float) -> str:
    """Requests per second in at most four digits, as fio writes them.

    >>> from flashgc.fio.plain import count
    >>> count(1522.3), count(15_231), count(152_230), count(1_234_567), count(12_345_678)
    ('1522', '15.2k', '152k', '1235k', '12.3M')
    """
    for unit in ("", "k", "M", "G"):
        if round(number) < 10_000 or unit == "G":
            break
        number /= 1000
    decimals = 1 if unit and number < 100 else 0
    return f"{number:.{decimals}f}{unit}"


def _times(name: str, found: Mapping[str, Any], indent: str) -> Iterator[str]:
    if not found["N"]:
        return
    unit, divisor = next((one for one in reversed(_UNITS)
                          if found["min"] >= one[1] * 2 and found["mean"] >= 2000 * one[1] / 1000),
                         _UNITS[0])  # fmt: skip
    low, high = (round(found[key] / divisor) for key in ("min", "max"))
    yield (f"{indent}{name} ({unit}): min={low}, max={high}, avg={found['mean'] / divisor:.2f}, "
           f"stdev={found['stddev'] / divisor:.2f}")  # fmt: skip
    percentiles = list(found.get("percentile", {}).items())
    if not percentiles:
        return
    yield f"{indent}{name.strip()} percentiles ({unit}):"
    cells = [f"{float(percent):5.2f}th=[{round(ns / divisor):5d}]" for percent, ns in percentiles]
    for at in range(0, len(cells), 4):
        comma = "," if at + 4 < len(cells) else ""
        yield f"{indent} | {', '.join(cells[at : at + 4])}{comma}"


def _group(number: int, entries: list[Entry]) -> Iterator[str]:
    yield f"Run status group {number} (all jobs):"
    for kind in KINDS:
        found = [one for one in (direction(entry, (kind,), bins=False) for entry in entries)
                 if one["total_ios"]]  # fmt: skip
        if not found:
            continue
        moved = sum(one["io_bytes"] for one in found)
        runs = [one["runtime"] for one in found]
        rates = [one["bw_bytes"] for one in found]
        total, low, high = moved * 1000 / max(runs), min(rates), max(rates)
        yield (f"{kind.upper():>7}: bw={_both(total)}, "
               f"{size(low, 1024)}/s-{size(high, 1024)}/s "
               f"({size(low, 1000)}/s-{size(high, 1000)}/s), "
               f"io={size(moved, 1024)} ({size(moved, 1000)}), "
               f"run={min(runs)}-{max(runs)}msec")  # fmt: skip


def _own(own: Mapping[str, Any]) -> Iterator[str]:
    yield f"Simulated drive ({own['device']}, {own['scheme']}):"
    for name, value in own.items():
        if isinstance(value, (int, float)):
            yield f"  {name.replace('_', ' '):24}: {value:,.6g}" if isinstance(value, float) else (
                f"  {name.replace('_', ' '):24}: {value:,}")  # fmt: skip
