"""The part of a page that shows how bad a run gets, and when: the performance cliff."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from flashgc import axis, summary, units
from flashgc.chart import COLOURS
from flashgc.markup import table
from flashgc.over_time import MOST_ROWS, OverTime
from flashgc.panel import Curve, Panel, Points
from flashgc.results import KINDS, RunResults
from flashgc.table import Table

_HUES = {"read": 0, "write": 1, "mean": 2, "moved": 4}
_BAR_WIDTH, _BAR_HEIGHT = 160, 12
_RESPONSES = (
    "Longest and mean latency of the requests that ended in each of at most "
    f"{MOST_ROWS} equal parts of the run. Every maximum is shown. A part without requests is "
    "drawn as zero."
)
_MOVED = (
    "Copies of each collection, in the order in which they ended. Above "
    f"{MOST_ROWS}, adjacent collections are combined into their maximum and mean."
)
_SAME_AXES = " All charts have the same axes."
_TIME = (
    "Erasing is the number of erase operations times the time of one, over the time in which units "
    "worked for collection. Moving pages is the rest, including the cost of serving requests "
    "meanwhile."
)
_BACKGROUND = " In the background: pages that moved before their collection."
_MORE = "--over-time (over_time=True in Python) adds the longest responses over time and what each \
collection moved."


def section(reports: Sequence[RunResults]) -> str:
    """The tables, and the charts of the values over time."""
    kept = [(report, report.over_time) for report in reports if report.over_time is not None]
    parts = [
        "<h2>The performance cliff</h2>",
        *_tail(reports),
        "<h3>Time of collection: moving pages and erasing</h3>",
        *_gc_time(reports),
    ]
    if not kept:
        return "\n".join([*parts, _said(_MORE)])
    several = len(reports) > 1
    parts += ["<h3>Longest response over time</h3>", *_responses(kept, several)]
    parts += ["<h3>Pages moved by each collection, in order</h3>", *_moved(kept, several)]
    return "\n".join(parts)


def _tail(reports: Sequence[RunResults]) -> list[str]:
    """Reads and writes together; each of them, and a single run, has its table elsewhere."""
    both = all(any(report.latency_ns[kind]["count"] for report in reports) for kind in KINDS[:2])
    if len(reports) == 1 or not both:
        return []
    rows = summary.latencies(reports, "all")
    return ["<h3>Latency of all requests</h3>", _wide(table(rows))]


def _gc_time(reports: Sequence[RunResults]) -> list[str]:
    times = [report.gc_time for report in reports]
    if not any(time.busy_ns for time in times):
        return [_said("No collection worked in the measured part.")]
    parts = {"moving pages": "move_share", "erasing": "erase_share"}
    if any(time.background_ns for time in times):
        parts["in the background"] = "background_share"
    rows, bars = [["", "units busy", *parts]], [""]
    for report, time in zip(reports, times, strict=True):
        name = report.scheme if len(reports) > 1 else "collection"
        shares = [time[key] for key in parts.values()]
        rows.append([name, units.time(time.busy_ns), *(units.share(share) for share in shares)])
        bars.append(_bar(list(parts), shares))
    more = _BACKGROUND if len(parts) > 2 else ""
    return [_wide(table(rows, drawn=bars)), _said(_TIME + more)]


def _bar(names: Sequence[str], shares: Sequence[float | None]) -> str:
    """The parts of the time as those of a bar; nothing where there is no time to share."""
    known = [share for share in shares if share is not None]
    if not known:
        return ""
    drawn, left = [], 0.0
    for share, colour in zip(known, COLOURS, strict=False):
        width = min(max(share, 0.0) * _BAR_WIDTH, _BAR_WIDTH - left)
        drawn.append(
            f'<rect x="{left:.1f}" width="{width:.1f}" height="{_BAR_HEIGHT}" fill="{colour}"/>'
        )
        left += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_BAR_WIDTH}" height="{_BAR_HEIGHT}" '
        f'viewBox="0 0 {_BAR_WIDTH} {_BAR_HEIGHT}" preserveAspectRatio="none" role="img">'
        f"<title>{', then '.join(names)}</title>{''.join(drawn)}</svg>"
    )


def _responses(kept: Sequence[tuple[RunResults, OverTime]], several: bool) -> list[str]:
    tables = [over_time.responses for _, over_time in kept]
    kinds = [kind for kind in KINDS[:2] if any(table[f"requests_{kind}"].any() for table in tables)]
    if not kinds:
        return [_said("No read and no write was done in the measured part.")]
    values = [
        value
        for table in tables
        for kind in kinds
        for name in ("mean", "max")
        for value in table[f"latency_{kind}_{name}_ns"].tolist()
        if value > 0
    ]
    y = axis.round_times(min(values, default=1.0), max(values, default=1.0), "latency")
    x = axis.span(max(float(table["end_ns"][-1]) for table in tables if table.rows), "time")
    panels = [
        _course(over_time.responses, kind, f"{report.scheme}: {kind}s" if several else f"{kind}s",
                x, y)
        for report, over_time in kept
        for kind in kinds
    ]  # fmt: skip
    return [_charts(panels), _said(_RESPONSES + (_SAME_AXES if len(panels) > 1 else ""))]


def _course(found: Table, kind: str, title: str, x: axis.Axis, y: axis.Axis) -> Panel:
    spans = list(zip(found["start_ns"].tolist(), found["end_ns"].tolist(), strict=True))
    longest = found[f"latency_{kind}_max_ns"].tolist()
    curves = [
        Curve("longest", _stairs(spans, longest, 0.0), _HUES[kind], steps=True, filled=True),
        Curve("mean", _stairs(spans, found[f"latency_{kind}_mean_ns"].tolist(), math.nan),
              _HUES["mean"], steps=True),
    ]  # fmt: skip
    known = [(value, span) for value, span in zip(longest, spans, strict=True) if value >= 0]
    if not known:
        return Panel(title, x, y, [], "none")
    most_ns, (start_ns, end_ns) = max(known)
    note = f"longest {units.time(most_ns)}, at {units.time((start_ns + end_ns) / 2)}"
    return Panel(title, x, y, curves, note)


def _stairs(
    spans: Sequence[tuple[float, float]], values: Sequence[float], nothing: float
) -> Points:
    """Each value over its span; `nothing` where there is no span, or no value in it."""
    points: list[tuple[float, float]] = []
    at: float | None = None
    for (start, end), value in zip(spans, values, strict=True):
        if at is not None and at < start:
            points.append((at, nothing))
        points.append((start, nothing if math.isnan(value) else value))
        at, last = end, points[-1][1]
    return [*points, (at, last)] if at is not None else points


def _moved(kept: Sequence[tuple[RunResults, OverTime]], several: bool) -> list[str]:
    found = [(report, over_time.collections) for report, over_time in kept]
    none = [report.scheme for report, table in found if not table.rows]
    told = [
        _said(f"{name}: no collection ended in the measured part." if several
              else "No collection ended in the measured part.")
        for name in none
    ]  # fmt: skip
    found = [(report, table) for report, table in found if table.rows]
    if not found:
        return told
    most = max(float(table["moved_max"].max()) for _, table in found)
    last = max(float(table["first"][-1] + table["count"][-1]) for _, table in found)
    x = _numbers(last, "number of the collection")
    y = axis.linear(most, "pages moved")
    panels = [_moves(table, report.scheme if several else "", x, y) for report, table in found]
    return [_charts(panels), *told, _said(_MOVED + (_SAME_AXES if len(panels) > 1 else ""))]


def _numbers(last: float, title: str) -> axis.Axis:
    """From 0 to exactly `last`, with labels at whole numbers."""
    ticks = [(value, label) for value, label in axis.linear(last, "").ticks if value % 1 == 0]
    return axis.Axis(0.0, last, ticks, title)


def _moves(table: Table, title: str, x: axis.Axis, y: axis.Axis) -> Panel:
    firsts, counts = table["first"].tolist(), table["count"].tolist()
    spans = [(first, first + count) for first, count in zip(firsts, counts, strict=True)]
    most = Curve("most", _stairs(spans, table["moved_max"].tolist(), 0.0), _HUES["moved"],
                 steps=True, filled=True)  # fmt: skip
    mean = Curve("mean", _stairs(spans, table["moved_mean"].tolist(), 0.0), _HUES["mean"],
                 steps=True)  # fmt: skip
    title = title or "pages moved"
    if counts[0] == 1:
        return Panel(title, x, y, [Curve("", most.points, most.colour, True, True)])
    return Panel(title, x, y, [most, mean], f"stretches of {counts[0]:,} collections")


def _charts(panels: Sequence[Panel]) -> str:
    drawn = "".join(f"<figure>{panel.draw()}</figure>" for panel in panels)
    return f'<div class="charts">{drawn}</div>'


def _wide(table: str) -> str:
    return f'<div class="wide">{table}</div>'


def _said(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"
