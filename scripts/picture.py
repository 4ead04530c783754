"""Draws the picture of the README from a run: docs/images/compare.svg."""

from pathlib import Path

import flashgc
from flashgc import chart

SCHEMES = ["greedy", "parallel", "pregc", "fpgc"]
DEVICE = {"device.registers": 4, "device.suspend.suspend": "20 us"}
"""The needs of parallel and fpgc, for all four."""
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "compare.svg"


def main() -> None:
    reports = flashgc.compare("oltp", SCHEMES, set=DEVICE)
    charts = [
        (
            f"Latency of {kind}s",
            [(report.scheme, chart.percentiles(report, kind)) for report in reports],
        )
        for kind in ("read", "write")
    ]
    title = "Four schemes on one drive, with the same 5 million requests of an OLTP-like workload"
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(chart.picture(charts, title) + "\n")
    for report in reports:
        read, write = report.latency_ns.read.p99_9, report.latency_ns.write.p99_9
        print(report.scheme, report.write_amplification, read, write, report.steady.verdict)


if __name__ == "__main__":
    main()
