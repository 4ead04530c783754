"""Numbers in readable form."""

from __future__ import annotations

from collections.abc import Sequence

NOTHING = "-"


def time(ns: float | None) -> str:
    """A time with three digits and a fitting unit.

    >>> from flashgc.formatting import units
    >>> units.time(25_000), units.time(1_234_567), units.time(0), units.time(None)
    ('25.0 us', '1.23 ms', '0 ns', '-')
    """
    if ns is None:
        return NOTHING
    for limit, factor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if abs(ns) < limit * 0.9995:
            return f"{figures(ns / factor)} {unit}"
    return f"{figures(ns / 1e9)} s" if ns < 600e9 else _long(ns / 1e9)


def _long(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    return f"{figures(minutes)} min" if minutes < 120 else f"{figures(hours)} h"


def size(size_bytes: float | None) -> str:
    """A size in powers of 1024.

    >>> from flashgc.formatting import units
    >>> units.size(4096), units.size(32 << 30)
    ('4.00 KiB', '32.0 GiB')
    """
    if size_bytes is None:
        return NOTHING
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{size_bytes} B" if unit == "B" else f"{figures(value)} {unit}"


def figures(value: float | None) -> str:
    """Three digits where the value is small, all of them where it is large.

    >>> from flashgc.formatting import units
    >>> units.figures(1.23456), units.figures(12.3456), units.figures(123456.7), units.figures(0)
    ('1.23', '12.3', '123,457', '0')
    """
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 0.9995 else f"{value:.{2 if abs(value) < 9.995 else 1}f}"


def count(value: float | None) -> str:
    """A whole number with separators."""
    return NOTHING if value is None else f"{value:,.0f}"


def counted(value: float, one: str, several: str = "") -> str:
    """A count with its noun.

    >>> from flashgc.formatting import units
    >>> units.counted(1, "page"), units.counted(2000, "page"), units.counted(0, "copy", "copies")
    ('1 page', '2,000 pages', '0 copies')
    """
    return f"{count(value)} {one if value == 1 else several or one + 's'}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    >>> from flashgc.formatting import units
    >>> units.listed(["pgc"]), units.listed(["1 read", "2 writes"]), units.listed(["a", "b", "c"])
    ('pgc', '1 read and 2 writes', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def share(value: float | None) -> str:
    """A share in percent.

    >>> from flashgc.formatting import units
    >>> units.share(0.1234)
    '12.3 %'
    """
    return NOTHING if value is None else f"{100 * value:.1f} %"
