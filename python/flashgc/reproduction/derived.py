"""Values for formulas that a report does not have itself, derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flashgc.estimates.worst_case import worst_case_wait

Report = Mapping[str, Any]

SHARES = (70, 80, 90, 100)
"""In percent: victims are counted that had at least this share of their pages invalid."""


def with_derived(report: Report) -> dict[str, Any]:
    """The report with worst cases, victims by their pages, groups, jobs, extremes over time."""
    found = {**report, "worst_case": _worst_cases(report)}
    victims = _victims(report)
    if victims is not None:
        found["victims"] = victims
    groups = report.get("placement", {}).get("groups")
    if groups is not None:
        found["groups"] = _groups(groups)
    if "jobs" in report:
        found["job"] = {job["name"]: job for job in report["jobs"]}
    if "series" in report:
        found["over_time"] = _extremes(report["series"])
    return found


def _worst_cases(report: Report) -> dict[str, Any]:
    device = report["config"]["device"]
    found: dict[str, Any] = worst_case_wait(device)._asdict()
    found["transfer"] = worst_case_wait(device, transfer=True)._asdict()
    return found


def _victims(report: Report) -> dict[str, int] | None:
    """Counts of victims by invalid pages at their choice; None where parts are erased."""
    shape, pairs = report["config"]["device"]["shape"], report["gc"].get("valid_distribution")
    if pairs is None or "sub_blocks" in shape:
        return None
    pages = shape["pages_per_block"] - shape.get("summary_pages", 0)
    return {
        f"invalid_{share}": sum(
            blocks for valid, blocks in pairs if pages - valid >= Fraction(share, 100) * pages
        )
        for share in SHARES
    }


def _groups(groups: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Groups of blocks by name: `hot` and `g1` on for those with sizes, `last` for the rest.

    >>> list(_groups([{"most_blocks": 9}, {"most_blocks": 47}, {"most_blocks": None}]))
    ['hot', 'g1', 'last']
    """
    sized = [group for group in groups if group.get("most_blocks") is not None]
    found = {f"g{at}" if at else "hot": group for at, group in enumerate(sized)}
    rest = [group for group in groups if group.get("most_blocks") is None]
    if sized and rest:
        found["last"] = rest[-1]
    return found


def _extremes(series: Mapping[str, list[float | None]]) -> dict[str, dict[str, float]]:
    """The least and the most of each column, over the rows that have it."""
    found = {}
    for column, values in series.items():
        known = [value for value in values if value is not None]
        if known:
            found[column] = {"min": min(known), "max": max(known)}
    return found
