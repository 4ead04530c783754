"""Runs all planned runs, several at a time, and saves each report as soon as it is complete."""

from __future__ import annotations

import csv
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import flashgc._engine as engine
from flashgc._engine import OutputError
from flashgc._engine_types import NO_LOGS, Logs
from flashgc.files import output, reading
from flashgc.machine.processors import at_once
from flashgc.reports.report import Report
from flashgc.reproduction import cliffs, shared
from flashgc.reproduction.experiment import Point
from flashgc.reproduction.plan import Planned
from flashgc.running import executing

DISTRIBUTION = "distribution"
SERIES = "series"
REQUESTS = "workload"


class Step(NamedTuple):
    """The progress of a reproduction."""

    share: float
    """The share of the work, between 0 and 1; runs count by the size of their drives."""
    runs_done: int
    runs: int
    kept: int
    """The number of runs among the done ones that were there from before."""
    label: str
    """A run that is active now."""


Told = Callable[[Step], object]


def run_all(
    planned: Sequence[Planned],
    folder: Path,
    jobs: int | None,
    fresh: bool,
    told: Told | None,
) -> dict[Point, Mapping[str, Any]]:
    """The reports of all runs; those that the folder has from before are not run again.

    Runs that are decided by the same, though they have other names in the paper, are one.
    """
    output.folder(folder)
    every, planned = planned, _distinct(planned)
    kept = {} if fresh else {one.point: _kept(folder, one) for one in planned}
    reports = {point: report for point, report in kept.items() if report is not None}
    # The longest go first, so that the last ones to end are short.
    missing = sorted(
        (one for one in planned if one.point not in reports), key=lambda one: -one.table_bytes
    )
    follow = _Follow(planned, missing, len(reports), told)

    alone = threading.Lock()

    def done(index: int, report: Report) -> None:
        one = missing[index]
        values = report.to_dict() | _extras(folder, one, report)
        with alone:  # runs end in threads of their own
            _keep(folder, one, values)
            reports[one.point] = values
        follow.ended(index)

    if missing:
        parallel = at_once(jobs, max(one.table_bytes for one in missing))
        checked = [one.run for one in missing]
        logs = [_logs(folder, one) for one in missing]
        shared.run_all(checked, folder, parallel, follow.progress, done, logs)
    by_key = {one.key: reports[one.point] for one in planned}
    return {one.point: by_key[one.key] for one in every}


def _distinct(planned: Sequence[Planned]) -> list[Planned]:
    """One of each key, with the extra data of all runs of this key."""
    extras: dict[str, frozenset[str]] = {}
    for one in planned:
        extras[one.key] = extras.get(one.key, frozenset()) | one.extras
    first = {one.key: one for one in reversed(planned)}
    return [replace(one, extras=extras[one.key]) for one in planned if first[one.key] is one]


def _logs(folder: Path, one: Planned) -> Logs | None:
    """The files that a run writes in addition to its report."""
    series = _file(folder, one, "csv") if SERIES in one.extras else None
    gc_log = _file(folder, one, "gc.csv") if cliffs.MOVES in one.extras else None
    if series is None and gc_log is None:
        return None
    return {**NO_LOGS, "gc_log": gc_log, "series": series}


def _extras(folder: Path, one: Planned, report: Report) -> dict[str, Any]:
    """The data that is kept in addition to the metrics of the report."""
    found: dict[str, Any] = {}
    if DISTRIBUTION in one.extras:
        spread = report.distribution("all")
        pairs = zip(spread["latency_ns"].tolist(), spread["count"].tolist(), strict=True)
        found[DISTRIBUTION] = [list(pair) for pair in pairs]
    if SERIES in one.extras:
        rows = csv.reader(reading.read_text(_file(folder, one, "csv")).splitlines())
        head, *body = rows
        columns = zip(head, zip(*body, strict=True), strict=True)
        found[SERIES] = {
            name: [float(cell) if cell else None for cell in column] for name, column in columns
        }
    if REQUESTS in one.extras:
        # A trace has its own statistics: flashgc trace info.
        found[REQUESTS] = {} if one.file else json.loads(engine.workload_statistics(one.request))
    if cliffs.MOVES in one.extras:
        found[cliffs.MOVES] = cliffs.read_moves(_file(folder, one, "gc.csv"))
    return found


class _Follow:
    """Adds up how far all runs are."""

    def __init__(
        self, planned: Sequence[Planned], missing: Sequence[Planned], kept: int, told: Told | None
    ) -> None:
        self._missing, self._runs, self._kept, self._told = missing, len(planned), kept, told
        self._weights = [float(one.table_bytes) for one in missing]
        self._shares = [0.0 for _ in missing]
        self._done = 0
        self._tell("")

    def progress(self, index: int, step: executing.Progress) -> None:
        """A run is so far: preconditioning is taken for the first half of it."""
        part = step.done / step.total if step.total else 0.0
        share = 0.5 + 0.5 * min(part, 1.0) if step.phase == "run" else 0.25 * min(part, 1.0)
        self._shares[index] = max(self._shares[index], share)
        self._tell(self._missing[index].label)

    def ended(self, index: int) -> None:
        """A run is done."""
        self._shares[index] = 1.0
        self._done += 1
        self._tell(self._missing[index].label)

    def _tell(self, label: str) -> None:
        if self._told is None:
            return
        pairs = zip(self._weights, self._shares, strict=True)
        share = sum(weight * share for weight, share in pairs) / (sum(self._weights) or 1.0)
        done = self._kept + self._done
        self._told(Step(share if self._missing else 1.0, done, self._runs, self._kept, label))


def file_name(one: Planned, ending: str = "json") -> str:
    """The name of a file of a run."""
    words = re.sub(r"[^a-z0-9]+", "-", one.label.lower()).strip("-")
    return f"{words}-{one.key[:12]}.{ending}"


def _file(folder: Path, one: Planned, ending: str = "json") -> Path:
    return folder / file_name(one, ending)


def _keep(folder: Path, one: Planned, report: Mapping[str, Any]) -> None:
    kept = {"run": one.label, "key": one.key, "version": engine.__version__, "report": report}
    output.write(_file(folder, one), json.dumps(kept, indent=1) + "\n")


def _kept(folder: Path, one: Planned) -> Mapping[str, Any] | None:
    """The report of this very run, if it is there whole."""
    path = _file(folder, one)
    try:
        kept = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as reason:
        raise OutputError(f"error: {path}: {(reason.strerror or str(reason)).lower()}") from None
    except ValueError:
        return None
    whole = isinstance(kept, dict) and kept.get("key") == one.key
    report = kept.get("report") if whole else None
    if not isinstance(report, dict) or any(extra not in report for extra in one.extras):
        return None
    return report
