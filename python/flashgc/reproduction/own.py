"""The schemes of a paper on traces of the user's own, in place of the paper's workloads.

The paper's runs and statements are changed before they are read: the choices of one axis become
the user's files, and only the claims stay that say which of two values is larger.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashgc import _files
from flashgc._engine import ConfigError, TraceError
from flashgc.reproduction.experiment import ANY
from flashgc.reproduction.read import Reader, parse

WHY = "this is your own trace; the claim is about the workloads of the paper"
_KEY = "own_trace"
_OTHER_RUNS = ("than", "against", "than_against")


@dataclass(frozen=True)
class OwnTraces:
    """Traces of the user's own, and their format where it is not to be recognised."""

    files: Sequence[str | os.PathLike[str]]
    format: str | None = None


def replaced(
    texts: Mapping[str, str], where: Mapping[str, str], traces: OwnTraces
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Experiment and claims with these traces for workloads, and the figures to make of them."""
    experiment = parse(texts["experiment"], where["experiment"]).all()
    claims = parse(texts["claims"], where["claims"]).all()
    own = Reader(experiment, where["experiment"]).table(_KEY)
    if _KEY not in experiment:
        raise ConfigError(
            f"error: {where['experiment']}: the paper cannot run on other traces\n"
            f"  = help: add a table [{_KEY}] that names the axis they replace"
        )
    axis, items = own.text("axis"), own.texts("items")
    if axis not in experiment.get("axes", {}):
        own.wrong(f'`axis`: there is no axis "{axis}"')
    common = {key: own.mapping(key) for key in ("set", "quick")}
    own.done()
    if traces.format is not None:
        common["set"]["workload.trace.format"] = traces.format
    experiment["axes"][axis] = {
        name: {"label": name, "sources": [{"trace": os.fspath(path), "differs": WHY, **common}]}
        for name, path in _named(traces.files).items()
    }
    experiment["items"] = [_anywhere(item, axis) for item in experiment["items"]
                           if not _speaks_of(item, axis)]  # fmt: skip
    kept = [item["id"] for item in experiment["items"]]
    claims["claims"] = [
        _claim(claim, axis, kept) for claim in claims["claims"] if _stays(claim, axis, kept)
    ]
    return experiment, claims, [item for item in items if item in kept]


def _named(files: Sequence[str | os.PathLike[str]]) -> dict[str, Path]:
    """The files by their names, which must differ."""
    named: dict[str, Path] = {}
    for given in files:
        path = Path(given)
        try:
            if path.exists() and not path.is_file():
                raise TraceError(f"error: {path} is not a file, but must be read more than once")
            with open(path, "rb"):
                pass
        except OSError as reason:
            raise TraceError(f"error: {_files.describe(path, reason)}") from None
        if path.name in named:
            raise TraceError(
                f"error: {path}: there is another trace named {path.name}\n"
                "  = help: names must differ; rename one"
            )
        named[path.name] = path
    return named


def _anywhere(table: Mapping[str, Any], axis: str) -> dict[str, Any]:
    return {**table, "at": {**table.get("at", {}), axis: ANY}}


def _speaks_of(table: Mapping[str, Any], axis: str) -> bool:
    """Whether one choice of the axis is compared with another, or is used as a number."""
    other = any(axis in table.get(key, {}) for key in _OTHER_RUNS)
    lines = table.get("form") == "lines" and table.get("rows") == axis
    return other or lines or table.get("along") == axis


def _stays(claim: Mapping[str, Any], axis: str, items: Sequence[str]) -> bool:
    """Whether a claim can be judged elsewhere: an order at several workloads, or a check."""
    if claim.get("kind") == "check":
        return True
    over = claim.get("over", [])
    at = claim.get("at", {}).get(axis)
    several = at == ANY or (isinstance(at, list) and len(at) > 1)
    shown = any(part in items for part in claim.get("in", []))
    taken = axis in ([over] if isinstance(over, str) else over)
    return (claim.get("kind") == "order" and several and shown and not taken
            and not _speaks_of(claim, axis))  # fmt: skip


def _claim(claim: Mapping[str, Any], axis: str, items: Sequence[str]) -> dict[str, Any]:
    if claim.get("kind") == "check":
        return dict(claim)
    left = {key: value for key, value in claim.items() if key not in ("note", "remarks")}
    parts = [part for part in claim["in"] if part in (*items, ANY)]
    return {**_anywhere(left, axis), "in": parts, "why_not": WHY}
