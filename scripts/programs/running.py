"""A program on a drive under a scheme: its own latencies beside those of the drive."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mounted
from measured import Latency, Load, Program

import flashgc
from flashgc import serving, units
from flashgc.report import Report

CONFIG = "real-programs"
FEW = 1000
"""Of fewer requests the table has no p99."""


@dataclass(frozen=True)
class Tail:
    """The p99 of the drive's reads or writes, and what collection has of it."""

    requests: int
    p99_us: float | None
    collection_us: float | None


@dataclass(frozen=True)
class Outcome:
    """What a run has found."""

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
    """Of the drive's own time."""
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
        read=_tail(again, "read"),
        write=_tail(again, "write"),
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


def _tail(report: Report, kind: str) -> Tail:
    """The p99 of the reads or of the writes of a drive, and its parts."""
    requests = getattr(report.requests, kind)
    p99 = getattr(report.blame, kind).p99
    if p99 is None:
        return Tail(requests, None, None)
    return Tail(requests, p99.latency_ns / 1e3, p99.collection_ns / 1e3)


def table(outcomes: Sequence[Outcome], titles: dict[str, str]) -> str:
    """Everything as a table of the manual."""
    lines = [
        "| program | operation | scheme | its own p50 | its own p99 | reads of the drive, p99 | "
        "of it collection | writes, p99 | of it collection | write amplification |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in outcomes:
        for own in one.own:
            cells = [
                titles[one.program], own.what, one.scheme, _time(own.p50_us),
                _time(own.p99_us) if own.p99_us is not None else f"at most {_time(own.max_us)}",
                *_both(one.read), *_both(one.write), f"{one.write_amplification:.2f}",
            ]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _both(tail: Tail) -> tuple[str, str]:
    if tail.requests < FEW or tail.p99_us is None or tail.collection_us is None:
        return "-", "-"
    return _time(tail.p99_us), f"{100 * tail.collection_us / tail.p99_us:.0f} %"


def _time(us: float | None) -> str:
    return "-" if us is None else units.time(round(1e3 * us))
