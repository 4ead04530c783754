"""fio's logs: bandwidth, latencies and requests per second over time, and histograms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flashgc.fio.figures import BITS, GROUPS, bin_of
from flashgc.fio.samples import KINDS, NS_PER_MS, Clone, Sample

LOGS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")
_DIRECTIONS = {kind: at for at, kind in enumerate(KINDS)}


def of(clone: Clone, options: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    """The names and texts of the logs that the options of a job name."""
    offsets = options.get("log_offset", "0") != "0"
    window_ms = int(options.get("log_avg_msec") or 0)
    highest = options.get("log_max_value", "0") != "0"
    number = "" if options.get("per_job_logs") == "0" else f".{clone.number + 1}"
    samples = sorted((one for one in clone.samples if one.kind in _DIRECTIONS),
                     key=lambda one: one.ended_ns)  # fmt: skip
    for option, kinds in (("write_bw_log", ("bw",)), ("write_lat_log", ("slat", "clat", "lat")),
                          ("write_iops_log", ("iops",))):  # fmt: skip
        if option not in options:
            continue
        prefix = options[option] or name
        for kind in kinds:
            lines = (_averages(samples, kind, window_ms, clone.runtime_ms, highest=highest)
                     if window_ms else _each(samples, kind, offsets=offsets))  # fmt: skip
            yield f"{prefix}_{kind}{number}.log", "".join(f"{line}\n" for line in lines)
    if "write_hist_log" in options and (every_ms := int(options.get("log_hist_msec") or 0)):
        coarse = int(options.get("log_hist_coarseness") or 0)
        lines = _histograms(samples, every_ms, coarse)
        prefix = options["write_hist_log"] or name
        yield f"{prefix}_clat_hist{number}.log", "".join(f"{line}\n" for line in lines)


def _value(one: Sample, kind: str) -> int:
    if kind == "bw":
        return int(one.bytes * 1e9 / max(one.latency_ns, 1)) >> 10
    return {"iops": 1, "slat": 0}.get(kind, one.latency_ns)


def _each(samples: list[Sample], kind: str, *, offsets: bool) -> Iterator[str]:
    """A line for each request: time, value, direction, size, offset where asked, priority."""
    for one in samples:
        place = [one.offset] if offsets else []
        row = [one.ended_ns // NS_PER_MS, _value(one, kind), _DIRECTIONS[one.kind], one.bytes]
        yield ", ".join(map(str, [*row, *place, 0]))


def _averages(
    samples: list[Sample], kind: str, window_ms: int, end_ms: int, *, highest: bool
) -> Iterator[str]:
    """A line for each window and direction in which a request ended.

    As in fio, rates are those of whole windows, and the last latencies come when the job ends.
    """
    windows: dict[tuple[int, int], list[Sample]] = {}
    for one in samples:
        at = one.ended_ns // (window_ms * NS_PER_MS)
        windows.setdefault((at, _DIRECTIONS[one.kind]), []).append(one)
    for (at, direction), found in sorted(windows.items()):
        per_s = 1000 / window_ms
        is_whole = (at + 1) * window_ms <= end_ms
        if kind in {"bw", "iops"} and not is_whole:
            continue
        if kind == "bw":
            value = int(sum(one.bytes for one in found) * per_s) >> 10
        elif kind == "iops":
            value = int(len(found) * per_s)
        else:
            times = [_value(one, kind) for one in found]
            value = max(times) if highest else sum(times) // len(times)
        yield f"{min((at + 1) * window_ms, end_ms)}, {value}, {direction}, 0, 0"


def _histograms(samples: list[Sample], every_ms: int, coarse: int) -> Iterator[str]:
    """A line for each window and direction: time, direction, size, and the bins."""
    windows: dict[tuple[int, int], list[Sample]] = {}
    for one in samples:
        at = one.ended_ns // (every_ms * NS_PER_MS)
        windows.setdefault((at, _DIRECTIONS[one.kind]), []).append(one)
    for (at, direction), found in sorted(windows.items()):
        bins = [0] * ((GROUPS << BITS) >> coarse)
        for one in found:
            bins[min(bin_of(one.latency_ns) >> coarse, len(bins) - 1)] += 1
        head = [(at + 1) * every_ms, direction, found[-1].bytes]
        yield ", ".join(map(str, [*head, *bins]))
