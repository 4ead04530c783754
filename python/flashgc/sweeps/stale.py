"""The points that have to run, and the reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc.formatting import units
from flashgc.sweeps.plan import Planned
from flashgc.sweeps.store import DONE, FAILED, KILLED, Store

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_MAX = 3

Known = Mapping[str, str]
"""The status of each key that has a row."""


def known(store: Store) -> Known:
    """The status of all results that a folder has."""
    table = store.rows(["key", "status"])
    return dict(zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True))


def has_to_run(one: Planned, results: Known, retry: bool) -> bool:
    """Whether a point has no result; with `retry` an error is none."""
    if one.key is None:
        return False
    status = results.get(one.key)
    return status != DONE and (retry or status != FAILED)


def reasons(
    planned: Sequence[Planned], results: Known, retry: bool, before: pa.Table | None
) -> dict[str, list[str]]:
    """The reasons why points have to run: the labels of the points by reason."""
    rows = [] if before is None else before.select(
        ["label", "key", "trace", "trace_name", "version", "settings"]).to_pylist()  # fmt: skip
    last = {row["label"]: row for row in rows}
    found: dict[str, list[str]] = {}
    for one in planned:
        if one.refused is not None:
            found.setdefault("the engine refuses it", []).append(one.label)
        elif has_to_run(one, results, retry):
            why = _reason(one, results, last.get(one.label))
            found.setdefault(why, []).append(one.label)
    return found


def _reason(one: Planned, results: Known, last: Mapping[str, Any] | None) -> str:
    status = results.get(one.key or "")
    if status == KILLED:
        return "its workers died, or its files could not be read"
    if status == FAILED:
        return "it failed before, and errors are tried again"
    if last is None or last["key"] is None:
        return "new"
    if last["key"] == one.key:
        return "not computed yet"
    return "; ".join(_changes(one, last)) or "its configuration changed"


def _changes(one: Planned, last: Mapping[str, Any]) -> Iterator[str]:
    run = one.run
    assert run is not None
    if last["version"] != engine.__version__:
        yield f"flashgc changed from {last['version']} to {engine.__version__}"
    if last["trace"] != run.trace:
        name = run.request["trace_name"] or last["trace_name"]
        yield f"the content of the trace {name} changed"
    before, after = (dict(_flat(settings, "")) for settings in
                     (json.loads(last["settings"] or "{}"), run.settings))  # fmt: skip
    differ = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    for key in differ[:_SHOWN_MAX]:
        yield f"{key} changed from {_shown(before.get(key))} to {_shown(after.get(key))}"
    if len(differ) > _SHOWN_MAX:
        yield f"{units.counted(len(differ) - _SHOWN_MAX, 'more setting')} changed"


def _flat(settings: object, prefix: str) -> Iterator[tuple[str, object]]:
    if isinstance(settings, Mapping) and settings:
        for key, value in settings.items():
            yield from _flat(value, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, settings


def _shown(value: object) -> str:
    return "none" if value is None else json.dumps(value)
