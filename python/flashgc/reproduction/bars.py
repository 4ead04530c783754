"""Grouped bars: distinguished by colour, and by hatching in grey."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from flashgc import axis, svg
from flashgc.reproduction.grid import Grid

FILLS = ("#e5e7eb", "#93c5fd", "#f59e0b", "#1d4ed8", "#15803d", "#7e22ce", "#be123c", "#57534e")
"""Light and dark alternate, so that neighbours differ in grey as well."""
_HATCHES = ("", "M0 6L6 0", "", "M0 0L6 6", "M0 3H6", "M3 0V6", "M0 0L6 6M0 6L6 0", "")

WIDTH, HEIGHT = 860, 380
LEFT, RIGHT, TOP, BOTTOM = 74, 16, 74, 46
_LEGEND_Y, _TITLE_Y = 48, 24
_GROUP_SHARE = 0.8
_CLIP = 4.0


def draw(grid: Grid, title: str, value: str) -> str:
    """A group of bars for each row of the grid, a bar in it for each column; from 0 upwards.

    A bar that is far higher than all others is cut off, and bears its value.
    """
    block = grid.blocks[0]
    known = sorted(cell for row in block for cell in row if cell is not None)
    scale = axis.linear(_top(known), value)
    body = [
        _patterns(len(grid.columns)),
        svg.text(LEFT, _TITLE_Y, title, font_size=14, font_weight=600),
        *_legend(grid.columns), *_grid(scale),
    ]  # fmt: skip
    width = (WIDTH - LEFT - RIGHT) / len(grid.rows)
    for index, (name, cells) in enumerate(zip(grid.rows, block, strict=True)):
        body += _group(name, cells, grid.columns, scale, LEFT + index * width, width)
    return svg.picture(WIDTH, HEIGHT, body, title=title, fill="#333") + "\n"


def _top(known: Sequence[float]) -> float:
    """The highest bar, or a little above the others where one is far higher than they are."""
    if not known:
        return 1.0
    usual = known[(len(known) - 1) * 3 // 4]
    return known[-1] if known[-1] <= _CLIP * usual else 1.5 * usual


def _patterns(count: int) -> str:
    made = []
    for index in range(count):
        fill, hatch = FILLS[index % len(FILLS)], _HATCHES[index % len(_HATCHES)]
        lines = svg.element("path", d=hatch, stroke="#111", stroke_width=0.9) if hatch else ""
        square = svg.element("rect", width=6, height=6, fill=fill)
        made.append(svg.element("pattern", square + lines, id=f"bar{index}", width=6, height=6,
                                patternUnits="userSpaceOnUse"))  # fmt: skip
    return svg.element("defs", "".join(made))


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = float(LEFT)
    for index, name in enumerate(names):
        yield svg.element("rect", x=x, y=_LEGEND_Y - 10, width=14, height=12, **_look(index))
        yield svg.text(x + 19, _LEGEND_Y, name)
        x += 19 + 7.0 * len(name) + 22


def _look(index: int) -> dict[str, Any]:
    return {"fill": f"url(#bar{index})", "stroke": "#333", "stroke_width": 0.7}


def _grid(scale: axis.Axis) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for at, label in scale.ticks:
        y = bottom - scale.place(at) * (bottom - TOP)
        colour = "#333" if at == 0 else "#ddd"
        yield svg.element("path", d=f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}", stroke=colour)
        yield svg.text(LEFT - 8, y + 4, label, text_anchor="end")
    yield svg.upwards(18, (TOP + bottom) / 2, scale.title)


def _group(
    name: str, cells: Sequence[float | None], columns: Sequence[str], scale: axis.Axis,
    left: float, width: float,
) -> Iterator[str]:  # fmt: skip
    bottom = HEIGHT - BOTTOM
    bar = _GROUP_SHARE * width / len(cells)
    start = left + (1 - _GROUP_SHARE) / 2 * width
    for index, value in enumerate(cells):
        x = start + index * bar
        if value is None:
            yield svg.text(x + bar / 2, bottom - 4, "-", text_anchor="middle")
            continue
        height = scale.place(value) * (bottom - TOP)
        about = svg.element("title", html.escape(f"{name}, {columns[index]}: {value:.3g}"))
        yield svg.element("rect", about, x=x, y=bottom - height, width=bar, height=height,
                          **_look(index))  # fmt: skip
        if value > scale.high:
            cut = f"M{x - 2:.1f} {TOP + 12}l{bar + 4:.1f} -6"
            yield svg.element("path", d=cut, stroke="#fff", stroke_width=4)
            yield svg.text(x + bar / 2, TOP - 5, f"{value:,.3g}", font_size=11,
                           text_anchor="middle")  # fmt: skip
    yield svg.text(left + width / 2, bottom + 18, name, text_anchor="middle")
