"""The columns of many requests at once, as the engine takes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flashgc._engine import RunError
from flashgc.components import calls
from flashgc.formatting import units


def column(values: ArrayLike, name: str) -> NDArray[np.uint64]:
    """The values as the engine takes them: whole numbers from 0, in one row."""
    if np.ma.is_masked(values):
        raise RunError(
            f"error: `{name}` has masked values\n  = help: omit their requests from all columns"
        )
    found = np.asarray(values)
    if found.ndim > 1:
        raise RunError(
            f"error: `{name}` has {found.ndim} dimensions, of {found.shape}, in place of one\n"
            "  = help: give a value for each request, or one for all of them"
        )
    if found.size and (
        found.dtype.kind not in "iu" or (found.dtype.kind == "i" and found.min() < 0)
    ):
        remedy = calls.REMEDIES.get(found.dtype.kind, "give whole numbers from 0")
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
