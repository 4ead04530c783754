"""What a verdict rests on: the paper's own input, a fitted or an unfitted workload, or no run."""

from __future__ import annotations

from flashgc.reproduction.claims import Check, Claim
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
number, judged by others; a workload fitted to nothing; what follows from the configuration alone;
and predictions that are not the paper's."""


def of(claim: Claim, results: Results) -> str:
    """The kind of evidence of a claim: the worst among the runs that it needs."""
    if claim.source != PAPER:
        return PREDICTION
    if claim.arithmetic or isinstance(claim.test, Check):
        return ARITHMETIC
    runs = claim.runs(results.experiment)
    if any(results.differs.get(run) for run in runs):
        return UNFITTED
    return FITTED if any(results.fitted.get(run) for run in runs) else OWN
