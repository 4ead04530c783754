"""Values of fio's options: sizes, times, percentages, and lists for reads, writes and trims."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")

BYTES_MAX = 1 << 60
DEFAULT_BS = 4096
_INT = re.compile(r"(0x[0-9a-f]+|\d{1,19})\s*([kmgtp]?)(i?)(b?)", re.ASCII)
_TIME = re.compile(r"(\d{1,15})\s*(d|h|m|sec|s|msec|ms|usec|us)?", re.ASCII)
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", re.ASCII)
_FLOAT = re.compile(r"\d{1,9}(?:\.\d{0,15})?|\.\d{1,15}", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_NS = {
    "d": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9, "s": 10**9, "sec": 10**9,
    "ms": 10**6, "msec": 10**6, "us": 1000, "usec": 1000,
}  # fmt: skip


class WrongError(Exception):
    """A value that its option does not allow; the text names the allowed values."""


def whole(text: str, kb_base: int = 1024) -> int:
    """A whole number with the suffixes of sizes. `kib` has the other base; `ki` is `k`, as in fio.

    >>> from flashgc.conversion.fio_values import whole
    >>> whole("4k"), whole("1MiB"), whole("1Mi"), whole("4KiB", 1000), whole("0x1000")
    (4096, 1000000, 1048576, 4096, 4096)
    """
    found = _INT.fullmatch(text.strip().lower())
    if found is None:
        raise WrongError("it must be a whole number, such as 4096, 4k or 1g")
    digits, prefix, binary, bytes_ = found.groups()
    if binary and not prefix:
        raise WrongError("it must be a whole number, such as 4096, 4k or 1g")
    base = (2024 - kb_base) if binary and bytes_ else kb_base
    factor: int = base ** _POWERS[prefix]
    count = int(digits, 0 if digits.startswith("0x") else 10) * factor
    if count > BYTES_MAX:
        raise WrongError("it must be at most 2^60")
    return count


def size(text: str, kb_base: int) -> int:
    """A size of requests: a multiple of 512 bytes."""
    count = whole(text, kb_base)
    if count == 0 or count % 512 or count > 1 << 30:
        raise WrongError("it must be a multiple of 512 bytes, from 512 to 1 GiB")
    return count


def percent(text: str) -> Fraction | None:
    """A percentage as a share, or None for other text.

    >>> from flashgc.conversion.fio_values import percent
    >>> percent("20%"), percent("20")
    (Fraction(1, 5), None)
    """
    found = _PERCENT.fullmatch(text.strip())
    return Fraction(found[1]) / 100 if found else None


def time_ns(text: str, unit: str = "s") -> int:
    """A time in ns; without a unit it has the given one.

    >>> from flashgc.conversion.fio_values import time_ns
    >>> time_ns("2m"), time_ns("10", "us")
    (120000000000, 10000)
    """
    found = _TIME.fullmatch(text.strip().lower())
    if found is None:
        raise WrongError("it must be a time, such as 30s, 10m or 500us")
    ns = int(found[1]) * _NS[found[2] or unit]
    if ns > 10**18:
        raise WrongError("it must be at most 30 years")
    return ns


def number(text: str, least: float, most: float) -> Fraction:
    """A decimal number within bounds."""
    found = Fraction(text) if _FLOAT.fullmatch(text.strip()) else None
    if found is None or not least <= found <= most:
        raise WrongError(f"it must be a number from {least:g} to {most:g}")
    return found


def integer(text: str, least: int, most: int) -> int:
    """A whole number within bounds."""
    found = whole(text)
    if not least <= found <= most:
        raise WrongError(f"it must be a whole number from {least} to {most}")
    return found


def flag(text: str) -> bool:
    """A switch; an option without a value is on."""
    if text not in {"", "0", "1"}:
        raise WrongError("it must be 0 or 1")
    return text != "0"


def triple(text: str, one: Callable[[str], T], default: T) -> tuple[T, T, T]:
    """Values for reads, writes and trims; one that no comma follows counts for the next, too.

    >>> from flashgc.conversion.fio_values import triple
    >>> triple("8,32", int, 4), triple("8,32,", int, 4), triple(",8", int, 4), triple(",8,", int, 4)
    ((8, 32, 32), (8, 32, 4), (4, 8, 8), (4, 8, 4))
    """
    parts = text.split(",")
    if len(parts) > 3:
        raise WrongError("it must have at most three values, for reads, writes and trims")
    read = one(parts[0]) if parts[0].strip() else default
    write, trim = read, read
    if len(parts) > 1:
        write = trim = one(parts[1]) if parts[1].strip() else default
    if len(parts) > 2:
        trim = one(parts[2]) if parts[2].strip() else default
    return read, write, trim


def whole_percent(text: str) -> int:
    """A percentage without the digits behind its point, as fio has it; 0 where it is blank.

    >>> from flashgc.conversion.fio_values import whole_percent
    >>> whole_percent("33.9"), whole_percent("50%"), whole_percent("")
    (33, 50, 0)
    """
    given = text.strip().removesuffix("%")
    return int(number(given, 0, 100)) if given else 0


def filled(percents: list[int]) -> list[int]:
    """Percentages with equal parts of the rest in place of those of 0; the parts are whole too.

    >>> from flashgc.conversion.fio_values import filled
    >>> filled([50, 0, 0]), filled([60, 30]), filled([0, 0, 0])
    ([50, 25, 25], [60, 30], [33, 33, 33])
    """
    blanks = percents.count(0)
    rest = (100 - sum(percents)) // blanks if blanks else 0
    return [one or rest for one in percents]


def entries(text: str, most: int) -> list[tuple[str, str]]:
    """`a/b:c/d` as pairs; a colon at the end has no meaning, as in fio."""
    parts = text.strip().removesuffix(":").split(":")
    found = [(name, value) for name, _, value in (one.partition("/") for one in parts)]
    if len(found) > most:
        raise WrongError(f"it must have at most {most} entries")
    return found
