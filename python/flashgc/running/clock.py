"""Options of a run that need a clock, checked before it begins."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc.running import api


def refuse_over_time(config: api.Config, **how: Any) -> None:  # noqa: ANN401
    """Raises where --over-time is given, and the configuration has `engine.timing = "none"`.

    The arguments are those of `run`. Traces are not read: no setting of the clock is in them, and
    other mistakes are those of the run itself.
    """
    settings: dict[str, Any] = {}
    with contextlib.suppress(ConfigError):
        settings = json.loads(engine.check(api._bare_request(config, None, **how)))["settings"]
    if not api.has_clock(settings):
        raise ConfigError(
            'error: the run has no clock (engine.timing = "none"): nothing can be shown over time\n'
            '  = help: remove engine.timing = "none", or --over-time'
        )
