"""Common parts of a paper's figures: the names of curves, axes, and the paper's points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.charts import theme
from flashgc.reproduction.grid import cell

HERE, PAPER = "flashgc", "the paper"
"""The source of a row's value."""
BY = "by"
INK = "#111111"
_DIGITS = 6


def brief(value: float) -> float:
    """With the digits that a chart can show."""
    return float(f"{value:.{_DIGITS}g}")


def name(item_id: str, index: int, several: bool) -> str:
    """The name of a chart of a figure, with its number where there may be several."""
    return f"figure-{item_id}" + (f"-{index + 1}" if several else "")


def series(item_id: str, axis: str) -> str:
    """The column with the names of the curves, which no other figure of the page has."""
    return re.sub(r"[^\w -]", "-", f"{axis} of {item_id}")


def quantity(title: str, unit: str, **more: object) -> theme.Part:
    """An axis of values: times in a unit that fits, and others with their unit in the title."""
    if unit == "ns":
        return theme.time_axis(title, tickCount=5, labelSeparation=6, **more)
    return {"title": f"{title}, {unit}" if unit else title, "tickCount": 5, **more}


def only(whose: str) -> list[theme.Part]:
    """The transform of a layer with the values of one source alone."""
    return [{"filter": f"datum.{BY} === '{whose}'"}]


def paper_points(encoding: Mapping[str, Any]) -> theme.Part:
    """The layer of the paper's numbers: white diamonds, with a legend."""
    legend = {"orient": "top", "title": None, "symbolSize": 60, "symbolOpacity": 1}
    shape = {"field": BY, "type": "nominal", "legend": legend,
             "scale": {"domain": [PAPER], "range": ["diamond"]}}  # fmt: skip
    return {
        "transform": only(PAPER),
        "mark": {"type": "point", "filled": True, "fill": "white", "stroke": INK,
                 "strokeWidth": 1.1, "size": 46, "opacity": 1, "clip": True},
        "encoding": {**encoding, "shape": shape},
    }  # fmt: skip


def plain(titles: Mapping[str, str]) -> dict[str, str]:
    """Titles of a tooltip that is an expression, which no quote in them may end."""
    return {field: re.sub(r"['\\\\]", " ", title) for field, title in titles.items()}


def words(value: float | None, unit: str) -> str:
    """A value as a tooltip has it."""
    return cell(value, unit)


def columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as columns."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
