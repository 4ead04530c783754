"""The statistics of a trace as pictures: one page that needs nothing else, or one SVG."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import OutputError
from flashgc.files import output
from flashgc.formatting import units
from flashgc.formatting.markup import table
from flashgc.pages import page, provenance
from flashgc.traces import axis, trace_summary
from flashgc.traces.line_charts import Curve, Panel, sheet
from flashgc.traces.trace_summary import About

_READ, _WRITE, _ALL = 0, 1, 7
_SHORT_NS = 1.5e6

Points = list[tuple[float, float]]


def save(about: About, path: str | os.PathLike[str], name: str, again: str | None = None) -> Path:
    """Saves the page as `.html`, or its charts as `.svg`; an OutputError says why not.

    The page says `again`: the command that makes it.
    """
    target = check(path)
    svg = target.suffix == ".svg"
    output.write(target, picture(about, name) if svg else whole(about, name, again))
    return target


def check(path: str | os.PathLike[str]) -> Path:
    """The file to save to, or an OutputError if its ending names no kind of plot."""
    target = Path(path)
    if target.suffix not in (".html", ".htm", ".svg"):
        raise OutputError(f"error: {target}: the name of a plot must end in .html or .svg")
    return target


def whole(about: About, name: str, again: str | None = None) -> str:
    """The page."""
    charts = "".join(f"<figure>{panel.draw()}</figure>" for panel in panels(about))
    facts = [*trace_summary.facts(about), ("version", f"flashgc {engine.__version__}")]
    tables = [trace_summary.spreads(about), trace_summary.common_sizes(about),
              trace_summary.bursts(about)]  # fmt: skip
    body = "".join(f'<div class="wide">{table(rows)}</div>' for rows in tables)
    parts = [f"<style>{_STYLE}</style>", provenance.drawn(facts, again),
             f'<div class="charts">{charts}</div>', body]  # fmt: skip
    return page.document(f"flashgc trace: {name}", "\n".join(parts), "")


_STYLE = """
.wide th, .wide td { white-space: nowrap; }
.charts svg { width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { svg text { fill: #bbb; } }
"""


def picture(about: About, name: str) -> str:
    """The charts alone, as one SVG."""
    told = dict(trace_summary.facts(about))
    lines = [f"{told['requests']}; {told['duration']}; written {told['written']}"]
    return sheet(panels(about), name, lines)


def panels(about: About) -> list[Panel]:
    """The charts that this trace has something to show in."""
    gaps, size, updates = about["interarrival_ns"], about["size_bytes"], about["updates"]
    both = (("reads", "read", _READ), ("writes", "write", _WRITE))
    drawn = [
        _course(about, ("read", "write"), "Requests a second", 1.0),
        _course(about, ("read_bytes", "written_bytes"), "MB a second", 1e6),
        _spread([(name, size[key], hue) for name, key, hue in both],
                "Sizes", axis.sizes, "size of a request", "requests"),
        _spread([("all", gaps["all"], _ALL),
                 *((f"{key} to {key}", gaps[key], hue) for _, key, hue in both)],
                "Time between arrivals", axis.times, "gap", "gaps", (_SHORT_NS, "1.5 ms")),
        _spread([("", updates["interval_ns"], _WRITE)],
                "Time until a page is written again", axis.times, "time", "rewrites"),
        _spread([("", updates["distance_bytes"], _WRITE)],
                "Bytes written until a page is written again", axis.sizes, "bytes", "rewrites"),
        _hotness(about),
        _spread([("", about["hotness"]["writes_per_page"], _WRITE)],
                "How often a page is written", lambda _, high, title: axis.counts(high, title),
                "writes of a page", "pages written"),
    ]  # fmt: skip
    return [panel for panel in drawn if panel is not None]


def _course(
    about: About,
    keys: Sequence[str],
    title: str,
    unit: float,
) -> Panel | None:
    timeline = about["timeline"]
    bin_ns, bins = timeline["bin_ns"], len(timeline["read"])
    duration_ns = min(bins * bin_ns, max(about["duration_s"] * 1e9, bin_ns))
    curves = []
    for name, key, hue in zip(("reads", "writes"), keys, (_READ, _WRITE), strict=True):
        rates = [count / (bin_ns * 1e-9) / unit for count in timeline[key]]
        if any(rates):
            points = [(at * bin_ns, rate) for at, rate in enumerate([*rates, rates[-1]])]
            curves.append(Curve(name, points, hue, steps=True, filled=True))
    if not curves:
        return None
    high = max(value for curve in curves for _, value in curve.points)
    across = axis.span(duration_ns, "time since the first row")
    note = f"means over {units.time(bin_ns)}"
    return Panel(title, across, axis.linear(high, ""), curves, note)


def _spread(
    spreads: Sequence[tuple[str, Any, int]],
    title: str,
    scale: Callable[[float, float, str], axis.Axis],
    what: str,
    of: str,
    mark: tuple[float, str] | None = None,
) -> Panel | None:
    """The share that does not exceed a value, over the value."""
    known = [spread for spread in spreads if spread[1]["count"]]
    if not known:
        return None
    # Zeros have no place on a scale of factors: the curve begins with their share.
    low = min(_least(found) for _, found, _ in known)
    high = max(max(found["max"], 1) for _, found, _ in known)
    across = scale(low, high, f"{what}, at most")
    curves = [
        Curve(name, _cumulated(found, across.low, across.high), hue, steps=True)
        for name, found, hue in known
    ]
    return Panel(title, across, axis.shares(f"share of the {of}"), curves, mark=mark)


def _least(spread: About) -> float:
    above = [value for value, _ in spread["histogram"] if value > 0]
    return float(min(above, default=1))


def _cumulated(spread: About, low: float, high: float) -> Points:
    total, seen = spread["count"], 0
    points: Points = [(low, 0.0)]
    for value, count in spread["histogram"]:
        seen += count
        points.append((max(float(value), low), seen / total))
    points.append((high, 1.0))
    return points


def _hotness(about: About) -> Panel | None:
    curve = about["hotness"]["curve"]
    if not curve:
        return None
    even = Curve("all pages equal", [(0.0, 0.0), (1.0, 1.0)], _ALL)
    lines = [even, Curve("this trace", [(x, y) for x, y in curve], _WRITE)]
    across = axis.shares("pages written, hottest first")
    return Panel(
        "Distribution of writes over pages", across, axis.shares("share of the page writes"), lines
    )
