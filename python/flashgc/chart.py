"""Charts as SVG, without any library: latency against percentile."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence

from flashgc import units
from flashgc.report import Report

COLOURS = ("#2563c9", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be123c", "#57534e")
WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 16, 50
_TICKS = ((0.0, "0"), (0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99"),
          (0.99999, "99.999"), (0.999999, "99.9999"))  # fmt: skip

Points = list[tuple[float, float]]
"""Share of the requests, and the latency in ns that they do not exceed."""


def percentiles(report: Report, kind: str) -> Points:
    """The curve of one kind of request, thinned to what can be seen."""
    spread = report.distribution(kind)
    if spread.rows == 0:
        return []
    total = int(spread["count"].sum())
    points: Points = []
    seen = -1.0
    rows = zip(spread["share"].tolist(), spread["latency_ns"].tolist(), strict=True)
    for share, latency in rows:
        at = _place(min(share, 1 - 0.5 / total))
        if at - seen > 0.015 or share >= 1:
            points.append((min(share, 1 - 0.5 / total), float(max(latency, 1))))
            seen = at
    return points


def draw(curves: Sequence[tuple[str, Points]], title: str, *, standalone: bool = False) -> str:
    """Latency by percentile, one line for each curve; both axes stretch towards the tail."""
    curves = [(name, points) for name, points in curves if points]
    if not curves:
        return ""
    right = max(_place(points[-1][0]) for _, points in curves)
    values = [value for _, points in curves for _, value in points]
    low, high = _decades(min(values), max(values))
    frame = _Frame(right, low, high)
    body = [*_grid(frame)]
    for index, (name, points) in enumerate(curves):
        body += _curve(frame, points, COLOURS[index % len(COLOURS)], name)
    body += _legend([name for name, _ in curves])
    size = f'width="{WIDTH}" height="{HEIGHT}" ' if standalone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {size}'
        f'role="img" font-family="system-ui, sans-serif" font-size="12" fill="#555">'
        f"<title>{html.escape(title)}</title>"
        + ('<rect width="100%" height="100%" fill="#fff"/>' if standalone else "")
        + "".join(body)
        + "</svg>"
    )


def _place(share: float) -> float:
    """0.9 is at 1, 0.99 at 2: each step is a tenth of the requests that are left."""
    return -math.log10(1 - share)


def _decades(low: float, high: float) -> tuple[float, float]:
    bottom, top = math.log10(low), math.log10(high)
    margin = 0.05 * max(top - bottom, 0.3)
    return bottom - margin, top + margin


class _Frame:
    """Where a point of the chart lies on the picture."""

    def __init__(self, right: float, low: float, high: float) -> None:
        self.right, self.low, self.high = max(right, 1.0), low, high

    def x(self, share: float) -> float:
        return LEFT + _place(share) / self.right * (WIDTH - LEFT - RIGHT)

    def y(self, latency_ns: float) -> float:
        part = (math.log10(latency_ns) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP)


def _grid(frame: _Frame) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for share, label in _TICKS:
        if _place(share) <= frame.right:
            x = frame.x(share)
            yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#8884"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{label}</text>'
    for latency_ns in _round_times(frame.low, frame.high):
        y = frame.y(latency_ns)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#8884"/>'
        label = units.time(latency_ns).replace(".00 ", " ").replace(".0 ", " ")
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">percent of requests</text>'
    yield (
        f'<text transform="translate(15 {(TOP + bottom) / 2}) rotate(-90)" '
        'text-anchor="middle">latency, at most</text>'
    )


def _round_times(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every decade, or the ones alone where there would be many."""
    steps = (1,) if high - low > 3 else (1, 2, 5)
    exponents = range(math.floor(low), math.ceil(high) + 1)
    times = [step * 10.0**exponent for exponent in exponents for step in steps]
    return [time for time in times if low <= math.log10(time) <= high]


def _curve(frame: _Frame, points: Points, colour: str, name: str) -> Iterator[str]:
    path = "L".join(f"{frame.x(share):.1f} {frame.y(value):.1f}" for share, value in points)
    yield (
        f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.8" '
        f'stroke-linejoin="round"><title>{html.escape(name)}</title></path>'
    )


def _legend(names: Sequence[str]) -> Iterator[str]:
    for index, name in enumerate(names):
        y = TOP + 16 + 17 * index
        colour = COLOURS[index % len(COLOURS)]
        yield f'<path d="M{LEFT + 12} {y - 4}h18" stroke="{colour}" stroke-width="3"/>'
        yield f'<text x="{LEFT + 36}" y="{y}">{html.escape(name)}</text>'
