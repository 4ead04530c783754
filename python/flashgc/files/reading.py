"""Small files with text: read, and named in messages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from flashgc._engine import ConfigError, FlashgcError

CONFIG_BYTES_MAX = 4 << 20

_HALF = re.compile("[\ud800-\udfff]")
"""Surrogates, which only texts of Python can have alone."""
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Those among them that do not stand for a byte of the name of a file."""

JOB_FILES = (".fio", ".job")
"""Endings of the names of job files of fio."""


@dataclass(frozen=True)
class Source:
    """A text with the name it has in messages."""

    name: str
    text: str
    jobs: tuple[str, str] | None = None
    """A job file and its content as TOML, where the configuration is one."""


def read_text(
    path: Path,
    error: type[FlashgcError] = ConfigError,
    *,
    bytes_max: int = CONFIG_BYTES_MAX,
    what: str = "a configuration",
) -> str:
    """The text of a file, or an error with the reason why it has none."""
    try:
        with open(path, "rb") as file:
            data = file.read(bytes_max + 1)
    except OSError as reason:
        raise error(f"error: {describe(path, reason)}") from None
    if len(data) > bytes_max:
        raise error(f"error: {path} is larger than {bytes_max >> 20} MiB, the limit for {what}")
    try:
        return data.decode("utf-8-sig")  # some editors and spreadsheets write a byte order mark
    except UnicodeDecodeError as reason:
        raise error(f"error: {path} is not UTF-8 text (byte {reason.start})") from None


def describe(path: str | os.PathLike[str], reason: OSError) -> str:
    """The problem of a file, in words."""
    name = os.fspath(path)
    if not name:
        return "the name of the file is empty"
    if isinstance(reason, FileNotFoundError):
        folder = os.path.dirname(name)
        if folder and not os.path.exists(folder):
            return f"{name}: there is no folder {folder}"
        return f"{name}: there is no such file"
    if isinstance(reason, IsADirectoryError):
        return f"{name} is a directory, not a file"
    if isinstance(reason, PermissionError):
        return f"{name}: permission denied"
    return f"{name}: {(reason.strerror or str(reason)).lower()}"


_RESULTS = {
    "report.json": (
        "flashgc run` or `flashgc compare",
        "`flashgc report {} --out DIR` shows it again",
    ),
    "advice.json": ("flashgc advise", "open {}/advice.html"),
    "explanation.json": ("flashgc explain", "open {}/explanation.html"),
    "pts.json": ("flashgc pts", "open {}/index.html"),
    "calibration.json": (
        "flashgc calibrate",
        "open {}/calibration.html, or `flashgc devices {}/device.toml`",
    ),
    "tune.json": ("flashgc tune", "open {}/tune.html, or `flashgc run {}/tuned.toml`"),
}


def result_at(path: Path) -> tuple[str, str] | None:
    """The commands that write such a folder or file of results, and how to see it.

    None for any other path.

    >>> from flashgc.files import reading
    >>> reading.result_at(Path("runs/slow/explanation.json"))
    ('flashgc explain', 'open runs/slow/explanation.html')
    """
    names = [name for name in _RESULTS if (path / name).is_file()] if path.is_dir() else [path.name]
    if not names or names[0] not in _RESULTS:
        return None
    folder = path if path.is_dir() else path.parent
    by, see = _RESULTS[names[0]]
    return by, see.replace("{}", printable(folder))


def printable(name: str | os.PathLike[str]) -> str:
    """A name that can be shown, even for a file whose name is not valid text."""
    text = _NO_BYTE.sub("\N{REPLACEMENT CHARACTER}", os.fsdecode(name))
    return os.fsencode(text).decode(errors="replace")


def check_text(where: str, text: str) -> None:
    """Refuses a text with half of a character, which no file can have."""
    found = _HALF.search(text)
    if found is not None:
        raise ConfigError(
            f"error: {printable(where)} has half of a character, {found[0]!r}, which is not valid "
            "text\n  = help: remove it, or decode the text with its own encoding"
        )
