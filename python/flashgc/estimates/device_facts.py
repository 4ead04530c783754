"""Sizes, rates and unloaded times of a device, from its keys and without a run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import flashgc._engine as engine
from flashgc.running import building, runs

_PARTS = ("channels", "chips_per_channel", "dies_per_chip")
_ONE_DIE = {f"device.{part}": 1 for part in _PARTS}
# Enough blocks for every scheme of one die, and few enough that it is filled at once.
_SMALL = {**_ONE_DIE, "device.blocks_per_plane": 16, "device.exported": 0.1}
_ONE_REQUEST: dict[str, Any] = {"workload": {"synthetic": {"requests": 1, "queue_depth": 1}}}


class DeviceFacts(NamedTuple):
    """Sizes in bytes, times in ns, rates in bytes a second."""

    physical_bytes: int
    """Data that all pages of the flash hold."""
    user_bytes: int
    """Data that the host can store."""
    over_provisioning: float
    """(physical - user) / user, as drives are sold."""
    planes: int
    """Planes of all dies."""
    blocks_per_plane: int
    """Blocks of a plane: as given, or as the capacity needs."""
    units: int
    """Parts that work at the same time."""
    mapped_bytes: int
    """Data that an entry of the map names."""
    program_bytes: int
    """Data that one program writes, in all planes that it serves."""
    victim_bytes: int
    """Data of the victim of one collection: a block, or the blocks of planes in step or of a
    superblock."""
    read_ns: int
    """A read of mapped_bytes that waits for nothing, from its arrival to its answer, without
    jitter."""
    write_ns: int
    """The time of an unloaded write without jitter, in ns; short where the drive answers before
    it programs."""
    program_ns: int
    """The array time of a program."""
    program_rate: float
    """The program rate of all arrays together, in bytes a second."""
    read_rate: float
    """The read rate of all arrays together, in whole pages."""
    bus_rate: float | None
    """The transfer rate of all buses together; None where a transfer takes no time."""
    link_rate: float | None
    """The rate of the host's link, of each direction where it is full-duplex; None without one."""
    link_duplex: str | None
    """Whether one direction of the link transfers at a time, `half`, or both, `full`."""
    has_jitter: bool
    """Whether jitter is added to the time of the firmware or of the link."""


def device_facts(device: str | os.PathLike[str] | Mapping[str, Any]) -> DeviceFacts:
    """What a device means, without a run.

    The times of a read and of a write are those of one request on one die of it.

    Args:
        device: the name of a device; a file with the keys of a device, at its top or in a table
            `device`; or a dictionary with these keys.

    Raises:
        ConfigError: with every mistake of the device.

    >>> import flashgc
    >>> facts = flashgc.device_facts({"preset": "client-tlc", "user_capacity": "960 GB"})
    >>> round(facts.user_bytes / 1e9), facts.blocks_per_plane, facts.read_ns
    (960, 749, 59695)

    """
    source, name = _source(device)
    checked = json.loads(engine.check(building.bare_request(source, None, None, name, None, None)))
    sizes, written = checked["capacity"], checked["drive"]["device"]
    shape, timing = (checked["settings"]["device"][key] for key in ("shape", "timing"))
    planes = math.prod(written[key] for key in (*_PARTS, "planes_per_die"))
    served = shape["multi_plane"]
    programs = sizes["units"] * served
    reads = planes if shape.get("independent_plane_reads") else programs
    program_bytes = written["page_size"] * written.get("pages_per_program", 1)
    transfer_ns = timing["transfer_ns"]
    link = checked["settings"]["device"].get("host_link")
    has_link = link is not None and link["ns"] > 0
    one = _One(source, name, sizes["page_bytes"], _without_jitter(checked["settings"]["device"]))
    return DeviceFacts(
        physical_bytes=sizes["physical_bytes"],
        user_bytes=sizes["user_bytes"],
        over_provisioning=sizes["physical_bytes"] / sizes["user_bytes"] - 1,
        planes=planes,
        blocks_per_plane=written["blocks_per_plane"],
        units=sizes["units"],
        mapped_bytes=sizes["page_bytes"],
        program_bytes=program_bytes * served,
        victim_bytes=sizes["block_bytes"],
        read_ns=one.unloaded_ns(1.0),
        write_ns=one.unloaded_ns(0.0),
        program_ns=timing["program_ns"],
        program_rate=1e9 * programs * program_bytes / timing["program_ns"],
        read_rate=1e9 * reads * written["page_size"] / timing["read_ns"],
        bus_rate=_buses(written, transfer_ns) if transfer_ns else None,
        link_rate=1e9 * link["for_bytes"] / link["ns"] if has_link else None,
        link_duplex=link.get("duplex", "half") if has_link else None,
        has_jitter=bool(one.steady),
    )


def _buses(written: Mapping[str, Any], transfer_ns: int) -> float:
    return float(1e9 * written["channels"] * written["page_size"] / transfer_ns)


def _source(
    device: str | os.PathLike[str] | Mapping[str, Any],
) -> tuple[dict[str, Any], str | os.PathLike[str] | None]:
    """A configuration of one request, and a name or a file for its device."""
    if isinstance(device, Mapping):
        return {**_ONE_REQUEST, "device": dict(device)}, None
    return _ONE_REQUEST, device


def _without_jitter(device: Mapping[str, Any]) -> dict[str, str]:
    """The settings that remove the jitter of a device, where it has one."""
    stages = [stage for stage in ("firmware", "host_link") if "jitter" in device.get(stage, {})]
    return {f"device.{stage}.jitter.fixed": "0 ns" for stage in stages}


class _One(NamedTuple):
    """One request of a mapped page to one die of a device."""

    source: dict[str, Any]
    device: str | os.PathLike[str] | None
    size_bytes: int
    steady: dict[str, str]
    """Settings that remove its jitter."""

    def unloaded_ns(self, read_share: float) -> int:
        """Its latency, in ns."""
        one = {
            "workload.synthetic.size": f"{self.size_bytes} B",
            "workload.synthetic.read_share": read_share,
        }
        report = runs.run(self.source, device=self.device, set={**_SMALL, **self.steady, **one})
        longest = report.latency_ns.all.max
        return 0 if longest is None else int(longest)
