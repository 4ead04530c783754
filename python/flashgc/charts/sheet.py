"""Several charts as one picture: the figure of a paper with its panels, as SVG."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from typing import Any

from flashgc.charts import static, theme
from flashgc.charts.chart import SCHEMA, Chart

_COLUMNS = 2
_PART = re.compile(r'( id="|url\(#)([a-z_]+\d+)')
_WIDE_PT = 504
"""The width of a page of a paper in two columns."""


def drawable() -> bool:
    """Whether vl-convert is installed, which draws figures as files."""
    return importlib.util.find_spec("vl_convert") is not None


def svg(several: Sequence[Chart]) -> bytes:
    """One chart as it is, and more of them in two columns below their titles.

    vl-convert numbers the parts of a picture on from those of the one before. Here each begins
    anew, so that equal charts give equal bytes.
    """
    numbers: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return found[1] + numbers.setdefault(found[2], f"part{len(numbers)}")

    drawn = static.writers()["svg"](specification(several)).decode()
    return _PART.sub(numbered, drawn).encode()


def specification(several: Sequence[Chart]) -> dict[str, Any]:
    """The specification of a picture with its data."""
    if len(several) == 1:
        (one,) = several
        spec = static.figure(one, _WIDE_PT if one.wide else static.COLUMN_PT)
        return {**spec, "height": one.height * 0.62} if one.wide else spec
    return {
        "$schema": SCHEMA,
        "description": " ".join(one.text for one in several),
        "columns": _COLUMNS,
        "concat": [_panel(one) for one in several],
        "config": theme.paper(),
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent",
                              "shape": "independent"}},
    }  # fmt: skip


def _panel(one: Chart) -> dict[str, Any]:
    """A part of a picture: sizes belong to its axes, since only a whole can be fitted."""
    spec = static.figure(one, static.COLUMN_PT)
    kept = {name: value for name, value in spec.items()
            if name not in ("$schema", "config", "autosize", "params")}  # fmt: skip
    return {**kept, "title": {"text": one.title, "fontSize": 8, "anchor": "start"}, "width": 200}
