"""`flashgc reproduce --check`: runs a bundle again, and compares the hash of each result.

1. The archive must be whole: each file has the hash that `bundle.json` has for it.
2. The traces that it names must be in the user's folder, with the same content.
3. Its papers run from the descriptions in it, with these traces and no others.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import flashgc._engine as engine
from flashgc._engine import ConfigError, TraceError
from flashgc.axes import layers
from flashgc.files import arguments, output, reading
from flashgc.reproduction import bundle as bundles
from flashgc.reproduction import outcome, papers
from flashgc.reproduction.environment import RunUsed, TraceUsed
from flashgc.reproduction.runs import Step

if TYPE_CHECKING:
    from flashgc.reproduction.bundle_form import BundleForm, PaperForm

PathLike = str | os.PathLike[str]

_NAME = re.compile(r"[^/\\\x00-\x1f:]{1,120}")
_CHUNK_BYTES = 1 << 20
_LIST_BYTES_MAX = 64 << 20
_TEXT_BYTES_MAX = reading.CONFIG_BYTES_MAX
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError,
            ValueError, RuntimeError)  # fmt: skip
"""Exceptions of the reader of archives; RuntimeError is for a password."""
_HELP = "\n  = help: give a file that `flashgc reproduce --bundle` has written"


class Difference(NamedTuple):
    """A run whose result differs from the bundle."""

    paper: str
    label: str
    was: str
    """The hash of the result in the bundle; `-` where it has no such run."""
    now: str
    """The hash of the result here; `-` where there is no such run."""


@dataclass(frozen=True)
class Checked:
    """A bundle that was run again."""

    bundle: Path
    folder: Path
    """The folder of the second results."""
    version: str
    """The version of flashgc that made the bundle."""
    runs: Mapping[str, int]
    """The number of runs in the bundle, for each paper."""
    differences: Sequence[Difference]

    @property
    def same(self) -> bool:
        """Whether every result has the hash that it has in the bundle."""
        return not self.differences

    def rows(self) -> list[list[str]]:
        """A row for each paper below a head."""
        table = [["paper", "runs", "same result"]]
        for name, count in self.runs.items():
            wrong = sum(one.paper == name and one.was != "-" for one in self.differences)
            table.append([name, str(count), str(count - wrong)])
        return table

    def to_json(self, indent: int | None = 2) -> str:
        """An object with the number of runs by paper, and the differences."""
        found = {
            "bundle": os.fspath(self.bundle), "made_by": self.version,
            "checked_by": engine.__version__, "same": self.same, "runs": dict(self.runs),
            "differences": [one._asdict() for one in self.differences],
        }  # fmt: skip
        return json.dumps(found, indent=indent)


def check_bundle(
    bundle: PathLike,
    traces: PathLike | None = None,
    out: PathLike | None = None,
    jobs: int | None = None,
    progress: Callable[[Step], object] | None = None,
) -> Checked:
    """Runs everything in a bundle again, and compares the hash of each result.

    Args:
        bundle: a zip file that `flashgc reproduce --bundle` has written.
        traces: a folder with the traces that it names.
        out: where the results go; `runs/check/NAME` if not given. Nothing there is reused.
        jobs: number of parallel runs; the number of processors if not given.
        progress: called with a :class:`flashgc.reproduction.Step` of each paper.

    Raises:
        ConfigError: a file that is not a bundle, or that was changed.
        TraceError: a trace that is missing, or has another content.
        OutputError: results that cannot be written.

    """
    arguments.check_path("bundle", bundle)
    arguments.check_function(progress=progress)
    path = Path(bundle)
    listed, texts = _read(path)
    needed = {one.paper: _needed(one, traces) for one in listed.papers}
    folder = output.folder(Path("runs/check") / path.stem if out is None else out)
    differences: list[Difference] = []
    for one in listed.papers:
        home = output.folder(folder / "papers" / one.paper)
        for name, text in texts[one.paper].items():
            output.write(home / name, text)
        own = _linked(folder / "traces" / one.paper, needed[one.paper])
        done = outcome.reproduce(
            os.fspath(home), one.figures, own, folder / "results" / one.paper, jobs, True,
            one.quick, progress, again=f"flashgc reproduce --check {path}",
        )  # fmt: skip
        differences += _compared(one, done.made.runs)
    runs = {one.paper: len(one.runs) for one in listed.papers}
    return Checked(path, folder, listed.flashgc, runs, differences)


def _read(path: Path) -> tuple[BundleForm, dict[str, dict[str, str]]]:
    """The list of a bundle and the descriptions of its papers, once all its files are right."""
    try:
        with zipfile.ZipFile(path) as archive:
            listed = _list(path, archive)
            _whole(path, archive, listed)
            return listed, {one.paper: _texts(path, archive, one.paper) for one in listed.papers}
    except OSError as reason:
        raise ConfigError(f"error: {reading.describe(path, reason)}") from None
    except _DAMAGED as reason:
        raise ConfigError(
            f"error: {path} is not a zip file, or is damaged: {str(reason).lower()}{_HELP}"
        ) from None


def _list(path: Path, archive: zipfile.ZipFile) -> BundleForm:
    from pydantic import ValidationError  # models take time to load

    from flashgc.reproduction.bundle_form import BundleForm

    names = archive.namelist()
    if bundles.MANIFEST not in names:
        raise ConfigError(f"error: {path} is not a bundle: it has no {bundles.MANIFEST}{_HELP}")
    try:
        found = json.loads(_member(path, archive, bundles.MANIFEST, _LIST_BYTES_MAX))
        listed = BundleForm.model_validate(found)
        for one in listed.papers:
            for run in one.runs:
                RunUsed(**run)
            for trace in one.traces:
                TraceUsed(**trace)
    except (ValueError, ValidationError, TypeError, RecursionError):
        raise ConfigError(
            f"error: {path}: {bundles.MANIFEST} is not the list of a bundle{_HELP}"
        ) from None
    if listed.form != bundles.FORM or listed.form_version != bundles.FORM_VERSION:
        raise ConfigError(
            f"error: {path} is a bundle of the form {listed.form} {listed.form_version}, and this "
            f"version reads {bundles.FORM} {bundles.FORM_VERSION}"
        )
    for one in listed.papers:
        wrong = [name for name in (one.paper, *(trace["name"] for trace in one.traces))
                 if not _is_plain(name)]  # fmt: skip
        if wrong:
            raise ConfigError(f"error: {path}: {wrong[0]!r} cannot be the name of a file")
    return listed


def _is_plain(name: object) -> bool:
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and name.strip(".") != ""


def _whole(path: Path, archive: zipfile.ZipFile, listed: BundleForm) -> None:
    """Every file that the list names is there, with the content that it had."""
    there = set(archive.namelist())
    for name, sha256 in listed.files.items():
        if name not in there:
            raise ConfigError(f"error: {path} was changed: {name} is missing{_HELP}")
        digest = hashlib.sha256()
        with archive.open(name) as data:
            while chunk := data.read(_CHUNK_BYTES):
                digest.update(chunk)
        if digest.hexdigest() != sha256:
            raise ConfigError(
                f"error: {path} was changed: {name} has another content than its list says{_HELP}"
            )


def _texts(path: Path, archive: zipfile.ZipFile, paper: str) -> dict[str, str]:
    """The files of a paper's folder by name."""
    return {
        name: _member(path, archive, f"papers/{paper}/{name}", _TEXT_BYTES_MAX)
        for name in (*papers.FILES.values(), papers.MEASURED)
    }


