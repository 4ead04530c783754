"""Results appear under their name whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from flashgc._engine import OutputError
from flashgc._files import describe

_saved: list[str] | None = None


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Until its end the files that appear are noted, for a command that is interrupted."""
    global _saved  # noqa: PLW0603
    _saved = []
    try:
        yield
    finally:
        _saved = None


def saved() -> list[str]:
    """The files that have appeared since :func:`noted` began."""
    return list(_saved or ())


def note(*paths: str | os.PathLike[str] | None) -> None:
    """These files have appeared."""
    if _saved is not None:
        _saved.extend(os.fspath(path) for path in paths if path is not None)


def write(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text, whole or not at all."""
    data = text.encode("utf-8", errors="backslashreplace")
    write_with(path, lambda file: file.write(data))


def write_with(path: str | os.PathLike[str], fill: Callable[[IO[bytes]], object]) -> None:
    """Writes a file under a temporary name in the same folder, then renames it."""
    target = Path(path)
    try:
        if target.is_dir():
            raise OutputError(f"error: {target} is a directory, not a file")
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            with open(target, "wb") as file:
                fill(file)
            return
        # A link stays a link, and its target is written.
        _write_then_rename(Path(os.path.realpath(target)), fill)
        note(path)
    except OSError as reason:
        raise OutputError(
            f"error: the result cannot be written: {describe(path, reason)}"
        ) from None


def _write_then_rename(target: Path, fill: Callable[[IO[bytes]], object]) -> None:
    mode = 0o666 & ~_umask()
    if target.exists():
        # A file that may not be written must not be replaced either.
        os.close(os.open(target, os.O_WRONLY))
        mode = stat.S_IMODE(target.stat().st_mode)
    descriptor, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part"
    )
    try:
        with open(descriptor, "wb") as file:
            fill(file)
            file.flush()
            os.fchmod(file.fileno(), mode)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    # The only way to read it is to set it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def folder(path: str | os.PathLike[str], option: str = "--out") -> Path:
    """A folder for results: made if need be, and one in which files can be made."""
    target = Path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target):
            pass
    except FileExistsError:
        raise OutputError(f"error: {target} is a file, not a folder for results") from None
    except NotADirectoryError:
        raise OutputError(f"error: {target}: a part of the path is a file, not a folder") from None
    except OSError as reason:
        raise OutputError(
            f"error: the results cannot be saved: {describe(path, reason)}\n"
            f"  = help: name another folder with {option}"
        ) from None
    return target
