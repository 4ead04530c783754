"""The files and sockets of a served drive: checks before use, with a remedy in each error."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import socket as sockets
from pathlib import Path

from flashgc._engine import ConfigError, OutputError
from flashgc.files import reading

_NAMES = {
    "--socket": "drive.sock",
    "--status": "drive.status",
    "--store": "drive.data",
    "--capture": "requests.fgt",
    "--drive": "made.drive",
}
"""The name that a message shows for the file of each option."""


def files_of(named: dict[str, str | os.PathLike[str] | None]) -> dict[str, Path]:
    """The files that the options name, each by its option; an error where one cannot be used."""
    found: dict[str, Path] = {}
    options: dict[str, str] = {}
    for option, name in named.items():
        if name is None:
            continue
        if not os.fspath(name):
            raise OutputError(
                f"error: {option} has an empty name\n"
                f"  = help: name a file, as in {option} {_NAMES[option]}"
            )
        path = Path(os.path.abspath(name))
        other = options.setdefault(os.path.realpath(path), option)
        if other != option:
            raise OutputError(
                f"error: {other} and {option} name the same file: {reading.printable(path)}\n"
                f"  = help: each has a file of its own, as in {other} {_NAMES[other]} "
                f"{option} {_NAMES[option]}"
            )
        if option in {"--socket", "--status"}:
            _check_socket(path, option)
        elif option == "--capture":
            _check_capture(path)
        elif option == "--drive":
            _check_drive(path)
        elif option == "--store":
            _check_no_folder(path, "a file for the drive", option)
        found[option] = path
    return found


def mode(text: str) -> int:
    """A mode of sockets, as it is typed: in octal digits."""
    found = int(text, 8) if re.fullmatch("[0-7]{1,4}", text) else -1
    check_mode(found, text)
    return found


def check_mode(mode: int, text: str | None = None) -> None:
    """Raises an error for an invalid mode of a socket; `text` is the mode as typed."""
    if not 0 <= mode <= 0o777 or mode & 0o600 != 0o600:
        raise OutputError(
            "error: the mode of the sockets must be octal, from 600 to 777, so that their owner "
            f"may read and write, got {f'{mode:o}' if text is None else text}\n  = help: for the "
            "group as well it is 660 (--socket-mode 660)"
        )


def _check_capture(path: Path) -> None:
    if path.suffix != ".fgt":
        raise OutputError(
            "error: the captured requests are a trace in the format fgt, got "
            f"{reading.printable(path)}\n  = help: name a file that ends in .fgt, as in "
            f"--capture {_NAMES['--capture']}"
        )
    _check_no_folder(path, "a file that ends in .fgt", "--capture")


def _check_no_folder(path: Path, what: str, option: str) -> None:
    if path.is_dir():
        raise OutputError(
            f"error: {reading.printable(path)} is a folder, not a file\n"
            f"  = help: name {what}, as in {option} {_NAMES[option]}"
        )


def _check_drive(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as reason:
        raise ConfigError(
            f"error: {reading.describe(path, reason)}\n  = help: name a drive that `flashgc drive "
            "save` has saved (--drive); the drive of an earlier server is in its --store"
        ) from None


def _check_socket(path: Path, option: str) -> None:
    name, folder = reading.printable(path), reading.printable(path.parent)
    if path.is_dir():
        raise OutputError(
            f"error: {name} is a folder\n  = help: name a new socket in it: {option} "
            f"{shlex.quote(os.path.join(name, _NAMES[option]))}"
        )
    if path.exists() or path.is_symlink():
        if _is_left(path):
            raise OutputError(
                f"error: {name} exists: a server that was killed has left it\n"
                f"  = help: remove it (rm {shlex.quote(name)}), or name another socket ({option})"
            )
        raise OutputError(
            f"error: {name} exists\n  = help: another server may use it; if none does, remove it "
            f"or name another socket ({option})"
        )
    if not path.parent.is_dir():
        raise OutputError(
            f"error: the socket cannot be made: {folder} is not a folder\n"
            f"  = help: make it (mkdir -p {shlex.quote(folder)}), or name a socket in an existing "
            f"folder ({option})"
        )
    most = 107
    if len(os.fsencode(path)) > most:
        raise OutputError(
            f"error: the path of the socket has {len(os.fsencode(path))} bytes, at most {most} are "
            f"allowed\n  = help: name a socket in a folder with a shorter path, as in {option} "
            f"/tmp/{_NAMES[option]}"
        )


def _is_left(path: Path) -> bool:
    """Whether this is a socket without a server."""
    with contextlib.suppress(OSError), sockets.socket(sockets.AF_UNIX) as client:
        if path.is_socket():
            return client.connect_ex(os.fspath(path)) == errno.ECONNREFUSED
    return False
