"""Papers reproduced: their experiments, their claims, and the measured results.

A paper is data: `experiment.toml` has its runs, `claims.toml` its statements on their results. See
docs/reproductions.md.
"""

from flashgc.reproduction.outcome import Reproduction, reproduce
from flashgc.reproduction.runs import Step

__all__ = ["Reproduction", "Step", "reproduce"]
