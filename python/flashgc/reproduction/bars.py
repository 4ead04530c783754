"""Grouped bars, with the paper's numbers as points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flashgc.charts import Chart, theme
from flashgc.reproduction import marks
from flashgc.reproduction.beside import Beside
from flashgc.reproduction.grid import Grid

_CLIP = 4.0
_ROOM = 34
"""Letters that fit below adjacent bars on a narrow screen."""
_NAMES = (marks.BY, "row", "value", "shown", "text")


def chart(grid: Grid, beside: Beside) -> Chart:
    """A group of bars for each row of the grid, a bar in it for each column; from 0 upwards.

    A bar that is far higher than all others is cut off, and bears its value.
    """
    item, (label, unit) = grid.item, grid.measures[0]
    shown = f"{label}, normalised" if item.against else label
    series = marks.series(item.id, item.columns)
    rows = _rows(grid, beside, unit)
    known = sorted(abs(row[3]) for row in rows if row[3] is not None)
    top = _top(known)
    spec = _spec(grid, series, marks.quantity(shown, unit), top, bool(beside.values))
    columns = marks.columns((series, *_NAMES), rows)
    told = "; ".join(
        f"{row}: " + ", ".join(f"{name} {marks.words(value, unit)}"
                               for name, value in zip(grid.columns, cells, strict=True))
        for row, cells in zip(grid.rows, grid.blocks[0], strict=True)
    )  # fmt: skip
    note = "A bar that is cut off bears its value." if known and known[-1] > top else ""
    return Chart(f"figure-{item.id}", shown, spec, columns, told, note=note,
                 series=series, names=grid.columns, height=240, wide=True)  # fmt: skip


def _rows(grid: Grid, beside: Beside, unit: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for at, (row, cells) in enumerate(zip(grid.rows, grid.blocks[0], strict=True)):
        for index, (name, value) in enumerate(zip(grid.columns, cells, strict=True)):
            words = marks.words(value, unit)
            brief = None if value is None else marks.brief(value)
            rows.append((name, marks.HERE, row, brief, brief, words))
            paper = beside.values.get((0, at, index))
            if paper is not None:
                given = marks.brief(paper)
                rows.append((name, marks.PAPER, row, given, given, marks.words(paper, unit)))
    return rows


def _top(known: Sequence[float]) -> float:
    """The highest bar, or a little above the others where one is far higher than they are."""
    if not known:
        return 1.0
    usual = known[(len(known) - 1) * 3 // 4]
    return known[-1] if known[-1] <= _CLIP * usual else 1.5 * usual


def _spec(
    grid: Grid, series: str, title: theme.Part, top: float, has_paper: bool
) -> dict[str, Any]:
    angle = {"labelAngle": -35} if sum(map(len, grid.rows)) > _ROOM else {"labelAngle": 0}
    x = {"field": "row", "type": "nominal", "sort": grid.rows,
         "axis": {"title": None, "ticks": False, "labelLimit": 110, **angle}}  # fmt: skip
    offset = {"field": series, "sort": grid.columns}
    least = min([0.0, *(one for row in grid.blocks[0] for one in row if one is not None)])
    scale = {"domain": [max(least, -top), top], "nice": top != 1.0}
    y = {"field": "shown", "type": "quantitative", "scale": scale, "axis": title}
    tooltip = theme.tooltip({"row": grid.item.rows, series: grid.item.columns, marks.BY: "by",
                             "text": "value"})  # fmt: skip
    layers: list[theme.Part] = [
        {"transform": marks.only(marks.HERE), "mark": {"type": "bar", "clip": True},
         "encoding": {"y": y, **theme.colour(series, grid.columns), "tooltip": tooltip}},
        _label(f"datum.value > {top}", "text", {"y": {"value": 9}}),
        _label("datum.value === null", None, {"y": {"value": {"expr": "height - 6"}}}),
    ]  # fmt: skip
    if has_paper:
        layers.append(marks.paper_points({"y": y, "tooltip": tooltip}))
    return {"encoding": {"x": x, "xOffset": offset}, "layer": layers}


def _label(where: str, field: str | None, y: theme.Part) -> theme.Part:
    """Texts above bars that are cut off, and in place of bars that are missing."""
    text: theme.Part = {"value": "-"} if field is None else {"field": field}
    return {
        "transform": [{"filter": f"datum.{marks.BY} === '{marks.HERE}' && {where}"}],
        "mark": {"type": "text", "fontSize": 10, "baseline": "middle"},
        "encoding": {**y, "text": text},
    }
