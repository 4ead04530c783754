"""Holds what the tuner finds against all presets of the five papers, on unseen samples.

    python scripts/tune_check.py FOLDER [TRIALS] [WORKLOAD ...]

Three workloads: `oltp` and `zipf` are synthetic, `financial` replays the trace
Financial1.rows3-50002 of the folder TRACES (an environment variable). For each the search runs
first. Then the chosen configuration and every preset that the device can run, run in full on
samples that the search has not seen: ten other seeds, and for the trace the last 40 % of its rows.
FOLDER keeps all results but those of the chosen configuration, which run again at a second call.

gftl and pregc-gftl bring 16 % more blocks. They run as they are, and once more without these blocks
(`=`), on the drive that all others have. Clause 1 counts both forms, clause 2 the equal drive.

The status is 1 where a clause is not met:
1. no preset is better in both p99.9 of writes and byte write amplification;
2. on two of the three, p99.9 of writes is lower than that of every preset beyond the 95 % interval
   of pairs, with write amplification that is not higher beyond it;
3. p99.9 of reads is at most 10 % above that of the preset with the lowest one.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import flashgc
from flashgc.results import statistics

PAPERS = ("parallel", "ippbe", "ippbe-original", "parallel-ippbe", "pgc", "pgc-merge",
          "pgc-pipeline", "pgc-both", "pgc-se", "fpgc", "wear-pgc", "idle", "idle-pgc",
          "subblock-baseline", "gsm", "gsm-plus", "pb", "speedup", "speedup-pb", "pbgc", "bbgc",
          "on-demand", "pregc", "gftl", "pregc-gftl")  # fmt: skip
LARGER = ("gftl", "pregc-gftl")
EQUAL = " ="
FREE = "ideal"
"""Collections in no time. It is shown, not judged."""
SEEDS = 10
"""Seeds of the comparison, from the first one that the search has not seen."""
METRICS = ("latency_ns.write.p99_9", "write_amplification_bytes", "latency_ns.read.p99_9")

ZIPF = {
    "device": {"preset": "preemptible-gc-slc", "channels": 2, "blocks_per_plane": 64},
    "workload": {"synthetic": {
        "requests": 600_000, "read_share": 0.7, "size": "4 KiB", "address": {"zipf": 0.9},
        "interarrival": {"exponential": "600 us"},
    }},
    "precondition": {"fill": "sequential", "overwrite": 2.0},
}  # fmt: skip
OLTP = {"device.channels": 2, "device.blocks_per_plane": 64, "workload.synthetic.rate": 0.25,
        "workload.synthetic.requests": 600_000}  # fmt: skip
"""A quarter of the channels with a quarter of the load: 600,000 requests are some 5 drive writes.
"""
TRACE = "Financial1.rows3-50002.flashsim.trace.zst"

Config = str | dict[str, Any]
Rows = dict[str, list[dict[str, float]]]


def main(folder: str, trials: str = "160", *names: str) -> int:
    found = {name: one(Path(folder), name, int(trials)) for name in
             names or ("oltp", "financial", "zipf")}  # fmt: skip
    first = all(clauses[0] for clauses in found.values())
    second = sum(clauses[1] for clauses in found.values())
    third = all(clauses[2] for clauses in found.values())
    print(f"\n1. no preset better in both, everywhere: {said(first)}")
    print(f"2. better than every preset: on {second} of {len(found)}")
    print(f"3. reads kept, everywhere: {said(third)}")
    return 0 if first and third and second >= min(2, len(found)) else 1


def given(name: str) -> tuple[Any, str | None, dict[str, Any]]:
    """The configuration, trace and settings of a workload."""
    if name == "oltp":
        return "oltp", None, OLTP
    if name == "zipf":
        return ZIPF, None, {}
    trace = Path(os.environ.get("TRACES", "../shared/traces")) / TRACE
    return "replay", str(trace), {"workload.trace.format": "flashsim"}


def one(folder: Path, name: str, trials: int) -> tuple[bool, bool, bool]:
    """Whether a workload meets each of the clauses."""
    config, trace, sets = given(name)
    began = time.monotonic()
    tuned = flashgc.tune(config, trace, set=sets, trials=trials, store=folder / "store")
    print(f"\n{name}: {tuned.trials} trials in {time.monotonic() - began:.0f} s; "
          f"{tuned.chosen.name}: {dict(tuned.chosen.settings)}")  # fmt: skip
    out = folder / name
    out.mkdir(parents=True, exist_ok=True)
    for file in ("tuned.toml", "tune.html", "tune.json"):
        tuned.save(out / file)
    began = time.monotonic()
    rows = measured(folder, config, trace, tuned, out / "tuned.toml")
    print(f"{len(rows) - 2} presets in full: {time.monotonic() - began:.0f} s")
    return judged(rows)


def measured(
    folder: Path, config: Config, trace: str | None, tuned: flashgc.Tuning, file: Path
) -> Rows:
    """The metrics of the chosen configuration and of each preset, on each sample."""
    sets = dict(text.split("=", 1) for text in tuned.check.settings[0])
    first = int(sets.pop("seed"))
    sets.pop("workload.until", None)  # all of the configured requests
    same = {key: plain(value) for key, value in sets.items()}
    samples = {f"seed {seed}": {"set": {**same, "seed": seed}}
               for seed in range(first, first + SEEDS)}  # fmt: skip
    if not isinstance(config, str):
        config = written(folder, config)
    base: dict[str, Any] = {} if trace is None else {"trace": os.path.abspath(trace)}
    schemes: dict[str, Any] = {name: {"config": os.path.abspath(config) if os.path.exists(config)
                                      else config, "scheme": name} for name in PAPERS}  # fmt: skip
    for name in LARGER:
        own = {"gc.pacing.time-slices.extra_space": "0%"}
        schemes[name + EQUAL] = {**schemes[name], "set": own}
    schemes[FREE] = {**schemes["pgc"], "scheme": FREE}
    done = flashgc.sweep(
        {"name": f"check-{file.parent.name}", "base": base,
         "axes": {"of": schemes, "sample": samples}}, store=folder / "store",
    )  # fmt: skip
    found: Rows = {}
    for row in done.to_arrow().select(["of", "sample", "status", *METRICS]).to_pylist():
        if row["status"] == "done":
            found.setdefault(row["of"], []).append({one: row[one] for one in METRICS})
    left = [name for name in PAPERS if name not in found]
    print(f"the device cannot run {', '.join(left)}" if left else "the device runs all presets")
    full = {name: own for name, own in found.items() if len(own) == len(samples)}
    # A sweep refuses keys without effect, which the file has of the preset below its slots.
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(
            lambda one: flashgc.run(file, trace, set=one["set"]), samples.values()
        ))  # fmt: skip
    full["tuned"] = [values(report) for report in reports]
    return full


def values(report: flashgc.Report) -> dict[str, float]:
    """The metrics of a report, under their names."""
    write, read = report.latency_ns.write.p99_9, report.latency_ns.read.p99_9
    found = (write, report.write_amplification_bytes, read)
    return {name: float(one or 0) for name, one in zip(METRICS, found, strict=True)}


def written(folder: Path, config: dict[str, Any]) -> str:
    """A configuration as a file."""
    from flashgc.files import toml

    path = folder / "zipf.toml"
    path.write_text(toml.dumps(config))
    return str(path)


def plain(value: str) -> object:
    """The value of a setting."""
    import tomllib

    return tomllib.loads(f"value = {value}")["value"]


def judged(rows: Rows) -> tuple[bool, bool, bool]:
    """Prints the table; the three clauses."""
    tuned = rows.pop("tuned")
    free = mean(rows.pop(FREE))
    means = {name: mean(own) for name, own in rows.items()}
    write, amplification, read = mean(tuned)
    print(f"{'':16} {'write p99.9':>12} {'bytes WA':>9} {'read p99.9':>12}   chosen against it "
          "(write p99.9; write amplification)")  # fmt: skip
    print(f"{'ideal':16} {free[0] / 1e6:9.3f} ms {free[1]:9.3f} {free[2] / 1e6:9.3f} ms")
    print(f"{'tuned':16} {write / 1e6:9.3f} ms {amplification:9.3f} {read / 1e6:9.3f} ms")
    first = second = True
    for name, (w, a, r) in sorted(means.items(), key=lambda pair: pair[1][0]):
        changes = [over(tuned, rows[name], metric) for metric in METRICS[:2]]
        both = w < write and a < amplification
        beats = changes[0]["high"] < 0 and changes[1]["low"] <= 0
        first &= not both
        second &= beats or name in LARGER
        shown = "; ".join(f"{100 * one['mean']:+.1f} % ({100 * one['low']:+.1f} to "
                          f"{100 * one['high']:+.1f})" for one in changes)  # fmt: skip
        mark = "BETTER IN BOTH" if both else "" if beats else "not beaten"
        mark += " (larger drive)" if name in LARGER else ""
        print(f"{name:16} {w / 1e6:9.3f} ms {a:9.3f} {r / 1e6:9.3f} ms   {shown} {mark}")
    third = read <= 1.1 * min(r for _, _, r in means.values())
    print(f"clauses: {said(first)}, {said(second)}, {said(third)}")
    return first, second, third


def mean(rows: list[dict[str, float]]) -> list[float]:
    return [sum(row[one] for row in rows) / len(rows) for one in METRICS]


def over(own: list[dict[str, float]], other: list[dict[str, float]], metric: str) -> dict[str, Any]:
    """The mean relative change in pairs of runs, with its 95 % interval."""
    pairs = zip(own, other, strict=True)
    return statistics.interval([a[metric] / b[metric] - 1 for a, b in pairs])


def said(met: bool) -> str:
    return "met" if met else "NOT met"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit((__doc__ or "").strip())
    sys.exit(main(*sys.argv[1:]))