def _member(path: Path, archive: zipfile.ZipFile, name: str, most: int) -> str:
    try:
        with archive.open(name) as data:
            found = data.read(most + 1)
    except KeyError:
        raise ConfigError(f"error: {path}: {name} is missing{_HELP}") from None
    if len(found) > most:
        raise ConfigError(f"error: {path}: {name} is larger than {most >> 20} MiB")
    return found.decode()


def _needed(paper: PaperForm, traces: PathLike | None) -> list[Path]:
    """The traces of a paper in the user's folder, which must have the content that they had."""
    found = []
    for one in (TraceUsed(**trace) for trace in paper.traces):
        known = f"{one.name} ({one.size_bytes} bytes, SHA-256 {one.sha256})"
        if traces is None:
            raise TraceError(
                f"error: {paper.paper} was run with traces, which are not in the bundle: {known}\n"
                "  = help: name a folder that has them with --traces"
            )
        file = Path(traces) / one.name
        if not file.is_file():
            raise TraceError(f"error: {file}: there is no such trace; {paper.paper} needs {known}")
        if layers.content_of(file) != one.sha256:
            raise TraceError(f"error: {file} has another content; {paper.paper} needs {known}")
        found.append(file)
    return found


def _linked(folder: Path, files: Sequence[Path]) -> Path | None:
    """A folder with these traces alone, since others there would be used as well."""
    if not files:
        return None
    output.folder(folder)
    for file in files:
        link = folder / file.name
        with output.explained(link):
            with contextlib.suppress(FileNotFoundError):
                link.unlink()
            link.symlink_to(file.resolve())
    return folder


def _compared(paper: PaperForm, now: Sequence[RunUsed]) -> list[Difference]:
    """The runs whose configuration or result is another one."""
    then = {run["label"]: RunUsed(**run) for run in paper.runs}
    here = {run.label: run for run in now}
    found = []
    for label in sorted({*then, *here}):
        was, is_ = then.get(label), here.get(label)
        if was is None or is_ is None or was.result_hash != is_.result_hash:
            found.append(Difference(
                paper.paper, label, "-" if was is None else was.result_hash,
                "-" if is_ is None else is_.result_hash,
            ))  # fmt: skip
    return found
