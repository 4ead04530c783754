"""The base of one queue: a single plane with short times in place of all dies.

A drive whose collection is paced over all of its dies serves writes as one queue does: at full rate
its p99.9 is near its median, which dies that collect by themselves never have.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import flashgc._engine as engine
from flashgc._engine_types import Request
from flashgc.calibrating import candidates, drive, numbers
from flashgc.calibrating.candidates import Candidate
from flashgc.calibrating.drive import Base
from flashgc.calibrating.numbers import SPACE, Number
from flashgc.calibrating.rows import Row
from flashgc.files import toml
from flashgc.formatting import units
from flashgc.running import building
from flashgc.tuning.space import problem

NAME = "one queue"
NEAR = 1.1
"""A drive is one queue where p99.9 at full rate is at most this multiple of the median."""
COPY_READ = "device.timing.copy_read"
_DEPTH = 64
"""Requests under way at least: with fewer the median says nothing of a queue."""
_WHOLE = 0.9
"""The share of the drive at least: over a part of it there may be no collection to be paced."""
_PAGES, _BLOCKS = (16, 1024), 512
"""Pages of a block, at least and at most, and the blocks that even a small drive has."""
_BLOCKS_MOST = 1 << 20
"""The blocks that a plane can have: those of a drive beyond some 2 TB are larger."""


def shown(rows: Sequence[Row]) -> Row | None:
    """The first uniform writes at full rate over the whole drive with p99.9 near the median."""
    for row in rows:
        is_full = row.rate is None and row.read_share == 0 and row.readers is None
        is_whole = row.pattern.kind in ("uniform", "once") and float(row.range) >= _WHOLE
        if not is_full or not is_whole or row.depth < _DEPTH:
            continue
        median, tail = row.values.get("write_p50"), row.values.get("write_p99_9")
        if median and tail and not tail.is_bound and tail.number <= NEAR * median.number:
            return row
    return None


def note(row: Row) -> str:
    """Why it is tried."""
    share = row.values["write_p99_9"].number / row.values["write_p50"].number - 1
    return (f"p99.9 of {row.name} is {units.share(share)} above its median, as that of one paced "
            "queue: the base was tried as one queue too, without --one-queue never")  # fmt: skip


def base(of: Base) -> Base:
    """The base of one queue with the capacity and the rates of another one."""
    sets = [text for text in of.request["sets"] if not text.lstrip().startswith("device.")]
    unsets = [key for key in of.request["unsets"] if not key.startswith("device.")]
    device = (f"{NAME}.toml", toml.dumps(_device(of)))
    request: Request = {**of.request, "device": device, "sets": sets, "unsets": unsets}
    return drive.of_request(request, f"{of.name} as {NAME}", of.seed, None)


def _device(of: Base) -> dict[str, Any]:
    """Programs and reads of copies take the time in which all planes together make one."""
    settings = json.loads(engine.check(of.with_load))["settings"]["device"]
    shape, timing = settings["shape"], settings["timing"]
    user_pages = of.user_bytes // shape["page_bytes"]
    pages = min(max(user_pages // _BLOCKS, _PAGES[0]), _PAGES[1])
    # The spare space may become as large as the user capacity.
    pages = max(pages, -(-2 * user_pages // _BLOCKS_MOST) + 1)
    together = of.planes * shape.get("slots", 1)
    read_ns = _mean(timing["read_ns"])
    program_ns = _mean(timing["program_ns"]) / (together * shape.get("pages_per_program", 1))
    firmware = settings.get("firmware", {"command_ns": 5000, "cores": 256})
    buffer = settings.get("write_buffer", {"pages": (128 << 10) / shape["page_bytes"]})
    found: dict[str, Any] = {
        "channels": 1, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 1,
        "user_capacity": f"{of.user_bytes} B",
        "over_provisioning": numbers.text(SPACE, min(of.known[SPACE], numbers.KINDS[SPACE].high)),
        "pages_per_block": pages,
        "page_size": f"{shape['page_bytes']} B", "unit": "plane", "service": settings["service"],
        "timing": {
            "read": _ns(read_ns), "copy_read": _ns(read_ns / together),
            "program": _ns(program_ns), "erase": "20 us", "transfer": "0 ns/B", "command": "0 ns",
        },
        "firmware": {"command": _ns(firmware["command_ns"]), "cores": firmware["cores"]},
        "write_buffer": {"size": f"{round(buffer['pages'] * shape['page_bytes'])} B",
                         "access": _ns(buffer.get("access_ns", 0), 0), "flush": "at-once"},
    }  # fmt: skip
    if "host_link" in settings:
        link = settings["host_link"]
        found["host_link"] = {"transfer": f"{link['ns'] / link['for_bytes']:.6g} ns/B"}
        if "duplex" in link:
            found["host_link"]["duplex"] = link["duplex"]
    return found


def _mean(times: float | Sequence[float]) -> float:
    """The time of a page, where each type of pages has its own."""
    return sum(times) / len(times) if isinstance(times, Sequence) else times


def _ns(value: float, least: int = 1) -> str:
    return f"{max(round(value), least)} ns"


def free(names: Sequence[str] | None, of: Base) -> list[Number]:
    """The numbers that are fitted: those of the other base, and the read of a copy."""
    keys = numbers.DEFAULT if names is None else map(numbers.key_of, names)
    known = [key for key in dict.fromkeys([*keys, COPY_READ]) if key in of.known]
    return numbers.free(known, of.known)


def candidates_of(
    of: Base, schemes: Sequence[building.PathLike] | None
) -> list[Candidate]:  # fmt: skip
    """The candidates, under names of their own: those of the other base that run here."""
    if schemes is None:
        legal = candidates.of(of.with_load, None)
    else:
        made = map(candidates.named, schemes)
        legal = [one for one in made if problem(one.request(of.with_load)) is None]
    return [replace(one, name=f"{NAME}, {one.name}") for one in legal]
