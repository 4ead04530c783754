"""Runs the server of docs/llm-serving.md for longer: prints its table and draws its picture.

    scripts/llm_picture.py [--length 240] [--seeds 3]

The picture is the share of requests whose first token takes longer, over the time, in docs/images.
"""

from __future__ import annotations

import argparse
import re
import types
from pathlib import Path
from typing import Any

import simpy
import vl_convert

from flashgc.charts import theme

DOCS = Path(__file__).parents[1] / "docs"
CODE = re.compile(r"^```python server\.py\n(.*?)^```", re.MULTILINE | re.DOTALL)
WARM_UP = 60.0
DRIVES = {"28 % spare": 207, "7 % spare": 160}


def server() -> Any:  # noqa: ANN401 - a module
    """The module of the page."""
    found = CODE.search((DOCS / "llm-serving.md").read_text(encoding="utf-8"))
    assert found is not None
    module = types.ModuleType("server")
    exec(compile(found[1], "server.py", "exec"), module.__dict__)
    return module


def kinds(model: Any) -> dict[str, tuple[Any, Any]]:  # noqa: ANN401 - a module
    """For each name a function that makes the drive, and the hints."""
    found: dict[str, tuple[Any, Any]] = {"constant": (model.Constant, model.NO_HINTS)}
    for spare, blocks in DRIVES.items():
        for name, hints in ((spare, model.NO_HINTS), (f"{spare}, handles", model.HINTS)):
            found[name] = (
                lambda env, blocks=blocks, hints=hints: model.flash(env, blocks, hints),
                hints,
            )
    return found


def chart(rows: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """The tails of all drives."""
    sizes = {"labelFontSize": 12, "titleFontSize": 12}
    look = theme.paper()
    legend = {
        **look["legend"],
        **sizes,
        "symbolSize": 110,
        "columns": 3,
        "labelLimit": 200,
        "symbolStrokeWidth": 3,
    }
    look |= {"axis": {**look["axis"], **sizes}, "padding": 12, "legend": legend}
    log = {"type": "log"}
    x = {"field": "ms", "type": "quantitative", "title": "time to first token, ms",
         "scale": {**log, "domain": [20, 5000], "clamp": True},
         "axis": {"values": [20, 50, 100, 200, 500, 1000, 2000, 5000]}}  # fmt: skip
    y = {"field": "share", "type": "quantitative", "title": "share of requests that take longer",
         "scale": {**log, "domain": [0.001, 1]},
         "axis": {"values": [0.001, 0.01, 0.1, 0.5, 1], "format": "~%"}}  # fmt: skip
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2, "interpolate": "step-after", "clip": True},
        "encoding": {"x": x, "y": y, **theme.colour("drive", names)},
        "width": 480,
        "height": 260,
        "config": look,
    }


def points(name: str, times: list[float]) -> list[dict[str, Any]]:
    """Some points of the tail, closer together towards its end."""
    count = len(times)
    wanted = {count - round(count * 10 ** (-at / 40)) for at in range(200)}
    return [
        {"drive": name, "ms": times[at] * 1e3, "share": 1 - at / count}
        for at in sorted(at for at in wanted if at < count)
    ]


def main() -> None:
    """Runs all drives, prints a table in Markdown, and draws."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--length", type=float, default=240.0, help="s after the warm-up")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    model, rows = server(), []
    drives = kinds(model)
    print("| drive | p50 | p99 | p99.9 | slowest 1 %: drive | queue | prefill | lost |")
    for name, (make, hints) in drives.items():
        served, lost, requests, amplification = [], 0, 0, ""
        for seed in range(1, options.seeds + 1):
            env = simpy.Environment()
            drive = make(env)
            own, tiers = model.serve(env, drive, hints, WARM_UP, options.length, seed)
            served += own
            lost += tiers.lost
            requests += len(model.requests(seed, WARM_UP + options.length))
            if hasattr(drive, "finish"):
                amplification += f" {drive.finish().write_amplification:.2f}"
        served.sort(key=lambda one: one[0])
        times = [one[0] for one in served]
        ms = [f"{times[int(len(times) * share)] * 1e3:.0f} ms" for share in (0.5, 0.99, 0.999)]
        tail = served[int(len(served) * 0.99) :]
        parts = [f"{sum(one[1][at] for one in tail) / len(tail) * 1e3:.0f} ms" for at in range(3)]
        cells = [name, *ms, *parts, f"{lost / requests:.1f} a request", amplification]
        print("|", " | ".join(cells), f"| {len(times)} requests", flush=True)
        rows += points(name, times)
    picture = vl_convert.vegalite_to_svg(chart(rows, list(drives)), vl_version="6.4")
    (DOCS / "images" / "llm-serving.svg").write_text(picture + "\n")


if __name__ == "__main__":
    main()
