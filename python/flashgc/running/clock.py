"""The clock of runs: whether a run has one, and options that need it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import flashgc._engine as engine
from flashgc._engine_types import Request
from flashgc.results import over_time
from flashgc.running import building, inputs


def has_clock(settings: Mapping[str, Any]) -> bool:
    """Whether a run with these settings, checked by the engine, has times."""
    return "engine" not in settings


def is_timed(request: Request) -> bool:
    """Whether the run of a request has times."""
    return has_clock(json.loads(engine.check(request))["settings"])


def without_clock(given: building.Settings | None) -> list[str]:
    """The settings with that of a run without a clock behind them.

    >>> from flashgc.running import clock
    >>> clock.without_clock({"seed": 3})
    ['seed=3', 'engine.timing="none"']
    """
    return [*inputs.settings(given), 'engine.timing="none"']


def refuse_over_time(config: building.Config, **how: Any) -> None:  # noqa: ANN401
    """Raises where --over-time is given, and the configuration has `engine.timing = "none"`.

    The arguments are those of `run`.
    """
    settings = building.settings_before(config, **how)
    if settings is not None and not has_clock(settings):
        raise over_time.no_clock("--over-time")
