"""Serves the drive of a configuration as a block device, with nbdkit and the engine's plugin."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any, BinaryIO
from urllib.parse import quote

import flashgc._engine as engine
from flashgc._engine import ConfigError, OutputError, RunError
from flashgc._engine_types import Request
from flashgc.drives import serving_files
from flashgc.files import output, reading
from flashgc.reports.report import Report
from flashgc.results import metrics
from flashgc.results.metrics import Origin
from flashgc.running import building

PLUGIN = "_nbdkit.so"
"""The plugin, in the folder of the package; `make serve-deps` builds it."""

_CLIENTS = "the requests of the clients"
_UNIFORM = 'precondition.overwrite_with="uniform"'
_THREADS = 128
"""Requests of a connection that may be under way at once."""
_SLOWEST = 1e6
_ENDS_WITHIN = 60.0
"""Seconds that the server has to write its report."""
_MESSAGES = 100
"""Different messages of a server that are shown: a bad client must not fill the screen."""
_LOGGED = re.compile(r"^nbdkit: flashgc[\[.]\d+\]?: error: ")
_FOLDERS = "flashgc-serve-"
_LOCK = "lock"
_FAULTY = ((1, 32, 4), (1, 34))
"""Versions of nbdkit that a client can end, from the first to before the second: see the plugin's
`guard.rs`."""
_LOOKS_EVERY = 0.1
_LEAVES_WITHIN = 1.0
"""Seconds that clients have to leave after that."""


def _messages(log: Iterable[str], begun: list[str]) -> Iterator[str]:
    """The messages of the lines that are complete: the server writes a line in pieces.

    `begun` has the pieces of the line that is not.
    """
    for piece in log:
        begun.append(piece)
        if piece.endswith("\n"):
            yield _LOGGED.sub("", "".join(begun).rstrip())
            begun.clear()


def plugin() -> Path:
    """The plugin; a ConfigError where it was not built."""
    file = Path(__file__).parents[1] / PLUGIN
    if file.exists():
        return file
    if not sys.platform.startswith("linux"):
        raise ConfigError(
            f"error: a drive can be served on Linux only, and this is {sys.platform}\n"
            "  = help: use a container or a virtual machine with Linux"
        )
    is_checkout = (file.parents[2] / "Makefile").exists()
    copied = "" if is_checkout else f"; then type there\n      cp python/flashgc/{PLUGIN} {file}"
    raise ConfigError(
        f"error: the plugin of nbdkit is missing: {file}\n"
        f"  = help: run `make serve-deps` in a checkout of flashgc {engine.__version__}; it "
        f"builds the plugin{copied}"
    )


def nbdkit() -> str:
    """The program nbdkit; a ConfigError where it is missing."""
    found = shutil.which("nbdkit")
    if found is None:
        raise ConfigError(
            "error: nbdkit is not installed, and it is the server\n"
            "  = help: on Debian and Ubuntu `apt-get install nbdkit`; in a checkout of flashgc "
            "`make serve-deps`"
        )
    return found


def _preloaded(program: str, library: Path) -> dict[str, str]:
    """The environment of the server: with a guard, where its version needs one."""
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = tuple(int(part) for part in re.findall(r"\d+", told.stdout)[:3])
    if not _FAULTY[0] <= version < _FAULTY[1]:
        return dict(os.environ)
    others = os.environ.get("LD_PRELOAD", "")
    return {**os.environ, "LD_PRELOAD": f"{library} {others}".strip()}


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder for the files of a server, which other users cannot read.

    It is locked while it is in use: by this process, or by nbdkit if this one is killed. Folders of
    killed servers are removed.
    """
    _remove_left()
    with tempfile.TemporaryDirectory(prefix=_FOLDERS) as name:
        folder = Path(name)
        with (folder / _LOCK).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder


