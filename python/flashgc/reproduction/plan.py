"""From points of an experiment to requests for the engine."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashgc import _engine, _files, api
from flashgc._engine import ConfigError, TraceError
from flashgc._types import Request
from flashgc.reproduction.experiment import Choice, Experiment, Point, Source

QUICK = "quick: a small drive and few requests"

Differs = tuple[tuple[str, str], ...]
"""Choices whose values are not comparable with the paper's: the label, and the reason."""
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


@dataclass(frozen=True)
class Planned:
    """A run that is ready to go."""

    point: Point
    label: str
    request: Request
    key: str
    """A hash of all that decides the report."""
    table_bytes: int
    differs: Differs
    fitted: Differs = ()
    """Choices whose values are predictions: the label, and what was fitted."""
    file: str = ""
    """The name of the trace, without the ending of a packed one; empty: no trace."""
    extras: frozenset[str] = frozenset()
    """Data kept in addition to the report: `distribution` of latencies, `series` over time."""


class Planner:
    """Chooses sources by the files in the user's folder of traces."""

    def __init__(self, experiment: Experiment, traces: str | os.PathLike[str] | None,
                 quick: bool) -> None:  # fmt: skip
        self._experiment, self._quick = experiment, quick
        self._folder = None if traces is None else _folder(Path(traces))

    @functools.cache  # noqa: B019 - lives as long as one reproduction
    def used(self, axis: str, name: str) -> Used:
        """The first available source of a choice."""
        choice = self._experiment.axes[axis][name]
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

    def planned(self, point: Point, seed: int | None = None) -> Planned:
        """The run at a point, checked by the engine; with another seed than its own if given."""
        experiment = self._experiment
        chosen = [self.used(axis, name) for axis, name in zip(experiment.axes, point, strict=True)]
        sources = [experiment.base, *(used.source for used in chosen)]
        file = _only([used.file for used in chosen], "trace")
        settings: dict[str, Any] = {}
        for source in sources:
            settings |= source.set
        if self._quick:
            for source in sources:
                settings |= source.quick
        if seed is not None:
            settings["seed"] = seed
        request = api._request(
            _only([source.config for source in sources], "config") or {},
            None if file is None else (os.fspath(file), file),
            _only([source.scheme for source in sources], "scheme"),
            _only([source.device for source in sources], "device"),
            settings,
            None,
        )
        label = experiment.label(point) + ("" if seed is None else f", seed {seed}")
        try:
            checked = json.loads(_engine.check(request))
        except ConfigError as error:
            raise ConfigError(f"{error}\n  = note: in the run {label}") from None
        if checked["unused_keys"]:
            unused = ", ".join(map(str, checked["unused_keys"]))
            raise ConfigError(f"error: {label}: these keys have no effect: {unused}")
        labels = [experiment.axes[axis][name].label
                  for axis, name in zip(experiment.axes, point, strict=True)]  # fmt: skip
        pairs = list(zip(labels, chosen, strict=True))
        differs = tuple((what, used.source.differs) for what, used in pairs if used.source.differs)
        fitted = tuple((what, used.source.fitted) for what, used in pairs if used.source.fitted)
        if fitted and not any(used.source.trace for used in chosen):
            differs = ()  # one fitted choice makes the values of a run predictions
        differs = (("", QUICK),) if self._quick else differs
        key = _key(checked["config_hash"], file)
        return Planned(point, label, request, key, _table_bytes(checked["settings"]), differs,
                       fitted, "" if file is None else _plain(file.name))  # fmt: skip


def _plain(name: str) -> str:
    """The name of a file without the ending that says how it is packed."""
    ending = next(one for one in reversed(_ENDINGS) if name.endswith(one))
    return name.removesuffix(ending)


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        kind = "is not a folder" if folder.exists() else "there is no such folder"
        raise TraceError(
            f"error: {folder}: {kind}\n  = help: give a folder of traces with --traces"
        )
    try:
        os.listdir(folder)
    except OSError as reason:
        raise TraceError(f"error: {_files.describe(folder, reason)}") from None
    return folder


def _none_there(choice: Choice) -> TraceError:
    files = ", ".join(name for source in choice.sources for name in source.files)
    return TraceError(
        f"error: {choice.label} needs a trace, and has no synthetic workload in its place\n"
        f"  = help: give a folder with one of these with --traces: {files}"
    )


def _only(given: Sequence[Any], what: str) -> Any:  # noqa: ANN401 - of one kind, the caller knows
    found = [item for item in given if item is not None]
    if len(found) > 1:
        raise ConfigError(f"error: two choices of a run name a {what}: {found[0]} and {found[1]}")
    return found[0] if found else None


def _key(config_hash: str, file: Path | None) -> str:
    deciding = {
        "config": config_hash,
        "trace": None if file is None else _content(file, os.stat(file).st_mtime_ns),
        "version": _engine.__version__,
    }
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


@functools.lru_cache(maxsize=64)
def _content(file: Path, _changed_ns: int) -> str:
    """A hash of a file's content; the time of its last change says when to read it again."""
    digest = hashlib.sha256()
    try:
        with open(file, "rb") as data:
            while chunk := data.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError as reason:
        raise TraceError(f"error: {_files.describe(file, reason)}") from None
    return digest.hexdigest()


def _table_bytes(settings: Mapping[str, Any]) -> int:
    """The largest size of a run's tables: 12 bytes for each page."""
    shape = settings["device"]["shape"]
    parts = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die",
             "blocks_per_plane", "pages_per_block")  # fmt: skip
    pages = 1
    for part in parts:
        pages *= int(shape[part])
    return 12 * pages
