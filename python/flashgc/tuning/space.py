"""The space of a search: parameters, the settings of their values, and which points are legal.

A point is legal if the engine accepts its configuration. The engine says so from the plan, before
the point becomes a trial; no trial fails because choices of slots exclude each other.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.axes.choice import Choice, Range
from flashgc.files import toml
from flashgc.running import inputs

Values = dict[str, Any]
"""A value of each active parameter: a number, or the name of a choice."""

SLOTS = ("trigger", "erase", "victim", "copy", "placement", "blocking", "preemption", "pacing",
         "background")  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """An axis of the space: some choices, or a range of numbers."""

    name: str
    of: Mapping[str, Choice] | Range

    @property
    def key(self) -> str:
        """The key that it sets, where it sets one; for several, its name."""
        return self.of.key if isinstance(self.of, Range) else self.name

    def choice(self, value: object) -> Choice:
        """The settings of a value."""
        if isinstance(self.of, Range):
            assert isinstance(value, int | float)
            number = value if self.of.is_whole else float(f"{value:.6g}")
            return self.of.choice(number)
        return self.of[str(value)]

    def text(self, value: object) -> str:
        """A value in words."""
        return self.choice(value).name

    @property
    def slot(self) -> str | None:
        """The slot whose choice it is."""
        parts = self.key.split(".")
        is_slot = len(parts) == 3 and parts[0] == "gc" and parts[2] == "use"
        return parts[1] if is_slot and parts[1] in SLOTS else None

    @property
    def belongs_to(self) -> tuple[str, str] | None:
        """The slot and the choice without which it has no effect."""
        parts = self.key.split(".")
        if len(parts) >= 4 and parts[0] == "gc" and parts[1] in SLOTS:
            return parts[1], parts[2]
        return None


class Space:
    """All parameters of a search, over a configuration."""

    def __init__(self, base: Request, parameters: Sequence[Parameter]) -> None:
        self.base = base
        # Slots first: they decide which of the others are active.
        first = [one for one in parameters if one.slot is not None]
        rest = [one for one in parameters if one.slot is None]
        self.parameters = {one.name: one for one in (*first, *rest)}
        self._of_schemes: dict[str, dict[str, tuple[str, ...]] | None] = {}
        self.own = _slots(base)
        """The choices of the configuration itself."""
        self.problems: dict[tuple[str, ...], str | None] = {}
        """The reasons why the engine refuses points, by their values; None for legal ones."""

    def active(self, values: Mapping[str, Any]) -> list[str]:
        """The parameters that have an effect with these choices of the slots."""
        used = dict(self.own)
        for name, parameter in self.parameters.items():
            scheme = parameter.choice(values[name]).sources[0].scheme if name in values else None
            if scheme is not None:
                slots = self._slots_of(scheme)
                if slots is None:
                    return list(self.parameters)
                used |= slots
        for name, parameter in self.parameters.items():
            if parameter.slot is not None and name in values:
                used[parameter.slot] = _uses(parameter.choice(values[name]))
        return [name for name, one in self.parameters.items() if _has_effect(one, used)]

    def _slots_of(self, scheme: str) -> dict[str, tuple[str, ...]] | None:
        """The choices of a scheme.

        None where the engine refuses it alone: with other parameters it may be legal, and each of
        them may have an effect.
        """
        if scheme not in self._of_schemes:
            request: Request = {**self.base, "scheme": inputs.preset(scheme)}
            legal = problem(request) is None
            self._of_schemes[scheme] = _slots(request) if legal else None
        return self._of_schemes[scheme]

    def settings(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a point, by key; later parameters replace earlier ones."""
        found: dict[str, Any] = {}
        for name in self.parameters:
            if name in values:
                found |= self.parameters[name].choice(values[name]).sources[0].set
        return found

    def request(self, values: Mapping[str, Any]) -> Request:
        """The request of a point."""
        request = with_settings(self.base, self.settings(values))
        scheme = self.scheme(values)
        return request if scheme is None else {**request, "scheme": inputs.preset(scheme)}

    def scheme(self, values: Mapping[str, Any]) -> str | None:
        """The scheme of a point, where a parameter names it."""
        found = [self.parameters[name].choice(value).sources[0].scheme
                 for name, value in values.items()]  # fmt: skip
        return next((one for one in found if one is not None), None)

    def with_more(self, more: Sequence[Parameter]) -> Space:
        """The space with further parameters; a parameter with the same name replaces its own."""
        names = {one.name for one in more}
        kept = [one for name, one in self.parameters.items() if name not in names]
        return Space(self.base, [*kept, *more])

    def completed(self, values: Values) -> Values | None:
        """A point with the first value of each parameter that it lacks.

        None where it has a value that the space does not have.
        """
        found: Values = {}
        for name in self.active(values):
            of = self.parameters[name].of
            if isinstance(of, Range):
                found[name] = min(max(values.get(name, of.low), of.low), of.high)
            elif values.get(name, next(iter(of))) not in of:
                return None
            else:
                found[name] = values.get(name, next(iter(of)))
        return found

    def nothing_legal(self) -> ConfigError:
        """The error of a space without a legal point, with the engine's reason for one of them."""
        why = next((one for one in self.problems.values() if one is not None), "unknown")
        return ConfigError(
            f"error: no point of the space is legal; the first reason: {why}\n"
            "  = help: widen [space], or change [base]"
        )

    def problem(self, values: Mapping[str, Any]) -> str | None:
        """The reason why the engine refuses a point; None if it is legal."""
        key = tuple(f"{name}={values[name]}" for name in self.parameters if name in values)
        if key not in self.problems:
            self.problems[key] = problem(self.request(values))
        return self.problems[key]


