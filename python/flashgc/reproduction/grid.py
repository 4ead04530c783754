"""The measured values of a figure or table: measures over the choices of two axes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from flashgc.formatting import units
from flashgc.reproduction.experiment import Experiment, Item, Measure, Point
from flashgc.reproduction.results import PERCENT, Quantity, Results

Cells = list[list[float | None]]
MEAN = "mean"
REDUCTION = "reduction"
MARK = "*"
MARKED = f"{MARK} More arrived than the drive could serve; such figures grow with the run's length."


@dataclass(frozen=True)
class Grid:
    """One block of cells for each measure, rows by columns."""

    item: Item
    rows: list[str]
    columns: list[str]
    measures: list[tuple[str, str]]
    """Label and unit of each."""
    blocks: list[Cells]
    saturated: frozenset[tuple[int, int]] = frozenset()
    """Cells of runs in which more arrived than the drive could serve."""

    def table(self) -> list[list[str]]:
        """The text: a head, and a row for each row."""
        several = len(self.measures) > 1
        head = [""]
        for column in self.columns:
            head += [f"{column}, {label}" if several else column for label, _ in self.measures]
        table = [head]
        for at, row in enumerate(self.rows):
            cells = [row]
            for index in range(len(self.columns)):
                pairs = zip(self.blocks, self.measures, strict=True)
                mark = f" {MARK}" if (at, index) in self.saturated else ""
                cells += [cell(block[at][index], unit) + mark for block, (_, unit) in pairs]
            table.append(cells)
        return table


def cell(value: float | str | None, unit: str) -> str:
    """A value with its unit; times in a unit that fits.

    >>> from flashgc.reproduction.grid import cell
    >>> cell(1500.0, "ns"), cell(12.84, "pages"), cell(33.333, "%"), cell(None, "%")
    ('1.50 us', '12.8', '33.3 %', '-')
    """
    if value is None:
        return units.NOTHING
    if isinstance(value, str):
        return value
    if unit == "ns":
        return units.time(value)
    return f"{value:,.1f} %" if unit == "%" else units.figures(value)


def measured(item: Item, results: Results) -> Grid:
    """The grid of an item; its runs must be there."""
    experiment = results.experiment
    rows, columns = item.at[item.rows], item.at[item.columns]
    first = experiment.points({axis: names[:1] for axis, names in item.at.items()})[0]
    blocks: list[Cells] = []
    for measure in item.measures:
        wanted = quantity(item, measure)
        block: Cells = []
        for row in rows:
            cells: list[float | None] = []
            for column in columns:
                point = experiment.moved(first, {item.rows: row, item.columns: column})
                cells.append(wanted.of(results, point))
            block.append(cells)
        blocks.append([*block, _mean(block)] if item.mean else block)
    labels = [_label(experiment, item.rows, row) for row in rows]
    heads = [_label(experiment, item.columns, column) for column in columns]
    beyond = frozenset(
        (at, index)
        for at, row in enumerate(rows)
        for index, column in enumerate(columns)
        if _saturated(item, results, experiment.moved(first, {item.rows: row,
                                                              item.columns: column}))
    )  # fmt: skip
    named = [experiment.measures[name] for name in item.measures]
    kinds = [(one.label, _unit(item, one)) for one in named]
    return Grid(item, [*labels, MEAN] if item.mean else labels, heads, kinds, blocks,
                beyond)  # fmt: skip


def _label(experiment: Experiment, axis: str, name: str) -> str:
    """A choice in words, also where runs are named without it."""
    choice = experiment.axes[axis][name]
    return choice.label or choice.shown or name


def quantity(item: Item, measure: str) -> Quantity:
    """The calculation of the cells of a measure."""
    against = (item.against,) if item.against else ()
    over = {item.over: item.at[item.over]} if item.over is not None else {}
    return Quantity(measure, item.way, against, over, percent=item.way == REDUCTION)


def _unit(item: Item, measure: Measure) -> str:
    if not item.against:
        return measure.unit
    return PERCENT if item.way == REDUCTION else ""


def _saturated(item: Item, results: Results, point: Point) -> bool:
    runs = quantity(item, item.measures[0]).runs(results.experiment, point)
    return bool(results.saturated(runs))


def _mean(block: Cells) -> list[float | None]:
    """The mean of each column in which every row has a value."""
    means: list[float | None] = []
    for column in zip(*block, strict=True):
        known = [value for value in column if value is not None]
        means.append(statistics.fmean(known) if len(known) == len(column) else None)
    return means
