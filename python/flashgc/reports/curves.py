"""The curves of a saved result, read again: its origin, distributions, and tables over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flashgc.formatting.table import Table
from flashgc.results import metrics
from flashgc.results.metrics import Distribution, Origin, RunResults
from flashgc.results.over_time import KINDS, OverTime

_SPAN = ("start_ns", "end_ns")
_COLUMNS = {
    "responses": {*_SPAN, *(f"requests_{kind}" for kind in KINDS),
                  *(f"latency_{kind}_{which}_ns" for kind in KINDS for which in ("mean", "max"))},
    "states": {*_SPAN, "free_blocks_min", "free_blocks_end", "used_pages_end", "outstanding_max",
               "gc_count", "gc_moved", "gc_busy_ns"},
    "collections": {"first", "count", "moved_min", "moved_mean", "moved_max"},
    "wear": {"plane", "planes", "block", "blocks", "erases"},
}  # fmt: skip
"""The columns of each table over time."""
_MOST = 2**63


class WrongError(Exception):
    """What no file of curves has, in words."""


def add(report: RunResults, curves: Mapping[str, Any]) -> None:
    """Adds the curves of a run to its report."""
    metrics.note(
        report, origin=_origin(curves.get("origin")), over_time=_over_time(curves.get("over_time")),
        distributions=_distributions(curves.get("distributions")),
    )  # fmt: skip


def _origin(given: object) -> Origin | None:
    if given is None:
        return None
    if not isinstance(given, Mapping) or {*given} != {"config", "trace", "again"}:
        raise WrongError("`origin` needs config, trace and again")
    for name, value in given.items():
        if not isinstance(value, str) and not (name == "trace" and value is None):
            raise WrongError(f"`origin.{name}` is not a text")
    return Origin(**given)


def _distributions(given: object) -> dict[str, Distribution]:
    if not isinstance(given, Mapping):
        raise WrongError("`distributions` is not a table of read and write")
    for kind, pairs in given.items():
        if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
            raise WrongError(f"`distributions.{kind}` is not a list of latencies with counts")
    return {kind: [(latency, count) for latency, count in given[kind]] for kind in given}


def _over_time(given: object) -> OverTime | None:
    if given is None:
        return None
    if not isinstance(given, Mapping) or {*given} != {*_COLUMNS}:
        raise WrongError(f"`over_time` needs the tables {', '.join(_COLUMNS)}")
    for name, known in _COLUMNS.items():
        table = given[name]
        if not isinstance(table, Mapping) or {*table} != known:
            raise WrongError(f"`over_time.{name}` has other columns than those of a result")
        columns = [column if isinstance(column, list) else None for column in table.values()]
        if len({None if column is None else len(column) for column in columns}) != 1:
            raise WrongError(f"the columns of `over_time.{name}` have different lengths")
        if not all(column is not None and all(map(_is_number, column)) for column in columns):
            raise WrongError(f"`over_time.{name}` has values that are not numbers")
    return OverTime(**{name: Table(columns) for name, columns in given.items()})


def _is_pair(given: object) -> bool:
    return isinstance(given, list) and len(given) == 2 and all(map(_is_whole, given))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, float) or _is_whole(value)
