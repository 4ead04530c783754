"""The schemes to advise on: which presets the device can run is known before any run."""

from __future__ import annotations

import json
from typing import NamedTuple

from flashgc import _engine, api, refusal
from flashgc._types import Request
from flashgc.floor import IDEAL

OMITTED = {
    "greedy-msr": "it repeats the rules of one simulator",
    "ssdsim": "it repeats the rules of one simulator",
    "subblock-baseline": "it is the baseline of a paper, greedy at another threshold",
    "random": "it is the lower bound of victim policies",
}
"""Presets that are not candidates by themselves, each with its reason."""


class Candidates(NamedTuple):
    """The schemes that can run, and why the others do not."""

    requests: dict[str, Request]
    """A request for each scheme, the configuration's own first and the floor last."""
    own: str
    """The name of the configuration's scheme."""
    left: dict[str, str]
    """The reasons of those that do not run."""


def presets(own: str) -> list[str]:
    """The presets that are candidates where none are named."""
    names = [known["name"] for known in api.schemes()]
    return [name for name in names if name not in (own, IDEAL, *OMITTED)]


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
        elif not listed and _blocks(request) != drive:
            left[name] = "it adds blocks of its own, so its drive is not the same"
        else:
            able[name] = request
    if IDEAL in able:
        able[IDEAL] = able.pop(IDEAL)
    return Candidates(able, own, left)


def _blocks(request: Request) -> int:
    """The blocks that a scheme adds to each plane."""
    gc = json.loads(_engine.check(request))["settings"]["gc"]
    extra: int = (gc.get("time_slices") or {}).get("extra_blocks", 0)
    return extra
