"""Small files with text: read, and named in messages."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from flashgc._engine import ConfigError, FlashgcError

CONFIG_BYTES_MAX = 4 << 20

JOB_FILES = (".fio", ".job")
"""Endings of the names of job files of fio."""


@dataclass(frozen=True)
class Source:
    """A text with the name it has in messages."""

    name: str
    text: str
    jobs: tuple[str, str] | None = None
    """A job file and its jobs as TOML, where the configuration is one."""


def read_text(path: Path, error: type[FlashgcError] = ConfigError) -> str:
    """The text of a file, or an error that says why it has none."""
    try:
        with open(path, "rb") as file:
            data = file.read(CONFIG_BYTES_MAX + 1)
    except OSError as reason:
        raise error(f"error: {describe(path, reason)}") from None
    if len(data) > CONFIG_BYTES_MAX:
        raise error(f"error: {path} is larger than 4 MiB, the limit for a configuration")
    try:
        return data.decode()
    except UnicodeDecodeError as reason:
        raise error(f"error: {path} is not UTF-8 text (byte {reason.start})") from None


def describe(path: str | os.PathLike[str], reason: OSError) -> str:
    """The problem of a file, in words."""
    name = os.fspath(path)
    if isinstance(reason, FileNotFoundError):
        return f"{name}: there is no such file"
    if isinstance(reason, IsADirectoryError):
        return f"{name} is a directory, not a file"
    if isinstance(reason, PermissionError):
        return f"{name}: permission denied"
    return f"{name}: {(reason.strerror or str(reason)).lower()}"


def printable(name: str | os.PathLike[str]) -> str:
    """A name that can be shown, even that of a file whose name is not valid text."""
    return os.fsencode(name).decode(errors="replace")
