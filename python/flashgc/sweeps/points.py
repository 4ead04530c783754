"""The file of the points of a sweep: their choices, and everything that decides their keys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc._engine import OutputError
from flashgc.axes.choice import Choice
from flashgc.sweeps.plan import Planned
from flashgc.sweeps.store import Store, write_table

if TYPE_CHECKING:
    import pyarrow as pa

    from flashgc.sweeps.read import Sweep

AXIS = "axis "
"""The prefix of an axis in the name of its column."""


def write(store: Store, sweep: Sweep, planned: Sequence[Planned]) -> None:
    """Saves the points; the same ones are not written again."""
    table = _table(sweep, planned)
    target = store.sweep(sweep.name) / "points.parquet"
    before = read(store, sweep.name)
    if before is None or not before.equals(table):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as reason:
            raise OutputError(f"error: {target.parent}: {reason.strerror}") from None
        write_table(table, target)


def read(store: Store, name: str) -> pa.Table | None:
    """The points of the last run of a sweep, if there was one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = store.sweep(name) / "points.parquet"
    try:
        return pq.read_table(path, page_checksum_verification=True)
    except FileNotFoundError:
        return None
    except (OSError, pa.ArrowInvalid) as reason:
        raise OutputError(
            f"error: {path}: the file of points cannot be read: {reason}\n"
            "  = help: remove it; the next run writes it again"
        ) from None


def choices(table: pa.Table) -> dict[str, str]:
    """The columns of the axes, by the names of the axes."""
    names = [name for name in table.column_names if name.startswith(AXIS)]
    return {name.removeprefix(AXIS): name for name in names}


def _table(sweep: Sweep, planned: Sequence[Planned]) -> pa.Table:
    import pyarrow as pa

    columns: dict[str, Any] = {"point": pa.array([one.number for one in planned], pa.int64())}
    for at, axis in enumerate(sweep.axes):
        columns[AXIS + axis] = _column([one.point[at] for one in planned])
    texts = {
        "label": [one.label for one in planned],
        "key": [one.key for one in planned],
        "refused": [one.refused for one in planned],
        "trace": [one.run and one.run.trace for one in planned],
        "trace_name": [one.run and one.run.request["trace_name"] for one in planned],
        "version": [engine.__version__ for _ in planned],
        "settings": [one.run and _text(one.run.settings) for one in planned],
    }
    columns |= {name: pa.array(values, pa.string()) for name, values in texts.items()}
    return pa.table(columns)


def _text(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def _column(chosen: Sequence[Choice]) -> pa.Array:
    """Numbers where each choice is one, and names otherwise."""
    import pyarrow as pa

    values = [one.value for one in chosen]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return pa.array([one.name for one in chosen], pa.string())
    whole = all(value.is_integer() and abs(value) < 1 << 53 for value in numbers)
    return pa.array([int(value) for value in numbers] if whole else numbers)
