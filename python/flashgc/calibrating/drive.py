"""The drive that is fitted: the base in small, its loads, and the request of a run."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.calibrating import beside, numbers
from flashgc.calibrating.candidates import BASE, Candidate
from flashgc.calibrating.numbers import RESERVE, SPACE
from flashgc.calibrating.rows import Row, label
from flashgc.files import toml
from flashgc.running import building
from flashgc.tuning import chosen
from flashgc.tuning.space import problem as problem_of
from flashgc.tuning.space import with_settings

SLOTS = 1 << 18
"""Mapped pages of a drive in small, if it has enough blocks."""
BLOCKS = 128
"""Blocks of each plane that a drive in small has at least."""
REQUESTS = 8_000
"""Requests of a run of single pages at least."""
PART = 0.5
"""A run writes this share of the drive at least."""
LONG = 4
"""The length of long runs, as a multiple."""
IDLE = 2_000
"""Requests of a run that only reads, or has one request at a time."""
READS = 20_000
"""Reads of a run whose readers have a load of their own, at most."""
_LEAST = 500
_SINGLE = 16 << 10
_ROOM = 4.0
"""Erased blocks of a plane that a collector keeps, where none are measured yet."""
_FULL = 0.985
"""The largest share of a plane that a drive in small gives to the host."""
_PLACEHOLDER = {"workload.synthetic.requests": 1000, "workload.synthetic.queue_depth": 1}

Values = Mapping[str, float]


@dataclass(frozen=True)
class Base:
    """The device that the fit begins with."""

    request: Request
    """Its layers, without a load."""
    name: str
    seed: int
    shape: Mapping[str, Any]
    known: Mapping[str, float]
    """All numbers that it has, by key."""
    blocks: int
    """Blocks of each plane of the drive in small."""
    follows: bool
    """Whether its blocks follow from its user capacity and the spare space."""

    @property
    def with_load(self) -> Request:
        """Its layers with a load that stands for any, for checks."""
        return with_settings(self.request, _PLACEHOLDER)

    @property
    def planes(self) -> int:
        """Planes of the drive."""
        shape = self.shape
        return int(shape["channels"] * shape["chips_per_channel"] * shape["dies_per_chip"]
                   * shape["planes_per_die"])  # fmt: skip

    @property
    def user_bytes(self) -> int:
        """The user capacity."""
        return int(self.shape["exported_pages_per_plane"] * self.planes * self.shape["page_bytes"])

    def whole(self, space: float) -> float:
        """Blocks of each plane of the drive, with this spare space."""
        own = int(self.shape["blocks_per_plane"])
        return own * (1 + space) / (1 + self.known[SPACE]) if self.follows else own

    @property
    def differs(self) -> bool:
        """Whether runs have another number of blocks than the drive."""
        return self.follows or self.blocks < int(self.shape["blocks_per_plane"])

    def user_share(self, space: float, row_range: float, reserve: float) -> float:
        """The share of the pages that a run gives to the host.

        A collector keeps `reserve` blocks of each plane erased, however many there are: with fewer
        blocks the host gets less, so that the same share of the others is valid.
        """
        share = row_range / (1 + space)
        if self.differs:
            whole = self.whole(space)
            share *= whole / (whole - reserve) * (self.blocks - reserve) / self.blocks
        return min(share, _FULL)


def base(device: building.PathLike, sets: Sequence[str], seed: int, blocks: int | None) -> Base:
    """The base of a fit: a preset, or a device file."""
    plain = building.bare_request({}, None, None, device, list(sets), seed)
    request: Request = {**plain, "scheme": (BASE, None)}
    return of_request(request, os.fspath(device), seed, blocks)


def of_request(request: Request, name: str, seed: int, blocks: int | None) -> Base:
    """The base of a request without a load."""
    settings = json.loads(engine.check(with_settings(request, _PLACEHOLDER)))["settings"]
    shape = settings["device"]["shape"]
    known = numbers.of_base(settings["device"], settings["gc"])
    space = known[SPACE] * 1.5 if known[SPACE] < 0.6 else min(known[SPACE], 1.0) * 0.8
    changed = with_settings(request, {SPACE: space, **_PLACEHOLDER})
    other = json.loads(engine.check(changed))["settings"]["device"]["shape"]
    follows = other["blocks_per_plane"] != shape["blocks_per_plane"]
    found = Base(request, name, seed, shape, known, 0, follows)
    whole = int(shape["blocks_per_plane"])
    if blocks is not None and not 16 <= blocks <= whole:
        raise ConfigError(
            f"error: --blocks is {blocks}\n  = help: give from 16 to {whole}, the blocks of each "
            "plane of the base"
        )
    if blocks is None:
        per_block = found.planes * int(shape["pages_per_block"])
        blocks = min(whole, max(BLOCKS, math.ceil(SLOTS / per_block)))
    return Base(request, name, seed, shape, known, blocks, follows)


@dataclass(frozen=True)
class Point:
    """A collector with the numbers of a device."""

    candidate: Candidate
    values: Values
    reserve: float
    """Blocks of each plane that the collector keeps erased, as measured."""
    jitter: tuple[float, ...] = ()
    """The standard deviation of the logarithm of each number of the fitted rows over seeds."""


def request(
    base_: Base, point: Point, row: Row, long: bool = False, more_seed: int = 0
) -> Request:  # fmt: skip
    """The request of the run that stands for a measured one."""
    share = base_.user_share(point.values.get(SPACE, base_.known[SPACE]), float(row.range),
                             point.reserve)  # fmt: skip
    slots = int(share * base_.blocks * int(base_.shape["pages_per_block"])) * base_.planes
    settings: dict[str, Any] = {
        **_numbers(base_, point.values), "device.blocks_per_plane": base_.blocks,
        "device.exported": float(f"{share:.6f}"), **load(row, slots, base_, long),
        **({"seed": base_.seed + more_seed} if more_seed else {}),
    }  # fmt: skip
    return point.candidate.request(with_settings(base_.request, settings))


def problem(base_: Base, point: Point) -> str | None:
    """Why the whole drive cannot run with these numbers and this collector, where it cannot."""
    values = point.values
    settings = _numbers(base_, values)
    if SPACE in values:
        settings[SPACE] = numbers.text(SPACE, values[SPACE])
    return problem_of(point.candidate.request(with_settings(base_.with_load, settings)))


def with_writes(base_: Base, candidates: Sequence[Candidate]) -> list[Point]:
    """The candidates that have a run of plain writes, at the numbers from which a fit starts."""
    values = {one.key: one.start for one in numbers.free(None, base_.known)}
    points = [Point(one, values, _ROOM) for one in candidates]
    return [one for one in points if problem_of(request(base_, one, Row("", ""))) is None]


def refused(base_: Base, points: Sequence[Point], row: Row) -> str | None:
    """Why none of these points has a run for this row."""
    why = None
    for point in points:
        why = problem_of(request(base_, point, row))
        if why is None:
            return None
    return why


def _numbers(base_: Base, values: Values) -> dict[str, Any]:
    """The settings of the numbers, except the spare space."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key == RESERVE:
            found[key] = f"{round(value * _flash_pages(base_))} pages"
        elif key != SPACE:
            found[key] = numbers.text(key, value)
    return found


