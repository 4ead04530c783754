"""From one choice of each axis to a request for the engine, and to the key of its result."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError, TraceError
from flashgc._engine_types import Request
from flashgc.axes.choice import Choice, Source
from flashgc.files import reading
from flashgc.running import building, inputs

_CHUNK_BYTES = 1 << 20
_ENDINGS = ("", ".zst", ".gz")


@dataclass(frozen=True)
class Used:
    """The source of a choice that was taken, and the file that it needed."""

    source: Source
    file: Path | None

    def describe(self) -> str:
        """In words."""
        name = self.file.name if self.file is not None else self.source.config
        return ", ".join(filter(None, [self.source.what, name]))


class Chooser:
    """Chooses sources by the files in the user's folder of traces."""

    def __init__(self, traces: str | os.PathLike[str] | None) -> None:
        self._folder = None if traces is None else _folder(Path(traces))
        self._configs: dict[str, reading.Source] = {}

    def base(self, source: Source) -> Used:
        """The layer below all choices."""
        return self.used(Choice("base", "the base", (source,)))

    def used(self, choice: Choice) -> Used:
        """The first available source of a choice."""
        for source in choice.sources:
            if source.trace is not None:
                return Used(source, Path(source.trace))
            if not source.files:
                return Used(source, None)
            found = self._find(source.files)
            if found is not None:
                return Used(source, found)
        raise _none_there(choice)

    def _find(self, files: Sequence[str]) -> Path | None:
        if self._folder is None:
            return None
        paths = (self._folder / f"{name}{ending}" for name in files for ending in _ENDINGS)
        return next((path for path in paths if path.is_file()), None)

    def joined(self, used: Sequence[Used], quick: bool, seed: int | None = None) -> Request:
        """The request of these layers: later settings replace those before them."""
        sources = [one.source for one in used]
        file = _only([one.file for one in used], "trace")
        settings: dict[str, Any] = {}
        for source in sources:
            settings |= source.set
        if quick:
            for source in sources:
                settings |= source.quick
        if seed is not None:
            settings["seed"] = seed
        config = _only([source.config for source in sources], "config")
        return building.bare_request(
            {} if config is None else self._config(config),
            None if file is None else (os.fspath(file), file),
            _only([source.scheme for source in sources], "scheme"),
            _only([source.device for source in sources], "device"),
            settings,
            None,
        )

    def _config(self, name: str) -> Any:  # noqa: ANN401 - the text of a configuration
        """The text of a configuration, read once for all runs."""
        if name not in self._configs:
            self._configs[name] = inputs.config(name)
        return self._configs[name]


@dataclass(frozen=True)
class Checked:
    """A request that the engine has accepted."""

    request: Request
    settings: Mapping[str, Any]
    """Everything that the configuration came to."""
    config_hash: str
    drive: Mapping[str, Any]
    """The settings that its preconditioned drive depends on, except a trace's requests."""
    trace: str | None
    """The hash of the content of its trace."""
    awaits_fit: bool
    """Whether its trace has yet to decide the size of the drive."""

    @property
    def key(self) -> str:
        """A hash of all that decides the report."""
        deciding: dict[str, Any] = {
            "config": self.config_hash,
            "trace": self.trace,
            "version": engine.__version__,
        }
        if self.awaits_fit:
            # The size, and all that follows from it, is not in the settings yet.
            layers = ("text", "scheme", "device", "sets", "unsets")
            deciding["layers"] = {name: self.request[name] for name in layers}  # type: ignore[literal-required]
        return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()

    @property
    def drive_key(self) -> str | None:
        """The hash of the state of its preconditioned drive; None where no other run may share it.

        A drive whose preconditioning takes the requests of a trace, or whose size does, is not
        shared.
        """
        is_trace = self.trace is not None
        by_trace = is_trace and (self.drive["workload"] is not None or self.awaits_fit)
        untouched = not self.drive["precondition"].get("overwrite")
        if by_trace or untouched:
            return None
        made_from: dict[str, Any] = {"drive": self.drive, "version": engine.__version__}
        return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()

    @property
    def table_bytes(self) -> int:
        """The largest size of a run's tables: 12 bytes for each page."""
        shape = self.settings["device"]["shape"]
        parts = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die",
                 "blocks_per_plane", "pages_per_block")  # fmt: skip
        pages = 1
        for part in parts:
            pages *= int(shape[part])
        return 12 * pages


