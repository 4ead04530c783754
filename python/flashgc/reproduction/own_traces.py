"""The traces of the user's own that a paper is to run on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class OwnTraces:
    """Traces of the user's own, and how they are read where that is given."""

    files: Sequence[str | os.PathLike[str]]
    format: str | None = None
    on_bad_line: str | None = None
    sort_window: str | None = None

    def settings(self) -> dict[str, str]:
        """The given ways of reading, as settings of a run."""
        given = {"format": self.format, "on_bad_line": self.on_bad_line,
                 "sort_window": self.sort_window}  # fmt: skip
        return {f"workload.trace.{key}": value for key, value in given.items() if value is not None}
