"""The environment of a reproduction: versions, packages, traces and runs, with their hashes."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import flashgc._engine as engine

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class TraceUsed(NamedTuple):
    """A trace that runs were made of."""

    name: str
    size_bytes: int
    sha256: str
    what: str
    """Its origin, by the paper's folder."""


class RunUsed(NamedTuple):
    """A run, and the hashes by which another one can be compared with it."""

    label: str
    key: str
    config_hash: str
    result_hash: str
    seed: int
    trace: str
    """The hash of its trace; empty: none."""
    file: str
    """The name of its report below `runs/`."""


def trace_used(path: Path, sha256: str, what: str) -> TraceUsed:
    """A trace with the content that a run has read."""
    return TraceUsed(path.name, path.stat().st_size, sha256, what)


def facts() -> dict[str, str]:
    """Versions and platform."""
    return {
        "flashgc": engine.__version__,
        "engine": f"flashgc {engine.__version__}, Rust",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
    }


def packages() -> dict[str, str]:
    """The installed versions of the packages that flashgc needs, and of their requirements."""
    found: dict[str, str] = {}
    waiting = ["flashgc"]
    while waiting:
        name = waiting.pop()
        try:
            known = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another platform, or an extra
        named = _plain(known.metadata["Name"])
        if named in found:
            continue
        found[named] = known.version
        for needed in known.requires or []:
            word = _NAME.match(needed)
            if word and "extra ==" not in needed:
                waiting.append(word[0])
    return dict(sorted(found.items()))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def run_used(label: str, key: str, trace: str, file: str, report: Mapping[str, Any]) -> RunUsed:
    """A run with the hashes of its report."""
    return RunUsed(label, key, report["config_hash"], report["result_hash"], report["seed"], trace,
                   file)  # fmt: skip
