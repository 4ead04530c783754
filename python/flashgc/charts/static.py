"""Charts as files for a paper: SVG, PDF and PNG, as wide as a column or as a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from flashgc._engine import OutputError
from flashgc.charts import theme
from flashgc.charts.chart import SCHEMA, Chart
from flashgc.files import arguments, output
from flashgc.machine import extras

FORMATS = ("svg", "pdf", "png")
COLUMN_PT = 240
"""The width of a column of a paper in two columns: 3.33 inches."""
_HEIGHT_PT = 130
_SPACING_PT = 6
_PPI = 300
_VERSION = "6.4"


def save(
    several: Iterable[Chart],
    folder: str | os.PathLike[str],
    formats: Sequence[str] = FORMATS,
    width_pt: int = COLUMN_PT,
) -> list[Path]:
    """Saves each chart as `NAME.svg`, `NAME.pdf` and `NAME.png` in this folder.

    Widths are in points, so that text of 7 to 8 pt has this size in a paper. A ConfigError
    without vl-convert, which `pip install flashgc[figures]` adds.
    """
    formats = arguments.words("formats", formats)
    drawn = writers()
    for name in formats:
        if name not in drawn:
            raise OutputError(
                f"error: figures cannot be saved as {name!r}\n  = help: {', '.join(FORMATS)}"
            )
    target = output.folder(folder, "--figures")
    saved = []
    for chart in several:
        spec = figure(chart, width_pt)
        for name in formats:
            path = target / f"{chart.name}.{name}"
            data = drawn[name](spec)
            output.write_with(path, lambda file, data=data: file.write(data))  # type: ignore[misc]
            saved.append(path)
    return saved


def figure(chart: Chart, width_pt: int = COLUMN_PT) -> dict[str, Any]:
    """The specification of a figure with its data, as wide in all as `width_pt`."""
    if "facet" in chart.spec:
        return _facets(chart, width_pt)
    still = {key: value for key, value in chart.spec.items() if key != "params"}
    if "opacity" in still.get("encoding", {}):
        still["encoding"] = {key: value for key, value in still["encoding"].items()
                             if key != "opacity"}  # fmt: skip
    if "layer" in still:
        still["layer"] = [
            {key: value for key, value in layer.items() if key != "params"}
            for layer in still["layer"]
            if layer.get("name") != theme.POINTER
        ]
    params = [one for one in chart.spec.get("params", []) if "value" in one]
    if params and "encoding" in still:
        still["encoding"] = _told(still["encoding"], [one["value"] for one in params])
    return {
        "$schema": SCHEMA,
        "description": chart.text,
        **still,
        "params": [{"name": one["name"], "value": one["value"]} for one in params],
        "data": {"values": chart.rows()},
        "width": width_pt,
        "height": _HEIGHT_PT,
        "autosize": {"type": "fit", "contains": "padding"},
        "config": theme.paper(),
    }


def _facets(chart: Chart, width_pt: int) -> dict[str, Any]:
    """Small multiples that share the width of the figure."""
    facet, inner = chart.spec["facet"], chart.spec["spec"]
    columns = len(facet["column"]["sort"]) if "column" in facet else 1
    beside = 66 if "row" in facet else 34
    width = max((width_pt - beside) / columns - _SPACING_PT, 30)
    layers = [{key: value for key, value in layer.items() if key != "params"}
              for layer in inner["layer"]]  # fmt: skip
    lines = {key: value for key, value in inner["encoding"].items() if key != "opacity"}
    return {
        **chart.specification(),
        "data": {"values": chart.rows()},
        "spacing": _SPACING_PT,
        "spec": {"width": width, "height": 64, "encoding": lines, "layer": layers},
        "config": theme.paper(),
    }


def _told(encoding: dict[str, Any], chosen: Sequence[str]) -> dict[str, Any]:
    """The channels with what the reader of a page may choose in the title of the values."""
    x = encoding["x"]
    title = ", ".join([x["axis"]["title"], *chosen])
    return {**encoding, "x": {**x, "axis": {**x["axis"], "title": title}}}


def writers() -> dict[str, Callable[[dict[str, Any]], bytes]]:
    """The functions that write a specification, by the format."""
    vl_convert = extras.library("vl_convert", "figures need")
    return {
        "svg": lambda spec: vl_convert.vegalite_to_svg(spec, vl_version=_VERSION).encode(),
        "pdf": lambda spec: vl_convert.vegalite_to_pdf(spec, vl_version=_VERSION),
        "png": lambda spec: vl_convert.vegalite_to_png(spec, vl_version=_VERSION, ppi=_PPI),
    }
