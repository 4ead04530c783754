"""The front as a figure: every trial and preset over two objectives."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flashgc import axis
from flashgc.axis import Axis
from flashgc.panel import HEIGHT, WIDTH, Curve, Panel
from flashgc.tuning import words
from flashgc.tuning.metrics import ALIASES, Metric

TRIAL, FRONT, PRESET = "#8a8a8a", "#c2410c", "#2563c9"

_APART = 0.13
"""The least distance of two labels, as a share of the axis."""

Point = Mapping[str, Any]


def panels(found: Mapping[str, Any]) -> list[str]:
    """A chart for each objective beside the first one; of a single one, its course."""
    listed = words.metrics(found)[: len(found["objectives"])]
    if len(listed) == 1:
        return [_course(found, listed[0])]
    return [_front(found, listed[0], other) for other in listed[1:]]


def picture(found: Mapping[str, Any]) -> str:
    """The charts as one file."""
    drawn = panels(found)
    width = len(drawn) * (WIDTH + 16) + 16
    parts = [f'<g transform="translate({16 + at * (WIDTH + 16)} 16)">{one}</g>'
             for at, one in enumerate(drawn)]  # fmt: skip
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 32}" '
        f'width="{width}" height="{HEIGHT + 32}"><rect width="100%" height="100%" fill="#fff"/>'
        + "".join(parts)
        + "</svg>\n"
    )


def _shown(found: Mapping[str, Any]) -> list[Point]:
    return [one for one in found["points"] if one["metrics"] is not None]


def _front(found: Mapping[str, Any], x: Metric, y: Metric) -> str:
    """All points over two objectives; the front as a line of steps."""
    points = _shown(found)
    across, up = (_axis(one, _within(found, points, one)) for one in (x, y))
    best = sorted((one["metrics"][x.name], one["metrics"][y.name])
                  for one in points if one["on_front"])  # fmt: skip
    line = Curve("", best, 1, steps=True)
    panel = Panel(f"{x.label} and {y.label}", across, up, [line] if len(best) > 1 else [])
    dots = "".join(_dots(found, panel, points, x, y))
    return panel.draw().replace("</svg>", f"{dots}{_legend()}</svg>")


def _course(found: Mapping[str, Any], metric: Metric) -> str:
    """One objective by trial, and the best so far."""
    points = [one for one in _shown(found) if one["trial"] is not None]
    best: list[tuple[float, float]] = []
    for one in points:
        value = one["metrics"][metric.name]
        if one["feasible"] and (not best or metric.sign * value < metric.sign * best[-1][1]):
            best.append((one["trial"], value))
    across = axis.linear(max([one["trial"] for one in points], default=1), "trial")
    up = _axis(metric, _within(found, points, metric))
    line = Curve("", [*best, (across.high, best[-1][1])] if best else [], 1, steps=True)
    panel = Panel(f"{metric.label} by trial", across, up, [line])
    return panel.draw().replace(
        "</svg>", "".join(_dots(found, panel, points, None, metric)) + _legend() + "</svg>"
    )


def _within(found: Mapping[str, Any], points: Sequence[Point], metric: Metric) -> list[float]:
    """The values that an axis has: trials far beyond all long runs and presets lie at its end."""
    values = [one["metrics"][metric.name] for one in points]
    last = max(one["rung"] for one in found["points"])
    long = [one["metrics"][metric.name] for one in points
            if one["rung"] == last or one["preset"] is not None]  # fmt: skip
    most = 1.1 * max(long) if long and metric.sign > 0 else max(values)
    return [value for value in values if value <= most] or values


def _dots(
    found: Mapping[str, Any], panel: Panel, points: Sequence[Point], x: Metric | None, y: Metric
) -> Iterator[str]:
    """The points: trials first, so that presets, the front and the chosen one lie above them."""
    chosen = found["chosen"]["name"]
    last = max(one["rung"] for one in points)
    for one in sorted(points, key=lambda one: (one["name"] == chosen, one["on_front"],
                                               one["trial"] is None)):  # fmt: skip
        at = one["trial"] if x is None else one["metrics"][x.name]
        left, top = panel._x(at), panel._y(one["metrics"][y.name])
        told = [one["name"], f"{y.label} {y.show(one['metrics'][y.name])}"]
        if x is not None:
            told.insert(1, f"{x.label} {x.show(one['metrics'][x.name])}")
        if not one["feasible"]:
            told.append("breaks a constraint")
        title = f"<title>{html.escape(', '.join(told))}</title>"
        is_preset = one["trial"] is None or one["preset"] is not None
        colour = FRONT if one["on_front"] else PRESET if is_preset else TRIAL
        fill = colour if one["rung"] == last else "none"
        radius = 3.5 if one["on_front"] else 2.6
        if is_preset and not one["on_front"]:
            yield (f'<rect x="{left - 3:.1f}" y="{top - 3:.1f}" width="6" height="6" '
                   f'stroke="{colour}" fill="{fill}">{title}</rect>')  # fmt: skip
        else:
            yield (f'<circle cx="{left:.1f}" cy="{top:.1f}" r="{radius}" stroke="{colour}" '
                   f'fill="{fill}">{title}</circle>')  # fmt: skip
        if one["name"] == chosen:
            yield (f'<circle cx="{left:.1f}" cy="{top:.1f}" r="7.5" fill="none" '
                   f'stroke="{FRONT}" stroke-width="1.5"/>')  # fmt: skip


def _legend() -> str:
    """The marks, below the title of the chart."""
    x, y = 74.0, 32
    parts = []
    for name, mark in (
        ("trial", f'<circle cx="0" cy="{y}" r="2.6" stroke="{TRIAL}" fill="none"/>'),
        (
            "preset",
            f'<rect x="-3" y="{y - 3}" width="6" height="6" stroke="{PRESET}" fill="none"/>',
        ),
        ("front", f'<circle cx="0" cy="{y}" r="3.5" stroke="{FRONT}" fill="{FRONT}"/>'),
        ("chosen", f'<circle cx="0" cy="{y}" r="7" stroke="{FRONT}" fill="none"/>'),
    ):
        parts.append(f'<g transform="translate({x:.0f} 0)">{mark}'
                     f'<text x="11" y="{y + 4}">{name}</text></g>')  # fmt: skip
        x += 34 + 7.2 * len(name)
    return "".join(parts)


def _thinned(of: Axis) -> Axis:
    """The axis without labels that would overlap."""
    kept: list[axis.Tick] = []
    for tick in of.ticks:
        if not kept or of.place(tick[0]) - of.place(kept[-1][0]) >= _APART:
            kept.append(tick)
    of.ticks = kept
    return of


def _axis(metric: Metric, values: Sequence[float]) -> Axis:
    """An axis that fits: times by factors, other metrics between round values."""
    low, high = min(values), max(values)
    if ALIASES.get(metric.name, metric.name).startswith("latency_ns"):
        return _thinned(axis.round_times(low, high, metric.label))
    if low > 0 and high > 20 * low:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [(step * 10.0**at, f"{step * 10.0**at:g}") for at in powers for step in (1, 2, 5)]
        return axis.Log(low * 0.9, high * 1.1, ticks, metric.label)
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-9)))
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if (high - low) / one <= 8)
    first, last = math.floor(low / step), math.ceil(high / step)
    if first == last:
        last += 1
    ticks = [(step * at, f"{step * at:g}") for at in range(first, last + 1)]
    return Axis(first * step, last * step, ticks, metric.label)
