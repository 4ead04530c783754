"""Several seeds of one configuration: their requests, and the metrics over all of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.reports.report import Report
from flashgc.results import metrics, statistics


def values(request: Request, seeds: int) -> list[int]:
    """The seed of a request and those after it."""
    first = json.loads(engine.check(request))["settings"]["seed"]
    if first + seeds > 1 << 64:
        raise ConfigError(
            f"error: seed {first} and the {seeds - 1} after it are more than 2^64 - 1\n"
            "  = help: give a smaller seed, or fewer of them"
        )
    return list(range(first, first + seeds))


def with_seed(request: Request, seed: int) -> Request:
    """The request with another seed."""
    return {**request, "sets": [*request["sets"], f"seed={seed}"]}


def results(own: Sequence[Report], values: Sequence[int]) -> dict[str, Any]:
    """The results of several seeds of a scheme."""
    return {
        "count": len(values), "values": list(values),
        "not_steady": sum(one.steady.verdict == "no" for one in own),
        "metrics": statistics.intervals(own),
    }  # fmt: skip


def paired(runs: Sequence[Sequence[Report]], values: Sequence[int]) -> list[Report]:
    """The first report of each scheme, with the results of all its seeds.

    Also their differences to those of the first scheme.
    """
    for own in runs:
        found = results(own, values)
        if own is not runs[0]:
            differences = statistics.differences(own, runs[0])
            found["over_first"] = {"scheme": runs[0][0].scheme, "metrics": differences}
        metrics.note(own[0], seeds=found)
    return [own[0] for own in runs]
