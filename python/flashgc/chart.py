"""Charts as SVG, without any library: latency against percentile."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence

from flashgc import units
from flashgc.results import RunResults

COLOURS = ("#2563c9", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be123c", "#57534e")
WIDTH, HEIGHT = 480, 320
LEFT, RIGHT, TOP, BOTTOM = 84, 14, 12, 46
_FONT = 14
"""Large enough to be read where a screen of 400 pixels has the chart in small."""
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "14 4")
_TICKS = ((0.0, "0"), (0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99"),
          (0.99999, "99.999"), (0.999999, "99.9999"))  # fmt: skip

Points = list[tuple[float, float]]
"""Share of the requests, and the latency in ns that they do not exceed."""
Curves = Sequence[tuple[str, Points]]


def percentiles(report: RunResults, kind: str) -> Points:
    """The curve of one kind of request, thinned to the visible points."""
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


def draw(drawn: Curves, title: str) -> str:
    """Latency by percentile, one line for each curve; both axes stretch towards the tail."""
    curves = [(name, points) for name, points in drawn if points]
    if not curves:
        return ""
    right = max(_place(points[-1][0]) for _, points in curves)
    values = [value for _, points in curves for _, value in points]
    low, high = _decades(min(values), max(values))
    frame = _Frame(right, low, high)
    body = [*_grid(frame)]
    for index, (name, points) in enumerate(drawn):
        if points:
            body += _curve(frame, points, stroke(index), name)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="{_FONT}" fill="#555">'
        f"<title>{html.escape(title)}</title>" + "".join(body) + "</svg>"
    )


def picture(charts: Sequence[tuple[str, Curves]], title: str) -> str:
    """Charts next to each other under the names of their curves, as one file."""
    width, top = len(charts) * (WIDTH + 16) + 16, 76
    parts = [f'<text x="16" y="26" font-size="17" font-weight="600">{html.escape(title)}</text>']
    x = 16.0
    for index, (name, _) in enumerate(charts[0][1]):
        parts.append(f'<path d="M{x:.0f} 49h24" {stroke(index)} stroke-width="3"/>')
        parts.append(f'<text x="{x + 30:.0f}" y="54" font-size="15">{html.escape(name)}</text>')
        x += 60 + 8.5 * len(name)
    for at, (name, curves) in enumerate(charts):
        left = 16 + at * (WIDTH + 16)
        parts.append(
            f'<text x="{left + LEFT}" y="{top + 8}" font-size="15" font-weight="600">'
            f"{html.escape(name)}</text>"
        )
        inner = draw(curves, name).replace("<svg ", f'<svg width="{WIDTH}" height="{HEIGHT}" ', 1)
        parts.append(f'<g transform="translate({left} {top + 14})">{inner}</g>')
    height = top + HEIGHT + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" fill="#444">'
        '<rect width="100%" height="100%" fill="#fff"/>' + "".join(parts) + "</svg>"
    )


def names(curves: Sequence[str]) -> str:
    """The names of curves, each with its line, as HTML."""
    items = (
        f'<li><svg width="30" height="8" role="presentation"><path d="M0 4h30" {stroke(index)} '
        f'stroke-width="3"/></svg>{html.escape(name)}</li>'
        for index, name in enumerate(curves)
    )
    return f'<ul class="names">{"".join(items)}</ul>'


def stroke(index: int) -> str:
    """The colour of a curve; if there are more curves than colours, dashes distinguish them."""
    dash = _DASHES[index // len(COLOURS) % len(_DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{COLOURS[index % len(COLOURS)]}"{dashes}'


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
    free = 0.0
    for share, label in _TICKS:
        if _place(share) <= frame.right:
            x, half = frame.x(share), 0.3 * _FONT * len(label)
            yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#8884"/>'
            # The label of the last line stays on the picture.
            middle = min(x, WIDTH - half - 1)
            # A label with no room next to the previous one is omitted.
            if middle - half >= free:
                at = f'x="{middle:.1f}" y="{bottom + 17}"'
                yield f'<text {at} text-anchor="middle">{label}</text>'
                free = middle + half + 4
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


def _curve(frame: _Frame, points: Points, stroke: str, name: str) -> Iterator[str]:
    path = "L".join(f"{frame.x(share):.1f} {frame.y(value):.1f}" for share, value in points)
    yield (
        f'<path d="M{path}" fill="none" {stroke} stroke-width="1.8" '
        f'stroke-linejoin="round"><title>{html.escape(name)}</title></path>'
    )
