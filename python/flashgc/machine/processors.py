"""The number of runs that this machine can do in parallel."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MEMORY_SHARE = 0.8


def at_once(jobs: int | None, table_bytes: int) -> int:
    """The number of parallel runs: `jobs` or one per processor, if memory is enough."""
    wanted = jobs if jobs is not None else processors()
    available = _available_bytes()
    if available is None or table_bytes == 0:
        return wanted
    return max(1, min(wanted, int(_MEMORY_SHARE * available / table_bytes)))


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _available_bytes() -> int | None:
    try:
        text = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return None if found is None else 1024 * int(found.group(1))