def _flash_pages(base_: Base) -> int:
    """Pages of a block, as thresholds count them: with those of planes in step."""
    shape = base_.shape
    slots = int(shape.get("slots", 1))
    joins = slots > 1 or int(shape.get("pages_per_program", 1)) > 1
    return int(shape["pages_per_block"]) // slots * (int(shape["multi_plane"]) if joins else 1)


def load(row: Row, slots: int, base_: Base, long: bool) -> dict[str, Any]:
    """The settings of the load of a row, on a drive with this number of mapped pages."""
    found: dict[str, Any] = {
        "precondition.fill": "sequential", "precondition.overwrite": float(row.overwritten)
    }  # fmt: skip
    count = requests(row, slots, base_, long)
    if row.readers is not None:
        reads = READS * (LONG if long else 1)
        found["workload.jobs.job"] = beside.jobs(row, row.readers, count, reads)
        return found
    address = row.pattern.address()
    sequential = row.pattern.kind == "sequential"
    once = row.pattern.kind == "once" and row.read_share < 1
    if row.rate is None and not once:
        key = "workload.synthetic"
        found |= {
            f"{key}.requests": count, f"{key}.size": f"{row.block_bytes} B",
            f"{key}.read_share": float(row.read_share), f"{key}.queue_depth": row.depth,
            f"{key}.address": address, **({f"{key}.sequential_share": 1.0} if sequential else {}),
        }  # fmt: skip
        return found
    job: dict[str, Any] = {
        "name": "rate", "file": "drive", "depth": row.depth,
        "poisson": row.is_poisson and row.rate is not None,
        "requests": count, "size": f"{row.block_bytes} B", "read_share": float(row.read_share),
        "address": address, **({"random_share": 0.0} if sequential else {}),
        **({"once": True} if once else {}),
    }  # fmt: skip
    for way, share in (("read", row.read_share), ("write", 1 - row.read_share)):
        if share > 0 and row.rate is not None:
            job[f"{way}_iops"] = max(1, round(row.rate * share))
    found["workload.jobs.job"] = [job]
    return found


