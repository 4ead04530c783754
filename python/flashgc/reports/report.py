"""The results of a run: metrics by the names of the contract, tables, and a page to keep."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashgc._engine import ConfigError, Outcome
from flashgc.files import output
from flashgc.results.metrics import ComparedResults, Distribution, RunResults
from flashgc.schema import section
from flashgc.schema.report_keys import Keys

if TYPE_CHECKING:
    from flashgc.charts import Chart


class _Shown:
    """The common part of one run and of several: a folder to keep them in, charts and figures."""

    def to_json(self, indent: int | None = 2) -> str:
        """The metrics as JSON."""
        raise NotImplementedError

    def save_folder(self, folder: str | os.PathLike[str], again: str | None = None) -> list[Path]:
        """Saves `report.html`, `report.json` and `curves.json`, as `--out` does.

        :func:`flashgc.load` reads them again. The files are returned. `again` is the command that
        the page names, where these runs were not made by one.
        """
        from flashgc.reports import saving

        several = _several(self)
        return saving.save(several, self.to_json(), folder, again)

    def charts(self) -> list[Chart]:
        """The charts of the page; a notebook draws them.

        >>> import flashgc
        >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
        >>> [chart.name for chart in flashgc.run("oltp", set=small).charts()]
        ['latency', 'percentiles-reads', 'percentiles-writes', 'activity']
        """
        from flashgc.pages import page

        several: list[Any] = self if isinstance(self, list) else [self]
        named = page.named(several)
        return [chart for _, drawn in page.drawings(named) for chart in drawn]

    def save_figures(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("svg", "pdf", "png")
    ) -> list[Path]:
        """Saves each chart as a figure for a column of a paper, and returns the files.

        This needs vl-convert: `pip install flashgc[figures]`.
        """
        from flashgc import charts

        return charts.save(self.charts(), folder, formats)


class Report(RunResults, _Shown):
    """The results of one run.

    Every key of the contract (`flashgc run --json`) is an attribute and an item: times in
    nanoseconds (`_ns`), sizes in bytes (`_bytes`), shares between 0 and 1; a metric that is
    undefined is None.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> report = flashgc.run("oltp", set=small)
    >>> report.requests.read + report.requests.write
    2000
    >>> report["latency_ns"]["read"]["p50"] == report.latency_ns.read.p50
    True
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        distributions: Mapping[str, Distribution] | None = None,
    ) -> None:
        section.check_whole(
            "a report", values, Keys,
            "`flashgc.run` makes a report, and `flashgc.load` reads a saved one",
        )  # fmt: skip
        super().__init__(values, distributions)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the metrics: `.json`, or `.html` for a page that needs nothing else.

        The file appears whole or not at all; an OutputError says why not.
        """
        return _save(self, path)

    def _repr_html_(self) -> str:
        from flashgc.pages import page

        return page.fragment([self])


class Comparison(ComparedResults[Report], _Shown):
    """The reports of several schemes on one drive and the same requests, in the order given.

    A report by its place or by the name of its scheme:

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> both = flashgc.compare("oltp", ["greedy", "fifo"], set=small)
    >>> both["fifo"].scheme, both[0].scheme, both.keys(), "fifo" in both
    ('fifo', 'greedy', ['greedy', 'fifo'], True)
    """

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves all reports: `.json`, or `.html` for a page that needs nothing else."""
        return _save(self, path)

    def _repr_html_(self) -> str:
        from flashgc.pages import page

        return page.fragment(self) if self else "<p>no runs</p>"


def of_outcome(outcome: Outcome) -> Report:
    """The report of a run, as the engine returns it."""
    distributions = {"read": outcome.read, "write": outcome.write}
    return Report(json.loads(outcome.report), distributions)


def _several(what: object) -> list[Any]:
    """The runs of a result that is saved: one or more."""
    if isinstance(what, list) and not what:
        raise ConfigError(
            "error: a comparison without a report cannot be saved\n"
            "  = help: `flashgc.compare` makes one, as in "
            'flashgc.compare("oltp", ["greedy", "fifo"])'
        )
    return what if isinstance(what, list) else [what]


def _save(what: Report | Comparison, path: str | os.PathLike[str]) -> Path:
    several = _several(what)

    def whole() -> str:
        from flashgc.pages import page

        return page.whole(several)

    return output.save(path, what.to_json, whole)
