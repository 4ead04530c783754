"""The progress of a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class TuneProgress(NamedTuple):
    """The progress of a search."""

    phase: str
    """`scan` (of a trace), `first` (run), `presets`, `search`, `final` or `check`."""
    done: float
    """Runs; of `search`, trials."""
    total: int | None


Told = Callable[[TuneProgress], object]
