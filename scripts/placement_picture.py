"""Draws the picture of the manual's page on placement from its sweep: docs/images/placement.svg."""

import os
import re
import tempfile
from pathlib import Path

import vl_convert

import flashgc
from flashgc.charts import theme

DOCS = Path(__file__).parents[1] / "docs"
FILE = re.compile(r"^```toml (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WAF, PLACEMENT = "write_amplification", "gc.placement.use"


def main() -> None:
    """Writes the files of the page, runs its sweep and draws the means over the seeds."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in FILE.findall((DOCS / "placement.md").read_text()):
            Path(name).write_text(text)
        done = flashgc.sweep("placement.toml").to_polars()
        os.chdir(DOCS)
    means = done.group_by(PLACEMENT, "workload", maintain_order=True)
    rows = [
        {"placement": placement, "workload": workload, "waf": of[WAF].mean()}
        for (placement, workload), of in means
    ]
    names = list(dict.fromkeys(row["workload"] for row in rows))
    order = list(dict.fromkeys(row["placement"] for row in rows))
    shape = {"field": "workload", "type": "nominal", "scale": {"domain": names}, "title": None}
    x = {"field": "waf", "type": "quantitative", "title": "write amplification",
         "scale": {"zero": False, "domainMin": 1}}  # fmt: skip
    y = {"field": "placement", "type": "nominal", "sort": order, "title": None,
         "axis": {"grid": True}}  # fmt: skip
    look = theme.paper()
    sizes = {"labelFontSize": 12, "titleFontSize": 12}
    look |= {
        "axis": {**look["axis"], **sizes},
        "padding": 12,
        "legend": {**look["legend"], **sizes, "symbolSize": 110, "columns": len(names)},
    }
    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": rows},
        "mark": {"type": "point", "size": 110, "filled": True, "opacity": 0.9},
        "encoding": {"x": x, "y": y, "shape": shape, **theme.colour("workload", names)},
        "width": 560,
        "height": 260,
        "config": look,
    }
    picture = vl_convert.vegalite_to_svg(whole, vl_version="6.4")
    (DOCS / "images" / "placement.svg").write_text(picture + "\n")


if __name__ == "__main__":
    main()
