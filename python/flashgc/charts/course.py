"""A run over time as charts: responses with collections, space, pages moved, and wear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flashgc.charts import theme
from flashgc.charts.chart import Chart, Columns
from flashgc.charts.latency import Named
from flashgc.formatting.table import Table
from flashgc.results import blame
from flashgc.results.metrics import RunResults, drive_writes, lengths_differ
from flashgc.results.over_time import MOST_ROWS, OverTime

TIME = "zoom_from_ns"
"""The signal of the zoom over time, which all charts of it share."""
_LINES = {
    "read_max_ns": ("reads, longest", theme.COLOURS[0], 1.0),
    "write_max_ns": ("writes, longest", theme.COLOURS[1], 1.0),
    "read_mean_ns": ("reads, mean", theme.COLOURS[0], 0.55),
    "write_mean_ns": ("writes, mean", theme.COLOURS[1], 0.55),
}
_RESPONSES = (
    f"Longest (solid) and mean (dashed) latency of the requests that ended in each of at most "
    f"{MOST_ROWS} equal parts of the run; every maximum is shown. Strip: share of time spent on "
    "GC (darker = more)."
)
_SPACE = f"At the end of each of at most {MOST_ROWS} equal parts of the run."
_MOVED = (
    "Mean and min-max band of adjacent collections, in order of completion; at most "
    f"{MOST_ROWS} points."
)
_PER_WRITE = " Colours are for one drive write: the runs have different lengths."
_WEAR = "Blocks erased by collections of the measured part, by plane and place in the plane."

Kept = Sequence[tuple[str, RunResults, OverTime]]


def drawn(several: Named) -> tuple[list[Chart], list[Chart], list[Chart]]:
    """Responses over time, space over time, and moves and wear, of the runs that were watched."""
    kept = [(name, one, one.over_time) for name, one in several if one.over_time is not None]
    if not kept:
        return [], [], []
    return _responses(kept), _space(kept), [*_moved(kept), *_wear(kept)]


_SHORTEST = " Cut to the shortest run: the runs have different lengths."
_OWN = " The runs have different lengths, and each has its own axis of time."


def _x(title: str, last: float) -> theme.Part:
    return {
        "field": "from_ns", "type": "quantitative", "scale": {"nice": False, "domain": [0, last]},
        "axis": theme.time_axis(title, tickCount=6, labelSeparation=6, grid=False),
    }  # fmt: skip


def _last_ns(kept: Kept) -> float:
    return max((float(found.states["end_ns"][-1]) for *_, found in kept if found.states.rows),
               default=1.0)  # fmt: skip


def _responses(kept: Kept) -> list[Chart]:
    """A chart for each run, all with the same axes."""
    every = [_course(found) for *_, found in kept]
    known = [
        value
        for columns in every
        for name in _LINES
        for value in columns.get(name, [])
        if value and value > 0
    ]
    if not known:
        return []
    low, high = min(known), max(known)
    busy = max((value or 0 for columns in every for value in columns["gc_busy_ns"]), default=0)
    several = len(kept) > 1
    apart = lengths_differ([report for _, report, _ in kept])
    charts = []
    for at, (one, columns) in enumerate(zip(kept, every, strict=True)):
        name, *_ = one
        shown = [one] if apart else kept
        own_busy = max((value or 0 for value in columns["gc_busy_ns"]), default=0)
        title = f"Response time over time: {name}" if several else "Response time over time"
        longest = {
            words: max((value for value in columns[key] if value), default=0)
            for key, (words, *_) in _LINES.items() if key in columns and "longest" in words
        }  # fmt: skip
        told = ", ".join(f"{words} {value:.0f} ns" for words, value in longest.items())
        charts.append(Chart(
            f"responses-{at + 1}" if several else "responses", title,
            _response(columns, _last_ns(shown), low, high, own_busy if apart else busy), columns,
            f"Longest and mean response time over the run, {told}; with the time of collection.",
            note="" if at else _RESPONSES + _OWN * apart, series="run", names=[name],
            linked=[] if apart else [TIME], height=220,
            wide=not several,
        ))  # fmt: skip
    return charts


def _response(
    columns: Columns, last: float, low: float, high: float, busy: float
) -> dict[str, Any]:
    lines = {key: _LINES[key] for key in _LINES if key in columns}
    hues = {"domain": [words for words, *_ in lines.values()],
            "range": [hue for _, hue, *_ in lines.values()]}  # fmt: skip
    axis = {"type": "quantitative",
         "scale": {"type": "log", "domain": [low / 1.6, high * 1.25], "nice": False},
         "axis": theme.log_time_axis("response time", "y")}  # fmt: skip
    strip = {
        "mark": {"type": "rect", "color": blame.COLOURS["collection"], "clip": True},
        "encoding": {
            "x": _x("time", last), "x2": {"field": "to_ns"},
            "y": {"value": {"expr": "height"}}, "y2": {"value": {"expr": "height - 7"}},
            "opacity": {"field": "gc_busy_ns", "type": "quantitative", "legend": None,
                        "scale": {"domain": [0, busy or 1], "range": [0, 1]}},
        },
    }  # fmt: skip
    layers: list[theme.Part] = [strip]
    for key, (words, _, opacity) in lines.items():
        dash = {"strokeDash": [3, 2]} if "mean" in words else {}
        mark = {"type": "line", "interpolate": "step-after", "opacity": opacity,
                "clip": True, **dash}  # fmt: skip
        colour = {"field": "line", "type": "nominal", "scale": hues, "title": None,
                  "legend": {"orient": "top", "title": None, "columns": 2,
                             "symbolType": "stroke"}}  # fmt: skip
        y = {"field": key, "title": "response time", **axis}
        layers.append({
            "transform": [{"calculate": f"'{words}'", "as": "line"}],
            "mark": mark, "encoding": {"x": _x("time", last), "y": y, "color": colour},
        })  # fmt: skip
    layers.append(_hover(last, {words: key for key, (words, *_) in lines.items()}))
    return {"layer": layers}


def _hover(last: float, times: dict[str, str]) -> theme.Part:
    """A column for each part of the run, which has all its values in the tooltip."""
    calculated = [
        {"calculate": theme.time_text(f"datum.{field}"), "as": f"{field}_text"}
        for field in ("from_ns", "to_ns", *times.values(), "gc_busy_ns")
    ]
    shown = {"from_ns_text": "from", "to_ns_text": "to",
             **{f"{field}_text": words for words, field in times.items()},
             "gc_count": "collections", "gc_busy_ns_text": "collecting"}  # fmt: skip
    return {
        "name": theme.POINTER,
        "transform": calculated,
        "params": [theme.zoom("x")],
        "mark": {"type": "rect", "opacity": 0, "clip": True, "cursor": "crosshair"},
        "encoding": {"x": _x("time", last), "x2": {"field": "to_ns"}, "tooltip":
                     theme.tooltip(shown)},
    }  # fmt: skip


def _course(found: OverTime) -> dict[str, list[Any]]:
    """A row for each part of the run: its responses and its collections."""
    states, responses = found.states, found.responses
    kinds = [kind for kind in ("read", "write") if responses[f"requests_{kind}"].any()]
    at = {start: row for row, start in enumerate(responses["start_ns"].tolist())}
    spans = _filled(states)
    columns: dict[str, list[Any]] = {
        "from_ns": [start for start, _, _ in spans],
        "to_ns": [end for _, end, _ in spans],
    }
    for kind in kinds:
        for name in ("max", "mean"):
            values = responses[f"latency_{kind}_{name}_ns"].tolist()
            rows = [at.get(start) for start, _, row in spans]
            columns[f"{kind}_{name}_ns"] = [
                None if row is None or math.isnan(values[row]) else round(values[row])
                for row in rows
            ]
    for name in ("gc_count", "gc_busy_ns"):
        values = states[name].tolist()
        columns[name] = [0 if row is None else values[row] for *_, row in spans]
    return columns


def _filled(states: Table) -> list[tuple[int, int, int | None]]:
    """Start, end and row of each part; one without a row for each gap between them."""
    spans: list[tuple[int, int, int | None]] = []
    pairs = zip(states["start_ns"].tolist(), states["end_ns"].tolist(), strict=True)
    for row, (start, end) in enumerate(pairs):
        if spans and spans[-1][1] < start:
            spans.append((spans[-1][1], start, None))
        spans.append((start, end, row))
    return spans


def _space(kept: Kept) -> list[Chart]:
    """Pages in use and erased blocks of all runs."""
    names = [name for name, *_ in kept]
    columns: dict[str, list[Any]] = {
        name: [] for name in ("run", "from_ns", "used_percent", "free_blocks", "fewest")
    }
    for name, report, found in kept:
        pages = report.capacity.physical_pages
        states = found.states
        columns["run"] += [name] * states.rows
        columns["from_ns"] += states["end_ns"].tolist()
        columns["used_percent"] += [round(100 * value / pages, 4)
                                    for value in states["used_pages_end"].tolist()]  # fmt: skip
        columns["free_blocks"] += states["free_blocks_end"].tolist()
        columns["fewest"] += states["free_blocks_min"].tolist()
    # The axis ends with the shortest run: beyond it there is nothing to compare.
    apart = lengths_differ([report for _, report, _ in kept])
    last = min(map(_last_ns, ([one] for one in kept))) if apart else _last_ns(kept)
    used = _line(names, "used_percent", "pages in use, %", last, False)
    free = _line(names, "free_blocks", "erased blocks", last, True)
    common = {
        "series": "run",
        "names": names,
        "linked": [] if apart else [TIME],
        "note": _SPACE + _SHORTEST * apart,
        "height": 180,
    }
    return [
        Chart("used-space", "Used space", used, columns,
              f"Valid and invalid pages over time, of {', '.join(names)}.", **common),  # type: ignore[arg-type]
        Chart("free-blocks", "Free blocks", free, columns,
              f"Erased blocks over time, of {', '.join(names)}.", **common),  # type: ignore[arg-type]
    ]  # fmt: skip


def _line(names: Sequence[str], field: str, title: str, last: float, zero: bool) -> theme.Part:
    x = _x("time", last)
    y = {"field": field, "type": "quantitative", "scale": {"zero": zero},
         "axis": {"title": title, "tickCount": 5}}  # fmt: skip
    shown = {"run": "run", "time": "at", "used": "in use", "free_blocks": "erased blocks",
             "fewest": "fewest of a plane"}  # fmt: skip
    return {
        "transform": [
            {"calculate": theme.time_text("datum.from_ns"), "as": "time"},
            {"calculate": "format(datum.used_percent, '.2f') + ' %'", "as": "used"},
        ],
        "encoding": {"x": x, "y": y, **theme.colour("run", names, dashed=True)},
        "layer": [
            {"mark": {"type": "line", "interpolate": "step-before", "clip": True},
             "params": [theme.zoom("x")]},
            theme.nearest(shown),
        ],
    }  # fmt: skip


def _moved(kept: Kept) -> list[Chart]:
    """Pages that each collection moved, of all runs."""
    collecting = [(name, found.collections) for name, _, found in kept if found.collections.rows]
    if not collecting:
        return []
    names = [name for name, *_ in kept]
    columns: dict[str, list[Any]] = {
        name: [] for name in ("run", "number", "to", "fewest", "mean", "most")
    }
    for name, found in collecting:
        firsts, counts = found["first"].tolist(), found["count"].tolist()
        columns["run"] += [name] * found.rows
        columns["number"] += [first + 1 for first in firsts]
        columns["to"] += [first + count for first, count in zip(firsts, counts, strict=True)]
        columns["mean"] += [round(value, 3) for value in found["moved_mean"].tolist()]
        columns["fewest"] += found["moved_min"].tolist()
        columns["most"] += found["moved_max"].tolist()
    apart = lengths_differ([report for _, report, _ in kept])
    most = min(int(found["first"][-1] + found["count"][-1]) for _, found in collecting)
    x = {"field": "number", "type": "quantitative",
         "scale": {"nice": False, **({"domain": [1, most]} if apart else {})},
         "axis": {"title": "number of the collection", "tickCount": 6, "tickMinStep": 1,
                  "grid": False, "labelSeparation": 6}}  # fmt: skip
    y = {"type": "quantitative", "axis": {"title": "pages moved", "tickCount": 5, "tickMinStep": 1}}
    shown = {"run": "run", "number": "from collection", "to": "to", "fewest": "fewest pages",
             "mean": "mean", "most": "most"}  # fmt: skip
    spec = {
        "encoding": {"x": x, **theme.colour("run", names, dashed=True)},
        "layer": [
            {"mark": {"type": "area", "interpolate": "step-after", "opacity": 0.15, "clip": True},
             "encoding": {"y": {"field": "fewest", **y}, "y2": {"field": "most"}}},
            {"mark": {"type": "line", "interpolate": "step-after", "clip": True},
             "encoding": {"y": {"field": "mean", **y}}, "params": [theme.zoom("x")]},
            theme.nearest(shown),
        ],
    }  # fmt: skip
    spec["layer"][-1]["encoding"]["y"] = {"field": "mean", **y}  # type: ignore[index]
    said = f"Pages moved by each collection in order, of {', '.join(one for one, _ in collecting)}."
    note = _MOVED + _SHORTEST * apart
    return [Chart("moves", "Pages moved by each collection", spec, columns, said, note=note,
                  series="run", names=names, height=200)]  # fmt: skip


def _wear(kept: Kept) -> list[Chart]:
    """A map for each run, all with the same colours: for one drive write where lengths differ."""
    writes = [drive_writes(report) for _, report, _ in kept]
    per = lengths_differ([report for _, report, _ in kept]) and all(writes)
    found = [
        (name, over_time.wear, of if per and of else 1.0)
        for (name, _, over_time), of in zip(kept, writes, strict=True)
        if over_time.wear["erases"].any()
    ]
    most = max(
        (float((wear["erases"] / (wear["planes"] * wear["blocks"])).max()) / of
         for _, wear, of in found),
        default=0.0,
    )  # fmt: skip
    charts = []
    for at, (name, wear, of) in enumerate(found):
        each = wear["erases"] / (wear["planes"] * wear["blocks"]) / of
        columns: dict[str, list[Any]] = {
            "plane": wear["plane"].tolist(),
            "plane_end": (wear["plane"] + wear["planes"]).tolist(),
            "block": wear["block"].tolist(),
            "block_end": (wear["block"] + wear["blocks"]).tolist(),
            "erases": wear["erases"].tolist(),
            "each": [float(f"{value:.4g}") for value in each.tolist()],
            "run": [name] * wear.rows,
        }
        several = len(kept) > 1
        title = f"Wear: {name}" if several else "Wear"
        what = "per block and drive write" if per else "per block"
        said = f"Erases {what} by place, {each.min():.3g} to {each.max():.3g}."
        charts.append(Chart(
            f"wear-{at + 1}" if several else "wear", title, _map(columns, most, what), columns,
            said, note="" if at else _WEAR + _PER_WRITE * per, series="run", names=[name],
            height=200,
        ))  # fmt: skip
    return charts


def _map(columns: Columns, most: float, what: str) -> dict[str, Any]:
    planes, blocks = max(columns["plane_end"]), max(columns["block_end"])
    shown = {"plane": "from plane", "plane_end": "to before", "block": "from block",
             "block_end": "to before", "erases": "erases", "each": f"erases {what}"}  # fmt: skip

    def whole(title: str, count: int) -> theme.Part:
        """An axis of numbers from 0 to below the count."""
        return {
            "title": title,
            "grid": False,
            "domain": False,
            "format": "d",
            "tickCount": min(6, count),
            "labelExpr": f"datum.value < {count} ? datum.label : ''",
        }

    return {
        "mark": {"type": "rect", "strokeWidth": 0},
        "encoding": {
            "x": {"field": "block", "type": "quantitative",
                  "axis": whole("block in its plane", blocks),
                  "scale": {"domain": [0, blocks], "nice": False}},
            "x2": {"field": "block_end"},
            "y": {"field": "plane", "type": "quantitative", "axis": whole("plane", planes),
                  "scale": {"domain": [0, planes], "nice": False, "reverse": True}},
            "y2": {"field": "plane_end"},
            "color": {"field": "each", "type": "quantitative",
                      "scale": {"scheme": "viridis", "domain": [0, most]},
                      "legend": {"title": _legend(what), "orient": "right", "tickCount": 4}},
            "tooltip": theme.tooltip(shown),
        },
    }  # fmt: skip


def _legend(what: str) -> list[str] | str:
    """The title of the colours, in two lines where it is long."""
    return ["erases/block", "per drive write"] if "drive write" in what else "erases/block"
