"""Serves the drive of a configuration as a block device, with nbdkit and the engine's plugin."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any, BinaryIO
from urllib.parse import quote

from flashgc import _engine, _files, api
from flashgc._engine import ConfigError, OutputError, RunError
from flashgc._types import Request
from flashgc.report import Report
from flashgc.results import Origin

PLUGIN = "_nbdkit.so"
"""The plugin, in the folder of the package; `make serve-deps` builds it."""

_CLIENTS = "the requests of the clients"
_UNIFORM = 'precondition.overwrite_with="uniform"'
_THREADS = 128
"""Requests of a connection that may be under way at once."""
_SLOWEST = 1e6
_ENDS_WITHIN = 60.0
"""Seconds that the server has to write its report."""
_LEAVES_WITHIN = 1.0
"""Seconds that clients have to leave after that."""


def plugin() -> Path:
    """The plugin; a ConfigError where it was not built."""
    file = Path(__file__).with_name(PLUGIN)
    if not file.exists():
        raise ConfigError(
            f"error: the plugin of nbdkit is missing: {file}\n"
            "  = help: run `make serve-deps` in a checkout of flashgc; it builds the plugin"
        )
    return file


def nbdkit() -> str:
    """The program nbdkit; a ConfigError where it is missing."""
    found = shutil.which("nbdkit")
    if found is None:
        raise ConfigError(
            "error: nbdkit is not installed, and it is the server\n"
            "  = help: `make serve-deps`, or on Debian and Ubuntu `apt-get install nbdkit`"
        )
    return found


def uri(socket: str | os.PathLike[str]) -> str:
    """The address of the device for clients."""
    return f"nbd+unix:///?socket={quote(os.path.abspath(socket))}"


def slowed(time: str) -> float | None:
    """How much slower than its own time a drive is: `real`, `scaled=K`, or None for `off`."""
    if time == "off":
        return None
    if time == "real":
        return 1.0
    word, _, factor = time.partition("=")
    try:
        found = float(factor) if word == "scaled" else math.nan
    except ValueError:
        found = math.nan
    if not 1 <= found <= _SLOWEST:
        raise ConfigError(
            f"error: the time of a served drive must be real, off or scaled=K, got {time}\n"
            "  = help: K is how many times slower than its own time the drive is, from 1 on: "
            "scaled=10"
        )
    return found


class Server:
    """A drive that is served: from :func:`served`."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        pipe: BinaryIO,
        request: Request,
        folder: Path,
        socket: Path,
        found: str | None,
        replay: str | None,
    ) -> None:
        self._process = process
        self._pipe = pipe
        self._request = request
        self._folder = folder
        self.socket = socket
        self.replay = replay
        """The command that runs the captured requests, where they are captured."""
        self.found = found
        """What was found in the store, where the drive was resumed from one."""

    @property
    def uri(self) -> str:
        """The address of the device for clients."""
        return uri(self.socket)

    def wait(self) -> None:
        """Returns when the server has ended by itself."""
        self._process.wait()

    def end(self) -> Report:
        """Ends the server, and returns the report on everything that it has served."""
        self._pipe.close()
        until = monotonic() + _ENDS_WITHIN
        while True:
            has_ended = self._process.poll() is not None or monotonic() > until
            outcome = _outcome(self._folder)
            if outcome is not None:
                break
            if has_ended:
                raise RunError("error: the server ended without a report")
            sleep(0.01)
        report = Report(outcome["report"], {kind: outcome[kind] for kind in ("read", "write")})
        again = f"flashgc serve {self._request['name']}"
        report._origin = Origin(self._request["name"], _CLIENTS, again)
        return report


