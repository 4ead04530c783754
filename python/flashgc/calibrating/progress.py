"""The progress of a calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class CalibrateProgress(NamedTuple):
    """The progress of a calibration."""

    phase: str
    """`closed`, `steps`, `trials`, `long`, `polish`, `profile`, `judge` or `apart`."""
    done: int
    """Runs of the phase that are done; of `trials`, trials."""
    total: int


Told = Callable[[CalibrateProgress], object]
