"""Figures of a paper that are curves: over an axis of numbers, over response time, over time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc import axis
from flashgc.axis import Axis
from flashgc.panel import Curve, Panel, sheet
from flashgc.reproduction.experiment import Experiment, Item
from flashgc.reproduction.grid import Grid
from flashgc.reproduction.results import Results

Pairs = Sequence[tuple[float, float]]
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))
_MOST_POINTS = 600
_DASHES = ("", "7 3", "3 3", "9 3 2 3", "2 4", "12 4", "5 2 1 2", "1 3")
"""These alternate, so that lines which lie on each other are all visible."""


def lines(grid: Grid, experiment: Experiment) -> str:
    """A chart for each measure, with a line for each column over the values of the rows."""
    item = grid.item
    places = [experiment.axes[item.rows][name].value or 0.0 for name in item.at[item.rows]]
    panels = []
    for block, (label, unit) in zip(grid.blocks, grid.measures, strict=True):
        factor, word = _shown(block, unit)
        rows = [[None if cell is None else cell * factor for cell in row] for row in block]
        known = [cell for row in rows for cell in row if cell is not None]
        title = f"{label}, {item.way}" if item.against else label
        y = axis.between(min(known, default=0.0), max(known, default=1.0),
                         f"{title}, {word}" if word else title)  # fmt: skip
        curves = []
        for index, name in enumerate(grid.columns):
            pairs = sorted(
                (x, row[index]) for x, row in zip(places, rows, strict=False)
                if row[index] is not None
            )  # fmt: skip
            curves.append(Curve(name, pairs, index, dash=_dash(index)))  # type: ignore[arg-type]
        panels.append(Panel(title, _numbers(places, item.x), y, curves))
    return sheet(panels, item.title, [])


def cdf(item: Item, results: Results) -> str:
    """A chart for each row: the share of requests that took no longer, a curve for each column."""
    panels = []
    drawn = {
        (row, column): _shares(results.reports[point].get("distribution", []))
        for row, column, point in cells(item, results.experiment)
    }
    times = [time for pairs in drawn.values() for time, _ in pairs]
    for row in item.at[item.rows]:
        curves = [
            Curve(label(results, item.columns, column), drawn[row, column], index, steps=True)
            for index, column in enumerate(item.at[item.columns])
        ]
        x = axis.times(min(times, default=1.0), max(times, default=2.0), "response time")
        panels.append(
            Panel(label(results, item.rows, row), x, axis.shares("share of requests"), curves)
        )
    return sheet(panels, item.title, [])


def course(item: Item, results: Results) -> str:
    """A chart for each row: a value over time, a curve for each column."""
    assert item.course is not None
    drawn: dict[tuple[str, str], Pairs] = {}
    for row, column, point in cells(item, results.experiment):
        report = results.reports[point]
        drawn[row, column] = _over_time(report, item.course.column, item.course.per.of(report))
    every = [pair for pairs in drawn.values() for pair in pairs]
    y = axis.between(0.0, max((value for _, value in every), default=1.0), item.course.label)
    panels = []
    for row in item.at[item.rows]:
        curves = [
            Curve(label(results, item.columns, column), drawn[row, column], index, steps=True,
                  dash=_dash(index))
            for index, column in enumerate(item.at[item.columns])
        ]  # fmt: skip
        here = every
        if item.course.own_time:
            here = [pair for column in item.at[item.columns] for pair in drawn[row, column]]
        x = axis.span(max((at for at, _ in here), default=1.0), "time")
        panels.append(Panel(label(results, item.rows, row), x, y, curves))
    return sheet(panels, item.title, [])


def cells(item: Item, experiment: Experiment) -> list[tuple[str, str, tuple[str, ...]]]:
    """Row, column and run of each cell of an item."""
    first = experiment.points({name: chosen[:1] for name, chosen in item.at.items()})[0]
    return [
        (row, column, experiment.moved(first, {item.rows: row, item.columns: column}))
        for row in item.at[item.rows]
        for column in item.at[item.columns]
    ]


def _dash(index: int) -> str:
    return _DASHES[index % len(_DASHES)]


def label(results: Results, of: str, name: str) -> str:
    """A choice of an axis in words."""
    return results.experiment.axes[of][name].label


def _shown(block: Sequence[Sequence[float | None]], unit: str) -> tuple[float, str]:
    """The factor to a unit in which times are numbers of a handy size, and its name."""
    known = [abs(cell) for row in block for cell in row if cell is not None]
    if unit != "ns":
        return 1.0, unit
    high = max(known, default=0.0)
    return next(((1 / ns, name) for ns, name in _TIMES if high >= ns), (1.0, "ns"))


def _numbers(places: Sequence[float], title: str) -> Axis:
    """An axis from 0 that has a label at each place, by factors where that sets them apart."""
    ticks = [(place, f"{place:g}") for place in places]
    low, high = min(places), max(places)
    ordered = sorted(places)
    pairs = itertools.pairwise(ordered)
    doubled = len(places) > 2 and all(2 * one <= two * (1 + 1e-9) for one, two in pairs)
    if low > 0 and doubled:
        return axis.Log(low, high, ticks, title)
    return Axis(0.0, high or 1.0, ticks, title)


def _shares(buckets: Sequence[Sequence[int]]) -> Pairs:
    """The part of the samples up to each bucket of a distribution."""
    total = sum(count for _, count in buckets)
    seen, pairs = 0, []
    for latency_ns, count in buckets:
        seen += count
        pairs.append((float(latency_ns), seen / total))
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
