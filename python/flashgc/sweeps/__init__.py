"""Sweeps: a run for each point of some axes, computed once, in parallel, and kept.

1. `read` makes points of a SWEEP.toml, whose axes are those of `flashgc.axes`.
2. `plan` lets the engine check them, and `stale` chooses those without a result.
3. `agenda` orders the work, `local` and `on_ray` do it, and `store` keeps each row as it comes.
4. `results` joins points and rows.
"""

from flashgc.sweeps.outcome import SweepProgress, explain, sweep
from flashgc.sweeps.results import SweepResults

__all__ = ["SweepProgress", "SweepResults", "explain", "sweep"]
