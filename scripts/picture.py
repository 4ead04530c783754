"""Draws the picture of the README from a run: docs/images/compare.svg."""

from pathlib import Path

import flashgc
from flashgc import chart

SCHEMES = ["greedy", "cost-benefit", "random", "fifo"]
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "compare.svg"


def main() -> None:
    reports = flashgc.compare("oltp", SCHEMES)
    curves = [(report.scheme, chart.percentiles(report, "all")) for report in reports]
    title = "Latency by percentile of four victim policies on the built-in OLTP-like workload"
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(chart.draw(curves, title, standalone=True) + "\n")
    for name, row in zip(SCHEMES, reports, strict=True):
        print(name, row.write_amplification, row.latency_ns.all.p99_9)


if __name__ == "__main__":
    main()
