"""The collectors that may be inside: combinations of slots that measurements can tell apart."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.files import reading, toml
from flashgc.results import refusal
from flashgc.running import builtin_presets, inputs, policies
from flashgc.tuning.space import problem, with_settings

BASE = "greedy"
"""The preset below the combinations."""
Settings = Mapping[str, Any]

CLASSES: Mapping[str, Settings] = {
    "at once": {"gc.preemption.use": "never", "gc.pacing.use": "at-once"},
    "between copies": {"gc.preemption.use": "between-copies", "gc.pacing.use": "at-once",
                       "gc.trigger.watermark.hard": "20% of soft"},
    "suspended": {"gc.preemption.use": "suspend", "gc.pacing.use": "at-once",
                  "gc.trigger.watermark.hard": "20% of soft"},
    "tokens": {"gc.preemption.use": "between-copies", "gc.pacing.use": "tokens",
               "gc.trigger.watermark.hard": "none"},
    "time slices": {"gc.preemption.use": "never", "gc.pacing.use": "time-slices",
                    "gc.trigger.watermark.hard": "none"},
    "superblocks": {"gc.preemption.use": "never", "gc.pacing.use": "at-once",
                    "gc.copy.use": "bus", "device.superblock": "drive"},
}  # fmt: skip
"""How a collection is spread over time: the shape of the latencies."""
PLACEMENTS: Mapping[str, Settings] = {
    "one frontier": {"gc.placement.use": "one-frontier"},
    "copies apart": {"gc.placement.use": "separate-gc"},
}
VICTIMS: Mapping[str, Settings] = {
    "greedy": {"gc.victim.use": "greedy"},
    "cost-benefit": {"gc.victim.use": "cost-benefit"},
    "fifo": {"gc.victim.use": "fifo"},
}
"""Which block is collected: write amplification, and its change with skew."""


@dataclass(frozen=True)
class Candidate:
    """A collector: a name, and the settings or the scheme that it is."""

    name: str
    settings: Settings
    """Over the preset of the combinations; empty for a scheme by name or file."""
    scheme: tuple[str, str | None] = (BASE, None)

    def request(self, request: Request) -> Request:
        """The request of a run with this collector."""
        return with_settings({**request, "scheme": self.scheme}, self.settings)

    @property
    def device(self) -> Settings:
        """The settings of the device among its own."""
        return {key.removeprefix("device."): value for key, value in self.settings.items()
                if key.startswith("device.")}  # fmt: skip

    def text(self) -> str:
        """The scheme as a file."""
        name, own = self.scheme
        if own is not None:
            return own
        preset = next(one for one in builtin_presets.schemes() if one["name"] == name)
        if not self.settings:
            return str(preset["text"])
        keys = json.loads(json.dumps(preset["keys"]))
        for key, value in self.settings.items():
            if key.startswith("gc."):
                _put(keys, key.removeprefix("gc.").split("."), value)
        keys["about"] = {"title": f"Fitted: {self.name}", "source": "flashgc calibrate"}
        return toml.dumps(keys)


def _put(table: dict[str, Any], path: Sequence[str], value: Any) -> None:  # noqa: ANN401
    for part in path[:-1]:
        table = table.setdefault(part, {})
    table[path[-1]] = value


def of(base: Request, schemes: Sequence[str | os.PathLike[str]] | None) -> list[Candidate]:
    """The candidates: all legal combinations, or the given schemes."""
    if schemes is None:
        found = [one for one in _combinations(base) if problem(one.request(base)) is None]
        if found:
            return found
        why = problem(Candidate(BASE, {}).request(base))
        raise ConfigError(f"error: no candidate runs on this device: {why}\n"
                          "  = help: name some with --schemes")  # fmt: skip
    several = [] if isinstance(schemes, str) else policies.listed(schemes)
    if not several:
        raise ConfigError("error: schemes must be a list with one name or more\n  = help: name "
                          "some as in `--schemes greedy,pgc`, or omit --schemes")  # fmt: skip
    made = []
    for given in several:
        policies.check_named(given, "calibrate")
        one = named(given)
        refused = refusal.of(one.request(base), given, None)
        if refused is not None:
            raise ConfigError(f"error: the scheme {reading.printable(given)} cannot run on this "
                              f"device: {refused.reason}\n  = help: remove it from --schemes; "
                              f"{refused.advice}")  # fmt: skip
        made.append(one)
    if len({one.name for one in made}) < len(made):
        raise ConfigError("error: --schemes names a scheme twice")
    return made


def named(given: str | os.PathLike[str]) -> Candidate:
    """The candidate of a scheme, by name or file."""
    preset = inputs.preset(given)
    assert preset is not None
    return Candidate(Path(given).stem if inputs.is_file(given) else preset[0], {}, preset)


def _combinations(base: Request) -> list[Candidate]:
    shape = json.loads(engine.check(base))["settings"]["device"]["shape"]
    planes = (shape["channels"] * shape["chips_per_channel"] * shape["dies_per_chip"]
              * shape["planes_per_die"])  # fmt: skip
    copy = _copy(base)
    found = []
    for kind, own in CLASSES.items():
        if kind == "superblocks" and planes == 1:
            continue  # each block is one already
        for place, placed in PLACEMENTS.items():
            for victim, chosen in VICTIMS.items():
                name = f"{kind}, {place}, {victim}"
                found.append(Candidate(name, {**copy, **own, **placed, **chosen}))
    return found


def _copy(base: Request) -> Settings:
    """Copies inside the plane where the device has them, else over the bus."""
    inside = {"gc.copy.use": "copyback"}
    if problem(with_settings({**base, "scheme": (BASE, None)}, inside)) is None:
        return inside
    return {"gc.copy.use": "bus"}
