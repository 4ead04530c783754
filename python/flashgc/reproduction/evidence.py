"""The basis of a verdict: the paper's input, a fitted or unfitted workload, or no run."""

from __future__ import annotations

from flashgc.reproduction.claims import Check, Claim, Order
from flashgc.reproduction.experiment import Experiment
from flashgc.reproduction.results import Results

PAPER = "paper"
"""The source of a claim that the paper itself states."""

OWN = "the paper's input"
FITTED = "fitted workload"
UNFITTED = "unfitted workload"
ARITHMETIC = "arithmetic"
PREDICTION = "our prediction"
KINDS = (OWN, FITTED, UNFITTED, ARITHMETIC, PREDICTION)
"""The best first: the paper's own trace or generator; a workload with one parameter fitted to one
number, judged by others; a workload fitted to nothing; arithmetic on the configuration or the
requests alone; and predictions that are not the paper's."""

_GIVEN = ("config.", "capacity.", "worst_case.", "requests.", "workload.", "pages.host_")
"""Prefixes of the keys of a report that are independent of collection."""


def of(claim: Claim, results: Results) -> str:
    """The kind of evidence of a claim: the worst among the runs that it needs."""
    if claim.source != PAPER:
        return PREDICTION
    if _arithmetic(claim, results.experiment):
        return ARITHMETIC
    runs = claim.runs(results.experiment)
    if any(results.differs.get(run) for run in runs):
        return UNFITTED
    return FITTED if any(results.fitted.get(run) for run in runs) else OWN


def _arithmetic(claim: Claim, experiment: Experiment) -> bool:
    """Whether a claim follows from the configuration or the requests alone, or is an identity."""
    if isinstance(claim.test, Check):
        return True
    names = {claim.test.quantity.measure}
    if isinstance(claim.test, Order):
        names.add(claim.test.other.measure)
    keys = [key for name in names for key in experiment.measures[name].formula.reads()]
    return all(key.startswith(_GIVEN) for key in keys)
