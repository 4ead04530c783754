"""Small charts as SVG, without any library: lines and steps over two axes."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from flashgc.axis import Axis
from flashgc.charts.theme import COLOURS

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 26, 48, 48

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    """A line of a chart; `steps` keeps each value until the next point, `faint` is thin.

    A value that is not a number leaves a gap.
    """

    name: str
    points: Points
    colour: int
    steps: bool = False
    filled: bool = False
    faint: bool = False
    dash: str = ""
    """Lengths of dashes and gaps, as SVG has them; a line of dashes shows one below it."""

    @property
    def stroke(self) -> str:
        """The attributes of the line but its width."""
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return f'stroke="{COLOURS[self.colour]}{"60" if self.faint else ""}"{dash}'


@dataclass(frozen=True)
class Panel:
    """A chart: its axes, its curves, and the note under its name."""

    title: str
    x: Axis
    y: Axis
    curves: Sequence[Curve]
    note: str = ""
    mark: tuple[float, str] | None = field(default=None)
    """A value of the horizontal axis that has a name."""

    def draw(self) -> str:
        """The chart as an SVG element, `WIDTH` by `HEIGHT`."""
        parts = [
            f'<text x="4" y="15" font-weight="600" font-size="14">{html.escape(self.title)}</text>',
            *self._grid(),
            *self._marked(),
        ]
        for curve in self.curves:
            parts += self._curve(curve)
        parts += self._legend()
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="system-ui, sans-serif" '
            f'font-size="13" fill="#555"><title>{html.escape(self.title)}</title>'
            + "".join(parts)
            + "</svg>"
        )

    def _x(self, value: float) -> float:
        return LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)

    def _grid(self) -> Iterator[str]:
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for value, label in self.x.ticks:
            x = self._x(value)
            yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#8883"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{label}</text>'
        for value, label in self.y.ticks:
            y = self._y(value)
            yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#8883"/>'
            yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        yield f'<path d="M{LEFT} {bottom}H{right}" stroke="#888"/>'
        middle = (LEFT + right) / 2
        yield (
            f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">'
            f"{html.escape(self.x.title)}</text>"
        )
        yield (
            f'<text transform="translate(12 {(TOP + bottom) / 2}) rotate(-90)" '
            f'text-anchor="middle">{html.escape(self.y.title)}</text>'
        )

    def _marked(self) -> Iterator[str]:
        if self.mark is not None and self.x.low < self.mark[0] < self.x.high:
            x = self._x(self.mark[0])
            bottom = HEIGHT - BOTTOM
            yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#888" stroke-dasharray="3 3"/>'
            yield (
                f'<text x="{x + 4:.1f}" y="{bottom - 6}" font-size="12">'
                f"{html.escape(self.mark[1])}</text>"
            )

    def _curve(self, curve: Curve) -> Iterator[str]:
        if not curve.points:
            return
        path = self._path(curve)
        if curve.filled:
            colour = COLOURS[curve.colour]
            first, last = self._x(curve.points[0][0]), self._x(curve.points[-1][0])
            base = HEIGHT - BOTTOM
            yield f'<path d="{path}L{last:.1f} {base}L{first:.1f} {base}Z" fill="{colour}30"/>'
        name = html.escape(curve.name)
        width = 0.7 if curve.faint else 1.5
        yield (
            f'<path d="{path}" fill="none" {curve.stroke} stroke-width="{width}" '
            f'stroke-linejoin="round"><title>{name}</title></path>'
        )

    def _path(self, curve: Curve) -> str:
        drawn: list[str] = []
        pen: tuple[str, str] | None = None
        for value, other in curve.points:
            if math.isnan(other):
                pen = None
                continue
            x, y = f"{self._x(value):.1f}", f"{self._y(other):.1f}"
            # Neighbours that fall on one spot of the picture are drawn once.
            if pen is None:
                drawn.append(f"M{x} {y}")
            elif curve.steps:
                drawn.append((f"H{x}" if x != pen[0] else "") + (f"V{y}" if y != pen[1] else ""))
            elif (x, y) != pen:
                drawn.append(f"L{x} {y}")
            pen = x, y
        return "".join(drawn)

    def _legend(self) -> Iterator[str]:
        x = float(LEFT)
        named = [curve for curve in self.curves if curve.name]
        for curve in named:
            yield f'<path d="M{x:.0f} 32h14" {curve.stroke} stroke-width="3"/>'
            yield f'<text x="{x + 19:.0f}" y="36">{html.escape(curve.name)}</text>'
            x += 36 + 7.2 * len(curve.name)
        if self.note:
            yield (
                f'<text x="{WIDTH - RIGHT}" y="15" text-anchor="end" font-size="12">'
                f"{html.escape(self.note)}</text>"
            )


def sheet(panels: Sequence[Panel], title: str, lines: Sequence[str]) -> str:
    """Charts in two columns, or one alone, as one picture, under a title and lines of text."""
    top = 40 + 17 * len(lines)
    columns = 2 if len(panels) > 1 else 1
    rows = -(-len(panels) // columns)
    width, height = columns * (WIDTH + 16) + 16, top + rows * (HEIGHT + 12) + 12
    parts = [
        f'<text x="16" y="28" font-size="{18 if columns == 2 else 14}" '
        f'font-weight="600">{html.escape(title)}</text>',
        *(
            f'<text x="16" y="{48 + 17 * at}">{html.escape(line)}</text>'
            for at, line in enumerate(lines)
        ),
    ]
    for index, panel in enumerate(panels):
        x, y = 16 + index % columns * (WIDTH + 16), top + index // columns * (HEIGHT + 12)
        parts.append(f'<g transform="translate({x} {y})">{panel.draw()}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="#444"><rect width="100%" height="100%" fill="#fff"/>'
        + "\n".join(parts)
        + "</svg>\n"
    )
