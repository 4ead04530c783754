"""Draws the picture of docs/simgrid.md from runs of its program, into docs/images.

It needs SimGrid and the library for C++: `make simulators-deps`.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import vl_convert

from flashgc import native
from flashgc.charts import theme

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "integrations" / "simgrid" / "checkpoints.cpp"
HANDLES = ("gc.scheme=fdp", "gc.placement.fdp.shares=[0.2868,0.7132]")
"""One handle for the checkpoints, which have this part of the drive, and one for the rest."""
KINDS: dict[str, tuple[str, ...]] = {
    "constant": ("constant",),
    "28 % spare": ("0.72",),
    "7 % spare": ("0.93",),
    "7 % spare, handles": ("0.93", *HANDLES),
}
COUNT = 20


def build(folder: Path) -> Path:
    """The program, built as the page says."""
    program = folder / "checkpoints"
    command = ["c++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", str(SOURCE),
               *native.cflags(), *native.libs(), "-lsimgrid", "-o", str(program)]  # fmt: skip
    subprocess.run(command, check=True)
    return program


def run(program: Path, count: int, kind: str, *settings: str) -> str:
    """The output of a run."""
    command = [str(program), kind, str(count), *settings]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def checkpoints(output: str) -> list[tuple[int, float, float]]:
    """Number, and seconds of the first and the last host, of each checkpoint."""
    rows = re.findall(r"^ *(\d+) +([\d.]+) +([\d.]+)$", output, re.MULTILINE)
    return [(int(number), float(first), float(last)) for number, first, last in rows]


def chart(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The times of checkpoints, a line for each kind of disk."""
    sizes = {"labelFontSize": 12, "titleFontSize": 12}
    look = theme.paper()
    legend = {
        **look["legend"],
        **sizes,
        "symbolSize": 110,
        "columns": len(KINDS),
        "labelLimit": 200,
    }
    look |= {"axis": {**look["axis"], **sizes}, "padding": 12, "legend": legend}
    x = {"field": "checkpoint", "type": "quantitative", "title": "checkpoint",
         "scale": {"domain": [1, COUNT]}}  # fmt: skip
    ticks = {"scale": {"type": "log", "domain": [0.5, 10]}, "axis": {"values": [0.5, 1, 2, 5, 10]}}
    title = "time of the slowest host, s"
    y = {"field": "seconds", "type": "quantitative", "title": title, **ticks}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": rows},
        "mark": {"type": "line", "point": {"size": 40}, "strokeWidth": 2},
        "encoding": {"x": x, "y": y, **theme.colour("disk", list(KINDS))},
        "width": 480,
        "height": 240,
        "config": look,
    }


def main() -> None:
    """Builds the program, runs it with each kind of disk, and draws."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for name, kind in KINDS.items():
            for number, _, last in checkpoints(run(program, COUNT, *kind)):
                rows.append({"disk": name, "checkpoint": number, "seconds": last})
    picture = vl_convert.vegalite_to_svg(chart(rows), vl_version="6.4")
    (ROOT / "docs" / "images" / "simgrid.svg").write_text(picture + "\n")


if __name__ == "__main__":
    main()