@contextlib.contextmanager
def served(
    config: api.Config,
    socket: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    capture: str | os.PathLike[str] | None = None,
    status: str | os.PathLike[str] | None = None,
    scheme: str | os.PathLike[str] | None = None,
    device: str | None = None,
    set: api.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    drive: str | os.PathLike[str] | None = None,
    verify: bool = False,
    time: str = "real",
) -> Iterator[Server]:
    """Serves a drive on a unix socket while the context lasts.

    The workload of the configuration does not count: clients send the requests. Their data is kept
    in memory, or in the file `store`. A drive that is in this file goes on, however its server has
    ended; a new file becomes the store of a new drive. The file `capture` is a trace of the
    requests, complete when the drive has ended. The unix socket `status` tells what the drive does,
    see :func:`flashgc.watching.status`. `time` is that of :func:`slowed`.
    """
    times_slower = slowed(time)
    program, library = nbdkit(), plugin()
    path = Path(os.path.abspath(socket))
    _check_socket(path)
    watched = None if status is None else Path(os.path.abspath(status))
    if watched is not None:
        _check_socket(watched)
    data = None if store is None else Path(os.path.abspath(store))
    is_new = data is not None and not data.exists()
    request = _request(config, scheme, device, set, seed, unset)
    replay = None
    if capture is not None:
        _check_capture(Path(capture))
        replay = _replay(request, scheme, device, drive, capture)
    with tempfile.TemporaryDirectory(prefix="flashgc-serve-") as name:
        folder = Path(name)
        job: dict[str, Any] = {
            **{key: request[key] for key in ("name", "text", "scheme", "device", "sets", "unsets")},
            "jobs": request["jobs"],
            "drive": None if drive is None else os.path.abspath(drive),
            "store": None if data is None else os.fspath(data),
            "capture": None if capture is None else os.path.abspath(capture),
            "status": None if watched is None else os.fspath(watched),
            "found": os.fspath(folder / "found"),
            "verify": verify,
            "slowed": times_slower,
            "outcome": os.fspath(folder / "outcome.json"),
        }
        # Each request under way has a thread of the server.
        threads = [] if times_slower is None else ["-t", str(_THREADS)]
        command = [
            program, "-f", *threads, "--exit-with-parent", "-U", os.fspath(path),
            "-P", os.fspath(folder / "pid"), os.fspath(library),
            f"job={folder / 'job.json'}",
        ]  # fmt: skip
        # The end of the pipe is the end of the drive.
        ours, theirs = os.pipe()
        job["pipe"] = ours
        (folder / "job.json").write_text(json.dumps(job), "utf-8")
        with open(theirs, "wb") as pipe, (folder / "log").open("wb") as log:
            # Ctrl-C is for the command: it ends the server, and waits for its report.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[ours],
                process_group=0,
            )  # fmt: skip
            os.close(ours)
            is_ready = False
            try:
                found = _await(process, folder)
                is_ready = True
                # A drive that goes on did not begin as that of a run.
                replay = None if found is not None else replay
                yield Server(process, pipe, request, folder, path, found, replay)
            finally:
                _stop(process)
                path.unlink(missing_ok=True)
                if watched is not None:
                    watched.unlink(missing_ok=True)
                if data is not None and is_new and not is_ready:
                    # It was not made to its end.
                    data.unlink(missing_ok=True)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends nbdkit, which waits for its clients to leave: not for long."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LEAVES_WITHIN)
        process.kill()
    process.wait()


def _request(
    config: api.Config,
    scheme: str | os.PathLike[str] | None,
    device: str | None,
    set: api.Settings | None,
    seed: int | None,
    unset: Iterable[str] | None,
) -> Request:
    """The configuration with the workload of a trace: that of the requests that are to come."""
    request = api._bare_request(config, None, scheme, device, set, seed, None, unset)
    if request["policies"] is not None and any(request["policies"].values()):
        raise ConfigError("error: a scheme with functions in Python cannot be served")
    request["trace_name"] = _CLIENTS
    request["trace_path"] = Path(_CLIENTS)
    precondition = json.loads(_engine.check(request))["settings"]["precondition"]
    if precondition["overwrite"] > 0 and "overwrite_with" not in precondition:
        # What clients will write is not known before they come.
        request["sets"] = [*request["sets"], _UNIFORM]
    return request


def _replay(
    request: Request,
    scheme: str | os.PathLike[str] | None,
    device: str | None,
    drive: str | os.PathLike[str] | None,
    capture: str | os.PathLike[str],
) -> str:
    """The command that runs these requests again, with the same result."""
    words = ["flashgc", "run", request["name"], "--trace", os.fspath(capture)]
    for option, value in (("--scheme", scheme), ("--device", device), ("--drive", drive)):
        if value is not None:
            words += [option, os.fspath(value)]
    for option, values in (("--set", request["sets"]), ("--unset", request["unsets"])):
        for value in values:
            words += [option, value]
    return shlex.join(words)


def _check_capture(path: Path) -> None:
    if path.suffix != ".fgt":
        raise OutputError(
            f"error: the captured requests are a trace in the format fgt, got {path}\n"
            "  = help: name a file that ends in .fgt"
        )
    if path.is_dir():
        raise OutputError(f"error: {path} is a directory, not a file")


def _check_socket(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise OutputError(
            f"error: {path} exists\n"
            "  = help: another server may use it; if none does, remove it or name another socket"
        )
    if not path.parent.is_dir():
        raise OutputError(f"error: {_files.printable(path.parent)} is not a folder")
    most = 107
    if len(os.fsencode(path)) > most:
        raise OutputError(
            f"error: the path of the socket has {len(os.fsencode(path))} bytes, at most {most} are "
            "allowed\n  = help: name a socket in a folder with a shorter path"
        )


def _await(process: subprocess.Popen[bytes], folder: Path) -> str | None:
    """Waits until clients may connect: the drive is ready. Returns what its store had."""
    while not (folder / "pid").exists():
        if process.poll() is not None:
            outcome = _outcome(folder)
            if outcome is not None:
                raise RunError(outcome["error"])
            log = (folder / "log").read_text("utf-8", "replace").strip()
            raise RunError(f"error: nbdkit has ended (status {process.returncode})\n{log}")
        sleep(0.01)
    found = folder / "found"
    return found.read_text("utf-8") if found.exists() else None


def _outcome(folder: Path) -> dict[str, Any] | None:
    file = folder / "outcome.json"
    if not file.exists():
        return None
    outcome: dict[str, Any] = json.loads(file.read_text("utf-8"))
    if "error" in outcome and "report" not in outcome:
        raise RunError(outcome["error"])
    return outcome
