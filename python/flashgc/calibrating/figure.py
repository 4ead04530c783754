"""Charts of a calibration: points over the measured ones, and the profiles of the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.calibrating import likelihood, sureness, words
from flashgc.charts import Chart, theme
from flashgc.charts.chart import Columns

Found = Mapping[str, Any]

_KINDS = ("fitted", "judged")
_COLOURS = {"domain": list(_KINDS), "range": list(theme.COLOURS[:2])}
_SHAPES = {"domain": list(_KINDS), "range": ["circle", "diamond"]}
_MOST = 1.0
"""Errors beyond a factor of two lie at the edge."""


def charts(found: Found) -> list[Chart]:
    """All of them."""
    return [*_errors(found), _profiles(found)]


def _errors(found: Found) -> list[Chart]:
    """The error of each number, by row, for each kind of number."""
    made = []
    for kind in likelihood.NOISE:
        own = [one for one in found["points"]
               if likelihood.kind(one["metric"]) == kind and one["error"] is not None]  # fmt: skip
        if own:
            made.append(_kind(kind, own))
    return made


def _kind(kind: str, own: Sequence[Mapping[str, Any]]) -> Chart:
    misses = [math.log1p(one["error"]) for one in own]
    shown = [100 * math.expm1(min(max(miss, -_MOST), _MOST)) for miss in misses]
    columns: Columns = {
        "row": [_short(one) for one in own],
        "error": [float(f"{value:.4g}") for value in shown],
        "kind": ["fitted" if one["fitted"] else "judged" for one in own],
        "told": [f"{words.show(one['metric'], one['measured'])} measured, "
                 f"{words.show(one['metric'], one['simulated'])} simulated" for one in own],
    }  # fmt: skip
    legend = {"orient": "top", "title": None, "disable": False}
    axis = {"title": f"error of {words.label(kind)}, %", "grid": True}
    y = {"field": "row", "type": "nominal", "sort": None, "axis": {**theme.names_axis(),
                                                                   "labelLimit": 190}}  # fmt: skip
    x = {"field": "error", "type": "quantitative", "axis": axis}
    zero = {"mark": {"type": "rule", "opacity": 0.5}, "encoding": {"x": {"datum": 0}}}
    marks = {
        "mark": {"type": "point", "filled": True, "size": 60},
        "encoding": {
            "x": x, "y": y,
            "color": {"field": "kind", "type": "nominal", "scale": _COLOURS, "legend": legend},
            "shape": {"field": "kind", "type": "nominal", "scale": _SHAPES, "legend": legend},
            "tooltip": theme.tooltip({"row": "row", "kind": "kind", "told": "values"}),
        },
    }  # fmt: skip
    count = len(dict.fromkeys(columns["row"]))
    worst = max(own, key=lambda one: abs(math.log1p(one["error"])))
    told = (f"Errors of {words.label(kind)} of {len(own)} numbers; the largest is "
            f"{100 * worst['error']:+.1f} %, {_short(worst)}.")  # fmt: skip
    name = f"errors-{kind.replace('_', '-')}"
    return Chart(name, f"{words.label(kind)}: simulated over measured", {"layer": [zero, marks]},
                 columns, told, height=max(120, 16 * count + 40))  # fmt: skip


def _short(one: Mapping[str, Any]) -> str:
    way = one["metric"].partition("_")[0]
    return f"{one['row']}, {way}s" if way in ("read", "write") and "%" in one["load"].partition(
        " of ")[0] else str(one["row"])  # fmt: skip


def _profiles(found: Found) -> Chart:
    """The fall of the likelihood with each number."""
    names, xs, ys = [], [], []
    for one in found["numbers"]:
        for step in one["profile"]:
            names.append(one["key"])
            xs.append(float(f"{100 * (step['value'] / one['value'] - 1):.4g}"))
            ys.append(float(f"{min(max(step['fall'], 0.0), 4 * sureness.FALL):.4g}"))
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
            "encoding": {"y": {"datum": sureness.FALL}}}  # fmt: skip
    told = "; ".join(f"{one['key']}: {one['text']}, known: {one['known']}"
                     for one in found["numbers"])  # fmt: skip
    return Chart(
        "profiles", "How the likelihood falls with each number alone", {"layer": [rule, line]},
        {"key": names, "change": xs, "fall": ys}, f"{told}.",
        "The dashed line is the end of an interval. Falls beyond four times of it lie at the edge.",
        wide=True,
    )  # fmt: skip
