"""The front as a chart: every trial and preset over two objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.charts import Chart, theme
from flashgc.formatting import units
from flashgc.tuning import words
from flashgc.tuning.metrics import Metric

Point = Mapping[str, Any]
Found = Mapping[str, Any]

KINDS = ("trial", "preset", "on the front", "chosen")
_COLOURS = ("#888888", theme.COLOURS[0], theme.COLOURS[1], theme.COLOURS[1])
_SHAPES = ("circle", "square", "circle", "diamond")
_SIZES = (30, 40, 60, 160)
_NOTE = (
    "Filled marks have the longest runs, hollow ones shorter runs. Trials far beyond the longest "
    "runs and the presets lie at the edge."
)


def charts(found: Found) -> list[Chart]:
    """A chart for each objective over the first one; the course by trial of a single one."""
    listed = words.metrics(found)[: len(found["objectives"])]
    if len(listed) == 1:
        return [_course(found, listed[0])]
    return [_front(found, listed[0], other, at) for at, other in enumerate(listed[1:])]


def _front(found: Found, x: Metric, y: Metric, at: int) -> Chart:
    points = _points(found)
    columns = _columns(found, points, y, {"x": [one["metrics"][x.name] for one in points]}, x)
    scale = _scale(found, points, x)
    across = {"field": "x_shown", "type": "quantitative", "scale": scale,
              "axis": _axis(x, scale, "x")}  # fmt: skip
    best = [one for one in points if one["on_front"]]
    line = {
        "transform": [{"filter": "datum.on_front"}],
        "mark": {"type": "line", "interpolate": "step-after", "color": _COLOURS[2]},
        "encoding": {"x": across, "y": _upwards(found, points, y),
                     "order": {"field": "x", "type": "quantitative"}},
    }  # fmt: skip
    told = "; ".join(f"{one['name']}: {x.show(one['metrics'][x.name])}, "
                     f"{y.show(one['metrics'][y.name])}" for one in best)  # fmt: skip
    spec = {"layer": [line, _marks(found, points, across, y)]}
    title = f"{y.label} over {x.label}"
    name = f"front-{at + 1}" if at else "front"
    return Chart(name, title, spec, columns, f"On the front: {told}.", _NOTE, height=320)


def _course(found: Found, metric: Metric) -> Chart:
    """One objective by trial, and the best so far."""
    points = [one for one in _points(found) if one["trial"] is not None]
    columns = _columns(found, points, metric, {"x": [one["trial"] for one in points]}, None)
    across = {"field": "x_shown", "type": "quantitative",
              "axis": {"title": "trial", "tickMinStep": 1, "format": "d"}}  # fmt: skip
    least = "min" if metric.sign > 0 else "max"
    line = {
        "transform": [
            {"filter": "datum.feasible"},
            {"window": [{"op": least, "field": "y_shown", "as": "best"}],
             "sort": [{"field": "x"}], "frame": [None, 0]},
        ],
        "mark": {"type": "line", "interpolate": "step-after", "color": _COLOURS[2]},
        "encoding": {"x": across, "y": {**_upwards(found, points, metric), "field": "best"}},
    }  # fmt: skip
    trials = units.counted(len(points), "trial")
    marks = _marks(found, points, across, metric)
    has_line = any(one["feasible"] for one in points)
    best = "the line is the best so far" if has_line else "each breaks a constraint"
    told = f"{metric.label} of {trials}; {best}."
    spec = {"layer": [line, marks] if has_line else [marks]}
    return Chart("front", f"{metric.label} by trial", spec, columns, told, _NOTE, height=320)


def _points(found: Found) -> list[Point]:
    return [one for one in found["points"] if one["metrics"] is not None]


def _columns(
    found: Found, points: Sequence[Point], y: Metric, across: Mapping[str, list[Any]],
    x: Metric | None,
) -> dict[str, list[Any]]:  # fmt: skip
    """A row for each point. The shown values end at the edge of the axes."""
    last = max((one["rung"] for one in found["points"]), default=0)
    up = [one["metrics"][y.name] for one in points]
    edges = [None if metric is None else _edge(found, points, metric) for metric in (x, y)]
    shown = [[value if edge is None else min(value, edge) for value in values]
             for values, edge in zip((across["x"], up), edges, strict=True)]  # fmt: skip
    return {
        "name": [one["name"] for one in points],
        "kind": [_kind(found, one) for one in points],
        **across,
        "y": up,
        "x_shown": shown[0],
        "y_shown": shown[1],
        "on_front": [bool(one["on_front"]) for one in points],
        "is_long": [one["rung"] == last for one in points],
        "feasible": [bool(one["feasible"]) for one in points],
        "told": [_told(one, y, x) for one in points],
    }


def _kind(found: Found, one: Point) -> str:
    if one["name"] == found["chosen"]["name"]:
        return KINDS[3]
    if one["on_front"]:
        return KINDS[2]
    return KINDS[1] if one["trial"] is None or one["preset"] is not None else KINDS[0]


def _told(one: Point, y: Metric, x: Metric | None) -> str:
    listed = [metric for metric in (x, y) if metric is not None]
    values = [f"{metric.label} {metric.show(one['metrics'][metric.name])}" for metric in listed]
    return ", ".join([*values, *([] if one["feasible"] else ["breaks a constraint"])])


def _edge(found: Found, points: Sequence[Point], metric: Metric) -> float | None:
    """The end of an axis, a tenth beyond all long runs and presets."""
    last = max(one["rung"] for one in found["points"])
    long = [one["metrics"][metric.name] for one in points
            if one["rung"] == last or one["preset"] is not None]  # fmt: skip
    return 1.1 * max(long) if long and metric.sign > 0 else None


def _marks(found: Found, points: Sequence[Point], across: theme.Part, y: Metric) -> theme.Part:
    """The points: trials first, so that presets, the front and the chosen one lie above them."""
    known = {"domain": list(KINDS)}
    legend = {"orient": "top", "title": None, "disable": False}
    return {
        "transform": [{"calculate": f"indexof({list(KINDS)}, datum.kind)", "as": "place"}],
        "mark": {"type": "point", "strokeWidth": 1.2},
        "encoding": {
            "x": across,
            "y": _upwards(found, points, y),
            "order": {"field": "place", "type": "quantitative"},
            "color": {"field": "kind", "type": "nominal", "legend": legend,
                      "scale": {**known, "range": list(_COLOURS)}},
            "shape": {"field": "kind", "type": "nominal", "legend": legend,
                      "scale": {**known, "range": list(_SHAPES)}},
            "size": {"field": "kind", "type": "ordinal", "sort": list(KINDS), "legend": legend,
                     "scale": {**known, "range": list(_SIZES)}},
            "fillOpacity": {"condition": {"test": "datum.is_long", "value": 0.9}, "value": 0},
            "fill": {"field": "kind", "type": "nominal", "legend": legend,
                     "scale": {**known, "range": list(_COLOURS)}},
            "tooltip": theme.tooltip({"name": "point", "kind": "kind", "told": "values"}),
        },
    }  # fmt: skip


def _upwards(found: Found, points: Sequence[Point], metric: Metric) -> theme.Part:
    scale = _scale(found, points, metric)
    return {"field": "y_shown", "type": "quantitative", "scale": scale,
            "axis": _axis(metric, scale, "y")}  # fmt: skip


def _scale(found: Found, points: Sequence[Point], metric: Metric) -> theme.Part:
    """Values that span a decade and more are drawn by factors."""
    edge = _edge(found, points, metric)
    values = [one["metrics"][metric.name] for one in points]
    values = [value if edge is None else min(value, edge) for value in values]
    is_wide = min(values) > 0 and max(values) > 10 * min(values)
    return {"type": "log", "nice": False, "padding": 12} if is_wide else {"zero": False}


def _axis(metric: Metric, scale: theme.Part, channel: str) -> theme.Part:
    if not metric.is_time:
        return {"title": metric.label}
    if scale.get("type") == "log":
        return theme.log_time_axis(metric.label, channel)
    return theme.time_axis(metric.label)
