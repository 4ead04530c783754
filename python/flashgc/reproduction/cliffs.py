"""Metrics of single events: the longest responses over time, and the pages moved per collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flashgc import axis, over_time
from flashgc.panel import Curve, Panel, sheet
from flashgc.reproduction.curves import cells, label
from flashgc.reproduction.experiment import Item
from flashgc.reproduction.results import Results

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
        for first, _, least, mean, most in over_time.stretches(moved, _MOST_STRETCHES)
    ]


def read_moves(log: Path) -> list[Stretch]:
    """The pages moved by each collection of a log, in stretches."""
    return stretches(over_time.moved_by_each(log))


def peaks(item: Item, results: Results) -> str:
    """A chart for each row and column: the longest response of each stretch of time.

    All charts have the same axes, so that cliffs can be compared.
    """
    drawn = {
        (row, column): _peaks(results.reports[point])
        for row, column, point in cells(item, results.experiment)
    }
    every = [pair for pairs in drawn.values() for pair in pairs]
    high_ns = max((value for _, value in every), default=1e6)
    x = axis.span(max((at for at, _ in every), default=1.0), "time")
    y = axis.linear(high_ns / 1e6, "longest response, ms")
    panels = []
    for (row, column), pairs in drawn.items():
        words = [label(results, item.rows, row)] if len(item.at[item.rows]) > 1 else []
        title = ", ".join([*words, label(results, item.columns, column)])
        spikes = [(at, value / 1e6) for at, value in pairs]
        panels.append(Panel(title, x, y, [Curve("", spikes, 0, steps=True, filled=True)]))
    return sheet(panels, item.title, [])


def moves(item: Item, results: Results) -> str:
    """A chart for each row: pages moved by each collection, in order, a curve for each column.

    Where collections are more than fit, a curve is the mean of each stretch of them, between the
    fewest and the most pages that one of them moved.
    """
    kept: dict[tuple[str, str], list[Stretch]] = {
        (row, column): [tuple(each) for each in results.reports[point].get(MOVES, [])]
        for row, column, point in cells(item, results.experiment)
    }
    every = [stretch for found in kept.values() for stretch in found]
    x = axis.linear(float(max((first for first, *_ in every), default=1)), "number of the GC")
    y = axis.linear(float(max((most for *_, most in every), default=1)), "pages moved")
    panels = []
    for row in item.at[item.rows]:
        curves = []
        for index, column in enumerate(item.at[item.columns]):
            curves += _between(label(results, item.columns, column), kept[row, column], index)
        panels.append(Panel(label(results, item.rows, row), x, y, curves))
    return sheet(panels, item.title, ["Means, between the fewest and the most pages."])


def _between(name: str, found: Sequence[Stretch], colour: int) -> list[Curve]:
    bounds = [
        Curve("", [(first, value) for first, value in pairs], colour, faint=True)
        for pairs in (
            [(first, least) for first, least, _, _ in found],
            [(first, most) for first, _, _, most in found],
        )
    ]
    return [*bounds, Curve(name, [(first, mean) for first, _, mean, _ in found], colour)]


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
