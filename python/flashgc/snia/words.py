"""The results in words and tables, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flashgc.formatting import units
from flashgc.snia import definitions, steady

Rows = list[list[str]]
Values = Mapping[str, Any]

AS_SPECIFIED = "lengths and rounds are those of the specification"
DEFINED = {
    "wsat": "Purge; random writes of 4 KiB until steady, or until 4 user capacities or 6 h; then "
            "writes with a histogram of response times. Tracking variable: IOPS.",
    "iops": "Purge; sequential writes of 128 KiB, twice the user capacity; rounds of 7 mixes, each "
            "of 8 sizes from large to small. Tracking variables: IOPS of 4 KiB 0/100, 64 KiB "
            "65/35 and 1024 KiB 100/0, all of which must be steady.",
    "tp": "For each size: purge; sequential writes of this size, twice the user capacity; rounds "
          "of sequential reads and writes. Tracking variable: throughput of writes.",
    "lat": "Purge; sequential writes of 128 KiB, twice the user capacity; rounds of 3 mixes, each "
           "of 3 sizes, one request at a time; then writes of 4 KiB with a histogram. Tracking "
           "variable: mean response time of writes of 4 KiB.",
    "hir": "Purge; random writes of 4 KiB until steady; then for each wait short writes of 4 KiB "
           "with this wait between them, and writes without waits. Tracking variable: IOPS.",
    "xsr": "Purge; sequential writes of 1024 KiB, random writes of 8 KiB, and sequential writes "
           "of 1024 KiB again. There is no tracking variable.",
    "dirth": "Purge; sequential writes of 128 KiB, twice the user capacity; random writes of 4 KiB "
             "from 32 x 32 (threads x depth) until steady; then rounds of 7 numbers of threads, "
             "each with 7 depths, from many to few, after writes from 32 x 32. Tracking variable: "
             "IOPS of 32 x 32. Then a histogram each, after writes, of MaxIOPS (the most IOPS with "
             "a mean response time below 5 ms), MinIOPS (1 x 1), and MidIOPS, nearest to half-way "
             "between.",
}  # fmt: skip
"""The procedure of each test."""
RULE = (
    f"Steady state: over the last {steady.WINDOW} rounds the largest value less the smallest is at "
    f"most {steady.RANGE:.0%} of the average, and the best linear fit changes by at most "
    f"{steady.SLOPE:.0%} of it. Results are averages over these rounds."
)


def head(values: Values) -> str:
    """Device, capacity, scheme and seed."""
    return (
        f"{values['specification']} on {values['device']}, {units.size(values['user_bytes'])}, "
        f"{values['scheme']}, seed {values['seed']}"
    )


def conditions(values: Values) -> list[tuple[str, str]]:
    """The test conditions."""
    form = values["form"]
    used = units.size(values["user_bytes"] * form["active_range"])
    active = definitions.percent(form["active_range"])
    return [
        ("device", values["device"]),
        ("user capacity", units.size(values["user_bytes"])),
        ("mapping unit", units.size(values["page_bytes"])),
        ("scheme", values["scheme"]),
        ("purge", "each test begins with a drive as new: no page written, no block used"),
        ("active range", f"{active} of the user capacity, {used}"),
        ("data", "no content is simulated, so none is compressed or found twice"),
        ("write cache", "as the device has it"),
        ("requests at a time", f"{form['threads']} x {form['depth']} (threads x depth) for WSAT, "
         f"IOPS and HIR; 1 x {definitions.SEQUENTIAL_DEPTH} for throughput and XSR; 1 x 1 for "
         "latency; 1 to 32 x 1 to 32 for DIRTH, with R/W "
         f"{definitions.mix(form['demand_mix'])}"),
        ("seed", str(values["seed"])),
        ("version", f"flashgc {values['version']}"),
    ]  # fmt: skip


def title(test: Values) -> str:
    """The name of a test and its outcome."""
    outcome = {True: "steady", False: "NOT steady", None: "done"}[test["steady"]]
    return f"{test['title']} ({test['test']}): {outcome}"


def _capacities(times: int) -> str:
    return units.counted(times, "user capacity", "user capacities")


def about(part: Values, named: bool = True) -> str:
    """Preconditioning, rounds, and whether the part is steady."""
    before = part["preconditioning"]
    told = [part["name"]] if part["name"] and named else []
    if before is not None:
        told.append(
            f"preconditioned with {_capacities(before['times'])} in writes of "
            f"{definitions.size(before['bytes'])} ({units.time(before['took_ns'])})"
        )
    else:
        told.append("on the same drive" if part["continues"] else "no preconditioning")
    if part["steady"] is not None:
        told.append(units.counted(part["rounds"], "round"))
    told.append(f"{units.figures(part['drive_writes'])} user capacities written in all")
    return ", ".join(told)


def not_steady(part: Values) -> str | None:
    """A warning where the numbers are not those of a steady drive."""
    if part["steady"] is not False:
        return None
    name = f"{part['name']}: " if part["name"] else ""
    missing = [one["name"] for one in part["tracked"] if not one["steady"]]
    rounds = units.counted(part["rounds"], "round")
    last = units.counted(min(part["rounds"], steady.WINDOW), "round")
    is_empty = any(one["average"] == 0 for one in part["tracked"])
    longer = "; no request was done in a round: give longer ones with --round" if is_empty else ""
    return (
        f"{name}steady state was not reached in {rounds} ({', '.join(missing)}): "
        f"the numbers below are those of the last {last}, and "
        f"not steady{longer}"
    )


def window(part: Values) -> Rows:
    """The judgement of each tracking variable over the measurement window."""
    last = part["rounds"]
    rows = [["tracking variable", "rounds", "average", "max - min", "slope", "steady"]]
    for one in part["tracked"]:
        if one["average"] is None:
            rows.append([f"{one['name']}, {one['unit']}", str(last), *[units.NOTHING] * 3, "no"])
            continue
        rows.append([
            f"{one['name']}, {one['unit']}", f"{last - steady.WINDOW + 1}-{last}",
            units.figures(one["average"]), units.share(one["spread_share"]),
            units.share(one["rise_share"]), "yes" if one["steady"] else "no",
        ])  # fmt: skip
    return rows if len(rows) > 1 else []


def results(test: str, part: Values) -> list[tuple[str, Rows]]:
    """The tables of the measurement window, with their titles."""
    found = [one for one in part["results"] if one["phase"] == "window"]
    others = [one for one in part["results"] if one["phase"] != "window"]
    if test == "xsr":
        return [("Groups of writes", _groups(part))]
    if test == "hir":
        return [("IOPS of writes with waits between them", _recovery(found, others))]
    return _of_window(test, part, found) if found else []


def _of_window(test: str, part: Values, found: list[Values]) -> list[tuple[str, Rows]]:
    if test == "iops":
        return [("IOPS by size and read/write mix", _matrix(found, "iops"))]
    if test == "lat":
        return [
            ("Mean response time, us", _matrix(found, "mean_ns")),
            ("Response time of 99.999 %, us", _matrix(found, "p99_999_ns")),
            ("Longest response time, us", _matrix(found, "max_ns")),
            ("IOPS", _matrix(found, "iops")),
        ]
    if test == "tp":
        return [(f"Throughput of {part['name']}", _throughput(found))]
    if test == "dirth" and len(found) > 1:
        return [
            ("IOPS by threads (rows) and depth", _demand(found, "iops")),
            ("Mean response time, us, by threads (rows) and depth", _demand(found, "mean_ns")),
        ]
    return [("IOPS of the window", _plain(found))]


def _demand(found: list[Values], key: str) -> Rows:
    """A row for each number of threads, a column for each depth."""
    threads, depths = ({one[name] for one in found} for name in ("threads", "depth"))
    at = {(one["threads"], one["depth"]): one[key] for one in found}
    factor = 1e3 if key.endswith("_ns") else 1
    rows = [["threads", *map(str, sorted(depths))]]
    for count in sorted(threads):
        rows.append([str(count), *(units.figures(at[count, depth] / factor)
                                   for depth in sorted(depths))])  # fmt: skip
    return rows


def _matrix(found: list[Values], key: str) -> Rows:
    """A row for each size from small to large, a column for each mix from writes to reads."""
    mixes = sorted({one["read_share"] for one in found})
    sizes = sorted({one["bytes"] for one in found})
    at = {(one["bytes"], one["read_share"]): one[key] for one in found}
    rows = [["size", *(definitions.mix(mix) for mix in mixes)]]
    for size in sizes:
        cells = [at[size, mix] for mix in mixes]
        if key.endswith("_ns"):
            cells = [None if cell is None else cell / 1e3 for cell in cells]
        rows.append([definitions.size(size), *map(units.figures, cells)])
    return rows


def _throughput(found: list[Values]) -> Rows:
    rows = [["", "MB/s", "IOPS", "mean"]]
    for one in found:
        kind = "reads" if one["read_share"] else "writes"
        rows.append([kind, units.figures(one["mb_per_s"]), units.figures(one["iops"]),
                     units.time(one["mean_ns"])])  # fmt: skip
    return rows


def _plain(found: list[Values]) -> Rows:
    rows = [["", "IOPS", "MB/s", "mean", "99.999 %", "longest"]]
    for one in found:
        rows.append([
            f"{definitions.size(one['bytes'])} {definitions.mix(one['read_share'])}",
            units.figures(one["iops"]), units.figures(one["mb_per_s"]), units.time(one["mean_ns"]),
            units.time(one["p99_999_ns"]), units.time(one["max_ns"]),
        ])  # fmt: skip
    return rows


def _recovery(window_: list[Values], others: list[Values]) -> Rows:
    base = window_[0]["iops"] if window_ else None
    rows = [["", "IOPS", "of the window", "mean", "longest"]]
    for one in (*window_, *others):
        share = one["iops"] / base if base else None
        rows.append([one["phase"], units.figures(one["iops"]), units.share(share),
                     units.time(one["mean_ns"]), units.time(one["max_ns"])])  # fmt: skip
    return rows


def _groups(part: Values) -> Rows:
    settled = {one["group"]: one for one in part["recovery"]}
    rows = [["", "writes", "MB/s", "mean", "longest", "settled MB/s", "recovery"]]
    for number, one in enumerate(part["results"], 1):
        known = settled.get(number)
        kind = "sequential" if one["sequential"] else "random"
        rows.append([
            one["phase"], f"{definitions.size(one['bytes'])} {kind}",
            units.figures(one["mb_per_s"]), units.time(one["mean_ns"]), units.time(one["max_ns"]),
            units.figures(known["settled_mb_per_s"]) if known else units.NOTHING,
            units.NOTHING if known is None else "never" if known["recovered_ns"] is None
            else units.time(known["recovered_ns"]),
        ])  # fmt: skip
    return rows


_PERCENTILES = {"p50_ns": "50 %", "p99_ns": "99 %", "p99_9_ns": "99.9 %", "p99_99_ns": "99.99 %",
                "p99_999_ns": "99.999 %"}  # fmt: skip


def responses(part: Values) -> Rows:
    """The response times of the histogram."""
    found = part["response_times"]
    if found is None:
        return []
    return [
        ["response times", "requests", "mean", *_PERCENTILES.values(), "longest"],
        [part["name"] or "4 KiB 0/100", units.count(found["requests"]),
         units.time(found["mean_ns"]),
         *(units.time(found[key]) for key in _PERCENTILES), units.time(found["max_ns"])],
    ]  # fmt: skip
