"""Grouped bars as SVG, without any library: distinguished by colour, and by hatching in grey."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from flashgc import axis
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
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', _patterns(len(grid.columns)),
        f'<text x="{LEFT}" y="{_TITLE_Y}" font-size="14" font-weight="600">{_text(title)}</text>',
        *_legend(grid.columns), *_grid(scale),
    ]  # fmt: skip
    width = (WIDTH - LEFT - RIGHT) / len(grid.rows)
    for index, (name, cells) in enumerate(zip(grid.rows, block, strict=True)):
        body += _group(name, cells, grid.columns, scale, LEFT + index * width, width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="#333"><title>{_text(title)}</title>' + "".join(body) + "</svg>\n"
    )


def _top(known: Sequence[float]) -> float:
    """The highest bar, or a little above the others where one is far higher than they are."""
    if not known:
        return 1.0
    usual = known[(len(known) - 1) * 3 // 4]
    return known[-1] if known[-1] <= _CLIP * usual else 1.5 * usual


def _text(text: str) -> str:
    return html.escape(text)


def _patterns(count: int) -> str:
    made = []
    for index in range(count):
        fill, hatch = FILLS[index % len(FILLS)], _HATCHES[index % len(_HATCHES)]
        lines = f'<path d="{hatch}" stroke="#111" stroke-width="0.9"/>' if hatch else ""
        made.append(
            f'<pattern id="bar{index}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6" fill="{fill}"/>{lines}</pattern>'
        )
    return f"<defs>{''.join(made)}</defs>"


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = float(LEFT)
    for index, name in enumerate(names):
        yield (
            f'<rect x="{x:.1f}" y="{_LEGEND_Y - 10}" width="14" height="12" '
            f'fill="url(#bar{index})" stroke="#333" stroke-width="0.7"/>'
            f'<text x="{x + 19:.1f}" y="{_LEGEND_Y}">{_text(name)}</text>'
        )
        x += 19 + 7.0 * len(name) + 22


def _grid(scale: axis.Axis) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for at, label in scale.ticks:
        y = bottom - scale.place(at) * (bottom - TOP)
        colour = "#333" if at == 0 else "#ddd"
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{colour}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    yield (
        f'<text transform="translate(18 {(TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle">{_text(scale.title)}</text>'
    )


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
            yield f'<text x="{x + bar / 2:.1f}" y="{bottom - 4}" text-anchor="middle">-</text>'
            continue
        height = scale.place(value) * (bottom - TOP)
        about = f"{name}, {columns[index]}: {value:.3g}"
        yield (
            f'<rect x="{x:.1f}" y="{bottom - height:.1f}" width="{bar:.1f}" height="{height:.1f}" '
            f'fill="url(#bar{index})" stroke="#333" stroke-width="0.7">'
            f"<title>{_text(about)}</title></rect>"
        )
        if value > scale.high:
            yield (
                f'<path d="M{x - 2:.1f} {TOP + 12}l{bar + 4:.1f} -6" stroke="#fff" '
                'stroke-width="4"/>'
                f'<text x="{x + bar / 2:.1f}" y="{TOP - 5}" font-size="11" '
                f'text-anchor="middle">{value:,.3g}</text>'
            )
    yield (
        f'<text x="{left + width / 2:.1f}" y="{bottom + 18}" '
        f'text-anchor="middle">{_text(name)}</text>'
    )
