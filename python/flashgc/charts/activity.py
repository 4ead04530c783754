"""The time of units by activity as a chart."""

from __future__ import annotations

from flashgc.charts import theme
from flashgc.charts.chart import Chart
from flashgc.charts.latency import Named
from flashgc.results import blame
from flashgc.results.metrics import RunResults

_PARTS = {
    "requests": theme.COLOURS[0],
    "moving pages": blame.COLOURS["collection"],
    "erasing": theme.COLOURS[4],
    "moving in the background": theme.COLOURS[3],
    "idle": "#bbbbbb",
}


def shares(report: RunResults) -> dict[str, float]:
    """The share of the time of all units that each activity took."""
    use, time = report.utilisation.unit, report.gc_time
    found = {"requests": use.host, "idle": use.idle}
    known = {"moving pages": time.move_share, "erasing": time.erase_share,
             "moving in the background": time.background_share}  # fmt: skip
    for name, share in known.items():
        found[name] = use.gc * share if share is not None else 0.0
    return {name: found[name] for name in _PARTS if found[name]}


def chart(several: Named) -> Chart:
    """A bar for each run, of its activities."""
    names = [name for name, _ in several]
    rows = [
        (name, part, round(100 * share, 4))
        for name, report in several
        for part, share in shares(report).items()
    ]
    used = [part for part in _PARTS if any(row[1] == part for row in rows)]
    one = len(several) == 1
    spec = {
        "transform": [
            {"calculate": f"indexof({used}, datum.activity)", "as": "place"},
            {"calculate": "format(datum.percent, '.2f') + ' %'", "as": "share"},
        ],
        "mark": {"type": "bar", "height": {"band": 0.72}},
        "encoding": {
            "x": {"field": "percent", "type": "quantitative", "stack": "zero",
                  "scale": {"domain": [0, 100], "nice": False},
                  "axis": {"title": "time of units, %", "tickCount": 5}},
            "y": {"field": "run", "type": "nominal", "sort": names,
                  "axis": None if one else theme.names_axis()},
            "color": {"field": "activity", "type": "nominal", "title": None,
                      "scale": {"domain": used, "range": [_PARTS[part] for part in used]},
                      "legend": theme.parts_legend()},
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": theme.tooltip({"run": "run", "activity": "activity", "share": "share"}),
        },
    }  # fmt: skip
    columns = dict(zip(("run", "activity", "percent"), map(list, zip(*rows, strict=True)),
                       strict=True))  # fmt: skip
    said = "; ".join(
        f"{name}: " + ", ".join(f"{part} {100 * share:.1f} %"
                                for part, share in shares(report).items())
        for name, report in several
    ) + "."  # fmt: skip
    return Chart("activity", "Time of units by activity", spec, columns, said, series="run",
                 names=names, height=max(30 * len(several), 40))  # fmt: skip
