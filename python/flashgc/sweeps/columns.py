"""The columns of results: the columns of a point, and one for each metric of a report."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from flashgc.results.metrics import found_at
from flashgc.schema import section
from flashgc.schema.report_keys import Keys

if TYPE_CHECKING:
    import pyarrow as pa

OF_MACHINE = ("wall_s", "precondition_wall_s", "page_operations_per_s", "peak_rss_bytes")
"""Metrics that differ between two equal runs."""

OWN = ("point", "key", "status", "error", "ended_s", "worker", "trace", "report", *OF_MACHINE)
"""Columns besides the metrics of the simulation; no axis has such a name."""

_NO_METRICS = ("config", "drive", "converted", "fit")
"""Sections that are inputs of a run."""

_KINDS = {int: "int64", float: "float64", str: "string", bool: "bool"}


@functools.cache
def metrics() -> dict[str, str]:
    """The metrics of a report that are single values, by their dotted names, with their types."""
    return dict(_leaves(Keys, ()))


def _leaves(keys: type[section.Section], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name, hint in section.declared(keys).items():
        kind = section.plain(hint)
        here = (*path, name)
        if kind in _KINDS:
            if name not in OF_MACHINE:
                yield ".".join(here), _KINDS[kind]
        elif _is_section(kind) and name not in _NO_METRICS:
            yield from _leaves(kind, here)


def state(row: Mapping[str, Any]) -> str:
    """The status of a point; of one with a result, whether it is saturated."""
    return "saturated" if row["saturated"] else str(row["status"])


def about_saturated(count: int) -> str:
    """The meaning of saturation for a number of points, in words.

    >>> from flashgc.sweeps import columns
    >>> columns.about_saturated(1)[:21]
    '1 point is saturated:'
    """
    verb, their, them = ("point is", "its", "it") if count == 1 else ("points are", "their", "them")
    return (
        f"{count:,} {verb} saturated: requests arrive faster than the drive serves them, so that "
        f"{their} latencies depend on the length of the run, and charts omit {them}"
    )


def is_time(name: str) -> bool:
    """Whether a metric is a time in ns."""
    return name.endswith("_ns") or name.startswith("latency_ns.")


def _is_section(kind: object) -> TypeGuard[type[section.Section]]:
    return isinstance(kind, type) and issubclass(kind, section.Section)


def schema() -> pa.Schema:
    """The columns of a file of results."""
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    own = [("key", text), ("status", text), ("error", text), ("ended_s", number),
           ("worker", text), ("trace", text),
           *((name, number) for name in OF_MACHINE)]  # fmt: skip
    kinds = {"int64": pa.int64(), "float64": number, "string": text, "bool": pa.bool_()}
    values = [(name, kinds[kind]) for name, kind in metrics().items()]
    return pa.schema([*own, *values, ("report", text)])


def values(report: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all metric columns; None for those that a report lacks."""
    return {name: found_at(report, path) for name, path in _paths()}


@functools.cache
def _paths() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, tuple(name.split("."))) for name in metrics())
