"""Results appear under their name whole, or not at all."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

import flashgc._start as start
from flashgc._engine import OutputError
from flashgc.files import arguments
from flashgc.files.reading import describe

_COMPRESSED = frozenset({
    ".gz", ".zst", ".bz2", ".xz", ".lzma", ".lz4", ".br", ".zip", ".7z", ".z", ".tgz",
})  # fmt: skip
"""Endings of compressed files."""

_saved: list[str] | None = None
_made: list[Path] = []
"""The folders that :func:`folder` has made for the command that is noted."""


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Until its end the files that appear are noted, for a command that is interrupted.

    Folders that were made for them and are empty at the end are removed.
    """
    global _saved  # noqa: PLW0603
    _saved = []
    try:
        yield
    finally:
        _saved = None
        while _made:
            with contextlib.suppress(OSError):
                _made.pop().rmdir()


def saved() -> list[str]:
    """The files that have appeared since :func:`noted` began."""
    return list(_saved or ())


def note(*paths: str | os.PathLike[str] | None) -> None:
    """These files have appeared."""
    if _saved is not None:
        _saved.extend(os.fspath(path) for path in paths if path is not None)


def is_standard(path: str | os.PathLike[str]) -> bool:
    """Whether a file is standard output, by any of its names, and not the null device."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(1)) and not start.is_null(1)
    except (OSError, ValueError):
        return False


def check_named(path: str | os.PathLike[str] | None, what: str) -> None:
    """An OutputError where `-` is given for a file that is never standard output."""
    if path is not None and os.fspath(path) == "-":
        raise OutputError(
            f"error: the {what} cannot be called -, since it is not written on standard output\n"
            "  = help: give the name of a file; one called - is ./-"
        )


def check_ending(
    path: str | os.PathLike[str] | None, what: str, possible: tuple[str, ...] = ()
) -> None:
    """An OutputError where a name ends as one of a compressed file, other than the possible."""
    if path is None:
        return
    check_named(path, what)
    ending = Path(path).suffix
    if ending.lower() not in _COMPRESSED or ending in possible:
        return
    plain = Path(path).with_suffix("")
    names = [str(plain), *(f"{plain}{one}" for one in possible)]
    only = f"compressed only as {' and '.join(possible)}" if possible else "never compressed"
    raise OutputError(
        f"error: {path} ends in {ending}, and the {what} is {only}\n"
        f"  = help: name it {' or '.join(names)}"
    )


_FORMS = (".arrow", ".csv", ".html", ".json", ".parquet", ".pftrace")
"""The endings of forms that results have."""


def check_form(path: str | os.PathLike[str] | None, what: str, own: str) -> None:
    """An OutputError where a result of one form alone would have the name of another form."""
    check_ending(path, what)
    if path is None:
        return
    ending = Path(path).suffix
    if ending.lower() in _FORMS and ending.lower() != own:
        raise OutputError(
            f"error: {path} ends in {ending.lower()}, and the {what} is written as {own[1:]} "
            "alone\n"
            f"  = help: name it {Path(path).with_suffix(own)}"
        )


def check_each_own(files: Mapping[str, str | os.PathLike[str] | None]) -> None:
    """An OutputError where two of these results, by their descriptions, are one file."""
    given = [(what, os.path.realpath(path)) for what, path in files.items() if path is not None]
    for (what, path), (other, same) in itertools.combinations(given, 2):
        if path == same:
            raise OutputError(
                f"error: the {what} and the {other} cannot be the same file\n"
                "  = help: give each its own name"
            )


_REMEDY = "give the result another name"


def check_apart(
    target: str | os.PathLike[str] | None, *sources: object, remedy: str = _REMEDY
) -> None:
    """An OutputError where a file to write is one of the files that are read.

    Sources may be texts and dictionaries as well, which count as none.
    """
    if not isinstance(target, (str, os.PathLike)) or not os.path.isfile(target):
        return  # any other value is refused where the file is opened
    for source in sources:
        if not isinstance(source, (str, os.PathLike)) or not os.path.isfile(source):
            continue
        if os.path.samefile(source, target):
            raise OutputError(
                f"error: {os.fspath(target)} is read, and would be replaced by the result\n"
                f"  = help: {remedy}"
            )


def folder_apart(
    folder_: str | os.PathLike[str] | None, names: Iterable[str], *sources: object
) -> Path | None:
    """A folder for results of these names; an OutputError where one of them is a file read."""
    if folder_ is None:
        return None
    for name in names:
        check_apart(os.path.join(folder_, name), *sources,
                    remedy="name another folder with --out")  # fmt: skip
    return folder(folder_)


def write(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text, whole or not at all."""
    data = text.encode("utf-8", errors="backslashreplace")
    write_with(path, lambda file: file.write(data))


