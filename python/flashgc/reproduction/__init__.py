"""Papers reproduced: their experiments, what they claim, and what was measured.

A paper is data: `experiment.toml` says what was run, `claims.toml` what the paper says of it. See
docs/reproductions.md.
"""

from flashgc.reproduction.outcome import Reproduction, reproduce
from flashgc.reproduction.runs import Step

__all__ = ["Reproduction", "Step", "reproduce"]
