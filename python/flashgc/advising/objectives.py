"""The objectives by which schemes are ranked, and relative changes with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flashgc.formatting import units
from flashgc.results import statistics
from flashgc.results.metrics import RunResults

Values = dict[str, float | None]
"""A metric for each objective."""


class Objective(NamedTuple):
    """A metric of which less is better."""

    key: str
    label: str
    purpose: str
    show: Callable[[float | None], str]


OBJECTIVES = (
    Objective("read", "read p99.9", "reads", units.time),
    Objective("write", "write p99.9", "writes", units.time),
    Objective("write_amplification", "write amplification", "write amplification", units.figures),
    Objective("wear", "wear", "wear", units.figures),
)  # fmt: skip
BY_KEY = {objective.key: objective for objective in OBJECTIVES}

NARROWING = ("read", "write", "write_amplification")
"""The objectives that decide whether a scheme stays; wear follows write amplification."""


def values(report: RunResults) -> Values:
    """The metric of each objective in a report."""
    return {
        "read": report.latency_ns.read.p99_9,
        "write": report.latency_ns.write.p99_9,
        "write_amplification": report.write_amplification,
        "wear": _wear(report),
    }


def _wear(report: RunResults) -> float | None:
    """Mean erases of each block for one drive write, so that runs of any length compare."""
    written = report.pages.host_written
    return report.wear.mean * report.capacity.exported_pages / written if written else None


def mean(all_values: Sequence[Values]) -> Values:
    """The mean of each objective over several runs."""
    found: Values = {}
    for objective in OBJECTIVES:
        rows = [one[objective.key] for one in all_values]
        known = [row for row in rows if row is not None]
        found[objective.key] = sum(known) / len(known) if len(known) == len(rows) else None
    return found


def change(
    own: Sequence[Values], other: Sequence[Values], key: str
) -> dict[str, float | None] | None:
    """The mean relative change against another scheme in pairs of runs, and its 95 % interval.

    None where a value is undefined or the other one is 0.
    """
    pairs = [(one[key], two[key]) for one, two in zip(own, other, strict=True)]
    known = [(one, two) for one, two in pairs if one is not None and two]
    if not known or len(known) < len(pairs):
        return None
    found = statistics.interval([one / two - 1 for one, two in known])
    return {"change": found["mean"], "low": found["low"], "high": found["high"]}


def changes(own: Sequence[Values], other: Sequence[Values]) -> dict[str, Any]:
    """The change of each objective."""
    return {objective.key: change(own, other, objective.key) for objective in OBJECTIVES}


def percent(share: float) -> str:
    """A change in percent, with its sign.

    >>> from flashgc.advising.objectives import percent
    >>> percent(-0.8034), percent(0.0312), percent(3.2), percent(0.0)
    ('-80.3 %', '+3.1 %', '+320 %', '0.0 %')
    """
    value = 100 * share
    text = f"{value:+.0f} %" if abs(value) >= 99.95 else f"{value:+.1f} %"
    return "0.0 %" if text in {"+0.0 %", "-0.0 %"} else text


def spread(change: Mapping[str, Any] | None, of_parts: bool = False) -> str:
    """A change with its interval, which may be that of the parts of a trace."""
    if change is None:
        return units.NOTHING
    if change["low"] is None:
        return percent(change["change"])
    interval = f"{percent(change['low'])} to {percent(change['high'])}"
    return f"{percent(change['change'])} ({'parts: ' if of_parts else ''}{interval})"
