"""The origin of reports: their configuration, their trace, and the call that makes them again."""

from __future__ import annotations

from collections.abc import Sequence

from flashgc._engine_types import Request
from flashgc.reports.report import Report
from flashgc.results import conversion_notes, metrics
from flashgc.results.metrics import Origin


def note(reports: Sequence[Report], request: Request, again: str) -> None:
    """Notes the origin of the reports of a request; `again` is the call."""
    file, text = request["jobs"] or (request["name"], request["text"])
    conversion_notes.note(reports, text)
    for report in reports:
        metrics.note(report, origin=Origin(file, request["trace_name"], again))


def leading(*arguments: object) -> list[object]:
    """The arguments of a call that come before those with names; a trace may be None."""
    return [one for one in arguments if one is not None]


def settings(request: Request) -> dict[str, object]:
    """The settings of a request, the seed and the size of the drive included."""
    return {"set": request["sets"], "unset": request["unsets"]}
