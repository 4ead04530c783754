"""Options of a run that need a clock, checked before it begins."""

from __future__ import annotations

from typing import Any

from flashgc.results import over_time
from flashgc.running import api


def refuse_over_time(config: api.Config, **how: Any) -> None:  # noqa: ANN401
    """Raises where --over-time is given, and the configuration has `engine.timing = "none"`.

    The arguments are those of `run`.
    """
    settings = api.settings_before(config, **how)
    if settings is not None and not api.has_clock(settings):
        raise over_time.no_clock("--over-time")
