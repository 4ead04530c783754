"""The metrics of a run by the names of the contract, and as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, SupportsIndex, TypeVar, overload

from flashgc._engine import ConfigError
from flashgc.files import arguments
from flashgc.formatting import units
from flashgc.formatting.table import Table
from flashgc.results.refusal import Refusal
from flashgc.schema.collection_keys import GcTime
from flashgc.schema.report_keys import Keys
from flashgc.schema.section import Section, declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashgc.results.over_time import OverTime

KINDS = ("read", "write", "all")
METRICS = (
    "count", "mean", "stddev", "min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max",
)  # fmt: skip

Distribution = list[tuple[int, int]]

_OPTIONS = {
    "blame": "blame=True, or --blame",
    "seeds": "flashgc.run_seeds, with seeds=N of compare, or --seeds N",
    "without_gc_cost": "cost=True of flashgc.compare",
}
"""Metrics that a run has only if they were requested, and how."""


@dataclass(frozen=True)
class Origin:
    """The origin of a report, apart from its metrics."""

    config: str
    """The name of the configuration."""
    trace: str | None
    """The file of the trace, or None where requests are drawn."""
    again: str
    """The command or the call that makes it."""


class RunResults(Keys):
    """The metrics of one run by the names of the contract, without a form to keep them in."""

    def __init__(
        self,
        values: Mapping[str, Any],
        distributions: Mapping[str, Distribution] | None = None,
    ) -> None:
        super().__init__(values)
        self._distributions = dict(distributions or {})
        self._over_time: OverTime | None = None
        self._origin: Origin | None = None

    @property
    def is_timed(self) -> bool:
        """Whether the run had a clock; with `engine.timing = "none"` no metric of time is there.

        >>> import flashgc
        >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
        >>> flashgc.run("oltp", set=small, untimed=True).is_timed
        False
        """
        return not self._values.get("untimed", False)

    def _without(self, name: str) -> str:
        if name in _OPTIONS:
            return f"it comes with {_OPTIONS[name]}"
        if not self.is_timed and name in declared(type(self)):
            return 'the run has no times: it ran with engine.timing = "none"'
        return super()._without(name)

    def _needs_times(self) -> None:
        if not self.is_timed:
            raise ValueError('the run has no times: it ran with engine.timing = "none"')

    @property
    def latency(self) -> Table:
        """Latencies: a row each for reads, writes and all; times in ns, NaN where undefined.

        >>> import flashgc
        >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
        >>> report = flashgc.run("oltp", set=small)
        >>> list(report.latency["kind"])
        [...'read'..., ...'write'..., ...'all'...]
        >>> report.latency["p99"].shape
        (3,)
        """
        self._needs_times()
        latency = self._values["latency_ns"]
        columns = {name: [latency[kind][name] for kind in KINDS] for name in METRICS}
        return Table({"kind": KINDS, **columns})

    def distribution(self, kind: str = "all") -> Table:
        """How the latencies of `read`, `write` or `all` requests are spread.

        One row for each bucket of the histogram that has samples, in order: `latency_ns` (its
        upper end, int64), `count` (int64) and `share` (of the samples up to there, 0 to 1).
        A ValueError for any other kind. A report that was read without its distributions, as from
        a sweep, has no rows here.

        >>> import flashgc
        >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
        >>> report = flashgc.run("oltp", set=small)
        >>> spread = report.distribution("write")
        >>> int(spread["count"].sum()) == report.requests.write
        True
        """
        import numpy as np

        self._needs_times()
        if kind not in KINDS:
            raise ValueError(f"the kind must be read, write or all, not {kind!r}")
        if kind == "all":
            buckets = sorted(pair for one in self._distributions.values() for pair in one)
        else:
            buckets = self._distributions.get(kind, [])
        pairs = np.array(buckets, dtype=np.int64).reshape(-1, 2)
        latency, place = np.unique(pairs[:, 0], return_inverse=True)
        count = np.zeros(len(latency), dtype=np.int64)
        np.add.at(count, place, pairs[:, 1])
        share = np.cumsum(count) / max(int(count.sum()), 1)
        return Table({"latency_ns": latency, "count": count, "share": share})

    @property
    def over_time(self) -> OverTime | None:
        """Longest responses over time and the pages moved by each collection, if `run` kept them.

        It is not in :meth:`to_dict` and not in a saved `.json` file; a page (`.html`) draws it.

        >>> import flashgc, numpy
        >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
        >>> report = flashgc.run("oltp", set=small, over_time=True)
        >>> longest_ns = report.over_time.responses["latency_read_max_ns"]
        >>> int(numpy.nanmax(longest_ns)) == report.latency_ns.read.max
        True
        >>> int(report.over_time.collections["count"].sum()) == report.gc.count
        True
        """
        return self._over_time

    @property
    def gc_time(self) -> GcTime:
        """How collection used its time: `busy_ns`, and the three parts of it, all in ns.

        `busy_ns` is `gc.total_busy_ns` of the report. `background_ns` is the time of moving pages
        before their collections (`background.busy_ns`). `erase_ns` is the number of erase
        operations times the time of one, and `move_ns` is the rest: reading and programming the
        pages that collections move and, where requests preempt collections, the time of suspending
        and resuming, and an erase that had not ended.
        `erase_share`, `move_share` and `background_share` are their shares of `busy_ns`, from 0 to
        1; None where collection took no time.

        >>> import flashgc
        >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
        >>> report = flashgc.run("oltp", set=small)
        >>> time = report.gc_time
        >>> time.busy_ns == report.gc.total_busy_ns
        True
        >>> time.erase_ns + time.move_ns + time.background_ns == time.busy_ns
        True
        """
        self._needs_times()
        gc = self._values["gc"]
        each_ns = self._values["config"]["device"]["timing"]["erase_ns"]
        erase_ns = self._values["erase_operations"] * each_ns
        busy_ns = gc["total_busy_ns"]
        parts = {
            "erase": erase_ns,
            "move": gc["busy_ns"] - erase_ns,
            "background": busy_ns - gc["busy_ns"],
        }
        times = {f"{name}_ns": part for name, part in parts.items()}
        shares = {
            f"{name}_share": part / busy_ns if busy_ns else None for name, part in parts.items()
        }
        return GcTime({"busy_ns": busy_ns, **times, **shares})

    def __repr__(self) -> str:
        # Metrics that a report lacks, such as one made by hand, are omitted.
        shown = [f"seed {self._values['seed']}"] if "seed" in self._values else []
        served = self._values.get("requests", {})
        count = sum(served.get(kind, 0) for kind in ("read", "write", "trim"))
        amplification = self._values.get("write_amplification")
        longest_ns = found_at(self, ("latency_ns", "all", "p99_9"))
        shown += [units.counted(count, "request")] if served else []
        shown += [f"write amplification {amplification:.4g}"] if amplification else []
        shown += [f"p99.9 {units.time(longest_ns)}"] if longest_ns is not None else []
        names = f"{self._values.get('scheme')} on {self._values.get('device')}"
        return f"{type(self).__name__}({', '.join([names, *shown])})"

    def to_json(self, indent: int | None = 2) -> str:
        """The metrics as one JSON object."""
        return json.dumps(self._values, indent=indent)


def note(
    report: RunResults,
    *,
    origin: Origin | None = None,
    over_time: OverTime | None = None,
    distributions: Mapping[str, Distribution] | None = None,
    **metrics: object,
) -> None:
    """Adds facts to a report within the package; for users a report is read-only."""
    report._origin = origin or report._origin
    report._over_time = over_time or report._over_time
    report._distributions.update(distributions or {})
    report._values.update(metrics)


def origin(report: RunResults) -> Origin | None:
    """The origin of a report, where it is known."""
    return report._origin


def again(report: RunResults) -> str | None:
    """The command or the call that makes a report again, where it is known."""
    return report._origin.again if report._origin else None


def distributions(report: RunResults) -> dict[str, Distribution]:
    """The histograms of latencies, by the kind of request."""
    return report._distributions


Run = TypeVar("Run", bound=RunResults)
_Part = TypeVar("_Part")


class ComparedResults(list[Run], Generic[Run]):
    """The metrics of several schemes on one drive and the same requests."""

    def __init__(self, reports: Iterable[Run] = (), refused: Iterable[Refusal] = ()) -> None:
        super().__init__(_parts("reports", RunResults, reports))
        self._refused = _parts("refused schemes", Refusal, refused)

    @property
    def refused(self) -> list[Refusal]:
        """Schemes that could not run here, each with its reason and advice."""
        return list(self._refused)

    @overload
    def __getitem__(self, which: SupportsIndex | str) -> Run: ...
    @overload
    def __getitem__(self, which: slice) -> Self: ...
    def __getitem__(self, which: SupportsIndex | str | slice) -> Run | Self:
        if isinstance(which, slice):
            return type(self)(super().__getitem__(which), self._refused)
        if not isinstance(which, str):
            return super().__getitem__(which)
        for report in self:
            if report.scheme == which:
                return report
        for refused in self._refused:
            if refused.scheme == which:
                raise KeyError(f"{which} could not run: {refused.reason}")
        raise KeyError(f"the comparison has no scheme {which!r}, only {', '.join(self.keys())}")

    def __contains__(self, which: object) -> bool:
        return which in self.keys() if isinstance(which, str) else super().__contains__(which)

    def __add__(self, others: list[Any]) -> Self:  # type: ignore[override]
        if not isinstance(others, list):
            return NotImplemented
        refused = others._refused if isinstance(others, ComparedResults) else []
        return type(self)([*self, *others], dict.fromkeys([*self._refused, *refused]))

    def copy(self) -> Self:
        """Another comparison of the same reports."""
        return type(self)(self, self._refused)

    def keys(self) -> list[str]:
        """The names of the schemes that ran, in order."""
        return [report.scheme for report in self]

    def __repr__(self) -> str:
        refused = f"; refused: {', '.join(one.scheme for one in self._refused)}"
        return f"{type(self).__name__}({', '.join(self.keys())}{refused if self._refused else ''})"

    @property
    def unequal(self) -> dict[str, list[Any]]:
        """Properties that should be the same for all schemes and are not, with their values."""
        rows = {name: [found_at(report, path) for report in self] for name, path in EQUAL.items()}
        rows["requests"] = list(map(requests, self))
        return {name: row for name, row in rows.items() if any(item != row[0] for item in row)}

    def to_dict(self) -> list[dict[str, Any]]:
        """The reports as plain dictionaries; after them the refused schemes, without metrics."""
        reports = [report.to_dict() for report in self]
        return [*reports, *(one.to_dict() for one in self._refused)]

    def to_json(self, indent: int | None = 2) -> str:
        """The reports as one JSON list."""
        return json.dumps(self.to_dict(), indent=indent)

    @property
    def table(self) -> Table:
        """The main metrics, a row for each scheme: latencies in ns, wear in erases."""
        columns: dict[str, list[Any]] = {"scheme": [report.scheme for report in self]}
        for name, path in MAIN_METRICS.items():
            columns[name] = [found_at(report, path) for report in self]
        return Table(columns)


def _parts(what: str, kind: type[Any], given: Iterable[_Part]) -> list[_Part]:
    """The parts of a comparison, and nothing else; a report is not a list of its keys."""
    if not isinstance(given, Iterable) or isinstance(given, str | Section):
        raise ConfigError(_no_parts(what, given))
    found = list(given)
    for one in found:
        if not isinstance(one, kind):
            raise ConfigError(_no_parts(what, [one]))
    return found


def _no_parts(what: str, given: object) -> str:
    return (
        f"error: a comparison is made from a list of {what}, got {arguments.shown(given)}\n"
        "  = help: `flashgc.compare` makes a comparison, and `flashgc.load` reads a saved one"
    )


EQUAL = {
    "user pages": ("capacity", "exported_pages"),
    "physical pages": ("capacity", "physical_pages"),
    "reserve pages": ("capacity", "reserve_pages"),
    "preconditioning": ("config", "precondition"),
    "drive writes before": ("precondition", "drive_writes"),
}
"""Properties that must be equal in a fair comparison, next to the number of requests."""

COUNTS = (
    ("gc", "count"), ("pages", "gc_moved"), ("pages", "background_moved"), ("erases",),
    ("gc", "total_busy_ns"), ("background", "busy_ns"), ("gc", "blocking_ns"), ("wear", "max"),
    ("failures", "retired_blocks"),
)  # fmt: skip
"""Metrics that grow with the length of a run: different lengths are compared per drive write."""

MAIN_METRICS = {
    "p50": ("latency_ns", "all", "p50"),
    "p90": ("latency_ns", "all", "p90"),
    "p95": ("latency_ns", "all", "p95"),
    "p99": ("latency_ns", "all", "p99"),
    "p99_9": ("latency_ns", "all", "p99_9"),
    "p99_99": ("latency_ns", "all", "p99_99"),
    "write_amplification": ("write_amplification",),
    "erases": ("erases",),
    "gc_count": ("gc", "count"),
    "gc_total_busy_ns": ("gc", "total_busy_ns"),
}
"""The columns of a comparison, with where each is found in a report."""


def requests(report: Mapping[str, Any]) -> int | None:
    """The requests of a run: reads, writes and trims."""
    found = report.get("requests")
    return None if found is None else sum(found[kind] for kind in ("read", "write", "trim"))


def lengths_differ(reports: Sequence[Mapping[str, Any]]) -> bool:
    """Whether runs have different numbers of requests, so that counts and times do not compare."""
    return len({requests(report) for report in reports}) > 1


def drive_writes(report: Mapping[str, Any]) -> float | None:
    """The number of times that the host wrote the user capacity; None without writes."""
    written = found_at(report, ("pages", "host_written"))
    return written / report["capacity"]["exported_pages"] if written else None


def found_at(values: Mapping[str, Any], path: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    """The value at a path of keys; None where a key is missing."""
    found: Any = values
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def unique(names: Sequence[str]) -> list[str]:
    """The names, those that occur more than once with a number.

    >>> from flashgc.results.metrics import unique
    >>> unique(["greedy", "fifo", "greedy"])
    ['greedy (1)', 'fifo', 'greedy (2)']
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(f"{name} ({seen[name]})" if names.count(name) > 1 else name)
    return found
