"""The runs that are repeated with further seeds: runs of orders whose values are close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flashgc.reproduction import orders
from flashgc.reproduction.claims import Claim, Order
from flashgc.reproduction.experiment import Point
from flashgc.reproduction.grid import cell
from flashgc.reproduction.results import Results

if TYPE_CHECKING:
    from flashgc.reproduction.verdict import Verdict

MORE = (2, 3)
"""The further seeds."""
ABOUT = (
    "A place that holds an order by less than two margins, or by less than one point where changes "
    "in percent are compared, is run again with seeds "
    f"{' and '.join(map(str, MORE))}: the order must hold with each seed, and by the margin on "
    "average. An order that fails at more than a tenth of its places is not measured again. Each "
    "cell below has the two values that are compared."
)


def close(claims: Sequence[Claim], results: Results) -> list[Point]:
    """The runs to repeat, each once; a run of a trace is the same with every seed.

    An order that fails at too many places with the first seed has its verdict: further seeds can
    only add places where it fails.
    """
    found: list[Point] = []
    for claim in claims:
        if isinstance(claim.test, Order):
            if orders.is_lost(claim.test, orders.tally(claim, claim.test, results)):
                continue
            for place in orders.places(claim.test, results):
                ((left, right),) = place.values
                left_out = bool(results.saturated(place.runs)) and not claim.any_load
                if left is None or right is None or left_out:
                    continue
                if orders.is_close(claim.test, [(left, right)]):
                    found += [run for run in place.runs if run not in results.files]
    return list(dict.fromkeys(found))


def rows(verdicts: Sequence[Verdict], results: Results) -> list[list[str]]:
    """The places of orders that were judged with several seeds, with their values, and a head."""
    repeated = {run for again in results.again for run in again}
    first = next(iter(results.reports.values()), {}).get("seed", 1)
    table = [["order", "place", *(f"seed {seed}" for seed in (first, *MORE)), "holds"]]
    for one in verdicts:
        test = one.claim.test
        if not repeated or not isinstance(test, Order):
            continue
        unit = orders.unit(test, results)
        for place in orders.places(test, results):
            known = [(left, right) for left, right in place.values
                     if left is not None and right is not None]  # fmt: skip
            if repeated.isdisjoint(place.runs) or len(known) < 1 + len(MORE):
                continue
            cells = [f"{cell(left, unit)} / {cell(right, unit)}" for left, right in known]
            table.append([f"{one.claim.place}: {one.claim.what}",
                          orders.named(test, results, place.at), *cells,
                          "yes" if orders.holds(test, known) else "no"])  # fmt: skip
    return table
