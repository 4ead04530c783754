"""The tuner: searches the slots and parameters of schemes for the best configuration.

1. `read` makes a search of a TUNE.toml or a configuration; `builtin` has the space without one.
2. `space` says which points are legal, by the engine's plan, before any of them runs.
3. `sampler` draws legal points with Optuna, and `search` runs them, short runs first, on the
   workers and in the store of sweeps (`pool`).
4. `findings` has the result: the front, the chosen point, and its check on unseen `samples`.
"""

from typing import TYPE_CHECKING, Any

from flashgc.tuning.made import tune
from flashgc.tuning.tuning import Tuning

if TYPE_CHECKING:
    from flashgc.tuning.search import TuneProgress

__all__ = ["TuneProgress", "Tuning", "tune"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has this name
    """Optuna is imported when it is needed."""
    if name == "TuneProgress":
        from flashgc.tuning.search import TuneProgress

        return TuneProgress
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
