"""The schemes of a paper on traces of the user's own, in place of the paper's workloads.

The paper's runs and statements are changed before they are read: the choices of one axis become
the user's files, and only the claims stay that say which of two values is larger.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from flashgc._engine import TraceError
from flashgc.axes.forms import ChoiceForm
from flashgc.files import reading
from flashgc.files.forms import near
from flashgc.reproduction.claims_form import CheckForm, ClaimForm, ClaimsForm, OrderForm
from flashgc.reproduction.experiment import ANY
from flashgc.reproduction.experiment_form import ExperimentForm, ItemForm, LinesForm
from flashgc.reproduction.own_traces import OwnTraces
from flashgc.reproduction.read_experiment import listed

WHY = "this is your own trace; the claim is about the workloads of the paper"
_OTHER_RUNS = ("than", "against", "than_against")


def replaced(
    experiment: ExperimentForm, claims: ClaimsForm, traces: OwnTraces
) -> tuple[ExperimentForm, ClaimsForm, list[str]]:
    """Experiment and claims with these traces for workloads, and the figures to make of them."""
    own = experiment.own_trace
    if own is None:
        experiment.wrong(
            "the paper cannot run on other traces\n"
            "  = help: add a table [own_trace] that names the axis they replace"
        )
    axis = own.axis
    if axis not in experiment.axes:
        own.wrong(f'there is no axis "{axis}"\n{near(axis, list(experiment.axes), "axes")}', "axis")
    settings = {**own.set, **traces.settings()}
    choices = {
        name: ChoiceForm(
            label=name, trace=os.fspath(path), differs=WHY, set=settings, quick=own.quick
        )
        for name, path in _named(traces.files).items()
    }
    several = len(choices) > 1
    items = [
        _anywhere(item, axis)
        for item in experiment.items
        if not _names_choice(item, axis) and not (several and _shows_one(item, axis))
    ]
    kept = [item.id for item in items]
    changed = {"axes": {**experiment.axes, axis: choices}, "items": items}
    stay = [_claim(claim, axis, kept) for claim in claims.claims if _stays(claim, axis, kept)]
    return (
        experiment.model_copy(update=changed),
        claims.model_copy(update={"claims": stay}),
        [item for item in own.items if item in kept],
    )


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
            raise TraceError(f"error: {reading.describe(path, reason)}") from None
        if path.name in named:
            raise TraceError(
                f"error: {path}: there is another trace named {path.name}\n"
                "  = help: names must differ; rename one"
            )
        named[path.name] = path
    return named


T = TypeVar("T", ItemForm, ClaimForm)


def _anywhere(table: T, axis: str) -> T:
    at = {**getattr(table, "at", {}), axis: ANY}
    return table.model_copy(update={"at": at})


def _names_choice(table: ItemForm | ClaimForm, axis: str) -> bool:
    """Whether one choice of the axis is compared with another, or is used as a number."""
    other = any(axis in (getattr(table, key, None) or {}) for key in _OTHER_RUNS)
    lines = isinstance(table, LinesForm) and table.rows == axis
    return other or lines or getattr(table, "along", None) == axis


def _shows_one(item: ItemForm, axis: str) -> bool:
    """Whether it has room for one choice of the axis alone."""
    return axis not in (item.rows, item.columns, getattr(item, "over", None))


def _stays(claim: ClaimForm, axis: str, items: Sequence[str]) -> bool:
    """Whether a claim can be judged elsewhere: an order at several workloads, or a check."""
    if not isinstance(claim, OrderForm):
        return isinstance(claim, CheckForm)
    at = claim.at.get(axis, [])
    several = at == ANY or (isinstance(at, list) and len(at) > 1)
    shown = any(part in items for part in claim.parts)
    return several and shown and axis not in listed(claim.over) and not _names_choice(claim, axis)


def _claim(claim: ClaimForm, axis: str, items: Sequence[str]) -> ClaimForm:
    backed_by = [item for item in claim.backed_by if item in items]
    if isinstance(claim, CheckForm):
        return claim.model_copy(update={"backed_by": backed_by})
    parts = [part for part in claim.parts if part in (*items, ANY)]
    left = {"note": "", "remarks": [], "parts": parts, "why_not": WHY, "backed_by": backed_by}
    return _anywhere(claim, axis).model_copy(update=left)
