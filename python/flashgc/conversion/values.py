"""Values of keys: looked up by name, checked, and errors with file and line for wrong ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Generic, TypeVar

from flashgc.conversion.findings import Findings, Key

T = TypeVar("T")

WHOLE_MAX = 10**15
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d{1,18}(\.\d{0,18})?|\.\d{1,18})([eE][+-]?\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Value(Generic[T]):
    """A value and its key; no key where the file has none and the program's default counts."""

    key: Key | None
    is_: T


class Part:
    """The keys of one part of a file, by name; of a repeated key the last one counts."""

    def __init__(self, findings: Findings, keys: Sequence[Key]) -> None:
        self.findings = findings
        self._keys: dict[str, Key] = {}
        for key in keys:
            earlier = self._keys.get(key.name)
            if earlier is not None:
                findings.drop(
                    earlier,
                    f"given again on line {key.line}, and {findings.program} takes the last",
                )
            self._keys[key.name] = key

    def key(self, *names: str) -> Key | None:
        """The key under the first of these names that the file has."""
        return next((self._keys[name] for name in names if name in self._keys), None)

    def names(self) -> list[str]:
        """The names of all keys."""
        return list(self._keys)

    def whole(self, name: str, default: int, least: int = 0, most: int = WHOLE_MAX) -> Value[int]:
        """A whole number."""
        key = self.key(name)
        if key is None:
            return Value(None, default)
        if _WHOLE.fullmatch(key.text) and least <= int(key.text) <= most:
            return Value(key, int(key.text))
        to = "" if most == WHOLE_MAX else f" to {most}"
        self.findings.wrong(key, f"it must be a whole number from {least}{to}")
        return Value(key, default)

    def decimal(
        self, name: str, default: str, least: str = "0", most: str = "1e15"
    ) -> Value[Fraction]:
        """A decimal number, exactly."""
        key = self.key(name)
        if key is None:
            return Value(None, Fraction(Decimal(default)))
        number = Fraction(Decimal(key.text)) if _DECIMAL.fullmatch(key.text) else None
        if number is not None and Fraction(Decimal(least)) <= number <= Fraction(Decimal(most)):
            return Value(key, number)
        to = "" if most == "1e15" else f" to {most}"
        self.findings.wrong(key, f"it must be a number from {least}{to}")
        return Value(key, Fraction(Decimal(default)))

    def word(self, name: str, default: str, words: Sequence[str]) -> Value[str]:
        """One of some words, in capitals or not."""
        key = self.key(name)
        if key is None:
            return Value(None, default)
        if key.text.upper() in words:
            return Value(key, key.text.upper())
        self.findings.wrong(key, f"it must be one of {', '.join(words)}")
        return Value(key, default)

    def flag(self, name: str, default: bool) -> Value[bool]:
        """True or false."""
        found = self.word(name, "TRUE" if default else "FALSE", ("TRUE", "FALSE"))
        return Value(found.key, found.is_ == "TRUE")

    def drop_all(self, reasons: Mapping[str, str]) -> None:
        """Keys without a counterpart, each with its reason."""
        for name, why in reasons.items():
            self.findings.drop(self.key(name), why)


def plain(number: Fraction | int, digits: int = 12) -> str:
    """A number as a plain decimal, rounded where it has no end.

    >>> from fractions import Fraction
    >>> from flashgc.conversion.values import plain
    >>> plain(Fraction(93, 100)), plain(Fraction(1, 3), 4), plain(8)
    ('0.93', '0.3333', '8')
    """
    whole = round(Fraction(number) * 10**digits)
    text = f"{Decimal(whole).scaleb(-digits):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def duration(ns: Fraction | int) -> str:
    """A time in the largest unit in which it is short, rounded to whole ns.

    >>> from flashgc.conversion.values import duration
    >>> duration(75_000), duration(3_800_000), duration(290)
    ('75 us', '3.8 ms', '290 ns')
    """
    whole = round(ns)
    for name, unit in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if whole >= unit:
            text = plain(Fraction(whole, unit))
            if len(text.partition(".")[2]) <= 3:
                return f"{text} {name}"
    return f"{whole} ns"


def size(count: int) -> str:
    """A number of bytes in the largest unit that divides it.

    >>> from flashgc.conversion.values import size
    >>> size(8192), size(4224), size(268435456)
    ('8 KiB', '4224 B', '256 MiB')
    """
    for name, unit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"
