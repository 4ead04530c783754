"""Results appear under their name whole, or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from flashgc._engine import OutputError
from flashgc._sources import describe


def write(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file under a temporary name beside its place, then renames it."""
    target = Path(path)
    try:
        if target.is_dir():
            raise OutputError(f"error: {target} is a directory, not a file")
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
            return
        _write_then_rename(target, text)
    except OSError as reason:
        raise OutputError(
            f"error: the result cannot be written: {describe(path, reason)}"
        ) from None


def _write_then_rename(target: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part"
    )
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    # The only way to learn it is to set it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def folder(path: str | os.PathLike[str]) -> Path:
    """A folder for results: made if need be, and one in which files can be made."""
    target = Path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target):
            pass
    except FileExistsError:
        raise OutputError(f"error: {target} is a file, not a folder for results") from None
    except NotADirectoryError:
        raise OutputError(f"error: {target}: a part of the path is a file") from None
    except OSError as reason:
        raise OutputError(
            f"error: results cannot be saved there: {describe(path, reason)}\n"
            "  = help: name another folder with --out"
        ) from None
    return target
