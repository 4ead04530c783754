"""The schemes to advise on: which presets the device can run is known before any run."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import flashgc._engine as engine
from flashgc._engine_types import Request
from flashgc.results import gc_cost, refusal
from flashgc.running import builtin_presets

OMITTED = {
    "greedy-msr": "it repeats the rules of one simulator",
    "ssdsim": "it repeats the rules of one simulator",
    "subblock-baseline": "it is the baseline of a paper, greedy at another threshold",
    "random": "it is the lower bound of victim policies",
    "ideal": "its collections take no time, which no device does",
}
"""Presets that are not candidates by themselves, each with its reason."""


class Candidates(NamedTuple):
    """The schemes that can run, and why the others do not."""

    requests: dict[str, Request]
    """A request for each scheme, the configuration's own first."""
    own: str
    """The name of the configuration's scheme."""
    left: dict[str, str]
    """The reasons of those that do not run."""


def presets(own: str) -> list[str]:
    """The presets that are candidates where none are named."""
    names = [known["name"] for known in builtin_presets.schemes()]
    return [name for name in names if name not in (own, *OMITTED)]


def chosen(base: Request, requests: dict[str, Request], own: str, listed: bool) -> Candidates:
    """The candidates that can run on the drive of `base`, which is that of the configuration."""
    left = {} if listed else dict(OMITTED)
    left.pop(own, None)
    able: dict[str, Request] = {own: base}
    drive = _blocks(base)
    for name, request in requests.items():
        found = refusal.of(request, name, None)
        if found is not None:
            left[name] = found.reason
        elif is_free(request):
            left[name] = OMITTED["ideal"]
        elif not listed and _blocks(request) != drive:
            left[name] = "it adds blocks of its own, so its drive is not the same"
        else:
            able[name] = request
    return Candidates(able, own, left)


def is_free(request: Request) -> bool:
    """Whether the collections of a scheme take no time."""
    return gc_cost.is_free(_gc(request))


def _gc(request: Request) -> dict[str, Any]:
    """The settings of the scheme of a request."""
    gc: dict[str, Any] = json.loads(engine.check(request))["settings"]["gc"]
    return gc


def _blocks(request: Request) -> int:
    """The blocks that a scheme adds to each plane."""
    gc = _gc(request)
    extra: int = (gc.get("time_slices") or {}).get("extra_blocks", 0)
    return extra
