"""Draws the pictures of the manual's page on placement from its sweeps, into docs/images."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert

import flashgc
from flashgc.charts import theme

DOCS = Path(__file__).parents[1] / "docs"
FILE = re.compile(r"^```toml (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WAF, PLACEMENT, EXPORTED = "write_amplification", "gc.placement.use", "device.exported"
SKEW = "workload.synthetic.address.zipf"


def main() -> None:
    """Writes the files of the page, runs its sweeps and draws the means over the seeds."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in FILE.findall((DOCS / "placement.md").read_text()):
            Path(name).write_text(text)
        done = flashgc.sweep("placement.toml").to_polars()
        by_skew = flashgc.sweep("skew.toml").to_polars()
        os.chdir(DOCS)
    _by_workload(done)
    _by_skew(by_skew)


def _rows(done: pl.DataFrame, names: dict[str, str]) -> list[dict[str, Any]]:
    """The means by the columns of these names, with the spare space in words."""
    keys = [EXPORTED, *names]
    means = done.group_by(keys, maintain_order=True).agg(waf=pl.col(WAF).mean()).rename(names)
    rows = means.to_dicts()
    return [row | {"spare": f"{1 - row.pop(EXPORTED):.0%} spare"} for row in rows]


def _axis(field: str, title: str | None, **more: object) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, **more}


def _draw(name: str, rows: list[dict[str, Any]], chart: dict[str, Any], columns: int) -> None:
    """Adjacent charts, one for each spare space."""
    spares = list(dict.fromkeys(row["spare"] for row in rows))
    sizes = {"labelFontSize": 12, "titleFontSize": 12}
    look = theme.paper()
    legend = {**look["legend"], **sizes, "symbolSize": 110, "columns": columns}
    look |= {"axis": {**look["axis"], **sizes}, "padding": 12, "legend": legend}
    header = {"labelFontSize": 13, "title": None}
    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": rows},
        "facet": {"column": {"field": "spare", "sort": spares, "header": header}},
        "spec": chart,
        "resolve": {"scale": {"x": "independent", "y": "shared"}},
        "config": look,
    }
    picture = vl_convert.vegalite_to_svg(whole, vl_version="6.4")
    (DOCS / "images" / name).write_text(picture + "\n")


def _by_workload(done: pl.DataFrame) -> None:
    rows = _rows(done, {PLACEMENT: "placement", "workload": "workload"})
    names = list(dict.fromkeys(row["workload"] for row in rows))
    order = list(dict.fromkeys(row["placement"] for row in rows))
    shape = {"field": "workload", "type": "nominal", "scale": {"domain": names}, "title": None}
    y = {"field": "placement", "type": "nominal", "sort": order, "title": None,
         "axis": {"grid": True}}  # fmt: skip
    x = _axis("waf", "write amplification", scale={"zero": False, "domainMin": 1})
    chart = {
        "mark": {"type": "point", "size": 110, "filled": True, "opacity": 0.9},
        "encoding": {"x": x, "y": y, "shape": shape, **theme.colour("workload", names)},
        "width": 340,
        "height": 260,
    }
    _draw("placement.svg", rows, chart, len(names))


def _by_skew(done: pl.DataFrame) -> None:
    rows = _rows(done, {PLACEMENT: "placement", SKEW: "skew"})
    names = list(dict.fromkeys(row["placement"] for row in rows))
    x = _axis("skew", "exponent of Zipf", axis={"values": [0.2, 0.4, 0.6, 0.8, 1.0, 1.2]})
    y = _axis("waf", "write amplification", scale={"type": "log", "domain": [1, 13]},
              axis={"values": [1, 1.5, 2, 3, 4, 6, 8, 12]})  # fmt: skip
    chart = {
        "mark": {"type": "line", "point": {"size": 40}, "strokeWidth": 2},
        "encoding": {"x": x, "y": y, **theme.colour("placement", names)},
        "width": 230,
        "height": 300,
    }
    _draw("placement-skew.svg", rows, chart, len(names))


if __name__ == "__main__":
    main()
