"""Checks that must hold in every report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flashgc.estimates.worst_case import check_wait

Report = Mapping[str, Any]
Complaint = str | None


class MissingError(Exception):
    """The report lacks a value that the check needs; the text names it."""


def _copy_ns(timing: Mapping[str, Any]) -> int:
    """Array time of a copy: a read, which may have a time of its own, and a program."""
    read_ns: int = timing.get("copy_read_ns", timing["read_ns"])
    return read_ns + int(timing["program_ns"])


def gc_cost_identity(report: Report) -> Complaint:
    """GC time is the cost of the victims of the run, to the nanosecond.

    `busy_ns` - `busy_open_ns` = sum over victim blocks of ceil(valid / N) x (tR + tPROG) +
    `erase_operations` x tBERS, with N copies at once.
    """
    gc, config = report["gc"], report["config"]
    if "valid_distribution" not in gc or "busy_open_ns" not in gc:
        raise MissingError("this engine does not report gc.valid_distribution")
    timing = config["device"]["timing"]
    at_once = config["gc"]["copy"].get("parallel", {}).get("workers", 1)
    copy_ns = _copy_ns(timing)
    steps = sum(-(-valid // at_once) * blocks for valid, blocks in gc["valid_distribution"])
    expected_ns = steps * copy_ns + report["erase_operations"] * timing["erase_ns"]
    measured_ns = gc["busy_ns"] - gc["busy_open_ns"]
    if measured_ns == expected_ns:
        return None
    return f"{measured_ns:,} ns of GC, and its victims cost {expected_ns:,} ns"


def gc_time_identity(report: Report) -> Complaint:
    """GC time is the time of the copies and erases of all collections, to the nanosecond.

    `busy_ns` - `busy_open_ns` = `copy_steps` x (tR + tPROG) + `erase_operations` x tBERS. It holds
    where a page may be rewritten before its copy begins too, which `gc_cost_identity` does not.
    Where layers differ, it is between the times of these copies in the fastest and the slowest.
    """
    gc, timing = report["gc"], report["config"]["device"]["timing"]
    if "copy_steps" not in gc or "busy_open_ns" not in gc:
        raise MissingError("this engine does not report gc.copy_steps")
    copy_ns = _copy_ns(timing)
    erases_ns = report["erase_operations"] * timing["erase_ns"]
    copies_ns = gc["copy_steps"] * copy_ns
    measured_ns = gc["busy_ns"] - gc["busy_open_ns"]
    fastest, slowest = layer_factors(report["config"]["device"])
    # The time of a layer is rounded to ns, once for the read and once for the program.
    rounding_ns = 0 if fastest == slowest else 2 * gc["copy_steps"]
    low_ns = erases_ns + copies_ns * fastest - rounding_ns
    high_ns = erases_ns + copies_ns * slowest + rounding_ns
    if low_ns <= measured_ns <= high_ns:
        return None
    expected = (
        f"{erases_ns + copies_ns:,}" if fastest == slowest else f"{low_ns:,.0f} to {high_ns:,.0f}"
    )
    return f"{measured_ns:,} ns of GC, and its copies and erases take {expected} ns"


def copies_identity(report: Report) -> Complaint:
    """Copies are the valid pages of the victims, and with them programs are what they should be.

    It holds without a clock, where no page is rewritten between the choice of its victim and its
    copy.
    """
    gc, pages = report["gc"], report["pages"]
    if "valid_distribution" not in gc:
        raise MissingError("this engine does not report gc.valid_distribution")
    valid = sum(valid * blocks for valid, blocks in gc["valid_distribution"])
    if valid != pages["gc_moved"]:
        return f"{pages['gc_moved']:,} copies, and the victims had {valid:,} valid pages"
    written = pages["host_written"]
    programmed = round(report["write_amplification"] * written) if written else 0
    if programmed != written + valid:
        return f"{programmed:,} programs, and {written:,} writes with {valid:,} copies"
    return None


def programs_identity(report: Report) -> Complaint:
    """Programs are the pages that the host wrote or its buffer flushed, and those that were moved.

    In mapped pages, with a clock or without it; write amplification follows from them.
    """
    pages = report["pages"]
    written, moved = pages["host_written"], pages["gc_moved"] + pages.get("background_moved", 0)
    from_host = pages.get("flushed", written)
    programmed = round(report["write_amplification"] * written) if written else 0
    if not written or programmed == from_host + moved:
        return None
    return f"{programmed:,} programs, and {from_host:,} pages of the host with {moved:,} moved"


def layer_factors(device: Mapping[str, Any]) -> tuple[float, float]:
    """Time of the fastest and of the slowest layer, as parts of the mean; 1 where all are alike.

    >>> from flashgc.reproduction.checks import layer_factors
    >>> layer_factors({"shape": {"layers": 2}, "timing": {"layer_ratio": 3}})
    (0.5, 1.5)
    >>> layer_factors({"shape": {}, "timing": {}})
    (1, 1)
    """
    layers = device.get("shape", {}).get("layers", 1)
    ratio = device["timing"].get("layer_ratio", 1)
    if ratio == 1 or layers < 2:
        return 1, 1
    speeds = [1 + (ratio - 1) * layer / (layers - 1) for layer in range(layers)]
    slowest = layers / sum(1 / speed for speed in speeds)
    return slowest / ratio, slowest


def worst_case(report: Report) -> Complaint:
    """Every page request of state S1 met Table V of preemptible-gc.

    Runs that let nothing in have no state S1.
    """
    return None if report["config"]["gc"].get("preemption") is None else check_wait(report)


CHECKS: dict[str, Callable[[Report], Complaint]] = {
    "copies-identity": copies_identity,
    "gc-cost-identity": gc_cost_identity,
    "gc-time-identity": gc_time_identity,
    "programs-identity": programs_identity,
    "worst-case-wait": worst_case,
}
"""By the names that a claims.toml uses. None: the check holds; else the problem."""
