"""A run that begins with a drive saved for several, reported as one that preconditioned its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def restore(report: dict[str, Any], settings: Mapping[str, Any], config_hash: str) -> None:
    """The drive is the one that the run would have preconditioned, so its report is the same."""
    report["config"], report["config_hash"] = settings, config_hash
    report["precondition"]["drive"] = None
