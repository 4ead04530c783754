"""Metrics of single events: the longest responses over time, and the pages moved per collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flashgc.charts import Chart, theme
from flashgc.formatting import units
from flashgc.reproduction import marks
from flashgc.reproduction.curves import cells, label, over_time
from flashgc.reproduction.experiment import Item
from flashgc.reproduction.results import Results
from flashgc.results import over_time as courses

MOVES = "moves"
"""The part of the log of collections that is kept, see `stretches`."""

Stretch = tuple[int, int, float, int]
"""Number of its first collection, and the least, mean and most pages that one of them moved."""

_MOST_STRETCHES = 600
_LATENCIES = ("latency_read_max_ns", "latency_write_max_ns")


def stretches(moved: Iterable[int]) -> list[Stretch]:
    """Collections in order, in at most 600 stretches of equal length, so that none is lost.

    >>> from flashgc.reproduction.cliffs import stretches
    >>> stretches([3, 5]), stretches([])
    ([(0, 3, 3.0, 3), (1, 5, 5.0, 5)], [])
    """
    return [
        (first, least, mean, most)
        for first, _, least, mean, most in courses.stretches(moved, _MOST_STRETCHES)
    ]


def read_moves(log: Path) -> list[Stretch]:
    """The pages moved by each collection of a log, in stretches."""
    return stretches(courses.moved_by_each(log))


def peaks(item: Item, results: Results) -> list[Chart]:
    """A chart for each row and column: the longest response of each stretch of time.

    All charts have the same axes, so that cliffs can be compared.
    """
    drawn = {
        (row, column): _peaks(results.reports[point])
        for row, column, point in cells(item, results.experiment)
    }
    every = [pair for pairs in drawn.values() for pair in pairs]
    x = over_time(max((at for at, _ in every), default=1.0))
    y = {"field": "longest_ns", "type": "quantitative",
         "scale": {"domain": [0, max((value for _, value in every), default=1e6) or 1e6]},
         "axis": theme.time_axis("longest response", tickCount=5)}  # fmt: skip
    shown = [{"calculate": theme.time_text(f"datum.{one}"), "as": f"{one}_text"}
             for one in ("at", "longest_ns")]  # fmt: skip
    charts = []
    for index, ((row, column), pairs) in enumerate(drawn.items()):
        words = [label(results, item.rows, row)] if len(item.at[item.rows]) > 1 else []
        title = ", ".join([*words, label(results, item.columns, column)])
        spec = {
            "transform": shown,
            "encoding": {"x": x, "y": y},
            "layer": [
                {"mark": {"type": "area", "interpolate": "step-after", "opacity": 0.25,
                          "color": theme.COLOURS[0], "clip": True}},
                {"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 0.8,
                          "color": theme.COLOURS[0], "clip": True}},
                theme.nearest({"at_text": "at", "longest_ns_text": "longest"}),
            ],
        }  # fmt: skip
        columns = marks.columns(
            ("at", "longest_ns"), [list(map(marks.brief, one)) for one in pairs]
        )
        most = max((value for _, value in pairs), default=0.0)
        said = f"{title}: the longest response of each stretch of time, {units.time(most)} at most."
        charts.append(
            Chart(marks.name(item.id, index, True), title, spec, columns, said, height=180)
        )
    return charts


def moves(item: Item, results: Results) -> list[Chart]:
    """A chart for each row: pages moved by each collection, in order, a curve for each column.

    Where collections are more than fit, a curve is the mean of each stretch of them, between the
    fewest and the most pages that one of them moved.
    """
    kept: dict[tuple[str, str], list[Stretch]] = {
        (row, column): [tuple(each) for each in results.reports[point].get(MOVES, [])]
        for row, column, point in cells(item, results.experiment)
    }
    series = marks.series(item.id, item.columns)
    choices = item.at[item.columns]
    names = [label(results, item.columns, column) for column in choices]
    charts = []
    for index, row in enumerate(item.at[item.rows]):
        rows = [
            (name, first + 1, least, marks.brief(mean), most)
            for name, column in zip(names, choices, strict=True)
            for first, least, mean, most in kept[row, column]
        ]
        title = label(results, item.rows, row) or item.title
        several = len(item.at[item.rows]) > 1
        charts.append(Chart(
            marks.name(item.id, index, several), title,
            _moves(item, series, names),
            marks.columns((series, "number", "fewest", "mean", "most"), rows),
            f"{title}: pages moved by each collection, in order, of {', '.join(names)}.",
            note="Mean and min-max band.", series=series, names=names,
            height=220,
        ))  # fmt: skip
    return charts


def _moves(item: Item, series: str, names: list[str]) -> dict[str, Any]:
    x = {"field": "number", "type": "quantitative", "scale": {"nice": False},
         "axis": {"title": "number of the GC", "tickCount": 6, "grid": False}}  # fmt: skip
    y = {"type": "quantitative", "axis": {"title": "pages moved", "tickCount": 5}}
    mean = {"field": "mean", **y}
    shown = {series: item.columns, "number": "from GC", "fewest": "fewest", "mean": "mean",
             "most": "most"}  # fmt: skip
    pointer = theme.nearest(marks.plain(shown))
    pointer["encoding"] = {**pointer["encoding"], "y": mean}
    return {
        "encoding": {"x": x, **theme.colour(series, names, dashed=True)},
        "layer": [
            {"mark": {"type": "area", "interpolate": "step-after", "opacity": 0.15, "clip": True},
             "encoding": {"y": {"field": "fewest", **y}, "y2": {"field": "most"}}},
            {"mark": {"type": "line", "interpolate": "step-after", "clip": True},
             "encoding": {"y": mean}},
            pointer,
        ],
    }  # fmt: skip


def _peaks(report: Mapping[str, Any]) -> list[tuple[float, float]]:
    """The longest response of each stretch of time, of reads and writes alike; 0 where none was."""
    series = report.get("series", {})
    starts = series.get("start_ns", [])
    columns = [series.get(name, []) for name in _LATENCIES]
    every = max(len(starts) // _MOST_STRETCHES, 1)
    pairs = []
    for at in range(0, len(starts), every):
        known = [value for one in columns for value in one[at : at + every] if value is not None]
        pairs.append((float(starts[at]), max(known, default=0.0)))
    return pairs
