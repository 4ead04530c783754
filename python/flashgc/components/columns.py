"""The columns of many requests at once, as the engine takes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flashgc._engine import RunError
from flashgc.components import calls
from flashgc.formatting import units


class Kept:
    """Requests that are done as the engine has them, in another process."""

    def __init__(
        self,
        columns: list[bytes],
        parts: list[bytes],
        rows: list[tuple[int, int, int, int, bool, list[int] | None]],
    ) -> None:
        self._columns, self._parts, self._rows = columns, parts, rows

    def __len__(self) -> int:
        return len(self._rows)

    def columns(self) -> list[bytes]:
        """The packed columns."""
        return self._columns

    def part(self, part: int) -> bytes:
        """The packed column of a part of the latencies."""
        return self._parts[part]

    def rows(self) -> list[tuple[int, int, int, int, bool, list[int] | None]]:
        """The requests one by one."""
        return self._rows


def column(values: ArrayLike, name: str) -> NDArray[np.uint64]:
    """The values as the engine takes them: whole numbers from 0, in one row."""
    if np.ma.is_masked(values):
        raise RunError(
            f"error: `{name}` has masked values\n  = help: omit their requests from all columns"
        )
    try:
        found = np.asarray(values)
    except ValueError:
        raise RunError(
            f"error: `{name}` has rows of different lengths in place of numbers\n"
            "  = help: give a value for each request, or one for all of them"
        ) from None
    if found.ndim > 1:
        raise RunError(
            f"error: `{name}` has {found.ndim} dimensions, of {found.shape}, in place of one\n"
            "  = help: give a value for each request, or one for all of them"
        )
    if found.size and (
        found.dtype.kind not in "iu" or (found.dtype.kind == "i" and found.min() < 0)
    ):
        kind = "" if found.dtype.kind == "U" and name != "op" else found.dtype.kind
        remedy = calls.REMEDIES.get(kind, "give whole numbers from 0")
        raise RunError(
            f"error: `{name}` has values other than whole numbers from 0 (dtype {found.dtype})\n"
            f"  = help: {remedy}"
        )
    return np.ascontiguousarray(found.reshape(-1), dtype=np.uint64)


def spread(values: ArrayLike, count: int, name: str) -> NDArray[np.uint64]:
    """The values as an array; a single value applies to all."""
    found = column(values, name)
    if np.ndim(values) == 0:
        return np.full(count, found[0], dtype=np.uint64)
    if found.size != count:
        values_ = units.counted(found.size, "value")
        raise RunError(f"error: `{name}` has {values_}, and `at_ns` has {count}")
    return found
