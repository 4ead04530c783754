"""Figures of a paper that are curves: over an axis of numbers, over response time, over time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.charts import Chart, theme
from flashgc.reproduction import marks
from flashgc.reproduction.beside import Beside
from flashgc.reproduction.experiment import Experiment, Item
from flashgc.reproduction.grid import Grid
from flashgc.reproduction.results import Results

Pairs = Sequence[tuple[float, float]]
_MOST_POINTS = 600
_HEIGHT = 220


def lines(grid: Grid, beside: Beside, experiment: Experiment) -> list[Chart]:
    """A chart for each measure, with a line for each column over the values of the rows."""
    item = grid.item
    places = [experiment.axes[item.rows][name].value or 0.0 for name in item.at[item.rows]]
    series = marks.series(item.id, item.columns)
    charts = []
    for index, (block, (label, unit)) in enumerate(zip(grid.blocks, grid.measures, strict=True)):
        title = f"{label}, {item.way}" if item.against else label
        rows = []
        for at, (place, cells) in enumerate(zip(places, block, strict=False)):
            for column, (name, value) in enumerate(zip(grid.columns, cells, strict=True)):
                paper = beside.values.get((index, at, column))
                for whose, one in ((marks.HERE, value), (marks.PAPER, paper)):
                    if one is not None:
                        rows.append((name, whose, place, marks.brief(one), marks.words(one, unit)))
        whose_values = {row[1] for row in rows}
        y = {"field": "value", "type": "quantitative", "axis": marks.quantity(title, unit)}
        if not rows:
            continue
        spec = _over_numbers(series, grid, places, y, whose_values)
        columns = marks.columns((series, marks.BY, "place", "value", "text"), rows)
        charts.append(Chart(
            marks.name(item.id, index, len(grid.blocks) > 1), title, spec, columns,
            _told(title, grid.columns), series=series, names=grid.columns, height=_HEIGHT,
        ))  # fmt: skip
    return charts


def _over_numbers(
    series: str, grid: Grid, places: Sequence[float], y: theme.Part, whose_values: set[str]
) -> dict[str, Any]:
    """The layers that have values: marks without any would have an infinite extent."""
    x = {"field": "place", "type": "quantitative", "scale": _scale(places),
         "axis": {"title": grid.item.x, "values": sorted(set(places)), "format": ".6~g",
                  "labelOverlap": True}}  # fmt: skip
    colour = theme.colour(series, grid.columns, dashed=True)
    tooltip = theme.tooltip({series: grid.item.columns, "place": grid.item.x, marks.BY: "by",
                             "text": "value"})  # fmt: skip
    layers: list[theme.Part] = []
    if marks.HERE in whose_values:
        layers += [
            {"transform": marks.only(marks.HERE), "mark": {"type": "line"},
             "encoding": {"y": y, **colour}},
            {"transform": marks.only(marks.HERE),
             "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
             "encoding": {"y": y, "color": colour["color"], "tooltip": tooltip}},
        ]  # fmt: skip
    if marks.PAPER in whose_values:
        stroke = {**colour["color"], "legend": None}
        layers.append(marks.paper_points({"y": y, "stroke": stroke, "tooltip": tooltip}))
    return {"encoding": {"x": x}, "layer": layers}


def _scale(places: Sequence[float]) -> theme.Part:
    """From 0, or by factors where that sets the places apart."""
    pairs = itertools.pairwise(sorted(places))
    doubled = len(places) > 2 and all(2 * one <= two * (1 + 1e-9) for one, two in pairs)
    if min(places) > 0 and doubled:
        return {"type": "log", "nice": False, "domain": [min(places), max(places)]}
    return {"zero": True, "nice": False}


def cdf(item: Item, results: Results) -> list[Chart]:
    """A chart for each row: the share of requests that took no longer, a curve for each column."""
    drawn = {
        (row, column): _shares(results.reports[point].get("distribution", []))
        for row, column, point in cells(item, results.experiment)
    }
    x = {"field": "at", "type": "quantitative", "scale": {"type": "log", "nice": False},
         "axis": theme.log_time_axis("response time", "x")}  # fmt: skip
    y = {"field": "value", "type": "quantitative", "scale": {"domain": [0, 1]},
         "axis": {"title": "share of requests", "format": ".0%", "tickCount": 5}}  # fmt: skip
    shown = {"calculate": theme.time_text("datum.at"), "as": "time"}
    share = {"calculate": "format(100 * datum.value, '.2f') + ' %'", "as": "share"}
    return _each(item, results, drawn, x, y, "step-after", [shown, share],
                 {"share": "share", "time": "at most"})  # fmt: skip


def course(item: Item, results: Results) -> list[Chart]:
    """A chart for each row: a value over time, a curve for each column."""
    assert item.course is not None
    drawn: dict[tuple[str, str], Pairs] = {}
    for row, column, point in cells(item, results.experiment):
        report = results.reports[point]
        drawn[row, column] = _over_time(report, item.course.column, item.course.per.of(report))
    every = [pair for pairs in drawn.values() for pair in pairs]
    x = over_time(None if item.course.own_time else max((at for at, _ in every), default=1.0))
    top = max((value for _, value in every), default=1.0)
    y = {"field": "value", "type": "quantitative", "scale": {"domain": [0, top or 1.0]},
         "axis": {"title": item.course.label, "tickCount": 5}}  # fmt: skip
    shown = {"calculate": theme.time_text("datum.at"), "as": "time"}
    return _each(item, results, drawn, x, y, "step-after", [shown],
                 {"time": "at", "value": item.course.label})  # fmt: skip


def over_time(last_ns: float | None) -> theme.Part:
    """The axis of time; None where each chart has its own."""
    scale: theme.Part = {"nice": False, "zero": True}
    if last_ns is not None:
        scale["domain"] = [0, last_ns]
    axis = theme.time_axis("time", tickCount=6, grid=False, labelSeparation=6)
    return {"field": "at", "type": "quantitative", "scale": scale, "axis": axis}


def _each(
    item: Item, results: Results, drawn: Mapping[tuple[str, str], Pairs], x: theme.Part,
    y: theme.Part, interpolate: str, calculated: list[theme.Part], told: Mapping[str, str],
) -> list[Chart]:  # fmt: skip
    """A chart for each row with a curve for each column."""
    series = marks.series(item.id, item.columns)
    choices = item.at[item.columns]
    names = [label(results, item.columns, column) for column in choices]
    charts = []
    for index, row in enumerate(item.at[item.rows]):
        rows = [
            (name, marks.brief(at), marks.brief(value))
            for name, column in zip(names, choices, strict=True)
            for at, value in drawn[row, column]
        ]
        title = label(results, item.rows, row)
        spec = {
            "transform": calculated,
            "encoding": {"x": x, "y": y, **theme.colour(series, names, dashed=True)},
            "layer": [
                {"mark": {"type": "line", "interpolate": interpolate, "clip": True}},
                theme.nearest(marks.plain({series: item.columns, **told})),
            ],
        }
        charts.append(Chart(
            marks.name(item.id, index, len(item.at[item.rows]) > 1), title or item.title, spec,
            marks.columns((series, "at", "value"), rows), _told(title, names), series=series,
            names=names, height=_HEIGHT,
        ))  # fmt: skip
    return charts


def _told(title: str, names: Sequence[str]) -> str:
    return f"{title}: curves of {', '.join(names)}."


def cells(item: Item, experiment: Experiment) -> list[tuple[str, str, tuple[str, ...]]]:
    """Row, column and run of each cell of an item."""
    first = experiment.points({name: chosen[:1] for name, chosen in item.at.items()})[0]
    return [
        (row, column, experiment.moved(first, {item.rows: row, item.columns: column}))
        for row in item.at[item.rows]
        for column in item.at[item.columns]
    ]


def label(results: Results, of: str, name: str) -> str:
    """A choice of an axis in words."""
    return results.experiment.axes[of][name].label


def _shares(buckets: Sequence[Sequence[int]]) -> Pairs:
    """The part of the samples up to each bucket of a distribution."""
    total = sum(count for _, count in buckets)
    seen, pairs = 0, []
    for latency_ns, count in buckets:
        seen += count
        pairs.append((float(max(latency_ns, 1)), seen / total))
    every = max(len(pairs) // _MOST_POINTS, 1)
    return [pair for at, pair in enumerate(pairs) if at % every == 0 or at == len(pairs) - 1]


def _over_time(report: Mapping[str, Any], column: str, per: float | None) -> Pairs:
    """The lowest of each stretch of time, so that no dip is lost."""
    series = report.get("series", {})
    values, starts = series.get(column, []), series.get("start_ns", [])
    every = max(len(values) // _MOST_POINTS, 1)
    pairs = []
    for at in range(0, len(values), every):
        known = [value for value in values[at : at + every] if value is not None]
        if known:
            pairs.append((float(starts[at]), min(known) / (per or 1.0)))
    return pairs
