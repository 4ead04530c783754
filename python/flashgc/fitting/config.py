"""The fitted workload as a configuration: a dictionary, and the text of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from flashgc.files import toml
from flashgc.fitting import bursts, places
from flashgc.fitting.check import shared
from flashgc.fitting.mixtures import Weights
from flashgc.fitting.requests import Requests
from flashgc.formatting import units

Table = dict[str, Any]


def workload(requests: Requests) -> Table:
    """`[workload.fitted]` for a fitted workload of these requests."""
    written = places.find(requests)
    course = bursts.find(requests, written)
    return _filled({
        "requests": len(requests),
        "read_only_run": _mixture(written.read_only_run, _number),
        "read_offset": _mixture(course.read_offset, _bytes),
        "places": [_place(kind) for kind in written.kinds],
        "regions": [_region(region) for region in written.regions],
        "bursts": [_burst(kind) for kind in course.kinds],
        "course": [_part(part) for part in course.parts],
    })  # fmt: skip


_HEAD = """\
# A synthetic workload fitted to a trace with {requests}, made by `flashgc trace fit`.
# It holds distributions alone, and no address of the trace; see docs/fitted.md.
# The drive is as large as what the trace touches. For another one: --device NAME.
seed = 1
"""


def text(workload: Mapping[str, Any], device: Mapping[str, Any], overwrite: float) -> str:
    """A whole configuration, which `flashgc run` runs."""
    lines = [_HEAD.format(requests=units.counted(workload["requests"], "request"))]
    for name, table in shared(device, overwrite).items():
        lines += [f"[{name}]", *_lines(table), ""]
    lines.append("[workload.fitted]")
    lines += _lines({key: item for key, item in workload.items() if not isinstance(item, list)})
    for name in ("places", "regions", "bursts", "course"):
        for item in workload.get(name, ()):
            lines += ["", f"[[workload.fitted.{name}]]", *_lines(item)]
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    for key, item in table.items():
        yield f"{key} = {toml.value(item, key)}"


def _place(kind: places.Kind) -> Table:
    return _filled({
        "size": _mixture(kind.size, _bytes),
        "offset": _mixture(kind.offset, _bytes),
        "run": _mixture(kind.run, _number),
        "adjacent": _share(kind.adjacent),
        "in_order": _share(kind.in_order),
        "age": _mixture(kind.age, lambda end: f"{end:.6f}".rstrip("0").rstrip(".")),
        "sequential_share": _share(kind.sequential_share),
    })  # fmt: skip


def _region(region: places.Region) -> Table:
    written = {
        str(at + 1): round(pages, 2) for at, pages in enumerate(region.written) if pages >= 0.005
    }
    # Rounding must not make them more than there are.
    total = sum(written.values())
    if total > region.pages:
        most = max(written, key=lambda key: written[key])
        written[most] = round(written[most] - (total - region.pages), 2)
    return _filled({"count": region.count, "pages": region.pages, "written": written})


def _burst(kind: bursts.Kind) -> Table:
    return _filled({
        "length": _mixture(kind.length, _number),
        "pause": _mixture(kind.pause, _time),
        "gap": _mixture(kind.gap, _time),
        "stay": _share(kind.stay),
        "read_share": _share(kind.read_share),
        "same_share": _share(kind.same_share),
        "read_size": _mixture(kind.read_size, _bytes),
        "read_sequential_share": _share(kind.read_sequential_share),
        "read_written_share": _share(kind.read_written_share),
        "again_share": _share(kind.again_share),
        "places": _mixture(kind.places, lambda number: str(round(number) + 1)),
    })  # fmt: skip


def _part(part: bursts.Part) -> Table:
    counts = {str(at + 1): count for at, count in enumerate(part.bursts) if count}
    return {"pauses": _time(part.pauses_ns), "bursts": counts}


def _filled(table: Table) -> Table:
    """Without items that are empty or zero, which is the default."""
    return {key: item for key, item in table.items() if item not in ({}, [], 0.0)}


def _share(value: float) -> float:
    return round(value, 5)


def _mixture(weights: Weights, show: Callable[[float], str]) -> Table:
    found: Table = {}
    for value, weight in weights:
        name = show(value)
        found[name] = found.get(name, 0.0) + weight
    return {name: round(weight, 5) for name, weight in found.items()}


def _number(value: float) -> str:
    return str(max(round(value), 1))


def _bytes(value: float) -> str:
    size = round(value)
    return f"{size // 1024} KiB" if size and size % 1024 == 0 else f"{size} B"


def _time(ns: float) -> str:
    """With four digits, which is finer than any drive's times are known."""
    for unit_ns, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit_ns:
            decimals = max(3 - len(str(int(ns / unit_ns))) + 1, 0)
            shown = f"{ns / unit_ns:.{decimals}f}"
            return f"{shown.rstrip('0').rstrip('.') if '.' in shown else shown} {name}"
    return f"{round(ns)} ns"
