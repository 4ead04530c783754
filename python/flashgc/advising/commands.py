"""Follow-up commands that `advise` prints, ready to type."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import flashgc._engine as engine
from flashgc._engine_types import Request
from flashgc.advising.candidates import Candidates
from flashgc.advising.lengths import Lengths
from flashgc.advising.objectives import OBJECTIVES
from flashgc.pages import provenance
from flashgc.running import building, inputs

_COUNTS = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane")


class Given(NamedTuple):
    """The arguments of `advise`."""

    config: building.Config
    trace: building.PathLike | None
    device: building.PathLike | None
    sets: list[str]
    unsets: list[str]
    seed: int | None
    fit: building.Fit | None

    def again(self) -> str:
        """The call that makes the advice again."""
        return self._call("advise", [], {}, self.sets, self.fit)

    def _call(
        self, function: str, after: Sequence[object], named: Mapping[str, object],
        sets: Sequence[str], fit: building.Fit | None,
    ) -> str:  # fmt: skip
        given = [self.config, *after]
        if self.trace is not None:
            given.append(self.trace)
        return provenance.call(function, given, {
            **named, "device": self.device, "set": list(sets), "unset": self.unsets,
            "seed": self.seed, "fit": fit,
        })  # fmt: skip

    def command(
        self, verb: str, schemes: Sequence[str], more: Sequence[str], sets: Sequence[str],
        fit: building.Fit | None,
    ) -> str:  # fmt: skip
        """A command, or a call where the configuration is not a file."""
        sets = [*building.without_scheme(self.sets, schemes[0]), *sets]
        one = verb == "run"
        if not isinstance(self.config, (str, os.PathLike)) or inputs.is_text(self.config):
            named = {"blame": "--blame" in more, "seeds": _seeds(more)}
            if one:
                return self._call("run", [], {"scheme": schemes[0], **named}, sets, fit)
            return self._call("compare", [list(schemes)], named, sets, fit)
        words = ["flashgc", verb, os.fspath(self.config)]
        words += [] if self.trace is None else ["--trace", os.fspath(self.trace)]
        words += ["--scheme", schemes[0]] if one else ["--schemes", ",".join(schemes)]
        words += [] if self.device is None else ["--device", os.fspath(self.device)]
        words += [] if self.seed is None else ["--seed", str(self.seed)]
        words += [] if fit is None else ["--fit", str(fit)]
        words += [word for key in self.unsets for word in ("--unset", key)]
        words += [word for text in sets for word in ("--set", text)]
        return shlex.join([*words, *more])


def _seeds(more: Sequence[str]) -> int | None:
    return int(more[more.index("--seeds") + 1]) if "--seeds" in more else None


def shown(given: Given, found: Candidates, values: Mapping[str, Any], plan: Lengths) -> list[str]:
    """The commands: the parts of the latencies of the best scheme, and the best next to others."""
    best = [values["best"][objective.key] for objective in OBJECTIVES]
    names = list(dict.fromkeys(one["take"] for one in best if one is not None))
    # Without a recommendation, all that have long runs.
    names = names or [one["scheme"] for one in values["schemes"] if one["outcome"] == "long"]
    others = [name for name in names if name != found.own]
    several = [found.own, *others]
    long = [text for text in plan.long[0] if not text.startswith("seed=")]
    seeds = ["--seeds", str(len(plan.long))] if len(plan.long) > 1 else []
    one = others[0] if others else found.own
    told = [_made(given, found, "run", [one], ["--blame", "--out", "runs/best"], long)]
    if len(several) > 1:
        more = [*seeds, "--out", "runs/compared"]
        told.append(_made(given, found, "compare", several, more, long))
    return told


def _made(
    given: Given, found: Candidates, verb: str, schemes: Sequence[str], more: Sequence[str],
    sets: Sequence[str],
) -> str:  # fmt: skip
    size = size_settings(found, schemes)
    fit = given.fit if not size else "none"
    return given.command(verb, schemes, more, [*sets, *size], fit)


def size_settings(found: Candidates, schemes: Sequence[str]) -> list[str]:
    """The size of the drive as settings, where a command would size it in another way.

    The drive of `advise` has the size that the configuration's own scheme gives it. Other schemes
    may need more blocks in each plane, and then get fewer planes.
    """
    own = found.requests[found.own]
    if own["fitted"] is None:
        return []
    requests: list[Request] = [{**found.requests[name], "fitted": None} for name in schemes]
    [sized, *_] = building.sized(requests, None)
    shape = _shape(own)
    if _shape(sized) == shape:
        return []
    counts = [f"device.{name}={shape[name]}" for name in _COUNTS]
    return ['workload.trace.address="compact"', *counts]


def _shape(request: Request) -> Mapping[str, int]:
    checked = json.loads(engine.check(request))
    shape: Mapping[str, int] = checked["settings"]["device"]["shape"]
    return shape


__all__ = ["Given", "shown", "size_settings"]
