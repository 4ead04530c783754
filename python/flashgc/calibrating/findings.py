"""The result of a calibration: points, errors, numbers and candidates, as plain values."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.calibrating import likelihood
from flashgc.calibrating.fits import Fitted
from flashgc.calibrating.likelihood import Simulated
from flashgc.calibrating.rows import Row

_FAR = 4.0
"""Beyond this multiple of the noise a model is a poor one, and the result says so."""


def points(
    rows: Sequence[Row], found: Sequence[Simulated], fitted: Sequence[Row]
) -> list[dict[str, Any]]:
    """Each measured number next to the simulated one."""
    names = {row.name for row in fitted}
    made = []
    for row, own in zip(rows, found, strict=True):
        for metric, value in row.values.items():
            here = own.get(metric)
            miss = likelihood.error(value, here)
            made.append({
                "row": row.name, "load": row.words(), "fitted": row.name in names,
                "metric": metric, "measured": value.number, "bound": value.is_bound,
                "simulated": here, "error": None if miss is None else math.expm1(miss),
            })  # fmt: skip
    return made


def errors(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The errors of each kind of number, of fitted and of judged rows apart."""
    made = []
    for kind in likelihood.NOISE:
        own = [one for one in found if likelihood.kind(one["metric"]) == kind]
        if own:
            made.append({"kind": kind,
                         "fitted": _errors([one for one in own if one["fitted"]]),
                         "judged": _errors([one for one in own if not one["fitted"]])})  # fmt: skip
    return made


LIMITS = (0.05, 0.10, 0.20)


def _errors(those: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    sizes = [abs(one["error"]) for one in those if one["error"] is not None and not one["bound"]]
    if not sizes:
        return None
    return {"count": len(sizes), "median": statistics.median(sizes), "worst": max(sizes),
            "within": [sum(size <= limit for size in sizes) for limit in LIMITS]}  # fmt: skip


def warnings(values: Mapping[str, Any], best: Fitted, notes: Sequence[str]) -> list[str]:
    """The notes that the reader of the result needs."""
    found = list(notes)
    scale = values["noise_scale"]
    if scale > _FAR**2:
        found.append(
            f"even the best candidate misses by {math.sqrt(scale):.1f} times the stated noise: "
            "the base, or all candidates, lack something that the drive has; intervals and "
            "likelihoods are those of noise that is as large"
        )
    elif scale > 1:
        found.append(
            f"the best candidate misses by {math.sqrt(scale):.1f} times the stated noise; "
            "intervals and likelihoods are those of noise that is as large"
        )
    unknown = [one["key"] for one in values["numbers"] if one["known"] == "no"]
    if unknown:
        found.append(f"not known from these results: {', '.join(unknown)}; other values fit as "
                     "well if the other numbers follow them")  # fmt: skip
    for one in values["numbers"]:
        kind_low, kind_high = one["limits"]
        if not kind_low * 1.001 < one["value"] < kind_high * 0.999:
            found.append(f"{one['key']} is at the end of its range, {one['text']}: the base may "
                         "lack what slows the drive down or speeds it up")  # fmt: skip
    empty = [row.name for row, own in zip(best.rows, best.found, strict=True) if not own]
    if empty:
        found.append(f"no run of the best candidate for {', '.join(empty)}: the engine refuses it, "
                     "or it ends in an error")  # fmt: skip
    if not values["judged"]:
        found.append("no row is left to judge the fit: errors are those of fitted rows alone")
    return found
