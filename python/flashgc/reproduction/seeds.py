"""The runs that are repeated with further seeds: those of orders whose values are close."""

from __future__ import annotations

from collections.abc import Sequence

from flashgc.reproduction import orders
from flashgc.reproduction.claims import Claim, Order
from flashgc.reproduction.experiment import Point
from flashgc.reproduction.results import Results

MORE = (2, 3)
"""The further seeds."""


def close(claims: Sequence[Claim], results: Results) -> list[Point]:
    """The runs to repeat, each once; a run of a trace is the same with every seed."""
    found: list[Point] = []
    for claim in claims:
        if isinstance(claim.test, Order):
            for place in orders.places(claim.test, results):
                ((left, right),) = place.values
                left_out = bool(results.saturated(place.runs)) and not claim.any_load
                if left is None or right is None or left_out:
                    continue
                if orders.is_close(claim.test, [(left, right)]):
                    found += [run for run in place.runs if run not in results.files]
    return list(dict.fromkeys(found))
