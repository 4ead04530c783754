"""The outcome for each key of a source file: mapped, mapped with a difference, or not mapped.

A converter reads the values of keys, and records for each key one of the three outcomes. A setting
without a key of the source is recorded as chosen. :meth:`Findings.close` adds the keys that were
not read to those that are not mapped, so that each key is in exactly one list.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from flashgc._engine import ConfigError
from flashgc.files import toml

PROBLEMS_SHOWN = 20


@dataclass(frozen=True)
class Key:
    """A key of a source file, with its place."""

    file: str
    line: int
    part: str
    """The section, block or flow that it belongs to; the empty text for the file itself."""
    name: str
    text: str
    """Its value as it is written."""
    alone: bool = False
    """Whether the name is enough without the part."""

    @property
    def full(self) -> str:
        """The key with its part, where that is needed."""
        return self.name if self.alone or not self.part else f"{self.part}.{self.name}"

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Finding:
    """One key of the source and its outcome."""

    key: Key
    ours: str
    """The key of flashgc; empty where there is none."""
    value: str
    """Its value as TOML, or in words the fixed behaviour of flashgc."""
    why: str = ""
    """The difference, or the reason why the key is not mapped."""


@dataclass(frozen=True)
class Choice:
    """A key of flashgc without a key of the source."""

    ours: str
    value: str
    why: str


@dataclass
class Findings:
    """The outcomes, and the settings of the new configuration by their dotted keys."""

    program: str
    """The simulator by its own name."""
    keys: list[Key]
    settings: dict[str, object] = field(default_factory=dict)
    mapped: list[Finding] = field(default_factory=list)
    differs: list[Finding] = field(default_factory=list)
    not_mapped: list[Finding] = field(default_factory=list)
    chosen: list[Choice] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def map(self, key: Key | None, ours: str, value: object) -> None:
        """The key means the same as a key of flashgc."""
        self.settings[ours] = value
        if key is None:
            self._default(ours)
        else:
            self.mapped.append(Finding(key, ours, toml.value(value, ours)))

    def part_of(self, key: Key | None, ours: str) -> None:
        """The key has its part in a setting that was made of several."""
        if key is not None:
            self.mapped.append(Finding(key, ours, self._text(ours)))

    def always(self, key: Key | None, what: str) -> None:
        """The key requests a behaviour that flashgc always has."""
        if key is not None:
            self.mapped.append(Finding(key, "", f"always: {what}"))

    def differ(self, key: Key | None, ours: str, value: object, how: str) -> None:
        """The key has a counterpart that is not quite the same; None keeps the present setting."""
        if value is not None:
            self.settings[ours] = value
        if key is None:
            self._default(ours, how)
        else:
            self.differs.append(Finding(key, ours, self._text(ours), how))

    def drop(self, key: Key | None, why: str) -> None:
        """The key has no counterpart."""
        if key is not None:
            self.not_mapped.append(Finding(key, "", "", why))

    def choose(self, ours: str, value: object, why: str) -> None:
        """A setting without a key of the source."""
        self.settings[ours] = value
        self.chosen.append(Choice(ours, toml.value(value, ours), why))

    def wrong(self, key: Key, needed: str) -> None:
        """A value that its key does not allow; all of them are reported together."""
        shown = key.text if len(key.text) <= 60 else key.text[:57] + "..."
        self.problems.append(f"{key.place}: `{key.full}` is `{shown}`, but {needed}")

    def missing(self, file: str, name: str, needed: str) -> None:
        """A key that the conversion cannot do without."""
        self.problems.append(f"{file}: there is no `{name}`, but {needed}")

    def stop_at_problems(self) -> None:
        """Reports all wrong values at once."""
        if not self.problems:
            return
        shown = self.problems[:PROBLEMS_SHOWN]
        more = len(self.problems) - len(shown)
        if more:
            shown.append(f"and {more} more")
        raise ConfigError("\n".join(f"error: {text}" for text in shown))

    def close(self, known: Iterable[str]) -> None:
        """Records keys that were not read as not mapped; `known`: the names in the program."""
        self.stop_at_problems()
        done = {id(one.key) for one in (*self.mapped, *self.differs, *self.not_mapped)}
        names = sorted(set(known))
        for key in self.keys:
            if id(key) not in done:
                near = difflib.get_close_matches(key.name, names, n=1)
                hint = f"; did you mean `{near[0]}`?" if near and near[0] != key.name else ""
                self.drop(key, f"{self.program} has no such key here{hint}")

    def _default(self, ours: str, how: str = "") -> None:
        why = f"the file does not say; {self.program}'s own default"
        self.chosen.append(Choice(ours, self._text(ours), f"{why}; {how}" if how else why))

    def _text(self, ours: str) -> str:
        return toml.value(self.settings[ours], ours) if ours in self.settings else ""
