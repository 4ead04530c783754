"""The space of a search where none is given: the slots of a scheme, and their parameters.

The choices of the slots are those of the engine, without two bounds (copies in no time, and random
victims). Ranges follow from the drive: its spare space, and the time of an erase.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import flashgc._engine as engine
from flashgc._engine_types import Request
from flashgc.axes.choice import Choice, Range, Source, choice
from flashgc.running import builtin_presets
from flashgc.tuning.space import SLOTS, Parameter, Space, Values, able

BOUNDS = {"copy": ("instant",), "victim": ("random",)}
"""Choices that are not candidates: the bounds of a slot."""
BASE = "greedy"
"""The scheme whose settings lie below those of a point."""

_WATERMARK = "gc.trigger.watermark"
_USED = "gc.trigger.used-space"
_SLICES = "gc.pacing.time-slices"
_BEFORE = "gc.background.pre-migration"
_GROUPS = "gc.placement.hotness-groups"
_DEFAULT = "default"
"""The choice that sets nothing."""


def space(base: Request) -> tuple[Space, dict[str, Values]]:
    """The space over a configuration, and the presets in it, by their names."""
    below: Request = {**base, "scheme": (BASE, None)}
    found = json.loads(engine.check(below))["settings"]["device"]
    whole = Space(below, [*_slots(), *_parameters(found["shape"], found["timing"])])
    starts = _presets(whole)
    usable = able(whole, list(starts.values()))
    return usable, {name: one for name, one in starts.items()
                    if _is_inside(usable, one) and usable.problem(one) is None}  # fmt: skip


def _slots() -> list[Parameter]:
    found = []
    for slot in builtin_presets.slots():
        names = [one["name"] for one in slot["choices"]
                 if one["name"] not in BOUNDS.get(slot["name"], ())]  # fmt: skip
        uses: list[Any] = list(names)
        if slot["name"] == "trigger":
            alone = [name for name in names if name != "idle"]
            uses = [*alone, *([name, "idle"] for name in alone)]
        elif slot["name"] == "background":
            tasks = [name for name in names if name != "nothing"]
            uses = [*names, *([tasks] if len(tasks) > 1 else [])]
        key = f"gc.{slot['name']}.use"
        found.append(Parameter(key, {_name(use): _set(key, use, _name(use)) for use in uses}))
    return found


def _name(use: Any) -> str:  # noqa: ANN401 - a text or a list
    return use if isinstance(use, str) else "+".join(use)


def _set(key: str, value: Any, name: str) -> Choice:  # noqa: ANN401 - of any type
    return Choice(name, name, (Source(set={key: value}),))


def _parameters(shape: Mapping[str, Any], timing: Mapping[str, Any]) -> list[Parameter]:
    per_block = shape["pages_per_block"]
    pages = shape["blocks_per_plane"] * per_block
    spare = (pages - shape["exported_pages_per_plane"]) // per_block
    most = max(4, min(spare * 2 // 3, 64))
    erase_us = timing["erase_ns"] / 1e3
    flags = {one: [False, True] for one in (
        "gc.preemption.between-copies.merge", "gc.preemption.between-copies.pipeline",
        "gc.preemption.suspend.merge", "gc.preemption.suspend.pipeline",
        "gc.preemption.suspend.worth_it", "gc.copy.parallel.parity",
        "gc.victim.invalidation-rate.now", f"{_WATERMARK}.idle_units",
    )}  # fmt: skip
    return [
        _range(f"{_WATERMARK}.soft", 2, most, " blocks", "log"),
        _choices(f"{_WATERMARK}.hard", ["20% of soft", "50% of soft", "none"]),
        _values(f"{_WATERMARK}.batch", ["one", "until-stop", "list"]),
        _range(f"{_USED}.on", 0.5, 0.98), _range(f"{_USED}.victims", 0.05, 0.95),
        _values(f"{_USED}.of", ["device", "plane"]),
        _values(f"{_USED}.batch", ["one", "until-stop", "list"]),
        _choices("gc.trigger.idle.wait", ["100 us", "1 ms", "10 ms"]),
        _range("gc.erase.blocks.k", 2, 4), _choices("gc.erase.blocks.move_cap", ["1 block"]),
        _values("gc.erase.sub-blocks.isolation", ["software", "hardware"]),
        _range("gc.victim.d-choices.d", 2, 100, "", "log"),
        _values("gc.copy.parallel.list", ["block", "extent"]),
        _range(f"{_GROUPS}.groups", 2, 7),
        _values(f"{_GROUPS}.hot_to", ["group", "top"]),
        _values(f"{_GROUPS}.copies", ["by-hotness", "cold"]),
        _values(f"{_GROUPS}.cold", ["random", "next"]),
        _values("gc.preemption.suspend.of", ["any", "erase"]),
        _choices(f"{_SLICES}.length", [f"{erase_us * share:g} us" for share in (0.25, 0.5, 2)]),
        _range(f"{_SLICES}.per_gap", 1, 4),
        _range("gc.pacing.tokens.urgency_max", 1.0, 4.0),
        _range(f"{_BEFORE}.distance", 0.5, 10.0, "%", "log"),
        _range(f"{_BEFORE}.t_page", 0.0, 0.5),
        _values(f"{_BEFORE}.rule", ["valid-left", "moved"]),
        _values(f"{_BEFORE}.when", ["drive-idle", "unit-idle"]),
        *(_values(key, values) for key, values in flags.items()),
    ]  # fmt: skip


def _range(
    key: str, low: float, high: float, unit: str = "", scale: str = "linear"
) -> Parameter:  # fmt: skip
    return Parameter(key, Range(key, low, high, scale, unit))


def _values(key: str, values: Sequence[Any]) -> Parameter:
    found = [choice(key, value) for value in values]
    return Parameter(key, {one.name: one for one in found})


def _choices(key: str, values: Sequence[Any]) -> Parameter:
    """Values, or the default of the engine, which may depend on other settings."""
    first = Choice(_DEFAULT, _DEFAULT, (Source(),))
    found = [choice(key, value) for value in values]
    return Parameter(key, {_DEFAULT: first, **{one.name: one for one in found}})


def _presets(space: Space) -> dict[str, Values]:
    """The presets as points of the space; a key that the space lacks is left at its default."""
    found: dict[str, Values] = {}
    for preset in builtin_presets.schemes():
        if preset["slots"]["copy"] in BOUNDS["copy"]:
            continue
        values = _point(space, preset["keys"])
        if values is not None and values not in found.values():
            found[preset["name"]] = values
    return found


def _point(space: Space, keys: Mapping[str, Any]) -> Values | None:
    values: Values = {}
    for slot in SLOTS:
        use = _name(keys[slot]["use"])
        of = space.parameters[f"gc.{slot}.use"].of
        if isinstance(of, Range) or use not in of:
            return None
        values[f"gc.{slot}.use"] = use
    for name in space.active(values):
        if name not in values:
            values[name] = _nearest(space.parameters[name], keys)
    return values


def _nearest(parameter: Parameter, keys: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as drawn
    """The value of a preset, or the one next to it that the space has."""
    _, slot, used, key = parameter.name.split(".")
    value = keys[slot].get(used, {}).get(key)
    of = parameter.of
    if isinstance(of, Range):
        number = _number(value, of.unit)
        if number is None:
            number = _DEFAULTS.get(parameter.name, of.low)
        low_to_high = min(max(number, of.low), of.high)
        return round(low_to_high) if of.is_whole else float(low_to_high)
    name = None if value is None else choice(parameter.name, value).name
    fallback = _DEFAULTS.get(parameter.name)
    first = next(iter(of)) if fallback is None else str(fallback)
    return name if name in of else first


_DEFAULTS: dict[str, Any] = {
    f"{_WATERMARK}.idle_units": "true", f"{_WATERMARK}.soft": 4, f"{_USED}.on": 0.7,
    f"{_USED}.victims": 0.7, "gc.victim.d-choices.d": 10, "gc.copy.parallel.parity": "true",
    f"{_GROUPS}.groups": 7, f"{_BEFORE}.distance": 1.0, f"{_BEFORE}.t_page": 0.1,
}  # fmt: skip
"""The engine's defaults, where they are not the first value of a parameter."""


def _number(value: object, unit: str) -> float | None:
    """The number of a value in this unit; a threshold in another one has none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return value
    text = str(value)
    is_share = not unit and text.endswith("%")
    try:
        number = float(text.removesuffix("%" if is_share else unit))
    except ValueError:
        return None
    return number / 100 if is_share else number


def _is_inside(space: Space, values: Values) -> bool:
    for name, value in values.items():
        of = space.parameters[name].of
        if not isinstance(of, Range) and value not in of:
            return False
    return True
