"""The data of the tests as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flashgc.snia.measuring import Point
from flashgc.snia.procedures import Part

Parts = Mapping[str, Sequence[Part]]

MEASUREMENTS = (
    "test", "part", "phase", "round", "begin_s", "length_s", "bytes", "read_share", "sequential",
    "threads", "depth", "requests_done", "iops", "mb_per_s", "mean_us", "p99_999_us", "max_us",
    "user_capacities_written",
)  # fmt: skip
ROUNDS = ("test", "part", "variable", "unit", "round", "value", "in_window", "average", "fit")
RESULTS = (
    "test", "part", "steady", "phase", "bytes", "read_share", "sequential", "threads", "depth",
    "iops", "mb_per_s", "mean_us", "p99_999_us", "max_us",
)  # fmt: skip
RESPONSES = ("test", "part", "first_ns", "last_ns", "requests")


def files(values: Mapping[str, Any], parts: Parts) -> dict[str, str]:
    """The files by their names."""
    return {
        "measurements.csv": _text(MEASUREMENTS, _measurements(parts)),
        "rounds.csv": _text(ROUNDS, _rounds(values)),
        "results.csv": _text(RESULTS, _results(values)),
        "response-times.csv": _text(RESPONSES, _responses(parts)),
    }


def _text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.10g}" if isinstance(value, float) else "" if value is None else value


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e3


def _measurements(parts: Parts) -> Iterable[Sequence[object]]:
    for test, several in parts.items():
        for part in several:
            for point in part.points:
                yield test, part.name, *_measured(point)


def _measured(point: Point) -> Sequence[object]:
    return (
        point.phase, point.round or None, point.begin_ns / 1e9, point.length_ns / 1e9, point.bytes,
        point.read_share, point.is_sequential, point.threads, point.depth, point.done, point.iops,
        point.mb_per_s, _us(point.mean_ns), _us(point.p99_999_ns), _us(point.max_ns),
        point.written,
    )  # fmt: skip


def _each(values: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for test in values["tests"]:
        for part in test["parts"]:
            yield test["test"], part


def _rounds(values: Mapping[str, Any]) -> Iterable[Sequence[object]]:
    for test, part in _each(values):
        for one in part["tracked"]:
            first = len(one["rounds"]) - 5
            for at, value in enumerate(one["rounds"]):
                inside = one["average"] is not None and at >= first
                fit = one["first"] + one["slope"] * (at - first) if inside else None
                yield (test, part["name"], one["name"], one["unit"], at + 1, value, inside,
                       one["average"] if inside else None, fit)  # fmt: skip


def _results(values: Mapping[str, Any]) -> Iterable[Sequence[object]]:
    for test, part in _each(values):
        for one in part["results"]:
            yield (
                test, part["name"], part["steady"], one["phase"], one["bytes"], one["read_share"],
                one["sequential"], one["threads"], one["depth"], one["iops"], one["mb_per_s"],
                _us(one["mean_ns"]), _us(one["p99_999_ns"]), _us(one["max_ns"]),
            )  # fmt: skip


def _responses(parts: Parts) -> Iterable[Sequence[object]]:
    for test, several in parts.items():
        for part in several:
            if part.histogram is not None:
                for first, last, count in part.histogram.buckets.T.tolist():
                    yield test, part.name, first, last, count
