"""The pictures of docs/validation.md: each point, simulated over measured."""

from __future__ import annotations

import re
from typing import Any

import vl_convert
from drives import MEDIAN, RATE, ROOT, TAIL, Drive, Point, load, names

from flashgc.charts import theme

FOLDER = ROOT / "docs" / "images"
READS, AHEAD, BESIDE, WRITES = "random reads", "sequential reads", "reads beside writes", "writes"
LOADS = (READS, BESIDE, WRITES, AHEAD)
PANELS = {
    "validation-rates": {RATE: "requests a second (writes next to reads: MiB a second)"},
    "validation-latencies": {MEDIAN: "median latency", TAIL: "p99 or p99.9"},
}
"""The panels of each picture: the kind of their points, and their axes."""
WIDTH, HEIGHT = 400, 300
SIZES = {"labelFontSize": 12, "titleFontSize": 12}
MARGIN = 1.4
"""The factor between the outermost values and the ends of an axis."""


def write() -> None:
    """Draws both pictures from the results on record."""
    rows = [row for name in names() for row in _rows(load(name))]
    for name, panels in PANELS.items():
        drawn = vl_convert.vegalite_to_svg(_picture(rows, panels), vl_version="6.4")
        (FOLDER / f"{name}.svg").write_text(_shorter(drawn) + "\n", "utf-8")


def _rows(drive: Drive) -> list[dict[str, Any]]:
    found = []
    for one in drive.points():
        if one.kind:
            fitted = "fitted" if one.fitted else "judged"
            found.append({"kind": one.kind, "load": _load(drive, one), "measured": one.measured,
                          "simulated": one.simulated, "point": fitted})  # fmt: skip
    return found


def _load(drive: Drive, point: Point) -> str:
    if drive.paper or point.metric.startswith("write"):
        return WRITES
    own = next(run.set for run in drive.runs if run.name == point.run)
    one = drive.about["sets"][own]
    if one["kind"] != "closed":
        return BESIDE
    return AHEAD if one.get("sequential") else READS


def _picture(rows: list[dict[str, Any]], panels: dict[str, str]) -> dict[str, Any]:
    look = theme.paper()
    legend = {**look["legend"], "labelFontSize": 12, "symbolSize": 90, "columns": 2,
              "columnPadding": 40,
              "labelLimit": 200}  # fmt: skip
    look |= {"axis": {**look["axis"], **SIZES}, "padding": 10, "legend": legend, "aria": False}
    views = [_panel([row for row in rows if row["kind"] == kind], kind, title)
             for kind, title in panels.items()]  # fmt: skip
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "vconcat": views,
            "spacing": 24, "config": look}  # fmt: skip


def _panel(rows: list[dict[str, Any]], kind: str, title: str) -> dict[str, Any]:
    values = [row[key] for row in rows for key in ("measured", "simulated")]
    ends = [min(values) / MARGIN, max(values) * MARGIN]
    scale = {"type": "log", "domain": ends, "nice": False}
    axis: dict[str, Any] = {"values": [10.0**at for at in range(10)], "format": "~s"}
    if kind != RATE:
        axis |= {"labelExpr": "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : datum.value >= 1e3 "
                              "? datum.value / 1e3 + ' ms' : datum.value + ' us'"}  # fmt: skip
    x = {"field": "measured", "type": "quantitative", "scale": scale,
         "axis": {**axis, "title": f"measured: {title}"}}  # fmt: skip
    y = {"field": "simulated", "type": "quantitative", "scale": scale,
         "axis": {**axis, "title": "simulated"}}  # fmt: skip
    shape = {"field": "point", "type": "nominal", "legend": None,
             "scale": {"domain": ["judged", "fitted"], "range": ["square", "diamond"]}}  # fmt: skip
    layers = _diagonals(ends, x, y)
    for point, mark, colour in (
        ("judged", {"size": 16, "strokeWidth": 1}, theme.colour("load", LOADS)),
        ("fitted", {"size": 60, "strokeWidth": 1.6, "color": "black"}, {}),
    ):
        own = [row for row in rows if row["point"] == point]
        layers.append({"data": {"values": own}, "mark": {"type": "point", **mark},
                       "encoding": {"x": x, "y": y, "shape": shape, **colour}})  # fmt: skip
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def _diagonals(ends: list[float], x: Any, y: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Equal values, and twice and half of them."""
    drawn = []
    for factor, dash in ((1, [1, 0]), (2, [2, 3]), (0.5, [2, 3])):
        line = [{"measured": end, "simulated": end * factor} for end in ends]
        mark = {"type": "line", "color": "#888", "strokeWidth": 1, "strokeDash": dash, "clip": True}
        drawn.append({"data": {"values": line}, "mark": mark, "encoding": {"x": x, "y": y}})
    return drawn


def _shorter(svg: str) -> str:
    """Places to a tenth of a unit, and no attribute that says the default."""
    svg = re.sub(r"\d+\.\d{2,}", lambda found: f"{float(found[0]):.1f}", svg)
    return re.sub(r' (?:stroke-opacity|fill-opacity|opacity)="1"', "", svg)
