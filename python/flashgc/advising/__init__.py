"""Advice: the cost of collection for a workload, and the schemes that serve it best."""

from flashgc.advising.advice import Advice
from flashgc.advising.made import advise
from flashgc.advising.rounds import AdviceProgress

__all__ = ["Advice", "AdviceProgress", "advise"]
