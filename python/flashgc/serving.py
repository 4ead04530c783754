"""Serves the drive of a configuration as a block device, with nbdkit and the engine's plugin."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flashgc import _engine, _files, api, heads
from flashgc._engine import ConfigError, OutputError, RunError
from flashgc._types import Request
from flashgc.report import Report
from flashgc.results import Origin

PLUGIN = "_nbdkit.so"
"""The plugin, in the folder of the package; `make serve-deps` builds it."""

_CLIENTS = "the requests of the clients"
_UNIFORM = 'precondition.overwrite_with="uniform"'
_ENDS_WITHIN = 60.0
"""Seconds that the server has to write its report."""


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


class Server:
    """A drive that is served: from :func:`served`."""

    def __init__(
        self, process: subprocess.Popen[bytes], request: Request, folder: Path, socket: Path
    ) -> None:
        self._process = process
        self._request = request
        self._folder = folder
        self.socket = socket
        self.bytes = 0

    @property
    def uri(self) -> str:
        """The address of the device for clients."""
        return uri(self.socket)

    def wait(self) -> None:
        """Returns when the server has ended by itself."""
        self._process.wait()

    def end(self) -> Report:
        """Ends the server, and returns the report on everything that it has served."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise RunError(
                f"error: the server did not end within {_ENDS_WITHIN:.0f} s, and was killed"
            ) from None
        outcome = _outcome(self._folder)
        if outcome is None:
            raise RunError(
                f"error: the server ended without a report (status {self._process.returncode})"
            )
        report = Report(outcome["report"], {kind: outcome[kind] for kind in ("read", "write")})
        again = heads.call("run", [self._request["name"], "capture"], {})
        report._origin = Origin(self._request["name"], _CLIENTS, again)
        return report


@contextlib.contextmanager
def served(
    config: api.Config,
    socket: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    scheme: str | os.PathLike[str] | None = None,
    device: str | None = None,
    set: api.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    drive: str | os.PathLike[str] | None = None,
    verify: bool = False,
) -> Iterator[Server]:
    """Serves a drive on a unix socket while the context lasts.

    The workload of the configuration does not count: clients send the requests. Their data is kept
    in memory, or in the new file `store`, which is removed at the end.
    """
    program, library = nbdkit(), plugin()
    path = Path(os.path.abspath(socket))
    _check_socket(path)
    request = _request(config, scheme, device, set, seed, unset)
    with tempfile.TemporaryDirectory(prefix="flashgc-serve-") as name:
        folder = Path(name)
        job = {
            **{key: request[key] for key in ("name", "text", "scheme", "device", "sets", "unsets")},
            "jobs": request["jobs"],
            "drive": None if drive is None else os.path.abspath(drive),
            "store": None if store is None else os.path.abspath(store),
            "verify": verify,
            "outcome": os.fspath(folder / "outcome.json"),
        }
        (folder / "job.json").write_text(json.dumps(job), "utf-8")
        command = [
            program, "-f", "--exit-with-parent", "-U", os.fspath(path),
            "-P", os.fspath(folder / "pid"), os.fspath(library),
            f"job={folder / 'job.json'}",
        ]  # fmt: skip
        with (folder / "log").open("wb") as log:
            # Ctrl-C is for the command: it ends the server, and waits for its report.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
            )
        try:
            _await(process, folder)
            yield Server(process, request, folder, path)
        finally:
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_ENDS_WITHIN)
                process.kill()
            process.wait()
            path.unlink(missing_ok=True)


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


def _await(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Waits until clients may connect: the drive has been preconditioned."""
    while not (folder / "pid").exists():
        if process.poll() is not None:
            outcome = _outcome(folder)
            if outcome is not None:
                raise RunError(outcome["error"])
            log = (folder / "log").read_text("utf-8", "replace").strip()
            raise RunError(f"error: nbdkit has ended (status {process.returncode})\n{log}")
        time.sleep(0.01)


def _outcome(folder: Path) -> dict[str, Any] | None:
    file = folder / "outcome.json"
    if not file.exists():
        return None
    outcome: dict[str, Any] = json.loads(file.read_text("utf-8"))
    if "error" in outcome and "report" not in outcome:
        raise RunError(outcome["error"])
    return outcome
