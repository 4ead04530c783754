"""The traces of the user's own that a paper is to run on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class OwnTraces:
    """Traces of the user's own, and their format where it is not to be recognised."""

    files: Sequence[str | os.PathLike[str]]
    format: str | None = None
