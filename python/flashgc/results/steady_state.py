"""Messages on the steady state of a run, and on write amplification in pages and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flashgc.formatting import units

if TYPE_CHECKING:
    from flashgc.results.metrics import RunResults

NOT_STEADY = "not steady"
"""The mark next to each interval of runs that are not in steady state."""

_NEAR = 0.005
"""Both kinds of write amplification are one metric where they differ by less than this share."""


def first(report: RunResults) -> list[str]:
    """Warnings before all metrics: that no page was moved, or that the run is too short."""
    steady = report.get("steady")
    if not steady:
        return []
    if steady["nothing_moved"]:
        return [steady["nothing_moved"]]
    if steady["verdict"] == "no":
        return [f"not in steady state: {_why(report)}{_more(report)}"]
    found = report.get("seeds")
    if is_out(report) and found:
        return [f"not in steady state with {found['not_steady']} of {found['count']} seeds"]
    return []


def told(report: RunResults) -> str:
    """The verdict, with its reasons."""
    steady = report.steady
    if steady.verdict == "no GC":
        return "no GC: nothing was collected"
    won, written = units.counted(steady.reclaimed_pages, "page"), units.count(steady.written_pages)
    text = f"{steady.verdict}: {won} reclaimed for {written} written"
    halves = steady.write_amplification_halves
    if halves:
        text += f", write amplification {units.figures(halves[0])} in the first half and "
        text += f"{units.figures(halves[1])} in the second"
    begin, end = units.count(steady.free_pages_begin), units.count(steady.free_pages_end)
    return f"{text}, free pages {begin} at the start and {end} at the end{_more(report)}"


def _why(report: RunResults) -> str:
    return "; ".join(report.steady.reasons)


def _more(report: RunResults) -> str:
    more = report.steady.more_requests
    return f"; about {units.counted(more, 'more request')} needed" if more else ""


def amplification(report: RunResults) -> list[tuple[str, str]]:
    """Write amplification; in bytes first where that differs."""
    pages = report.write_amplification
    in_bytes = report.get("write_amplification_bytes")
    if not differs(report):
        return [("write amplification", units.figures(pages))]
    return [
        ("write amplification, bytes", units.figures(in_bytes)),
        ("write amplification, pages", units.figures(pages)),
    ]


def differs(report: RunResults) -> bool:
    """Whether write amplification in bytes is not that in pages."""
    pages, in_bytes = report.write_amplification, report.get("write_amplification_bytes")
    if pages is None or in_bytes is None:
        return False
    return bool(abs(in_bytes - pages) > _NEAR * pages)


def ordered(reports: Sequence[RunResults]) -> list[RunResults]:
    """Runs in steady state first; the others are not ranked with them."""
    return sorted(reports, key=is_out)


def is_out(report: RunResults) -> bool:
    """Whether the run is not in steady state; of several seeds, one of them."""
    found = (report.get("seeds") or {}).get("not_steady")
    if found is not None:
        return bool(found)
    steady = report.get("steady") or {}
    return bool(steady.get("verdict") == "no")


def of_this_length(schemes: Sequence[str]) -> str:
    """The meaning of the intervals of schemes that are not in steady state."""
    return (
        f"runs of {', '.join(schemes)} are {NOT_STEADY}: their intervals hold for runs of this "
        "length, and often miss the value of a long run"
    )


def marks(reports: Sequence[RunResults]) -> list[list[str]]:
    """The row that marks schemes which are not in steady state, where there are any."""
    if not any(map(is_out, reports)):
        return []
    return [["! steady state", *map(_verdict, reports)]]


def _verdict(report: RunResults) -> str:
    """The verdict of the run; of several seeds, with how many it is not steady."""
    found = report.get("seeds") or {}
    out, count = found.get("not_steady", 0), found.get("count", 1)
    return f"no with {out} of {count}" if out and count > 1 else report.steady.verdict


def warning(reports: Sequence[RunResults]) -> str | None:
    """The schemes that cannot be compared, and the reason."""
    out = [report for report in reports if is_out(report)]
    if not out:
        return None
    short = _short([report for report in out if not _is_read_only(report)])
    worn = ", ".join(report.scheme for report in out if _is_read_only(report))
    why = [*short, *([f"{worn} became read-only, so there is no steady state"] if worn else [])]
    return "; ".join(why)


def _short(reports: Sequence[RunResults]) -> list[str]:
    """The runs that are too short, and the number of missing requests."""
    if not reports:
        return []
    names = [report.scheme for report in reports]
    listed = " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
    verb = "has" if len(reports) == 1 else "have"
    needed = [report.steady.more_requests for report in reports]
    more = max((count for count in needed if count), default=0)
    longer = f" (about {units.counted(more, 'more request')} may be enough)" if more else ""
    their = "its" if len(reports) == 1 else "their"
    return [f"{listed} {verb} not reached steady state{longer}; do not compare {their} numbers"]


def _is_read_only(report: RunResults) -> bool:
    """Whether bad blocks have ended the life of the drive."""
    return bool((report.get("failures") or {}).get("read_only"))
