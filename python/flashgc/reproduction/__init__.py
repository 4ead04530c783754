"""Papers reproduced: their experiments, their claims, and the measured results.

A paper is data: `experiment.toml` has its runs, `claims.toml` its statements on their results. See
docs/reproductions.md.
"""

from flashgc.reproduction.check import Checked, check_bundle
from flashgc.reproduction.outcome import reproduce
from flashgc.reproduction.reproduced import Reproduction, Reproductions
from flashgc.reproduction.runs import Step
from flashgc.reproduction.together import reproduce_all

__all__ = [
    "Checked",
    "Reproduction",
    "Reproductions",
    "Step",
    "check_bundle",
    "reproduce",
    "reproduce_all",
]
