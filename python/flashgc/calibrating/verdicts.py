"""The candidates by their likelihood, with the measurement that excludes each of the others.

The logarithm of the likelihood of a candidate is below that of the best one. With less than ln 20
it cannot be told apart from it, with more than ln 1000 it is excluded, and in between it is less
likely.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.calibrating import likelihood
from flashgc.calibrating.fits import Fitted

SAME, EXCLUDED = math.log(20), math.log(1000)
BEST, NEAR, LESS, OUT = "best", "cannot be told apart", "less likely", "excluded"
_SLIGHT = 1e-9


def ranked(
    kept: Sequence[Fitted], others: Sequence[Fitted], scale: float
) -> list[dict[str, Any]]:  # fmt: skip
    """All candidates, the likeliest first."""
    best = kept[0]
    order = [*kept, *sorted(others, key=lambda one: (one.rank, one.name))]
    falls = [max((one.cost - best.cost) / scale, 0.0) if any(one.found) else math.inf
             for one in order]  # fmt: skip
    whole = sum(math.exp(-fall) for fall in falls)
    found = []
    for one, fall in zip(order, falls, strict=True):
        verdict = (BEST if one is best else NEAR if fall < SAME else
                   LESS if fall < EXCLUDED else OUT)  # fmt: skip
        found.append({
            "name": one.name, "verdict": verdict, "log_likelihood": -one.cost / scale,
            "share": math.exp(-fall) / whole, "long": any(one is own for own in kept),
            "by": None if verdict == BEST else _by(best, one),
            "numbers": dict(one.point.values),
        })  # fmt: skip
    return found


def _by(best: Fitted, one: Fitted) -> dict[str, Any] | None:
    """The measurement that speaks most against a candidate and for the best one."""
    metrics = likelihood.metrics(best.rows)
    gaps = [
        likelihood.cost(metric, theirs) - likelihood.cost(metric, ours)
        for metric, ours, theirs in zip(metrics, best.misses, one.misses, strict=True)
    ]
    if not gaps or max(gaps) <= _SLIGHT:
        return None
    at = gaps.index(max(gaps))
    places = [(row, index) for index, row in enumerate(best.rows) for _ in row.values]
    row, index = places[at]
    metric = metrics[at]
    return {
        "row": row.name, "metric": metric, "measured": row.values[metric].number,
        "best": best.found[index].get(metric), "here": one.found[index].get(metric),
    }  # fmt: skip


def near(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The candidates that cannot be told apart from the best one, itself among them."""
    return [one["name"] for one in found if one["verdict"] in (BEST, NEAR)]
