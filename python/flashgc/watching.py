"""The state of a served drive: from its socket, and as lines for a terminal."""

from __future__ import annotations

import http.client
import json
import os
import socket
from pathlib import Path
from typing import Any

from flashgc._engine import RunError
from flashgc.files import arguments
from flashgc.formatting import units

Status = dict[str, Any]
Rows = list[list[str]]

_PATIENCE_S = 10.0
_KEYS = {"now_ns", "last", "free_blocks", "report"}
_COLLECTION = ("copies_ns", "erase_ns", "bus_ns", "switch_ns", "blocked_ns")
_PARTS = {"service": ("service_ns",), "other requests": ("host_ns",), "collection": _COLLECTION,
          "space": ("space_ns",), "buffer": ("buffer_ns",)}  # fmt: skip


class _Connection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("drive", timeout=_PATIENCE_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_PATIENCE_S)
        self.sock.connect(self._path)


def status(path: str | os.PathLike[str]) -> Status:
    """What the drive does whose `--status` socket this is; a RunError where none answers.

    `now_ns` is the drive's own time; `last` has the rates, latencies (ns) and their mean parts by
    cause (`blame_mean_ns`) of the reads and of the writes of its last seconds (`span_ns`);
    `free_blocks` are erased blocks that are not open; `report` is the report so far.
    """
    arguments.check_path("the socket of the drive", path)
    connection = _Connection(os.fspath(path))
    try:
        connection.request("GET", "/")
        answer: object = json.loads(connection.getresponse().read())
    except (http.client.HTTPException, ValueError):
        raise _no_drive(path, "another program does") from None
    except OSError as reason:
        raise _no_drive(path, _why(path, reason)) from None
    finally:
        connection.close()
    if isinstance(answer, dict) and "error" in answer:
        raise RunError(str(answer["error"]))
    if not isinstance(answer, dict) or not answer.keys() >= _KEYS:
        raise _no_drive(path, "another program does")
    return answer


def _no_drive(path: str | os.PathLike[str], why: str) -> RunError:
    return RunError(
        f"error: {os.fspath(path)!r}: no drive answers there: {why}\n"
        "  = help: name the socket of `flashgc serve --status`"
    )


def _why(path: str | os.PathLike[str], reason: OSError) -> str:
    """The reason without an answer: the system calls every file a refused connection."""
    if Path(path).is_dir():
        return "it is a directory"
    if Path(path).exists() and not Path(path).is_socket():
        return "it is a file, not a socket"
    return (reason.strerror or str(reason)).lower()


def rates(now: Status) -> Rows:
    """Rates and latencies of the last seconds: a column for reads, one for writes."""
    last = now["last"]
    rows = [[f"last {units.time(last['span_ns'])}", "read", "write"]]
    both = [last["read"], last["write"]]
    rows.append(["IOPS", *(units.figures(of["iops"]) for of in both)])
    rows.append(["bytes per second", *(units.size(round(of["bytes_per_s"])) for of in both)])
    for key, name in (("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9"), ("max", "max")):
        rows.append([name, *(units.time(of["latency_ns"][key]) for of in both)])
    for name, keys in _PARTS.items():
        found = [sum(of["blame_mean_ns"].get(key, 0) for key in keys) for of in both]
        if any(found):
            rows.append([f"mean from {name}", *map(units.time, found)])
    return rows


def facts(now: Status) -> list[tuple[str, str]]:
    """The state of the drive, and its counts since it was ready."""
    report, free = now["report"], now["free_blocks"]
    wear = report["wear"]
    return [
        ("the drive's time", units.time(now["now_ns"])),
        ("requests", ", ".join(units.counted(count, name)
                               for name, count in report["requests"].items())),
        ("write amplification", units.figures(report["write_amplification_bytes"])),
        ("collections", f"{units.count(report['gc']['count'])}, "
                        f"{units.figures(report['gc']['moved_per_gc'])} pages copied by each"),
        ("free blocks", f"{units.count(free['total'])}, "
                        f"at least {units.count(free['least_of_plane'])} in each plane"),
        ("erases of a block", f"{units.count(wear['min'])} to {units.count(wear['max'])}, "
                              f"{units.figures(wear['mean'])} on average"),
    ]  # fmt: skip
