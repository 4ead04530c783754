"""A program on a drive under a scheme: its own latencies and the latencies of the drive."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mounted
from measured import Latency, Load, Program

import flashgc
from flashgc.drives import serving
from flashgc.formatting import units
from flashgc.reports.report import Report

CONFIG = "real-programs"
FEW = 1000
"""Fewer requests have no p99."""


@dataclass(frozen=True)
class Tail:
    """The p99 and the mean of the drive's reads or writes, and the shares that collection has."""

    requests: int
    p99_us: float | None
    share_of_p99: float | None
    mean_us: float | None
    share_of_mean: float | None


@dataclass(frozen=True)
class Outcome:
    """The results of a run."""

    program: str
    scheme: str
    version: str
    times_slower: float
    own: list[Latency]
    read: Tail
    write: Tail
    flushes: int
    trims: int
    collections: int
    write_amplification: float
    seconds: float
    """The duration in the drive's own time."""
    result_hash: str
    is_repeated: bool
    """Whether a run of the captured requests had this result as well."""
    lateness: list[str]
    """The notes on answers that left late."""


def ran(
    program: Program, scheme: str, load: Load, time: str, capture: Path | None, config: str
) -> Outcome:
    """Runs a program on a new drive, then its requests again, without it and with blame."""
    slower = serving.slowed(time) or 1.0
    with tempfile.TemporaryDirectory(prefix="flashgc-programs-") as name:
        socket, requests = Path(name) / "drive.sock", capture or Path(name) / "requests.fgt"
        with serving.served(
            config, socket, scheme=scheme, time=time, capture=requests
        ) as server:  # fmt: skip
            with mounted.mounted(server.uri) as files:
                own = program.load(files, load)
            served = server.end()
        again = flashgc.run(config, requests, scheme=scheme, blame=True)
    return Outcome(
        program=program.name,
        scheme=scheme,
        version=program.version(),
        times_slower=slower,
        own=[_unscaled(latency, slower) for latency in own],
        read=tail(again, "read"),
        write=tail(again, "write"),
        flushes=served.flush.requests,
        trims=served.requests.trim,
        collections=served.gc.count,
        write_amplification=served.write_amplification or 0.0,
        seconds=served.simulated_ns / 1e9,
        result_hash=served.result_hash,
        is_repeated=again.result_hash == served.result_hash,
        lateness=[note for note in served.notes if "model" in note],
    )


def _unscaled(found: Latency, slower: float) -> Latency:
    """In the time of the drive."""
    parts = (found.p50_us, found.p99_us, found.max_us)
    return Latency(
        found.what, found.count, *(None if part is None else part / slower for part in parts)
    )


def tail(report: Report, kind: str) -> Tail:
    """The tail of the reads or of the writes of a run with blame."""
    requests, parts = getattr(report.requests, kind), getattr(report.blame, kind)
    if requests < FEW:
        return Tail(requests, None, None, None, None)
    p99, mean = (
        (part.latency_ns / 1e3, part.collection_ns / part.latency_ns)
        for part in (parts.p99, parts.mean)
    )
    return Tail(requests, *p99, *mean)


HEAD = (
    "program", "operation", "scheme", "its own p50", "its own p99", "reads of the drive: p99",
    "of it collection", "writes of the drive: p99", "of it collection", "collection of the mean",
    "write amplification",
)  # fmt: skip


def table(outcomes: Sequence[Outcome], titles: dict[str, str]) -> str:
    """Everything as a table of the manual."""
    rows: list[Sequence[str]] = [HEAD, ["---"] * len(HEAD)]
    for one in outcomes:
        for own in one.own:
            p99 = f"at most {_time(own.max_us)}" if own.p99_us is None else _time(own.p99_us)
            rows.append([
                titles[one.program], own.what, one.scheme, _time(own.p50_us), p99,
                _time(one.read.p99_us), _share(one.read.share_of_p99),
                _time(one.write.p99_us), _share(one.write.share_of_p99),
                _share(one.write.share_of_mean), f"{one.write_amplification:.2f}",
            ])  # fmt: skip
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _share(found: float | None) -> str:
    return "-" if found is None else f"{100 * found:.0f} %"


def _time(us: float | None) -> str:
    return "-" if us is None else units.time(round(1e3 * us))
