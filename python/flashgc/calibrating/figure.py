"""Charts of a calibration: points over the measured ones, and the profiles of the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.calibrating import intervals, likelihood, words
from flashgc.calibrating.rows import AMPLIFICATION, IOPS
from flashgc.charts import Chart, theme
from flashgc.charts.chart import Columns
from flashgc.formatting import units

Found = Mapping[str, Any]

_KINDS = ("fitted", "judged")
_COLOURS = {"domain": list(_KINDS), "range": list(theme.COLOURS[:2])}
_SHAPES = {"domain": list(_KINDS), "range": ["circle", "diamond"]}


def charts(found: Found) -> list[Chart]:
    """All of them."""
    return [*_points(found), _profiles(found)]


def _points(found: Found) -> list[Chart]:
    """Simulated over measured numbers, for each kind of them."""
    made = []
    for kind in likelihood.NOISE:
        own = [one for one in found["points"]
               if likelihood.kind(one["metric"]) == kind and one["error"] is not None]  # fmt: skip
        if own:
            made.append(_kind(kind, own))
    return made


def _kind(kind: str, own: Sequence[Mapping[str, Any]]) -> Chart:
    measured, simulated = ([float(f"{one[name]:.6g}") for one in own]
                           for name in ("measured", "simulated"))  # fmt: skip
    columns: Columns = {
        "row": [f"{one['row']}, {words.label(one['metric'])}" for one in own],
        "measured": measured, "simulated": simulated,
        "kind": ["fitted" if one["fitted"] else "judged" for one in own],
        "told": [f"{words.show(one['metric'], one['measured'])} measured, "
                 f"{words.show(one['metric'], one['simulated'])} simulated, "
                 f"{100 * one['error']:+.1f} %" for one in own],
    }  # fmt: skip
    ends = [0.9 * min(*measured, *simulated), 1.1 * max(*measured, *simulated)]
    legend = {"orient": "top", "title": None}
    x, y = ({"field": name, "type": "quantitative",
             "scale": {"type": "log", "nice": False, "domain": ends},
             "axis": _axis(kind, name, channel)}
            for name, channel in (("measured", "x"), ("simulated", "y")))  # fmt: skip
    line = {
        "data": {"values": [{"measured": end, "simulated": end} for end in ends]},
        "mark": {"type": "line", "opacity": 0.5, "strokeDash": [4, 4], "color": "#888888"},
        "encoding": {"x": x, "y": y},
    }
    marks = {
        "mark": {"type": "point", "size": 45, "strokeWidth": 1.4},
        "encoding": {
            "x": x, "y": y,
            "color": {"field": "kind", "type": "nominal", "scale": _COLOURS, "legend": legend},
            "shape": {"field": "kind", "type": "nominal", "scale": _SHAPES, "legend": legend},
            "tooltip": theme.tooltip({"row": "row", "kind": "kind", "told": "values"}),
        },
    }  # fmt: skip
    worst = max(own, key=lambda one: abs(math.log1p(one["error"])))
    rows = units.counted(len(own), "row")
    told = (f"{words.label(kind)} of {rows}, simulated over measured; the "
            f"largest error is {100 * worst['error']:+.1f} %, {worst['row']}.")  # fmt: skip
    title = f"{words.label(kind)}: simulated over measured"
    return Chart(f"points-{kind.replace('_', '-')}", title, {"layer": [line, marks]}, columns, told,
                 "The dashed line is equality.")  # fmt: skip


def _axis(kind: str, name: str, channel: str) -> theme.Part:
    if kind in (IOPS, AMPLIFICATION):
        return {"title": f"{words.label(kind)}, {name}", "format": "~s", "tickCount": 5}
    return theme.log_time_axis(f"{words.label(kind)}, {name}", channel)


def _profiles(found: Found) -> Chart:
    """The fall of the likelihood with each number."""
    names, xs, ys = [], [], []
    for one in found["numbers"]:
        for step in one["profile"]:
            names.append(one["key"].removeprefix("device."))
            xs.append(float(f"{100 * (step['value'] / one['value'] - 1):.4g}"))
            ys.append(float(f"{min(max(step['fall'], 0.0), 4 * intervals.FALL):.4g}"))
    keys = list(dict.fromkeys(names))
    colour = theme.colour("key", keys, dashed=True)
    colour["color"]["legend"] = theme.parts_legend() | {"symbolType": "stroke", "columns": 2}
    line = {
        "mark": {"type": "line", "point": {"size": 22}, "clip": True},
        "encoding": {
            "x": {"field": "change", "type": "quantitative",
                  "axis": {"title": "change of the number, %"}},
            "y": {"field": "fall", "type": "quantitative",
                  "axis": {"title": "fall of the log likelihood"}},
            **colour,
            "tooltip": theme.tooltip({"key": "number", "change": "change, %", "fall": "fall"}),
        },
    }  # fmt: skip
    rule = {"mark": {"type": "rule", "strokeDash": [4, 4], "opacity": 0.6},
            "encoding": {"y": {"datum": intervals.FALL}}}  # fmt: skip
    told = "; ".join(f"{one['key']}: {one['text']}, known: {one['known']}"
                     for one in found["numbers"])  # fmt: skip
    return Chart(
        "profiles", "How the likelihood falls with each number alone", {"layer": [rule, line]},
        {"key": names, "change": xs, "fall": ys}, f"{told}.",
        "The dashed line is the end of an interval. Falls beyond four times of it lie at the edge.",
        wide=True,
    )  # fmt: skip
