"""The charts of the tests: rounds, the measurement window, and what each test shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.charts import theme
from flashgc.charts.chart import Chart, Columns
from flashgc.snia import definitions, steady
from flashgc.snia.measuring import Histogram, Point
from flashgc.snia.procedures import Part

Rows = list[tuple[str, float, float]]
"""The name of a line, and a point of it."""

_BARS = 80
"""Bars of a histogram at most."""
_POINTS = 150
"""With more points than these a line has no marks at them."""


def _lines(
    name: str, title: str, rows: Rows, x: theme.Part, y: theme.Part, said: str, *,
    points: bool = True, note: str = "", wide: bool = False,
) -> Chart:  # fmt: skip
    names = list(dict.fromkeys(row[0] for row in rows))
    color = theme.colour("line", names, dashed=True)
    color["color"]["legend"] = theme.parts_legend() | {"symbolType": "stroke", "columns": 3}
    spec = {
        "mark": {
            "type": "line",
            "point": {"size": 22} if points and len(rows) <= _POINTS else False,
            "clip": True,
        },
        "encoding": {
            "x": {"field": "x", "type": "quantitative", **x},
            "y": {"field": "y", "type": "quantitative", **y},
            **color,
            "tooltip": theme.tooltip({"line": "", "x": "at", "y": "value"}, x=",.5~r", y=",.4~r"),
        },
    }
    columns: Columns = {"line": [row[0] for row in rows], "x": [row[1] for row in rows],
               "y": [float(f"{row[2]:.6g}") for row in rows]}  # fmt: skip
    return Chart(name, title, spec, columns, said, note=note, wide=wide)


def _axis(title: str, log: bool = False, **more: object) -> theme.Part:
    scale: theme.Part = {"type": "log", "nice": False, "padding": 6} if log else {"zero": True}
    axis = {"title": title, "format": "~s", **({"tickCount": 5} if log else {})}
    return {"scale": scale, "axis": axis | more}


_ROUND: theme.Part = {
    "scale": {"nice": False, "zero": False},
    "axis": {"title": "round", "tickMinStep": 1, "format": "d", "grid": False},
}


def of_part(test: str, part: Part, values: Mapping[str, Any], at: int) -> list[Chart]:
    """The charts of a part of a test."""
    name = f"{test}-{at}"
    return [
        *_course(test, name, part),
        *(_window(f"{name}-window-{number}", one)
          for number, one in enumerate(values["tracked"], 1) if one["average"] is not None),
        *([_matrix(name, part)] if test == "iops" and part.rounds else []),
        *([_responses(name, part.histogram)] if part.histogram is not None else []),
    ]  # fmt: skip


def _course(test: str, name: str, part: Part) -> list[Chart]:
    return {
        "wsat": _saturation, "iops": _convergence, "tp": _throughput, "lat": _latency,
        "hir": _recovery, "xsr": _stimuli, "dirth": _demand,
    }[test](name, part)  # fmt: skip


def _over_rounds(part: Part, mix: float | None = None) -> list[tuple[int, Point]]:
    return [(number, point) for number, points in enumerate(part.rounds, 1) for point in points
            if mix is None or point.read_share == mix]  # fmt: skip


def _convergence(name: str, part: Part) -> list[Chart]:
    rows = [(definitions.size(point.bytes), float(number), point.iops)
            for number, point in _over_rounds(part, 0.0) if point.done]  # fmt: skip
    said = "IOPS of random writes of each size, by round."
    y = _axis("IOPS", log=True)
    return [_lines(f"{name}-rounds", "Rounds: writes of each size", rows, _ROUND, y, said)]


def _throughput(name: str, part: Part) -> list[Chart]:
    rows = [("reads" if point.read_share else "writes", float(number), point.mb_per_s)
            for number, point in _over_rounds(part)]  # fmt: skip
    title = f"Rounds: {part.name}"
    return [_lines(f"{name}-rounds", title, rows, _ROUND, _axis("MB/s"),
                   "Throughput of sequential reads and writes, by round.")]  # fmt: skip


def _latency(name: str, part: Part) -> list[Chart]:
    writes = _over_rounds(part, 0.0)
    means = [(definitions.size(point.bytes), float(number), point.mean_ns / 1e3)
             for number, point in writes]  # fmt: skip
    most = [(f"{definitions.size(point.bytes)}, longest", float(number), point.max_ns / 1e3)
            for number, point in writes]  # fmt: skip
    both = [row for row in (*means, *most) if row[2] > 0]
    return [_lines(f"{name}-rounds", "Rounds: response times of writes", both, _ROUND,
                   _axis("us", log=True),
                   "Mean and longest response time of writes of each size, by round.")]  # fmt: skip


def _saturation(name: str, part: Part) -> list[Chart]:
    points = [point for point in part.points if point.phase == "writes"]
    over = [("IOPS", point.written, point.iops) for point in points]
    times = [(line, point.written, value) for point in points for line, value in _times(point)]
    x = {"scale": {"nice": False}, "axis": {"title": "user capacities written", "grid": False}}
    return [
        _lines(f"{name}-fills", "IOPS over drive fills", over, x, _axis("IOPS"),
               "IOPS of random writes of 4 KiB over the user capacities written."),
        _lines(f"{name}-times", "Response times over drive fills", times, x,
               _axis("us", log=True),
               "Mean and longest response time over the user capacities written."),
    ]  # fmt: skip


def _times(point: Point) -> list[tuple[str, float]]:
    """The mean and the longest response time in us, where an axis of logarithms has them."""
    both = (("mean", point.mean_ns / 1e3), ("longest", point.max_ns / 1e3))
    return [(line, value) for line, value in both if value > 0]


def _over_time(points: Sequence[Point]) -> theme.Part:
    last = max(((point.begin_ns + point.length_ns) / 1e9 for point in points), default=1.0)
    title = "time since purge, s"
    return {"scale": {"nice": False, "domain": [0, last]}, "axis": {"title": title, "grid": False}}


def _recovery(name: str, part: Part) -> list[Chart]:
    rows = [("IOPS", (point.begin_ns + point.length_ns / 2) / 1e9, point.iops)
            for point in part.points]  # fmt: skip
    return [_lines(f"{name}-time", "IOPS over time", rows, _over_time(part.points), _axis("IOPS"),
                   "IOPS of all writes over time: until steady, then with waits of each length.",
                   wide=True)]  # fmt: skip


def _stimuli(name: str, part: Part) -> list[Chart]:
    x = _over_time(part.points)
    rows = [(point.phase, point.begin_ns / 1e9, point.mb_per_s) for point in part.points]
    times = [(line, point.begin_ns / 1e9, value)
             for point in part.points for line, value in _times(point)]  # fmt: skip
    return [
        _lines(f"{name}-time", "Throughput over time", rows, x, _axis("MB/s"),
               "Throughput of each group of writes over time.", points=False),
        _lines(f"{name}-times", "Response times over time", times, x, _axis("us", log=True),
               "Mean and longest response time over time.", points=False),
    ]  # fmt: skip


def _demand(name: str, part: Part) -> list[Chart]:
    if not part.rounds:
        return []
    if len(part.rounds[0]) == 1:
        rows = [("IOPS", float(number), point.iops) for number, point in _over_rounds(part)]
        return [_lines(f"{name}-rounds", "Rounds: writes of 32 x 32", rows, _ROUND, _axis("IOPS"),
                       "IOPS of random writes of 4 KiB, by round.")]  # fmt: skip
    means = []
    for points in zip(*part.last, strict=True):
        count = len(points)
        means.append((points[0], sum(point.iops for point in points) / count,
                      sum(point.mean_ns for point in points) / count))  # fmt: skip
    known = [(f"{point.threads} thread{'s' if point.threads > 1 else ''}", point.depth, iops, mean)
             for point, iops, mean in means if iops and mean]  # fmt: skip
    depths: theme.Part = {
        "scale": {"type": "log", "base": 2, "nice": False},
        "axis": {"title": "depth", "values": [1, 2, 4, 6, 8, 16, 32], "format": "d",
                 "grid": False},
    }  # fmt: skip
    variation = [(line, float(depth), iops) for line, depth, iops, _ in known]
    intensity = [(line, iops, mean / 1e3) for line, _, iops, mean in known]
    return [
        _lines(f"{name}-variation", "Demand variation", variation, depths, _axis("IOPS"),
               "IOPS over depth, a line for each number of threads."),
        _lines(f"{name}-intensity", "Demand intensity", intensity, _axis("IOPS", grid=False),
               _axis("mean response time, us", log=True),
               "Mean response time over IOPS, a line for each number of threads."),
    ]  # fmt: skip


def _window(name: str, one: Mapping[str, Any]) -> Chart:
    """The rounds of the window, their average with 10 % on both sides, and the fit."""
    values = one["rounds"][-steady.WINDOW :]
    first = len(one["rounds"]) - steady.WINDOW + 1
    average = one["average"]
    rows: Rows = [("rounds", float(first + at), value) for at, value in enumerate(values)]
    for at in (0, steady.WINDOW - 1):
        x = float(first + at)
        rows += [
            ("average", x, average),
            ("+ 10 %", x, 1.1 * average),
            ("- 10 %", x, 0.9 * average),
            ("best linear fit", x, one["first"] + one["slope"] * at),
        ]
    y = _axis(one["unit"])
    y["scale"] = {"zero": False, "nice": True}
    return _lines(
        name, f"Measurement window: {one['name']}", rows, _ROUND, y,
        f"Rounds {first} to {len(one['rounds'])} of {one['name']}, with average and linear fit.",
    )  # fmt: skip


def _matrix(name: str, part: Part) -> Chart:
    found: dict[tuple[float, int], list[float]] = {}
    for points in part.last:
        for point in points:
            found.setdefault((point.read_share, point.bytes), []).append(point.iops)
    rows = [(definitions.mix(mix), size / definitions.KIB, sum(values) / len(values))
            for (mix, size), values in found.items() if any(values)]  # fmt: skip
    x: theme.Part = {
        "scale": {"type": "log", "base": 2, "nice": False},
        "axis": {"title": "size, KiB", "values": [0.5, 4, 8, 16, 32, 64, 128, 1024],
                 "format": "~g", "grid": False},
    }  # fmt: skip
    said = "IOPS over the size of requests, a line for each mix of reads and writes."
    y = _axis("IOPS", log=True)
    return _lines(f"{name}-matrix", "IOPS by size and read/write mix", rows, x, y, said)


def _responses(name: str, found: Histogram) -> Chart:
    """The histogram of response times, in bars of equal width on a logarithmic axis."""
    import numpy as np

    first, _, count = found.buckets
    shown = np.maximum(first, 100)
    low, high = float(shown.min()), float(shown.max()) * 1.001
    edges = np.geomspace(low, max(high, low * 1.1), _BARS + 1)
    sums, _ = np.histogram(shown, edges, weights=count)
    kept = [(float(edges[at]), float(edges[at + 1]), int(total))
            for at, total in enumerate(sums.tolist()) if total]  # fmt: skip
    columns: Columns = {
        "from_ns": [float(f"{row[0]:.6g}") for row in kept],
        "to_ns": [float(f"{row[1]:.6g}") for row in kept],
        "requests": [row[2] for row in kept],
        "low": [0.5 for _ in kept],
        "time": [f"{row[0] / 1e3:.4g} to {row[1] / 1e3:.4g} us" for row in kept],
    }
    spec = {
        "mark": {"type": "rect", "color": theme.COLOURS[0]},
        "encoding": {
            "x": {"field": "from_ns", "type": "quantitative",
                  "scale": {"type": "log", "nice": False},
                  "axis": {**theme.log_time_axis("response time", "x"), "grid": False}},
            "x2": {"field": "to_ns"},
            "y": {"field": "requests", "type": "quantitative",
                  "scale": {"type": "log", "domainMin": 0.5},
                  "axis": {"title": "requests", "format": "~s", "tickCount": 5}},
            "y2": {"field": "low"},
            "tooltip": theme.tooltip({"time": "response time", "requests": "requests"},
                                     requests=",d"),
        },
    }  # fmt: skip
    return Chart(f"{name}-responses", "Histogram of response times", spec, columns,
                 f"Numbers of requests by response time, of {found.point.requests}.",
                 note="Times below 100 ns are in the first bar.")  # fmt: skip
