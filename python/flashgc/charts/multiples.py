"""Small multiples: a metric over an axis, lines for a second one, rows and columns for two more.

Points that agree in these four are joined to their mean.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flashgc.charts import theme
from flashgc.charts.chart import SCHEMA, Chart

NOTHING = ""
"""In place of an axis: none is used here."""
PLACES = ("x", "series", "column", "row")


class Layout(NamedTuple):
    """The metric of a chart, and its axes by place; a place may have none."""

    metric: str
    x: str
    series: str = NOTHING
    column: str = NOTHING
    row: str = NOTHING

    def at(self, place: str) -> str:
        """The axis of a place."""
        return str(getattr(self, place))


def layout(axes: Mapping[str, Sequence[Any]], metric: str) -> Layout:
    """A first layout: numbers from left to right, schemes as lines, and seeds joined.

    >>> from flashgc.charts import multiples
    >>> axes = {"op": [0.1, 0.2], "scheme": ["greedy", "fifo"], "seed": [1, 2, 3], "depth": [1, 8]}
    >>> multiples.layout(axes, "write_amplification")
    Layout(metric='write_amplification', x='op', series='scheme', column='depth', row='')
    """
    several = [name for name, values in axes.items() if len(values) > 1 and name != "seed"]
    several = several or list(axes)[:1]
    numbers = [name for name in several if is_number(axes[name]) or at(axes[name])]
    others = [name for name in several if name not in numbers]
    x = max(numbers or [name for name in others if name != "scheme"] or others,
            key=lambda name: len(axes[name]))  # fmt: skip
    left = [name for name in several if name != x]
    lines = [name for name in ("scheme", *left) if name in left][:1]
    left = [name for name in left if name not in lines]
    places = [*lines, *([NOTHING] if not lines else []), *left, NOTHING, NOTHING]
    return Layout(metric, x, *places[:3])


def labels(names: Sequence[str]) -> dict[str, str]:
    """Short names of axes and metrics: the last part of a key, or all of it where two are alike.

    >>> from flashgc.charts import multiples
    >>> list(multiples.labels(["device.exported", "gc.a.soft", "gc.b.soft", "seed"]).values())
    ['exported', 'gc.a.soft', 'gc.b.soft', 'seed']
    >>> list(multiples.labels(["latency_ns.read.p99_9", "write_amplification"]).values())
    ['p99.9 of reads', 'write amplification']
    """
    ends = [name.rpartition(".")[2] for name in names]
    return {
        name: _metric(name) or (name if ends.count(end) > 1 else end)
        for name, end in zip(names, ends, strict=True)
    }


def _metric(name: str) -> str | None:
    """A metric in words; None for the name of an axis."""
    if name.startswith("latency_ns."):
        _, kind, which = name.split(".")
        of = {"read": "reads", "write": "writes"}.get(kind, "requests")
        return f"{which.replace('_', '.')} of {of}"
    return _WORDS.get(name)


_WORDS = {
    "write_amplification": "write amplification",
    "write_amplification_bytes": "write amplification, bytes",
    "throughput.iops": "requests/s",
    "gc.count": "collections",
    "pages.gc_moved": "pages moved",
    "gc.total_busy_ns": "time of units for collection",
    "utilisation.unit.gc": "share of units for collection",
    "wear.max": "most erases of a block",
    "wear.stddev": "erases of a block, standard deviation",
}


def is_number(values: Sequence[Any]) -> bool:
    """Whether all values of an axis are numbers."""
    return all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in values)


def at(values: Sequence[Any]) -> dict[str, float] | None:
    """Where texts stand on an axis that are numbers with one unit; None where they are others.

    >>> from flashgc.charts import multiples
    >>> multiples.at(["7%", "12.5%"]), multiples.at(["4 blocks", "8 pages"])
    ({'7%': 7.0, '12.5%': 12.5}, None)
    """
    found = [_WITH_UNIT.fullmatch(one) if isinstance(one, str) else None for one in values]
    known = [one for one in found if one is not None]
    if len(known) < len(found) or len({one[2] for one in known}) != 1:
        return None
    return {one[0]: float(one[1]) for one in known}


def ordered(values: Sequence[Any]) -> list[Any]:
    """Numbers by size, also those with one unit; other values in their own order.

    >>> from flashgc.charts import multiples
    >>> multiples.ordered([8, 1]), multiples.ordered(["12.5%", "7%"]), multiples.ordered(["b", "a"])
    ([1, 8], ['7%', '12.5%'], ['b', 'a'])
    """
    if is_number(values):
        return sorted(values)
    places = at(values)
    return sorted(values, key=places.__getitem__) if places else list(values)


_WITH_UNIT = re.compile(r"(-?\d+(?:\.\d+)?)\s*([^\d\s]*)")


def chart(
    points: Mapping[str, Sequence[Any]],
    axes: Mapping[str, Sequence[Any]],
    chosen: Layout,
    left_out: int = 0,
) -> Chart:
    """The small multiples of some points: columns of axes and metrics.

    `left_out` is the number of saturated points that are not among them.
    """
    places = at(axes[chosen.x])
    groups: dict[tuple[Any, ...], list[float]] = {}
    used = [chosen.at(place) for place in PLACES]
    keys = zip(*(points[name] if name else [None] * len(points[chosen.metric]) for name in used),
               strict=True)  # fmt: skip
    for key, value in zip(keys, points[chosen.metric], strict=True):
        if value is not None:
            groups.setdefault(key, []).append(float(value))
    columns: dict[str, list[Any]] = {
        place: [key[index] for key in groups] for index, place in enumerate(PLACES)
    }
    columns["x_at"] = [places[one] if places else one for one in columns["x"]]
    found = list(groups.values())
    columns |= {
        "mean": [statistics.fmean(values) for values in found],
        "least": [min(values) for values in found],
        "most": [max(values) for values in found],
        "points": [len(values) for values in found],
    }
    text = f"{chosen.metric} over {chosen.x}" + "".join(
        f", a {what} for each {name}"
        for what, name in (("line", chosen.series), ("column", chosen.column), ("row", chosen.row))
        if name
    )
    name = re.sub(r"[^a-zA-Z0-9]+", "-", chosen.metric)
    return Chart(name, "Small multiples", spec(axes, chosen), columns, text,
                 note=f"{NOTE} {saturated(left_out)}".rstrip())  # fmt: skip


NOTE = "Each point is the mean over the axes not shown; bars show min and max. Lines that are not \
parallel show that two axes interact."


def saturated(count: int) -> str:
    """The words below a chart without saturated points."""
    one = count == 1
    return f"{count:,} saturated {'point is' if one else 'points are'} omitted." if count else ""


def spec(axes: Mapping[str, Sequence[Any]], chosen: Layout) -> dict[str, Any]:
    """The specification; the page changes its fields when another layout is chosen."""
    short = labels([*axes, chosen.metric])
    orders = {place: list(axes[chosen.at(place)]) for place in PLACES if chosen.at(place)}
    x: dict[str, Any] = {
        "field": "x",
        "axis": {"title": short[chosen.x], "labelAngle": 0, "tickCount": 5, "grid": False},
    }
    places = at(orders["x"])
    if is_number(orders["x"]) or places:
        stand = sorted(set(places.values() if places else orders["x"]))
        x |= {"field": "x_at", "type": "quantitative",
              "scale": {"zero": False, "nice": False, "padding": 6}}  # fmt: skip
        # A label at each value, as far as there is room.
        x["axis"] |= {"values": stand, "labelOverlap": True}
        if places:
            unit = next(iter(places)).lstrip("-.0123456789 ")
            x["axis"]["labelExpr"] = f"datum.label + {json.dumps(unit and f' {unit}')}"
    else:
        x |= {"type": "ordinal", "sort": orders["x"]}
    y: dict[str, Any] = {
        "type": "quantitative", "scale": {"zero": False},
        "axis": _axis(chosen.metric, short[chosen.metric]),
    }  # fmt: skip
    lines: dict[str, Any] = {}
    if chosen.series:
        lines = theme.colour("series", orders["series"], dashed=True)
        title = short[chosen.series]
        lines["color"]["legend"] = {"orient": "top", "title": title, "symbolType": "stroke"}
        lines["opacity"] = {"condition": {"param": "picked", "value": 1}, "value": 0.12}
    shown = {place: short[chosen.at(place)] for place in orders}
    shown |= {"value": "mean", "low": "least", "high": "most", "points": "points"}
    layers = _layers(y, shown, chosen.series != NOTHING)
    facets = {
        place: {"field": place, "type": "nominal", "sort": orders[place],
                "header": {"title": short[chosen.at(place)]}}
        for place in ("row", "column") if chosen.at(place)
    }  # fmt: skip
    inner = {"encoding": {"x": x, **lines}, "layer": layers}
    calculated = [
        {"calculate": _text(chosen.metric, f"datum.{field}"), "as": name}
        for field, name in (("mean", "value"), ("least", "low"), ("most", "high"))
    ]
    if facets:
        x["axis"]["title"] = y["axis"]["title"] = None
        title = f"{short[chosen.metric]} over {short[chosen.x]}"
        return {
            "title": theme.title(title),
            "transform": calculated,
            "facet": facets,
            "spec": inner,
            "spacing": 14,
        }
    return {"transform": calculated, **inner}


def _layers(y: dict[str, Any], shown: Mapping[str, str], picks: bool) -> list[dict[str, Any]]:
    """Means as lines and points, with a bar from minimum to maximum."""
    picked = {"name": "picked", "bind": "legend",
              "select": {"type": "point", "fields": ["series"]}}  # fmt: skip
    mean = {"y": {"field": "mean", **y}}
    return [
        {"mark": {"type": "rule", "strokeWidth": 1},
         "encoding": {"y": {"field": "least", **y}, "y2": {"field": "most"}}},
        {"mark": {"type": "line"}, "encoding": mean},
        {"mark": {"type": "point", "filled": True, "opacity": 1},
         "encoding": {**mean, "tooltip": theme.tooltip(shown)},
         "params": [picked] if picks else []},
    ]  # fmt: skip


def _is_time(metric: str) -> bool:
    return metric.endswith("_ns") or metric.startswith("latency_ns")


def _axis(metric: str, title: str) -> dict[str, Any]:
    if _is_time(metric):
        return theme.time_axis(title, tickCount=5)
    return {"title": title, "tickCount": 5}


def _text(metric: str, value: str) -> str:
    return theme.time_text(value) if _is_time(metric) else f"format({value}, ',.5~g')"


def template() -> dict[str, Any]:
    """The template for the page's choice of a layout, for times and for numbers."""
    found: dict[str, Any] = {"schema": SCHEMA, "colours": list(theme.COLOURS),
                             "title": theme.title("")}  # fmt: skip
    for name, metric in (("time", "_ns"), ("number", "")):
        whole = spec({"x": [1], "series": ["a"]}, Layout(metric, "x", "series"))
        encoding = whole["encoding"]
        found[name] = {
            "transform": whole["transform"],
            "inner": {"encoding": {"x": encoding["x"]}, "layer": whole["layer"]},
            "lines": {key: encoding[key] for key in ("color", "opacity")},
            "params": whole["layer"][-1]["params"],
            "tooltip": whole["layer"][-1]["encoding"]["tooltip"][2:],
        }
        whole["layer"][-1].pop("params")
    return found