def with_settings(request: Request, settings: Mapping[str, Any]) -> Request:
    """A request with more settings, over its own."""
    more = [f"{key}={toml.value(value, key)}" for key, value in settings.items()]
    return {**request, "sets": [*request["sets"], *more]}


def problem(request: Request) -> str | None:
    """The first reason why a request cannot run, where it cannot."""
    found = json.loads(engine.problems(request))
    return str(found[0]["message"]) if found else None


def _slots(request: Request) -> dict[str, tuple[str, ...]]:
    slots = json.loads(engine.check(request))["settings"]["gc"]["slots"]
    return {slot: tuple(use.split(" + ")) for slot, use in slots.items()}


def _uses(choice: Choice) -> tuple[str, ...]:
    (use,) = choice.sources[0].set.values()
    return (use,) if isinstance(use, str) else tuple(use)


def _has_effect(parameter: Parameter, used: Mapping[str, Collection[str]]) -> bool:
    home = parameter.belongs_to
    return home is None or home[1] in used.get(home[0], ())


def able(space: Space, starts: Sequence[Values]) -> Space:
    """The space without choices of slots that no scheme can have on this drive.

    Each choice is tried in place of that of its slot in every legal scheme.
    """
    legal = [one for one in starts if space.problem(one) is None]
    kept: list[Parameter] = []
    for name, parameter in space.parameters.items():
        of = parameter.of
        if parameter.slot is not None and not isinstance(of, Range) and len(of) > 1:
            of = {choice: one for choice, one in of.items()
                  if any(start.get(name) == choice or _fits(space, start, name, choice)
                         for start in legal)} or of  # fmt: skip
        kept.append(Parameter(name, of))
    uses = {one.slot: {use for name in one.of for use in _uses(one.of[name])}
            for one in kept if one.slot is not None and not isinstance(one.of, Range)}  # fmt: skip
    made = Space(space.base, [one for one in kept if _has_effect(one, {**space.own, **uses})])
    made.problems = space.problems
    return made


def _fits(space: Space, start: Values, name: str, choice: str) -> bool:
    slots = {one: value for one, value in start.items() if space.parameters[one].slot is not None}
    return space.problem({**slots, name: choice}) is None
