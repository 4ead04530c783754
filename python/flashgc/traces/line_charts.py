"""Small static charts: lines and steps over two axes."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from flashgc.charts.theme import COLOURS
from flashgc.traces import svg
from flashgc.traces.axis import Axis

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
    def stroke(self) -> dict[str, str]:
        """The attributes of the line but its width."""
        dash = {"stroke_dasharray": self.dash} if self.dash else {}
        return {"stroke": f"{COLOURS[self.colour]}{'60' if self.faint else ''}", **dash}


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
            svg.text(4, 15, self.title, font_weight=600, font_size=14),
            *self._grid(),
            *self._marked(),
        ]
        for curve in self.curves:
            parts += self._curve(curve)
        parts += self._legend()
        return svg.picture(
            WIDTH, HEIGHT, parts, title=self.title, white=False, font_size=13, fill="#555"
        )

    def _x(self, value: float) -> float:
        return LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)

    def _grid(self) -> Iterator[str]:
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for value, label in self.x.ticks:
            x = self._x(value)
            yield svg.element("path", d=f"M{x:.1f} {TOP}V{bottom}", stroke="#8883")
            yield svg.text(x, bottom + 15, label, text_anchor="middle")
        for value, label in self.y.ticks:
            y = self._y(value)
            yield svg.element("path", d=f"M{LEFT} {y:.1f}H{right}", stroke="#8883")
            yield svg.text(LEFT - 6, y + 4, label, text_anchor="end")
        yield svg.element("path", d=f"M{LEFT} {bottom}H{right}", stroke="#888")
        yield svg.text((LEFT + right) / 2, HEIGHT - 10, self.x.title, text_anchor="middle")
        yield svg.upwards(12, (TOP + bottom) / 2, self.y.title)

    def _marked(self) -> Iterator[str]:
        if self.mark is not None and self.x.low < self.mark[0] < self.x.high:
            x = self._x(self.mark[0])
            bottom = HEIGHT - BOTTOM
            line = f"M{x:.1f} {TOP}V{bottom}"
            yield svg.element("path", d=line, stroke="#888", stroke_dasharray="3 3")
            yield svg.text(x + 4, bottom - 6, self.mark[1], font_size=12)

    def _curve(self, curve: Curve) -> Iterator[str]:
        if not curve.points:
            return
        path = self._path(curve)
        if curve.filled:
            first, last = self._x(curve.points[0][0]), self._x(curve.points[-1][0])
            base = HEIGHT - BOTTOM
            area = f"{path}L{last:.1f} {base}L{first:.1f} {base}Z"
            yield svg.element("path", d=area, fill=f"{COLOURS[curve.colour]}30")
        name = f"<title>{html.escape(curve.name)}</title>"
        width = 0.7 if curve.faint else 1.5
        yield svg.element("path", name, d=path, fill="none", **curve.stroke, stroke_width=width,
                          stroke_linejoin="round")  # fmt: skip

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
            yield svg.element("path", d=f"M{x:.0f} 32h14", **curve.stroke, stroke_width=3)
            yield svg.text(x + 19, 36, curve.name)
            x += 36 + 7.2 * len(curve.name)
        if self.note:
            yield svg.text(WIDTH - RIGHT, 15, self.note, text_anchor="end", font_size=12)


def sheet(panels: Sequence[Panel], title: str, lines: Sequence[str]) -> str:
    """Charts in two columns, or one alone, as one picture, under a title and lines of text."""
    top = 40 + 17 * len(lines)
    columns = 2 if len(panels) > 1 else 1
    rows = -(-len(panels) // columns)
    width, height = columns * (WIDTH + 16) + 16, top + rows * (HEIGHT + 12) + 12
    size = 18 if columns == 2 else 14
    parts = [
        svg.text(16, 28, title, font_size=size, font_weight=600),
        *(svg.text(16, 48 + 17 * at, line) for at, line in enumerate(lines)),
    ]
    for index, panel in enumerate(panels):
        x, y = 16 + index % columns * (WIDTH + 16), top + index // columns * (HEIGHT + 12)
        parts.append(svg.element("g", panel.draw(), transform=f"translate({x} {y})"))
    return svg.picture(width, height, parts) + "\n"