def checked(request: Request, label: str) -> Checked:
    """The request of a run, once the engine has accepted it; an error names the run."""
    try:
        found = json.loads(engine.check(request))
        if request["trace_path"] is None and found["trace_file"] is not None:
            building.add_own_trace(request)
            found = json.loads(engine.check(request))
    except ConfigError as error:
        raise ConfigError(f"{error}\n  = note: in the run {label}") from None
    given = _given(request)
    if unused := ", ".join(key for key in found["unused_keys"] if _is_in(given, key)):
        raise ConfigError(f"error: {label}: these keys have no effect: {unused}")
    path = request["trace_path"]
    content = None if path is None else content_of(Path(path))
    return Checked(
        request, found["settings"], found["config_hash"], found["drive"], content,
        found["awaits_fit"],
    )  # fmt: skip


def _given(request: Request) -> set[str]:
    """The keys that a request sets by itself: those of its scheme come with the preset."""
    keys = {text.partition("=")[0].strip() for text in request["sets"]}
    tables = [("", tomllib.loads(request["text"]))]
    while tables:
        path, table = tables.pop()
        for key, value in table.items():
            if isinstance(value, dict):
                tables.append((f"{path}{key}.", value))
            else:
                keys.add(f"{path}{key}")
    return keys


def _is_in(given: set[str], key: str) -> bool:
    """Whether a key, or a table around it, was given."""
    parts = key.split(".")
    return any(".".join(parts[:length]) in given for length in range(1, len(parts) + 1))


def plain_name(file: Path) -> str:
    """The name of a file without the ending of its packing."""
    ending = next(one for one in reversed(_ENDINGS) if file.name.endswith(one))
    return file.name.removesuffix(ending)


def content_of(file: Path) -> str:
    """A hash of the content of a file, as hexadecimal digits."""
    try:
        changed_ns = os.stat(file).st_mtime_ns
    except OSError as reason:
        raise TraceError(f"error: {reading.describe(file, reason)}") from None
    return _content(file, changed_ns)


@functools.lru_cache(maxsize=64)
def _content(file: Path, _changed_ns: int) -> str:
    """The hash of a file; a new time of its last change causes a new read."""
    digest = hashlib.sha256()
    try:
        with open(file, "rb") as data:
            while chunk := data.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError as reason:
        raise TraceError(f"error: {reading.describe(file, reason)}") from None
    return digest.hexdigest()


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        kind = " is not a folder" if folder.exists() else ": there is no such folder"
        raise TraceError(f"error: {folder}{kind}\n  = help: give a folder of traces with --traces")
    try:
        os.listdir(folder)
    except OSError as reason:
        raise TraceError(f"error: {reading.describe(folder, reason)}") from None
    return folder


def _none_there(choice: Choice) -> TraceError:
    files = ", ".join(name for source in choice.sources for name in source.files)
    return TraceError(
        f"error: {choice.label} needs a trace, and has no synthetic workload in its place\n"
        f"  = help: give a folder with one of these with --traces: {files}"
    )


def _only(given: Sequence[Any], what: str) -> Any:  # noqa: ANN401 - of one kind, the caller knows
    # Several layers may need the same one.
    found = list(dict.fromkeys(item for item in given if item is not None))
    if len(found) > 1:
        raise ConfigError(
            f"error: [base] and the choices of a run name two {what}s: {found[0]} and {found[1]}\n"
            f"  = help: name the {what} of a run once, in [base] or in the choices of one axis"
        )
    return found[0] if found else None
