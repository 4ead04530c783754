"""Draws the picture of the README from a run: docs/images/compare.svg."""

from pathlib import Path

import vl_convert

import flashgc
from flashgc.charts import theme
from flashgc.charts.static import figure

SCHEMES = ["greedy", "parallel", "pregc", "fpgc"]
DEVICE = {"device.registers": 4, "device.suspend.suspend": "20 us"}
"""The needs of parallel and fpgc, for all four."""
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "compare.svg"
_WHOLE = ("$schema", "config", "autosize")
TITLE = "Four schemes on one drive, with the same 5 million requests of an OLTP-like workload"


def main() -> None:
    reports = flashgc.compare("oltp", SCHEMES, set=DEVICE)
    views = []
    for chart in reports.charts()[:2]:
        one = figure(chart)
        views.append({
            **{name: one[name] for name in one if name not in _WHOLE},
            "title": theme.title(chart.title), "width": 380, "height": 250,
        })  # fmt: skip
    sizes = {"labelFontSize": 12, "titleFontSize": 12}
    look = theme.paper()
    look |= {
        "axis": {**look["axis"], **sizes}, "line": {"strokeWidth": 2}, "padding": 12,
        "legend": {**look["legend"], **sizes, "symbolSize": 200, "symbolStrokeWidth": 3},
        "title": {"fontSize": 13, "offset": 8},
    }  # fmt: skip
    whole = {
        "title": {"text": TITLE, "fontSize": 15, "anchor": "start", "offset": 12},
        "hconcat": views, "spacing": 30, "config": look,
    }  # fmt: skip
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(vl_convert.vegalite_to_svg(whole, vl_version="6.4") + "\n")
    for report in reports:
        read, write = report.latency_ns.read.p99_9, report.latency_ns.write.p99_9
        print(report.scheme, report.write_amplification, read, write, report.steady.verdict)


if __name__ == "__main__":
    main()
