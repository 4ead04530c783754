"""`flashgc.sweep`: runs the points of a sweep that have no result yet."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from flashgc._engine import ConfigError, OutputError
from flashgc.files import arguments, output
from flashgc.running import building, inputs
from flashgc.sweeps import on_ray, plan, points, stale
from flashgc.sweeps.agenda import Agenda
from flashgc.sweeps.local import Local
from flashgc.sweeps.plan import Planned
from flashgc.sweeps.results import SweepResults
from flashgc.sweeps.store import DONE, Row, Store, Writer
from flashgc.sweeps.work import Task

if TYPE_CHECKING:
    from flashgc.sweeps.read import Sweep

PathLike = str | os.PathLike[str]
Given = PathLike | Mapping[str, object]

STORE = Path("runs/sweeps")
WORKERS_MAX = 1024
"""Workers of one machine at most; each has a thread, also where it has nothing to do."""


class SweepProgress(NamedTuple):
    """The progress of a sweep."""

    phase: str
    """`check` while the engine checks the points, then `run`."""
    done: int
    """Points that are checked, or that have a result by now."""
    total: int
    kept: int
    """The number of these results that were there from before."""
    label: str
    """The point that has ended last."""


Told = Callable[[SweepProgress], object]


class Backend(Protocol):
    """The place where tasks run."""

    @property
    def workers(self) -> list[str]:
        """Its workers, or their nodes, in words."""

    def run(self, agenda: Agenda) -> Generator[tuple[Task, Row]]:
        """The row of each point as soon as it is there."""


def sweep(
    sweep: Given,
    *,
    store: PathLike = STORE,
    jobs: int | None = None,
    on: str | None = None,
    traces: PathLike | None = None,
    quick: bool = False,
    retry: bool = False,
    progress: Told | None = None,
) -> SweepResults:
    """Runs all points of a sweep that have no result yet, and returns the results of all points.

    Args:
        sweep: a SWEEP.toml, its text, or a dictionary with the same tables: `axes`, and optionally
            `base`, `draw`, `points` and `name`; docs/sweeps.md has the syntax.
        store: the folder of results. A point with the same configuration, content of its trace and
            version of flashgc is computed once, whatever sweep it belongs to.
        jobs: number of workers; one for each processor if not given, limited by the memory.
        on: where points run: on this machine if not given; `"ray"` for Ray on this machine, or
            `"ray://HOST:PORT"` for a cluster (`pip install flashgc[ray]`).
        traces: a folder of traces for choices that name `files`.
        quick: whether the settings `quick` of base and choices apply: a test that all works.
        retry: whether points that ended in an error run again.
        progress: called with a :class:`SweepProgress`; an exception from it ends the sweep.

    Raises:
        ConfigError: mistakes in the sweep; or the engine refuses all points.
        TraceError: a trace that cannot be read.
        OutputError: results that cannot be written, or another sweep writes into the folder.

    A point that fails, or that the engine refuses, ends no other: see :attr:`SweepResults.errors`.
    Interrupted or killed, a sweep continues at the next call.

    """
    quick, retry = arguments.switch("quick", quick), arguments.switch("retry", retry)
    arguments.check_paths(traces=traces)
    arguments.check_function(progress=progress)
    asked = _read(sweep)
    backend = backend_for(on, jobs)
    told = progress or (lambda _: None)
    planned = _planned(asked, traces, quick, told)
    with Writer(store) as writer:
        known = stale.known(writer)
        points.write(writer, asked, planned)
        unique = plan.by_key(planned)
        missing = [one for one in unique.values() if stale.has_to_run(one, known, retry)]
        computed = _run(asked, missing, len(unique), writer, backend, told) if missing else 0
    return SweepResults(asked.name, Store(store), computed, _sources(planned))


def _sources(planned: Sequence[Planned]) -> list[PathLike]:
    """The files that the points read."""
    found = [path for one in planned if one.run is not None
             for path in building.files_of(one.run.request)]  # fmt: skip
    return list(dict.fromkeys(found))


def explain(
    sweep: Given,
    *,
    store: PathLike = STORE,
    traces: PathLike | None = None,
    quick: bool = False,
    retry: bool = False,
) -> dict[str, list[str]]:
    """Why points of a sweep have to run: for each reason the points. Nothing runs.

    >>> import flashgc, tempfile
    >>> flashgc.explain_sweep({"base": {"config": "oltp"}, "axes": {"seed": [1, 2]}},
    ...                       store=tempfile.mkdtemp())
    {'new': ['seed 1', 'seed 2']}
    """
    quick, retry = arguments.switch("quick", quick), arguments.switch("retry", retry)
    arguments.check_paths(traces=traces)
    asked = _read(sweep)
    planned = _planned(asked, traces, quick, lambda _: None)
    folder = Store(store)
    return stale.reasons(planned, stale.known(folder), retry, points.read(folder, asked.name))


def _read(given: Given) -> Sweep:
    from flashgc.sweeps import read  # slow, and not needed by workers

    return read.load(given)


def _planned(
    asked: Sweep, traces: PathLike | None, quick: bool, told: Told
) -> list[Planned]:  # fmt: skip
    return plan.plan(
        asked, traces, quick,
        lambda done, total: told(SweepProgress("check", done, total, 0, "")),
    )  # fmt: skip


def _is_cluster(on: object) -> bool:
    return isinstance(on, str) and on.startswith(on_ray.CLUSTER) and on != on_ray.CLUSTER


def backend_for(on: str | None, jobs: int | None) -> Backend:
    """The place of runs: this machine, or Ray."""
    most = WORKERS_MAX if on is None else None
    jobs = None if jobs is None else inputs.whole("jobs", jobs, 1, most)
    if on is None:
        return Local(jobs)
    if on == on_ray.HERE or _is_cluster(on):
        return on_ray.OnRay(on, jobs)
    raise ConfigError(
        f"error: a sweep cannot run on {on!r}\n  = help: `ray`, or `ray://HOST:PORT` of a cluster"
    )


def _run(
    asked: Sweep,
    missing: Sequence[Planned],
    total: int,
    writer: Writer,
    backend: Backend,
    told: Told,
) -> int:
    """Runs points, keeps their rows, and returns the number of results among them."""
    kept = total - len(missing)
    agenda = Agenda(missing, writer)
    note = writer.sweep(asked.name) / "run.json"
    begun: dict[str, Any] = {"host": socket.gethostname(), "pid": os.getpid(),
                             "began_s": time.time(), "kept": kept, "total": total}  # fmt: skip
    workers: list[str] = []
    done, computed = kept, 0
    told(SweepProgress("run", done, total, kept, ""))
    try:
        output.write(note, json.dumps(begun) + "\n")
        with contextlib.closing(backend.run(agenda)) as rows:
            for task, row in rows:
                if backend.workers != workers:
                    workers = backend.workers
                    output.write(note, json.dumps({**begun, "workers": workers}) + "\n")
                writer.add(row)
                done += 1
                computed += row["status"] == DONE
                told(SweepProgress("run", done, total, kept, task.label))
        writer.remove_drives()
    finally:
        with contextlib.suppress(OSError):
            note.unlink()
    return computed


def running(store: Store, name: str) -> Mapping[str, Any] | None:
    """The run of a sweep that is under way, as it was noted at its beginning."""
    try:
        found = json.loads((store.sweep(name) / "run.json").read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as reason:
        raise OutputError(f"error: {store.sweep(name) / 'run.json'}: {reason}") from None
    return found if isinstance(found, dict) else None