def requests(row: Row, slots: int, base_: Base, long: bool) -> int:
    """The number of requests of a run."""
    if row.read_share == 1.0 or (row.depth == 1 and row.block_bytes <= _SINGLE):
        return IDLE * (LONG if long else 1)
    pages = max(REQUESTS, PART * slots) * (LONG if long else 1)
    per_request = max(1, row.block_bytes // int(base_.shape["page_bytes"]))
    writes = max(_LEAST * (LONG if long else 1), pages / per_request)
    # Half of the requests are reads, at most, without counting for this.
    return round(writes / max(1 - row.read_share, 0.5))


def device_text(base_: Base, values: Values, more: Mapping[str, Any], head: Sequence[str]) -> str:
    """The fitted device as a file."""
    name, own = base_.request["device"] or ("", None)
    table: dict[str, Any] = {"preset": name} if own is None else tomllib.loads(own)
    table = dict(table.get("device", table))
    about = {"title": "Fitted by flashgc calibrate", "source": "; ".join(head)}
    table.pop("about", None)
    whole = {"device": table}
    for text in base_.request["sets"]:
        key, _, given = text.partition("=")
        if key.startswith("device."):
            chosen.put(whole, key.strip(), chosen.parsed(given))
    for key, value in values.items():
        if key.startswith("device."):
            chosen.put(whole, key, numbers.text(key, value))
    for key, item in more.items():
        chosen.put(whole, f"device.{key}", item)
    comments = "".join(f"# {label(line)}\n" for line in head)
    return comments + toml.dumps({**whole["device"], "about": about})


def scheme_text(base_: Base, candidate: Candidate) -> str:
    """The scheme of a candidate as a file, with the settings of the base that its runs have."""
    text = candidate.text()
    own = [one.partition("=") for one in base_.request["sets"]]
    more = {key.strip(): chosen.parsed(given) for key, _, given in own
            if key.strip().startswith("gc.")}  # fmt: skip
    if not more:
        return text
    whole: dict[str, Any] = {"gc": tomllib.loads(text)}
    for key, item in {**more, **candidate.settings}.items():
        if key.startswith("gc."):
            chosen.put(whole, key, item)
    about = {"title": f"Fitted: {candidate.name}, with settings of the base",
             "source": "flashgc calibrate"}  # fmt: skip
    return toml.dumps({**whole["gc"], "about": about})


def with_reserve(base_: Base, scheme: str, blocks: float) -> str:
    """A scheme with another threshold."""
    table = tomllib.loads(scheme)
    table.setdefault("trigger", {}).setdefault("watermark", {})["soft"] = (
        f"{round(blocks * _flash_pages(base_))} pages"
    )
    return toml.dumps(table)
