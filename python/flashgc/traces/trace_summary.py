"""Texts for a trace: the same words and metrics on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.formatting import units

Facts = list[tuple[str, str]]
Rows = list[list[str]]
About = Mapping[str, Any]


def facts(about: About) -> Facts:
    """The totals of the trace."""
    option = f" ({about['format_option']})" if about.get("format_option") else ""
    kinds = ("read", "write", "trim", "other")
    counts = ", ".join(units.counted(about[f"{kind}s"], kind) for kind in kinds)
    origin = [("made from", about["origin"])] if about.get("origin") else []
    return [
        ("format", f"{about['format']}{option}"),
        *origin,
        ("rows", f"{units.count(about['rows'])} parsed, {units.count(about['bad_rows'])} skipped"),
        ("requests", counts),
        *_marked(about),
        ("read share", units.share(about["read_share"])),
        ("read", f"{units.size(about['read_bytes'])}, {_mean(about['mean_read_bytes'])}"),
        ("written", f"{units.size(about['written_bytes'])}, {_mean(about['mean_write_bytes'])}"),
        ("footprint", f"{units.size(about['footprint_bytes'])}, in whole 4 KiB pages"),
        ("written footprint", f"{units.size(about['written_footprint_bytes'])}, "
         f"each page {units.figures(about['overwrite_ratio'])} times"),
        ("highest address", units.size(about["max_address_bytes"])),
        ("duration", units.time(about["duration_s"] * 1e9)),
        ("between rows", f"{units.time(about['mean_interarrival_ns'])} on average"),
        ("sequential", _sequential(about)),
        ("equal times", _batches(about["batches"])),
        ("updates", _updates(about)),
        ("hotness", _hotness(about["hotness"])),
        ("devices", _devices(about["devices"])),
        ("out of order", _out_of_order(about)),
    ]  # fmt: skip


def _out_of_order(about: About) -> str:
    rows = units.counted(about["out_of_order"], "row")
    told = f"{rows}, by {units.time(about['late_ns_max'])} at most"
    if about["clock_wraps"]:
        times = units.counted(about["clock_wraps"], "time")
        told += f"; a 32-bit clock in {about['clock_unit']} seems to wrap ({times})"
    return told


def _marked(about: About) -> Facts:
    high, hints = about.get("high"), about.get("hints")
    facts = [("high priority", f"{units.count(high)} of the rows")] if high else []
    if hints:
        each = (f"{of['hint']}: {units.size(of['written_bytes'])}" for of in hints)
        facts.append(("written by hint", ", ".join(each)))
    flushes, fua = about.get("flushes", 0), about.get("fua", 0)
    if flushes or fua:
        facts.append(
            ("flushes", f"{units.count(flushes)}, and {units.counted(fua, 'write')} with FUA")
        )
    return facts


_SPREAD = ("mean", "stddev", "p10", "p50", "p90", "p99", "max")
_NAMES = {"stddev": "standard deviation"}


def spreads(about: About) -> Rows:
    """Sizes, gaps and update intervals: a row each, with mean and percentiles."""
    gaps, size, updates = about["interarrival_ns"], about["size_bytes"], about["updates"]
    rows = [["", *(_NAMES.get(name, name) for name in _SPREAD), "CV", "below 1.5 ms"]]
    for name in ("read", "write"):
        rows.append([f"size of {name}s", *_values(size[name], units.size)])
    for name in ("all", "read", "write"):
        label = "between rows" if name == "all" else f"from {name} to {name}"
        row = [label, *_values(gaps[name], units.time)]
        rows.append([*row, units.share(gaps[name]["below_1_5_ms_share"])])
    rows.append(["update interval", *_values(updates["interval_ns"], units.time)])
    rows.append(["written before an update", *_values(updates["distance_bytes"], units.size)])
    rows.append(["writes of a page", *_values(about["hotness"]["writes_per_page"], units.figures)])
    return [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]


def bursts(about: About) -> Rows:
    """Rows in windows of several lengths."""
    rows = [["windows of", "rows, mean", "peak", "peak / mean", "dispersion", "empty"]]
    for burst in about["bursts"]:
        rows.append([
            units.time(burst["window_ns"]).replace(".0 ", " ").replace(".00 ", " "),
            units.figures(burst["mean_rows"]),
            units.count(burst["peak_rows"]),
            units.figures(burst["peak_to_mean"]),
            units.figures(burst["dispersion"]),
            units.share(burst["empty_share"]),
        ])  # fmt: skip
    return rows


def common_sizes(about: About) -> Rows:
    """The most frequent sizes by operation, with their shares."""
    rows = [["most frequent sizes", "", "", "", "", ""]]
    for name in ("read", "write"):
        common: Sequence[tuple[int, float]] = about["size_bytes"][name]["common"][:5]
        cells = [f"{_short(size)} {units.share(share)}" for size, share in common]
        rows.append([f"of {name}s", *cells, *[""] * (5 - len(cells))])
    return rows


def checked(rows: Sequence[Mapping[str, Any]]) -> Rows:
    """A trace and its fitted workload: a row for each metric."""
    table = [["", "trace", "fitted", "range over seeds", "difference"]]
    for row in rows:
        show = units.time if "latency" in row["metric"] else units.figures
        low, high = show(row["low"]), show(row["high"])
        difference = row["difference"]
        told = units.NOTHING if difference is None else f"{100 * difference:+.1f} %"
        cells = [show(row["original"]), show(row["fitted"]), f"{low} to {high}", told]
        table.append([row["metric"], *cells])
    return table


def _values(spread: Mapping[str, Any], show: Any) -> list[str]:  # noqa: ANN401 - a formatter
    cells = [show(spread[name] if name != "mean" else _whole(spread)) for name in _SPREAD]
    return [*cells, units.figures(spread["cv"])]


def _whole(spread: Mapping[str, Any]) -> float | None:
    mean: float | None = spread["mean"]
    return mean


def _short(size_bytes: int) -> str:
    return units.size(size_bytes).replace(".00 ", " ").replace(".0 ", " ")


def _mean(mean_bytes: float | None) -> str:
    return "none" if mean_bytes is None else f"{mean_bytes:,.0f} B on average"


def _sequential(about: About) -> str:
    found = about["sequential"]
    if not about["reads"] + about["writes"]:
        return units.NOTHING
    reads, writes = units.share(found["read_share"]), units.share(found["write_share"])
    runs = units.figures(found["run_requests"]["mean"])
    return (
        f"{units.share(about['sequential_share'])} of the requests ({reads} of reads, "
        f"{writes} of writes); a run has {runs} requests on average"
    )


def _batches(batches: Mapping[str, Any]) -> str:
    if not batches["count"]:
        return "none"
    groups = units.counted(batches["count"], "group")
    return (
        f"{units.share(batches['rows_share'])} of the rows, in {groups} of "
        f"{units.figures(batches['mean_rows'])}, {units.count(batches['max_rows'])} at most"
    )


def _updates(about: About) -> str:
    updates = about["updates"]
    if updates["rewritten_share"] is None:
        return "nothing was written"
    sampled = updates["sampled_share"]
    told = "" if sampled == 1 else f" (from {units.share(sampled)} of the pages, drawn by hash)"
    share = units.share(updates["rewritten_share"])
    return f"{share} of page writes overwrite a page written before{told}"


def _hotness(hotness: Mapping[str, Any]) -> str:
    if not hotness["pages"]:
        return units.NOTHING
    first, *others = ((units.share(hotness[f"top_{percent}_percent"]), percent)
                      for percent in (1, 5, 10, 20))  # fmt: skip
    more = ", ".join(f"{share} hit {percent} %" for share, percent in others)
    return f"{first[0]} of page writes hit {first[1]} % of the written pages, {more}"


def _devices(devices: Sequence[Mapping[str, Any]]) -> str:
    names = ", ".join(str(known["device"]) for known in devices[:8])
    more = f" and {len(devices) - 8} more" if len(devices) > 8 else ""
    return f"{len(devices)}: {names}{more}"
