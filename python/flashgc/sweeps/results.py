"""The results of a sweep as tables and frames."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from flashgc._engine import ConfigError, OutputError
from flashgc.files import arguments, output
from flashgc.formatting import units
from flashgc.reports.report import Report
from flashgc.sweeps import columns, points
from flashgc.sweeps.store import DONE, MISSING, REFUSED, STATUSES, Store

if TYPE_CHECKING:
    import pyarrow as pa

    from flashgc.charts import Chart

_ENDINGS = (".parquet", ".csv", ".arrow", ".html")


MAIN = ("write_amplification", "latency_ns.all.p99", "latency_ns.all.p99_9")


class SweepResults:
    """The points of a sweep with their results, in the order of the points.

    >>> import flashgc, tempfile
    >>> axes = {"scheme": ["greedy", "fifo"], "seed": {"from": 1, "to": 3}}
    >>> small = {"config": "oltp", "set": {"device.blocks_per_plane": 64,
    ...                                    "workload.synthetic.requests": 2000}}
    >>> done = flashgc.sweep({"base": small, "axes": axes}, store=tempfile.mkdtemp(), jobs=1)
    >>> len(done), done.counts["done"], done.report(scheme="fifo", seed=2).scheme
    (6, 6, 'fifo')
    >>> done.to_pandas().groupby("scheme")["write_amplification"].mean().gt(1).all()
    np.True_
    """

    def __init__(
        self,
        name: str,
        store: Store,
        computed: int = 0,
        sources: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        table = points.read(store, name)
        if table is None:
            known = ", ".join(store.sweeps()) or "none"
            raise ConfigError(
                f"error: {store.folder} has no sweep {name!r}\n  = help: its sweeps: {known}"
            )
        self.name = name
        self.store = store.folder
        self._sources = sources
        self.computed = computed
        """The number of results that this call has computed."""
        self._axes = points.choices(table)
        self._table = _joined(table, self._axes, store)

    @property
    def axes(self) -> list[str]:
        """The names of the axes, which are columns of the frames."""
        return list(self._axes)

    @property
    def counts(self) -> dict[str, int]:
        """The number of points by status: done, failed, killed, refused, missing."""
        found = self._table["status"].to_pylist()
        return {status: found.count(status) for status in STATUSES}

    @property
    def errors(self) -> list[tuple[str, str]]:
        """The points without a result that have a reason: their choices, and the error."""
        picked = self._table.select([*self._axes, "error"]).to_pylist()
        return [
            (_chosen(row, self._axes), row["error"]) for row in picked if row["error"] is not None
        ]

    @property
    def saturated(self) -> list[str]:
        """The choices of saturated points: requests came faster than the drive could serve them.

        Their latencies depend on the length of the run, so that charts omit them.
        """
        return [_chosen(row, self._axes)
                for row in self._table.select([*self._axes, "saturated"]).to_pylist()
                if row["saturated"]]  # fmt: skip

    def __len__(self) -> int:
        return len(self._table["point"])

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)
        return f"SweepResults({self.name}: {units.counted(len(self), 'point')}, {counts})"

    def to_arrow(self, reports: bool = False) -> pa.Table:
        """A row for each point: its choices, its status, every metric; times in ns.

        With `reports` the column `report` has the whole report of each point as JSON.
        """
        return self._table if reports else self._table.drop_columns(["report"])

    def to_pandas(self, reports: bool = False) -> Any:  # noqa: ANN401 - pandas need not be installed
        """:meth:`to_arrow` as a `pandas.DataFrame`; an ImportError if there is no pandas."""
        _needs("pandas")
        return self.to_arrow(reports).to_pandas()

    def to_polars(self, reports: bool = False) -> Any:  # noqa: ANN401 - Polars need not be installed
        """:meth:`to_arrow` as a `polars.DataFrame`; an ImportError if there is no Polars."""
        return _needs("polars").from_arrow(self.to_arrow(reports))

    def report(self, **choices: object) -> Report:
        """The report of the one point with these choices, given by the names of the axes.

        A KeyError if there is none with a result, or more than one.
        """
        return self.report_of(choices)

    def report_of(self, choices: Mapping[str, object]) -> Report:
        """The report of a point, for axes whose names are not words: `{"device.exported": 0.9}`."""
        for axis in choices:
            if axis not in self._axes:
                raise KeyError(f"there is no axis {axis!r}, only {', '.join(self._axes)}")
        rows = [
            row
            for row in self._table.select([*self._axes, "status", "report"]).to_pylist()
            if all(row[axis] == value for axis, value in choices.items())
        ]
        if len(rows) != 1 or rows[0]["status"] != DONE:
            found = (
                f"{len(rows)} points" if len(rows) != 1 else f"a point that is {rows[0]['status']}"
            )
            raise KeyError(f"a single point with a result is needed, but {choices} is {found}")
        return Report(json.loads(rows[0]["report"]))

    def save(self, path: str | os.PathLike[str], again: str | None = None) -> Path:
        """Saves :meth:`to_arrow` as `.parquet`, `.csv` or `.arrow`, whole or not at all.

        A name that ends in `.html` gets a page: small multiples whose axes can be chosen, and a
        table of the points that sorts and filters. It names `again`, the command that makes it.
        """
        target = table_file(path)
        output.check_apart(target, *self._sources)
        if target.suffix == ".html":
            output.write(target, self._page(again))
        else:
            _save(self.to_arrow(), target)
        return target

    def _page(self, again: str | None) -> str:
        from flashgc.sweeps import page

        return page.whole(self.name, self.axes, self.to_arrow(reports=True), again)

    def _repr_html_(self) -> str:
        from flashgc.sweeps import page

        return page.fragment(self.axes, self.to_arrow())

    def save_figures(
        self,
        folder: str | os.PathLike[str],
        metrics: Sequence[str] | None = None,
        formats: Sequence[str] = ("svg", "pdf", "png"),
    ) -> list[Path]:
        """Saves :meth:`chart` of these metrics for a column of a paper, and returns the files.

        By default write amplification, p99 and p99.9, without those that no point has: runs without
        a clock have no latencies.

        This needs vl-convert: `pip install flashgc[figures]`.
        """
        from flashgc import charts

        given = None if metrics is None else arguments.words("metrics", metrics)
        chosen = [name for name in MAIN if self._has(name)] if given is None else given
        return charts.save([self.chart(metric) for metric in chosen], folder, formats)

    @property
    def without_figure(self) -> list[str]:
        """The metrics that :meth:`save_figures` leaves out by default, since no point has them."""
        return [name for name in MAIN if not self._has(name)]

    def _has(self, metric: str) -> bool:
        table = self._table
        return metric in table.column_names and table[metric].null_count < table.num_rows

    def chart(self, metric: str = "write_amplification") -> Chart:
        """Small multiples of a metric; `scheme` has its own lines, and points of seeds are joined.

        A KeyError if no point has this metric.
        """
        from flashgc.sweeps import page

        if not self._has(metric):
            raise KeyError(f"no point has a metric {metric!r}")
        return page.chart(self.axes, self.to_arrow(), metric)


def _chosen(row: Mapping[str, Any], axes: Iterable[str]) -> str:
    """The choices of a point in words."""
    return ", ".join(f"{axis} {row[axis]}" for axis in axes)


def table_file(path: str | os.PathLike[str]) -> Path:
    """A file for a table; an OutputError if its name has another ending, or no folder."""
    arguments.check_path("the file", path)
    target = Path(path)
    if target.suffix not in _ENDINGS:
        raise OutputError(f"error: {target}: the name must end in {', '.join(_ENDINGS)}")
    if not target.parent.is_dir():
        raise OutputError(f"error: {target}: there is no folder {target.parent}")
    return target


def _save(table: pa.Table, target: Path) -> None:
    from pyarrow import csv, feather, parquet

    writers: dict[str, Callable[[IO[bytes]], object]] = {
        ".parquet": lambda file: parquet.write_table(
            table, file, compression="zstd", write_page_checksum=True
        ),
        ".csv": lambda file: csv.write_csv(table, file),
        ".arrow": lambda file: feather.write_feather(table, file),
    }
    output.write_with(target, writers[target.suffix])


def _needs(name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"to_{name}() needs {name}: pip install {name}") from None


def _joined(table: pa.Table, axes: Mapping[str, str], store: Store) -> pa.Table:
    """The choices of each point, together with the row of its key."""
    import pyarrow as pa

    rows = store.rows(keys=[key for key in table["key"].to_pylist() if key is not None])
    places = {key: at for at, key in enumerate(rows["key"].to_pylist())}
    found = rows.take(pa.array([places.get(key) for key in table["key"].to_pylist()], pa.int64()))
    refused = table["refused"].to_pylist()
    status = [REFUSED if why else own or MISSING
              for why, own in zip(refused, found["status"].to_pylist(), strict=True)]  # fmt: skip
    error = [why or own for why, own in zip(refused, found["error"].to_pylist(), strict=True)]
    made: dict[str, Any] = {"point": table["point"]}
    made |= {axis: table[column] for axis, column in axes.items()}
    made |= {"status": pa.array(status), "error": pa.array(error, pa.string())}
    made["key"] = table["key"]
    # An axis may have the name of a metric, such as `scheme`: its choices are shown then.
    names = [*columns.metrics(), "trace", "worker", "ended_s", *columns.OF_MACHINE, "report"]
    made |= {name: found[name] for name in names if name not in made}
    return pa.table(made)
