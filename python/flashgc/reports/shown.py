"""Parts of a saved report that its page shows, and that no schema declares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_COUNTS = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane",
           "pages_per_block", "page_bytes")  # fmt: skip
_WHOLE = [("device", "shape", name) for name in _COUNTS]
_TIMED = [("device", "timing", "erase_ns")]
_PAIRS = ("write_amplification_halves", "write_amplification_interval")


def mistake(report: Mapping[str, Any]) -> str | None:
    """The first of these parts that is missing or of another form, by its key."""
    config = report["config"]
    for path in [*_WHOLE, *([] if "engine" in config else _TIMED)]:
        value: Any = config
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if not isinstance(value, int) or isinstance(value, bool):
            return _shown(".".join(("config", *path)), value)
    if not isinstance(config["precondition"].get("fill"), str):
        return _shown("config.precondition.fill", config["precondition"].get("fill"))
    for name in _PAIRS:
        pair = report["steady"].get(name)
        if pair is not None and len(pair) != len(("low", "high")):
            return _shown(f"steady.{name}", pair)
    for name, own in report.get("seeds", {"metrics": {}})["metrics"].items():
        if (own["low"] is None) is not (own["high"] is None):
            return _shown(f"seeds.metrics.{name}", own)
    return None


def _shown(key: str, value: object) -> str:
    return f"{key} = {json.dumps(value)[:40]}"
