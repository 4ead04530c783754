"""Latencies as charts: the distribution with its tail, and percentiles with their parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from flashgc.charts import theme
from flashgc.charts.chart import Chart, Columns
from flashgc.results import blame
from flashgc.results.metrics import RunResults

_NINES_STEP = {"expr": "span(domain('y')) > 2 ? 1 : 0.1"}
"""One label for each nine, and more where the axis shows less than two of them."""

Named = Sequence[tuple[str, RunResults]]
"""Reports, each with its name in the charts."""
Points = list[tuple[float, int]]
"""Share of the requests, and the latency in ns that they do not exceed."""

_STEP = 0.015
"""Points nearer than this on the axis of nines are left out: a third of a pixel."""
_KINDS = ("read", "write")
_PERCENTILE_LABEL = (
    "format(100 * (1 - pow(10, -datum.value)), "
    "'.' + max(0, ceil(datum.value) - 2 + (datum.value % 1 ? 2 : 0)) + 'f')"
)


def points(report: RunResults, kind: str) -> Points:
    """The distribution of one kind of request, thinned to what can be seen.

    The last point, of the longest latency, is at half a request from the end.
    """
    import numpy as np

    spread = report.distribution(kind)
    if spread.rows == 0:
        return []
    last = 1 - 0.5 / int(spread["count"].sum())
    shares = np.minimum(spread["share"], last)
    places = np.floor(-np.log10(1 - shares) / _STEP).astype(np.int64)
    kept = np.append(places[1:] != places[:-1], True)  # the last of each step, and the longest
    kept[0] = True
    return [
        (float(f"{share:.9g}"), latency)
        for share, latency in zip(shares[kept].tolist(), spread["latency_ns"][kept].tolist(),
                                  strict=True)
    ]  # fmt: skip


def distributions(several: Named) -> list[Chart]:
    """A chart for reads and one for writes with a curve for each run; for one run a single chart.

    >>> import flashgc
    >>> from flashgc.charts import latency
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> [one] = latency.distributions([("greedy", flashgc.run("oltp", set=small))])
    >>> one.names
    ['reads', 'writes']
    """
    if len(several) == 1:
        report = several[0][1]
        curves = [(f"{kind}s", points(report, kind)) for kind in _KINDS]
        curves = [(name, found) for name, found in curves if found]
        drawn = [_distribution("latency", "Latency of requests", "kind", curves)] if curves else []
        return [dataclasses.replace(one, wide=True) for one in drawn]
    drawn = []
    for kind in _KINDS:
        curves = [(name, points(report, kind)) for name, report in several]
        if any(found for _, found in curves):
            drawn.append(_distribution(f"latency-{kind}s", f"Latency of {kind}s", "run", curves))
    return drawn


def _distribution(
    name: str, title: str, series: str, curves: Sequence[tuple[str, Points]]
) -> Chart:
    names = [one for one, _ in curves]
    rows = [(one, share, latency) for one, found in curves for share, latency in found]
    calculated = [
        {"calculate": "-log(1 - datum.share) / LN10", "as": "nines"},
        {"calculate": "max(datum.latency_ns, 1)", "as": "shown_ns"},
        {"calculate": "format(100 * datum.share, '.8~g') + ' %'", "as": "percentile"},
        {"calculate": theme.time_text("datum.latency_ns"), "as": "latency"},
    ]
    x = {"field": "shown_ns", "type": "quantitative", "scale": {"type": "log", "nice": False},
         "axis": theme.log_time_axis("latency", "x")}  # fmt: skip
    y = {"field": "nines", "type": "quantitative", "scale": {"nice": False, "zero": True},
         "axis": {"title": "percentile of requests", "labelExpr": _PERCENTILE_LABEL,
                  "tickCount": 6, "tickMinStep": _NINES_STEP}}  # fmt: skip
    spec = {
        "transform": calculated,
        "encoding": {"x": x, "y": y, **theme.colour(series, names, dashed=True)},
        "layer": [
            {"mark": {"type": "line", "interpolate": "step-after", "clip": True},
             "params": [theme.zoom("x", "y")]},
            theme.nearest({series: series, "percentile": "percentile", "latency": "at most"}),
        ],
    }  # fmt: skip
    columns: Columns = {
        series: [row[0] for row in rows],
        "share": [row[1] for row in rows],
        "latency_ns": [row[2] for row in rows],
    }
    said = (
        f"{title}: the share of requests up to each latency, with a logarithmic tail. "
        f"Curves: {', '.join(names)}."
    )
    return Chart(name, title, spec, columns, said, series=series, names=names)


def percentiles(several: Named) -> list[Chart]:
    """A chart for each kind of request: a bar for each run, in parts where they are known."""
    drawn = []
    for kind in _KINDS:
        rows = [row for name, report in several for row in _parts(name, report, kind)]
        if rows:
            drawn.append(_percentile(kind, [name for name, _ in several], rows))
    return drawn


def _parts(name: str, report: RunResults, kind: str) -> Iterator[tuple[str, str, str, int]]:
    """Run, percentile, part and time."""
    split = report.get("blame", {}).get(kind)
    for key, shown in blame.PERCENTILES.items():
        if split and split["mean"]:
            for part, words in blame.PARTS.items():
                if time_ns := split[key][f"{part}_ns"]:
                    yield name, shown, words, time_ns
        elif report.latency_ns[kind]["count"]:
            yield name, shown, WHOLE, report.latency_ns[kind][key]


WHOLE = "not split"
"""The part of a latency that --blame has not split."""


def _percentile(kind: str, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Chart:
    found = {row[2] for row in rows}
    hues = {words: blame.COLOURS[part] for part, words in blame.PARTS.items()} | {WHOLE: "#888888"}
    parts = [words for words in hues if words in found]
    choices = list(blame.PERCENTILES.values())
    one = len(names) == 1
    chosen = {"name": "chosen", "value": "p99.9",
              "bind": {"input": "radio", "options": choices, "name": " "}}  # fmt: skip
    y = {"field": "percentile" if one else "run", "sort": choices if one else list(names)}
    spec = {
        "params": [] if one else [chosen],
        "transform": [
            *([] if one else [{"filter": "datum.percentile === chosen"}]),
            {"calculate": theme.time_text("datum.time_ns"), "as": "time"},
            {"calculate": f"indexof({parts}, datum.part)", "as": "place"},
        ],
        "mark": {"type": "bar", "height": {"band": 0.72}},
        "encoding": {
            "x": {"field": "time_ns", "type": "quantitative", "stack": "zero",
                  "axis": theme.time_axis("latency", tickCount=5, labelSeparation=6)},
            "y": {**y, "type": "nominal", "axis": theme.names_axis()},
            "color": {"field": "part", "type": "nominal", "title": None, "scale":
                      {"domain": parts, "range": [hues[part] for part in parts]},
                      "legend": None if parts == [WHOLE] else theme.parts_legend()},
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": theme.tooltip({"run": "run", "percentile": "percentile", "part": "part",
                                      "time": "time"}),
        },
    }  # fmt: skip
    columns = dict(zip(("run", "percentile", "part", "time_ns"),
                       map(list, zip(*rows, strict=True)), strict=True))  # fmt: skip
    text = (
        f"Percentiles of the latency of {kind}s for {', '.join(names)}, "
        f"in their parts: {', '.join(parts)}."
    )
    bars = len(choices) if one else len(names)
    return Chart(
        f"percentiles-{kind}s", f"Percentiles of {kind}s", spec, columns, text,
        series="run", names=names, height=max(30 * bars, 60),
        note=_NOT_SPLIT if parts == [WHOLE] else "",
    )  # fmt: skip


_NOT_SPLIT = "--blame (blame=True in Python) splits them: own work, other requests, collection."
