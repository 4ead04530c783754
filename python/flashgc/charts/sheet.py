"""Several charts as one picture: the figure of a paper with its panels, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flashgc.charts import static, theme
from flashgc.charts.chart import SCHEMA, Chart

_COLUMNS = 2
_WIDE_PT = 504
"""The width of a page of a paper in two columns."""


def drawable() -> bool:
    """Whether vl-convert is installed, which draws figures as files."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


def svg(several: Sequence[Chart]) -> bytes:
    """One chart as it is, and more of them in two columns below their titles."""
    return static._writers()["svg"](specification(several))


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