def _remove_left() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDERS}*"):
        # Another user's folder, or the folder of a server that begins or ends at this moment.
        with contextlib.suppress(OSError), (folder / _LOCK).open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _umask() -> int:
    """The mask of this process; reading it sets it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def uri(socket: str | os.PathLike[str]) -> str:
    """The address of the device for clients."""
    return f"nbd+unix:///?socket={quote(os.path.abspath(socket))}"


def slowed(time: str) -> float | None:
    """The factor by which a drive is slowed down: `real`, `scaled=K`, or None for `off`."""
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
            "  = help: K is how many times slower than its own time the drive is, from 1 to "
            f"{_SLOWEST:,.0f}: scaled=10"
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
        """The findings of the recovery of the store, where the drive was resumed from one."""

    @property
    def uri(self) -> str:
        """The address of the device for clients."""
        return uri(self.socket)

    def wait(self, tell: Callable[[str], None] | None = None) -> None:
        """Returns when the server has ended by itself; `tell` gets each message of its log."""
        if tell is None:
            self._process.wait()
            return
        with (self._folder / "log").open("r", errors="replace") as log:
            # Many requests may fail for one reason.
            told = {""}
            begun: list[str] = []
            while self._process.poll() is None:
                for message in _messages(log, begun):
                    if message not in told and len(told) <= _MESSAGES:
                        told.add(message)
                        is_last = len(told) > _MESSAGES
                        tell("later messages of the server are not shown" if is_last else message)
                sleep(_LOOKS_EVERY)

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
        metrics.note(report, origin=Origin(self._request["name"], _CLIENTS, again))
        return report


@contextlib.contextmanager
def served(
    config: building.Config,
    socket: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    capture: str | os.PathLike[str] | None = None,
    status: str | os.PathLike[str] | None = None,
    scheme: str | os.PathLike[str] | None = None,
    device: str | os.PathLike[str] | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    drive: str | os.PathLike[str] | None = None,
    verify: bool = False,
    time: str = "real",
    socket_mode: int = 0o600,
) -> Iterator[Server]:
    """Serves a drive on a unix socket while the context lasts.

    The workload of the configuration does not count: clients send the requests. Their data is kept
    in memory, or in the file `store`. A drive in this file is resumed, however its server has
    ended; a new file becomes the store of a new drive. The file `capture` is a trace of the
    requests, complete when the drive has ended. The unix socket `status` publishes the state of the
    drive, see :func:`flashgc.watching.status`. `time` is that of :func:`slowed`. Both sockets have
    the mode `socket_mode`: write permission gives access to the drive.
    """
    times_slower = slowed(time)
    serving_files.check_mode(socket_mode)
    program, library = nbdkit(), plugin()
    named = {"--socket": socket, "--status": status, "--store": store, "--capture": capture,
             "--drive": drive}  # fmt: skip
    files = serving_files.files_of(named)
    path, watched, data = files["--socket"], files.get("--status"), files.get("--store")
    is_new = data is not None and not data.exists()
    # It is kept, whatever happens.
    output.note(None if is_new else store)
    replaced = _number(capture)
    request = _request(config, scheme, device, set, seed, unset)
    replay = None if capture is None else _replay(request, scheme, device, drive, capture)
    with _folder() as folder:
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
            "umask": _umask(),
            "socket_mode": socket_mode,
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
                process_group=0, env=_preloaded(program, library),
            )  # fmt: skip
            is_ready = False
            try:
                os.close(ours)
                found = _await(process, folder, path)
                is_ready = True
                output.note(store if is_new else None)
                # A resumed drive does not begin in the state of a run's drive.
                replay = None if found is not None else replay
                yield Server(process, pipe, request, folder, path, found, replay)
            finally:
                # A new store that was not completed is not usable.
                half_made = data if is_new and not is_ready else None
                try:
                    _clean_up(process, path, watched, half_made, _part(process, capture))
                finally:
                    if is_ready and replaced != _number(capture):
                        output.note(capture)


def _part(process: subprocess.Popen[bytes], capture: str | os.PathLike[str] | None) -> Path | None:
    """The trace of the requests as long as it is not complete: the server has named it."""
    path = None if capture is None else Path(os.path.abspath(capture))
    return None if path is None else path.with_name(f".{path.name}.{process.pid}.part")


def _number(path: str | os.PathLike[str] | None) -> int | None:
    """The number of a file, which is another one when the file is replaced."""
    with contextlib.suppress(OSError):
        return None if path is None else os.stat(path).st_ino
    return None


def _clean_up(process: subprocess.Popen[bytes], *left: Path | None) -> None:
    """Ends nbdkit, which waits for its clients for a short time, and removes its files."""
    try:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LEAVES_WITHIN)
    finally:
        # A second Ctrl-C comes here at once.
        process.kill()
        process.wait()
        for file in left:
            # Files that were never made, as on a read-only disk, cause no further error.
            with contextlib.suppress(OSError):
                if file is not None:
                    file.unlink()


def _request(
    config: building.Config,
    scheme: str | os.PathLike[str] | None,
    device: str | os.PathLike[str] | None,
    set: building.Settings | None,
    seed: int | None,
    unset: Iterable[str] | None,
) -> Request:
    """The configuration with a trace as workload, for the requests to come."""
    request = building.bare_request(config, None, scheme, device, set, seed, None, unset)
    if request["policies"] is not None and any(request["policies"].values()):
        raise ConfigError("error: a scheme with functions in Python cannot be served")
    request["trace_name"] = _CLIENTS
    request["trace_path"] = Path(_CLIENTS)
    precondition = json.loads(engine.check(request))["settings"]["precondition"]
    if precondition["overwrite"] > 0 and "overwrite_with" not in precondition:
        # The writes of clients are unknown before they come.
        request["sets"] = [*request["sets"], _UNIFORM]
    return request


def _replay(
    request: Request,
    scheme: str | os.PathLike[str] | None,
    device: str | os.PathLike[str] | None,
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


def _await(process: subprocess.Popen[bytes], folder: Path, socket: Path) -> str | None:
    """Waits until clients may connect: the drive is ready. Returns what its store had."""
    while not (folder / "pid").exists():
        if process.poll() is not None:
            outcome = _outcome(folder)
            if outcome is not None:
                raise RunError(outcome["error"])
            log = (folder / "log").read_text("utf-8", "replace").strip()
            begins = f"{reading.printable(socket)}: "
            if log.startswith(begins):
                reason = log.removeprefix(begins)
                raise OutputError(
                    f"error: the socket cannot be made: {reason.lower()}\n"
                    f"  --> {reading.printable(socket)}\n  = help: name a new socket in an "
                    "existing folder that may be written (--socket)"
                )
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
