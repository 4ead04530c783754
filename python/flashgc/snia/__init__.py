"""The Performance Test Specification of SNIA: its tests on simulated drives, and their report."""

from flashgc.snia.made import PtsProgress, pts
from flashgc.snia.results import Pts

__all__ = ["Pts", "PtsProgress", "pts"]
