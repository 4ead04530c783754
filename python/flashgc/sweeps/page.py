"""The page of a sweep: small multiples whose axes can be chosen, and a table of all points."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc import charts
from flashgc.charts import multiples
from flashgc.formatting import units
from flashgc.formatting.markup import table
from flashgc.pages import page
from flashgc.sweeps import about, columns
from flashgc.sweeps.store import DONE

if TYPE_CHECKING:
    import pyarrow as pa

POINTS_MAX = 20_000
"""Points that a page holds at most, so that it stays below 5 MB."""
_VALUES_MAX = 320_000
_ROWS_WITHOUT_SCRIPTS = 200
_ROWS_IN_NOTEBOOK = 60
_METRICS_SHOWN = 6
_LABELS = 6
"""Points that a note names."""
_FIRST = (
    "write_amplification", "write_amplification_bytes",
    *(f"latency_ns.{kind}.{name}" for kind in ("all", "read", "write")
      for name in ("mean", "p50", "p99", "p99_9", "p99_99", "max")),
    "throughput.iops", "erases", "gc.count", "pages.gc_moved", "gc.total_busy_ns",
    "utilisation.unit.gc", "wear.max", "wear.stddev",
)  # fmt: skip
"""Metrics in the order in which a page keeps them."""


def whole(name: str, axes: Sequence[str], points: pa.Table, again: str | None = None) -> str:
    """The page of these points, whose columns are axes, the status and metrics."""
    of_runs, after = about.shared(axes, points)
    facts = [
        ("points", _counts(points)),
        *((axis, _values(points, axis)) for axis in axes),
        *of_runs,
        ("version", f"flashgc {engine.__version__}"),
    ]
    points = points.drop_columns(["report"])
    notes = [page.note(text) for text in _notes(axes, points)]
    kept = points.slice(0, POINTS_MAX)
    cut = "" if kept.num_rows == points.num_rows else page.note(
        f"The first {POINTS_MAX:,} of {points.num_rows:,} points; flashgc sweep --out FILE.parquet "
        "saves all."
    )  # fmt: skip
    body = "\n".join([_head(facts, again), *notes, cut, _drawn(axes, kept)])
    return page.document(f"flashgc sweep: {name}", body, after)


def fragment(axes: Sequence[str], points: pa.Table) -> str:
    """The points in a notebook: their number, those without a result, and the main metrics."""
    notes = [page.note(text) for text in _notes(axes, points)]
    shown = points.slice(0, _ROWS_IN_NOTEBOOK)
    rows = page.wide(_table(axes, metrics(axes, points)[:_METRICS_SHOWN], shown))
    more = "" if shown.num_rows == points.num_rows else (
        f"<p>The first {shown.num_rows:,} points; to_pandas() and to_polars() have all.</p>"
    )  # fmt: skip
    return "\n".join([f"<p>points: {html.escape(_counts(points))}</p>", *notes, rows, more])


def _head(facts: Sequence[tuple[str, str]], again: str | None) -> str:
    from flashgc.pages import provenance

    return provenance.drawn(list(facts), again)


def _notes(axes: Sequence[str], points: pa.Table) -> list[str]:
    """Points without a result, by their reasons, and those that are saturated."""
    reasons: dict[str, list[str]] = {}
    saturated = []
    for row in points.select([*axes, "status", "saturated", "error"]).to_pylist():
        label = ", ".join(f"{axis} {row[axis]}" for axis in axes)
        if row["saturated"]:
            saturated.append(label)
        elif row["status"] != DONE:
            reason = (row["error"] or "it has not run").partition("\n")[0].removeprefix("error: ")
            reasons.setdefault(f"{row['status']}: {reason}", []).append(label)
    told = [f"{_listed(labels)} {reason}" for reason, labels in reasons.items()]
    if saturated:
        told.append(f"{columns.about_saturated(len(saturated))}: {_listed(saturated)}")
    return told


def _listed(labels: Sequence[str]) -> str:
    """The first labels, and how many more there are."""
    more = f"; and {len(labels) - _LABELS:,} more" if len(labels) > _LABELS else ""
    return f"{'; '.join(labels[:_LABELS])}{more}"


def _counts(points: pa.Table) -> str:
    found = [columns.state(row) for row in points.select(["status", "saturated"]).to_pylist()]
    told = ", ".join(f"{found.count(one):,} {one}" for one in dict.fromkeys(found))
    return f"{len(found):,}: {told}"


def _values(points: pa.Table, axis: str) -> str:
    found = list(dict.fromkeys(points[axis].to_pylist()))
    shown = ", ".join(str(one) for one in found[:12])
    return f"{shown}, ... ({len(found):,} values)" if len(found) > 12 else shown


def metrics(axes: Sequence[str], points: pa.Table) -> list[str]:
    """The metrics that a page keeps: those that have values, as many as fit."""
    most = max(_VALUES_MAX // max(points.num_rows, 1), 4)
    return [
        name for name in _FIRST
        if name not in axes and points[name].null_count < points.num_rows
    ][:most]  # fmt: skip


def chart(axes: Sequence[str], points: pa.Table, metric: str | None = None) -> charts.Chart:
    """The small multiples of a metric, in a first layout, without saturated points."""
    import pyarrow.compute as pc

    found = _choices(axes, points)
    metric = metric or metrics(axes, points)[0]
    chosen = multiples.layout(found, metric)
    fit = points.filter(pc.invert(pc.fill_null(points["saturated"], False)))
    left_out = points.num_rows - fit.num_rows
    data = {name: fit[name].to_pylist() for name in [*axes, metric]}
    return multiples.chart(data, found, chosen, left_out)


def _choices(axes: Sequence[str], points: pa.Table) -> dict[str, list[Any]]:
    """The values of each axis: numbers by size, as draws are in no order, and others as given."""
    return {axis: multiples.ordered(list(dict.fromkeys(points[axis].to_pylist())))
            for axis in axes}  # fmt: skip


def _drawn(axes: Sequence[str], points: pa.Table) -> str:
    """The points as data, with the first layout, and as a table for readers without scripts."""
    names = metrics(axes, points)
    if not names:
        return page.note("No point has a result.")
    values = _choices(axes, points)
    first = multiples.layout(values, names[0])
    kept = {
        "axes": values,
        "labels": {**multiples.labels([*axes, *names]), "state": "status"},
        "places_at": {axis: places for axis in axes if (places := multiples.at(values[axis]))},
        "metrics": [{"name": name, "time": columns.is_time(name)} for name in names],
        "columns": {name: _short(points[name].to_pylist()) for name in [*axes, *names]}
        | {
            "state": [
                columns.state(row) for row in points.select(["status", "saturated"]).to_pylist()
            ],
        },
        "layout": first._asdict(),
        "places": list(multiples.PLACES),
    }
    drawn = charts.explorer(chart(axes, points), kept)
    return f"{charts.OFF}{drawn}<noscript>{_without_scripts(axes, names, points)}</noscript>"


def _short(values: list[Any]) -> list[Any]:
    """Numbers with the digits that a reader needs."""
    return [float(f"{one:.7g}") if isinstance(one, float) else one for one in values]


def _without_scripts(axes: Sequence[str], names: Sequence[str], points: pa.Table) -> str:
    shown = points.slice(0, _ROWS_WITHOUT_SCRIPTS)
    rows = page.wide(_table(axes, names[:_METRICS_SHOWN], shown))
    return f"<h2>The first {shown.num_rows:,} points</h2>{rows}"


def _table(axes: Sequence[str], names: Sequence[str], points: pa.Table) -> str:
    """A row for each point: its choices, its status and these metrics."""
    rows = points.select([*axes, "status", "saturated", *names]).to_pylist()
    cells = [
        [*(str(row[axis]) for axis in axes), columns.state(row),
         *(_cell(name, row[name]) for name in names)]
        for row in rows
    ]  # fmt: skip
    labels = list(multiples.labels([*axes, *names]).values())
    return table([[*labels[: len(axes)], "status", *labels[len(axes) :]], *cells])


def _cell(name: str, value: Any) -> str:  # noqa: ANN401 - a metric
    if value is None:
        return units.NOTHING
    return units.time(value) if columns.is_time(name) else units.figures(value)
