"""Explanations: the story of single requests, from arrival to completion."""

from flashgc.explaining.explanation import Explanation
from flashgc.explaining.made import explain

__all__ = ["Explanation", "explain"]
