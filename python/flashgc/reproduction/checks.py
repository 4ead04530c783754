"""What must hold in every report, whatever was run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flashgc.worst_case import worst_case_wait

Report = Mapping[str, Any]
Complaint = str | None


class MissingError(Exception):
    """The report lacks what the check needs; the text says what."""


def gc_cost_identity(report: Report) -> Complaint:
    """GC time is what the victims of the run cost, to the nanosecond.

    `busy_ns` - `busy_open_ns` = sum over victim blocks of ceil(valid / N) x (tR + tPROG) +
    `erase_operations` x tBERS, with N copies at once.
    """
    gc, config = report["gc"], report["config"]
    if "valid_distribution" not in gc or "busy_open_ns" not in gc:
        raise MissingError("this engine does not report gc.valid_distribution")
    timing = config["device"]["timing"]
    at_once = config["gc"]["copy"].get("parallel", {}).get("workers", 1)
    copy_ns = timing["read_ns"] + timing["program_ns"]
    steps = sum(-(-valid // at_once) * blocks for valid, blocks in gc["valid_distribution"])
    expected_ns = steps * copy_ns + report["erase_operations"] * timing["erase_ns"]
    measured_ns = gc["busy_ns"] - gc["busy_open_ns"]
    if measured_ns == expected_ns:
        return None
    return f"{measured_ns:,} ns of GC, and its victims cost {expected_ns:,} ns"


def worst_case(report: Report) -> Complaint:
    """No page request waits longer for collection in state S1 than Table V of preemptible-gc.

    Where all operations are suspended that is the worst case of F-PGC, elsewhere that of PGC, both
    with the transfer and with a look at the queue. Runs that let nothing in have no state S1.
    """
    enter = report["config"]["gc"].get("enter")
    if enter is None:
        return None
    bound = worst_case_wait(report["config"]["device"], transfer=True)
    bound_ns = bound.fpgc_ns if enter["suspends"] == "any" else bound.pgc_ns
    bound_ns += enter["poll_ns"]
    waited_ns = report["gc"].get("wait_max_ns")
    if waited_ns is None or waited_ns <= bound_ns:
        return None
    return f"{waited_ns:,} ns of waiting for collection, and at most {bound_ns:,} ns are possible"


CHECKS: dict[str, Callable[[Report], Complaint]] = {
    "gc-cost-identity": gc_cost_identity,
    "worst-case-wait": worst_case,
}
"""By the names that a claims.toml uses. None: it holds; else what is wrong."""
