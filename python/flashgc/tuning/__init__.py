"""The tuner: searches the slots and parameters of schemes for the best configuration.

1. `read` makes a search of a TUNE.toml or a configuration; `builtin` has the space without one.
2. `space` says which points are legal, by the engine's plan, before any of them runs.
3. `sampler` draws legal points with Optuna, and `search` runs them, short runs first, on the
   workers and in the store of sweeps (`pool`).
4. `findings` has the result: the front, the chosen point, and its check on unseen `samples`.
"""

from flashgc.tuning.made import tune
from flashgc.tuning.progress import TuneProgress
from flashgc.tuning.tuning import Tuning

__all__ = ["TuneProgress", "Tuning", "tune"]
