"""The progress of the sweeps of a folder."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from flashgc._engine import ConfigError
from flashgc.sweeps import outcome, points
from flashgc.sweeps.store import MISSING, REFUSED, STATUSES, Store


class Status(NamedTuple):
    """The progress of a sweep."""

    name: str
    points: int
    counts: dict[str, int]
    """Points by their status."""
    running: int | None
    """The process that runs it, if there is one."""
    host: str | None
    workers: list[str]
    per_s: float | None
    """Points per second since this process began."""
    left_s: float | None


def every(store: str | os.PathLike[str], name: str | None = None) -> list[Status]:
    """The sweeps of a folder, or one of them."""
    folder = Store(store)
    names = folder.sweeps()
    if name is not None and name not in names:
        raise ConfigError(
            f"error: {folder.folder} has no sweep {name!r}\n"
            f"  = help: its sweeps: {', '.join(names) or 'none'}"
        )
    rows = folder.rows(["key", "status", "ended_s"])
    known = {row["key"]: row for row in rows.to_pylist()}
    return [_status(folder, one, known) for one in names if name in (None, one)]


def _status(store: Store, name: str, known: dict[str, dict[str, object]]) -> Status:
    table = points.read(store, name)
    assert table is not None
    counts = dict.fromkeys(STATUSES, 0)
    for key in table["key"].to_pylist():
        row = known.get(key)
        counts[REFUSED if key is None else MISSING if row is None else str(row["status"])] += 1
    run = outcome.running(store, name)
    if run is None or not _is_there(run["pid"], run["host"]):
        return Status(name, len(table), counts, None, None, [], None, None)
    own = set(table["key"].to_pylist())
    now = sum(float(str(row["ended_s"])) >= run["began_s"]
              for key, row in known.items() if key in own)  # fmt: skip
    per_s = now / max(time.time() - run["began_s"], 1e-3)
    left = max(run["total"] - run["kept"] - now, 0)
    left_s = left / per_s if per_s > 0 else None
    return Status(name, len(table), counts, run["pid"], run["host"], run.get("workers", []),
                  per_s, left_s)  # fmt: skip


def _is_there(pid: int, host: str) -> bool:
    """Whether a process lives, as far as this machine can tell."""
    import socket

    if host != socket.gethostname():
        return True
    try:
        os.kill(pid, 0)
    except OSError as reason:
        # The process of another user lives, too.
        return not isinstance(reason, ProcessLookupError)
    return True
