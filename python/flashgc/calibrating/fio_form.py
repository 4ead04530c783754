"""The form of fio's output, as far as it is read: other JSON has an error in place of a fault."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flashgc._engine import ConfigError


def check(document: Mapping[str, Any], name: str) -> None:
    """A ConfigError that names the first part with another form than fio's."""
    _table(document, "global options", name)
    for at, job in enumerate(document["jobs"]):
        where = f"{name}, entry {at + 1} of `jobs`"
        if not isinstance(job, Mapping):
            raise _wrong(where, "it", "a table")
        if not isinstance(job.get("groupid", 0), int) or not isinstance(
            job.get("jobname", ""), str
        ):
            raise _wrong(where, "`groupid` or `jobname`", "a number and a text")
        _table(job, "job options", where)
        for way in ("read", "write"):
            if not isinstance(job.get(way), Mapping):
                raise _wrong(where, f"`{way}`", "a table")
            if not _is_number(job[way].get("iops")):
                raise _wrong(where, f"`{way}.iops`", "a number")
            for latency in ("clat_ns", "lat_ns"):
                _check_latency(job[way].get(latency), f"`{way}.{latency}`", where)


def _check_latency(found: object, which: str, where: str) -> None:
    """Other latencies than tables are passed over, as in the output of other versions."""
    if not isinstance(found, Mapping):
        return
    numbers = [found.get("N", 0), found.get("mean", 0.0 if not found.get("N") else None)]
    for part in ("percentile", "bins"):
        values = found.get(part, {})
        if not isinstance(values, Mapping):
            raise _wrong(where, which, f"a table in `{part}`")
        numbers += values.values()
        if part == "bins" and not all(key.isdecimal() for key in values):
            raise _wrong(where, which, "a time in ns for each of the `bins`")
    if not all(map(_is_number, numbers)):
        raise _wrong(where, which, "numbers alone")


def _table(of: Mapping[str, Any], key: str, where: str) -> None:
    if not isinstance(of.get(key, {}), Mapping):
        raise _wrong(where, f"`{key}`", "a table")


def _is_number(found: object) -> bool:
    is_one = isinstance(found, int | float) and not isinstance(found, bool)
    return is_one and math.isfinite(found)  # type: ignore[arg-type]


def _wrong(where: str, what: str, allowed: str) -> ConfigError:
    return ConfigError(
        f"error: {where}: {what} must have {allowed}, as in the output of fio\n"
        "  = help: measure with `fio --output-format=json --output=FILE`"
    )
