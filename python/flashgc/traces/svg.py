"""Elements of SVG: the static figures of traces are written with these alone."""

from __future__ import annotations

import html
from collections.abc import Iterable

_FONT = "system-ui, sans-serif"


def element(name: str, inside: str = "", **attributes: object) -> str:
    """An element; underscores in the names of attributes are hyphens, numbers have one decimal.

    >>> from flashgc.traces import svg
    >>> svg.element("path", d="M0 0", stroke_width=1.25, id=None)
    '<path d="M0 0" stroke-width="1.2"/>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{inside}</{name}>" if inside else f"<{name}{given}/>"


def _value(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else html.escape(str(value))


def text(x: float, y: float, words: str, **attributes: object) -> str:
    """Words that begin at a place, or end or have their middle there (`text_anchor`)."""
    return element("text", html.escape(words), x=x, y=y, **attributes)


def upwards(x: float, y: float, words: str) -> str:
    """The title of a vertical axis, with its middle at this place."""
    place = f"translate({x:g} {y:g}) rotate(-90)"
    return element("text", html.escape(words), transform=place, text_anchor="middle")


def picture(
    width: float, height: float, body: Iterable[str], *, title: str = "", white: bool = True,
    **attributes: object,
) -> str:  # fmt: skip
    """A whole picture, on white unless it lies on a page."""
    look = {"fill": "#444", "font_size": 12, **attributes}
    size = f"0 0 {width} {height}"
    parts = [element("title", html.escape(title))] if title else []
    parts += [element("rect", width="100%", height="100%", fill="#fff")] if white else []
    return element(
        "svg", "".join([*parts, *body]), xmlns="http://www.w3.org/2000/svg", viewBox=size,
        width=width, height=height, role="img" if title else None, font_family=_FONT, **look,
    )  # fmt: skip
