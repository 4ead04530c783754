"""Runs of a search on the workers and in the store of sweeps: equal runs are computed once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import RunError
from flashgc._engine_types import Request
from flashgc.axes import layers
from flashgc.axes.layers import Checked
from flashgc.sweeps import stale
from flashgc.sweeps.agenda import Agenda
from flashgc.sweeps.outcome import Backend
from flashgc.sweeps.plan import Planned
from flashgc.sweeps.store import DONE, FAILED, Row, Writer
from flashgc.sweeps.work import Task

Report = Mapping[str, Any]


class Run:
    """A run that the engine has accepted, with the words that name it."""

    def __init__(self, label: str, request: Request) -> None:
        self.label = label
        found = json.loads(engine.check(request))
        path = request["trace_path"]
        content = None if path is None else layers.content_of(Path(path))
        self.checked = Checked(
            request, found["settings"], found["config_hash"], found["drive"], content,
            found["awaits_fit"],
        )  # fmt: skip
        self.key = self.checked.key


class Pool:
    """Workers that stay for the whole search."""

    def __init__(self, writer: Writer, backend: Backend) -> None:
        self._writer, self._backend = writer, backend
        self._known = dict(stale.known(writer))
        self._reports: dict[str, Report | None] = {}
        self._agenda: Agenda | None = None
        self._rows: Generator[tuple[Task, Row]] | None = None
        self.computed = 0
        """The number of runs that were computed now."""

    def run(self, runs: Sequence[Run], told: Any = None) -> list[Report | None]:  # noqa: ANN401
        """The report of each run; None where it ended in an error of its own."""
        unique = {one.key: one for one in runs}
        kept = [key for key in unique if key not in self._reports
                and self._known.get(key) in (DONE, FAILED)]  # fmt: skip
        self._read(kept)
        missing = [one for key, one in unique.items() if key not in self._reports]
        done = len(unique) - len(missing)
        if told is not None:
            told(done, len(unique))
        for row in self._computed(missing):
            done += 1
            self._note(row)
            if told is not None:
                told(done, len(unique))
        return [self._reports[one.key] for one in runs]

    def _read(self, keys: Sequence[str]) -> None:
        """Results that are there from before."""
        if not keys:
            return
        table = self._writer.rows(["report", "error"], keys)
        for row in table.select(["key", "report"]).to_pylist():
            text = row["report"]
            self._reports[row["key"]] = None if text is None else json.loads(text)

    def _note(self, row: Row) -> None:
        if row["status"] not in (DONE, FAILED):
            raise RunError(f"{row['error']}\n  = note: in a run of the search")
        text = row["report"]
        self._reports[row["key"]] = None if text is None else json.loads(text)
        self._known[row["key"]] = row["status"]
        self.computed += 1

    def _computed(self, missing: Sequence[Run]) -> Generator[Row]:
        """The row of each run as soon as it is there."""
        if not missing:
            return
        points = [Planned(at, one.label, (), one.checked, None) for at, one in enumerate(missing)]
        if self._agenda is None or self._rows is None:
            self._agenda = Agenda(points, self._writer, stays=True)
            self._rows = self._backend.run(self._agenda)
        else:
            self._agenda.add(points)
        for _ in missing:
            _, row = next(self._rows)
            self._writer.add(row)
            yield row

    def close(self) -> None:
        """Ends the workers."""
        if self._rows is not None:
            self._rows.close()
            with contextlib.suppress(OSError):
                self._writer.remove_drives()