def save(
    path: str | os.PathLike[str], to_json: Callable[[], str], to_page: Callable[[], str]
) -> Path:
    """Writes a result in the form that the name of the file ends in, whole or not at all."""
    arguments.check_path("the file", path)
    target = Path(path)
    if target.suffix == ".json":
        write(target, to_json() + "\n")
    elif target.suffix in (".html", ".htm"):
        write(target, to_page())
    else:
        raise OutputError(f"error: {target}: the name must end in .json or .html")
    return target


def write_with(path: str | os.PathLike[str], fill: Callable[[IO[bytes]], object]) -> None:
    """Writes a file under a temporary name in the same folder, then renames it."""
    with opened(path) as file, explained(path):
        fill(file)


@contextlib.contextmanager
def opened(path: str | os.PathLike[str], what: str = "result") -> Iterator[IO[bytes]]:
    """A file under a temporary name in the same folder, which is renamed at the end.

    After an exception nothing is left of it. `what` describes the file in messages.
    """
    part = _Part()
    try:
        with explained(path, what):
            file = part.begin(Path(path))
        yield file
        with explained(path, what):
            part.commit()
    finally:
        part.drop()
    if part.target is not None:
        note(path)


@contextlib.contextmanager
def explained(path: str | os.PathLike[str], what: str = "result") -> Iterator[None]:
    """An error of the system becomes an error with the file and the reason."""
    try:
        yield
    except OSError as reason:
        raise OutputError(
            f"error: the {what} cannot be written: {describe(path, reason)}"
        ) from None


class _Part:
    """A file until it is complete. A special file, such as a pipe, is written directly."""

    def __init__(self) -> None:
        self.target: Path | None = None
        self._file: IO[bytes] | None = None
        self._name: str | None = None
        self._mode = 0o666 & ~_umask()

    def begin(self, path: Path) -> IO[bytes]:
        """Creates it in the folder of its final place."""
        if path.is_dir():
            raise OutputError(f"error: {path} is a directory, not a file")
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            self._file = open(path, "wb")  # noqa: SIM115
            return self._file
        # A link stays a link, and its target is written.
        self.target = Path(os.path.realpath(path))
        if self.target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if self.target.exists():
            # A file that may not be written must not be replaced either.
            os.close(os.open(self.target, os.O_WRONLY))
            self._mode = stat.S_IMODE(self.target.stat().st_mode)
        descriptor, self._name = tempfile.mkstemp(
            dir=self.target.parent, prefix=f".{self.target.name}.", suffix=".part"
        )
        self._file = open(descriptor, "wb")  # noqa: SIM115
        return self._file

    def commit(self) -> None:
        """The file takes its own name."""
        assert self._file is not None
        self._file.flush()
        if self.target is not None and self._name is not None:
            os.fchmod(self._file.fileno(), self._mode)
            self._file.close()
            os.replace(self._name, self.target)
            self._name = None

    def drop(self) -> None:
        """Nothing is left of a file that was not completed."""
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()
        with contextlib.suppress(OSError):
            if self._name is not None:
                os.unlink(self._name)


def _umask() -> int:
    # The only way to read it is to set it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def folder(path: str | os.PathLike[str], option: str = "--out") -> Path:
    """A folder for results: made if need be, and one in which files can be made."""
    arguments.check_path("the folder for results", path)
    if os.fspath(path) == "-":
        raise OutputError("error: the folder of results cannot be called -\n"
                          "  = help: give the name of a folder; one called - is ./-")  # fmt: skip
    target = Path(path)
    missing = [one for one in (target, *target.parents) if not os.path.lexists(one)]
    try:
        target.mkdir(parents=True, exist_ok=True)
        if _saved is not None:
            _made.extend(reversed(missing))
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
