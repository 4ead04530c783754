"""The worst latency of a page request: Table V of paper preemptible-gc."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc.files.arguments import shown
from flashgc.running import building, builtin_presets

SUSPEND_NS = 20_000
"""The paper's value for devices without one: 20 us, from the data sheet of a NOR part."""


class WorstCase(NamedTuple):
    """Worst-case response times of a page request while every request may preempt, in ns."""

    gftl_ns: int
    """GFTL: an erase, then the request, a read or a write, whichever takes longer."""
    rftl_ns: int
    """RFTL: an erase and a write; or a read, which never waits for collection."""
    pgc_ns: int
    """Preemption between operations (scheme `pgc` and its kin): as GFTL."""
    fpgc_ns: int
    """Suspend and resume of all operations (scheme `fpgc`): a suspend, then the request."""


def worst_case_wait(
    device: str | Mapping[str, Any], *, transfer: bool = False, suspend_ns: int | None = None
) -> WorstCase:
    """The worst-case execution times of paper preemptible-gc, Table V, for a device.

    With E for an erase, S for a suspend, r for a read and w for a write of a page they are
    E + max(r, w) for GFTL and PGC, max(E + w, r) for RFTL and S + max(r, w) for F-PGC. They hold in
    state S1 of collection, where every request may preempt; waiting behind other requests is not in
    them. The text gives RFTL as its reference 34, where the table prints 36. Where the layers of a
    block differ in speed, r and w are the means over them.

    Args:
        device: the name of a device, or `report.config["device"]` of a run.
        transfer: whether reads and writes take their transfer over the bus as well.
        suspend_ns: time of a suspend; that of the device if not given, or the paper's 20 us.

    Raises:
        ConfigError: a device that is not known.
        ValueError: a table without these times, or a time below zero.

    >>> import flashgc
    >>> flashgc.worst_case_wait("slc-msr", suspend_ns=20_000)
    WorstCase(gftl_ns=1700000, rftl_ns=1700000, pgc_ns=1700000, fpgc_ns=220000)
    >>> flashgc.worst_case_wait("slc-msr", suspend_ns=20_000, transfer=True).fpgc_ns
    325600

    """
    if not isinstance(device, (str, Mapping)):
        raise ValueError(f"device must be a name or a table, got {shown(device)}")
    table = _resolved(device) if isinstance(device, str) else device
    timing = table.get("timing", {})
    try:
        read_ns, write_ns, erase_ns = (timing[f"{key}_ns"] for key in ("read", "program", "erase"))
        bus_ns = timing["transfer_ns"] if transfer else 0
    except (KeyError, TypeError):
        raise ValueError("a device table must have its times under `timing`, in ns") from None
    if suspend_ns is None:
        suspend_ns = (timing.get("suspend") or {}).get("suspend_ns", SUSPEND_NS)
    if not isinstance(suspend_ns, SupportsIndex) or suspend_ns < 0:
        raise ValueError(f"suspend_ns must be a whole number of ns from 0, got {shown(suspend_ns)}")
    together = table.get("shape", {}).get("pages_per_program", 1)
    read_ns, write_ns = read_ns + bus_ns, write_ns + bus_ns * together
    longest_ns = max(read_ns, write_ns, timing.get("copy_read_ns", 0) + bus_ns)
    return WorstCase(
        gftl_ns=erase_ns + longest_ns,
        rftl_ns=max(erase_ns + write_ns, read_ns),
        pgc_ns=erase_ns + longest_ns,
        fpgc_ns=suspend_ns + longest_ns,
    )


def check_wait(report: Mapping[str, Any]) -> str | None:
    """Whether every page request of a run met the worst case of paper preemptible-gc, Table V.

    The bound is compared with `gc.response_max_ns`: from the time when only a collection was before
    a page operation of the host, in state S1, to its end. The bound is that of F-PGC where the
    scheme suspends every operation, and else that of PGC; a write may fill its block and then
    writes the summary too, where the device has one, and a poll of the queue takes its time. Where
    units share a bus, other units may make it longer: the bound covers one unit only.

    Args:
        report: the report of a run, as data.

    Returns:
        The problem, or `None` where the bound holds.

    Raises:
        ValueError: a run in which no request preempts a collection, or whose device has layers or
            page types of different speed, programs in two passes, retries of reads, or programs
            that reads suspend, which the table does not cover; no report of a run.

    """
    parts = [report.get(name) for name in ("config", "gc")] if isinstance(report, Mapping) else []
    if not parts or not all(isinstance(one, Mapping) for one in parts):
        raise ValueError(f"report must be the report of a run, got {shown(report)}")
    bound_ns = covered_wait_ns(report["config"])
    response_ns: int = report["gc"]["response_max_ns"]
    if response_ns <= bound_ns:
        return None
    return (
        f"a page request took {response_ns:,} ns behind a collection alone, but the "
        f"worst case is {bound_ns:,} ns"
    )


def covered_wait_ns(config: Mapping[str, Any]) -> int:
    """The worst case of a run, by its complete configuration.

    Args:
        config: the configuration of a report, with its device and its `gc`.

    Returns:
        The bound of `check_wait`, in ns.

    Raises:
        ValueError: as `check_wait`.

    """
    preemption = config["gc"].get("preemption")
    if preemption is None:
        raise ValueError(
            "this scheme serves no requests during a collection, so there is no state S1 to check; "
            'choose a scheme such as "pgc", or gc.preemption.use = "between-copies"'
        )
    device = config["device"]
    timing = device["timing"]
    if "layer_ratio" in timing:
        raise ValueError(
            "the worst case is defined for layers of equal speed, but the layers of this "
            "device differ; set device.timing.layer_ratio = 1"
        )
    if "passes" in timing:
        raise ValueError(
            "the worst case is defined for programs of equal length, but this device has two "
            "passes; set device.timing.program to one duration"
        )
    if "read_by_type_ns" in timing:
        raise ValueError(
            "the worst case is defined for pages of equal read time, but the page types of this "
            "device differ; set device.timing.read to one duration"
        )
    if "read_retry" in device:
        raise ValueError(
            "the worst case is defined for reads that take tR, but reads of this device may be "
            "retried; remove [device.read_retry]"
        )
    if "host_programs" in (timing.get("suspend") or {}):
        raise ValueError(
            "the worst case is defined for writes that nothing interrupts, but reads suspend "
            "programs of the host on this device; set device.suspend.host_programs = false"
        )
    case = worst_case_wait(device, transfer=True)
    bound_ns: int = case.fpgc_ns if preemption["suspends"] == "any" else case.pgc_ns
    bound_ns += preemption["poll_ns"]
    if summary := timing.get("summary"):
        page_ns = timing["program_ns"] + timing["command_ns"] + summary["transfer_ns"]
        bound_ns += summary["pages"] * page_ns
    return bound_ns


def refuse_unless_covered(config: building.Config, **how: Any) -> None:  # noqa: ANN401
    """Raises before a run, with these arguments of `run`, what `check_wait` raises after it."""
    settings = building.settings_before(config, **how)
    try:
        if settings is not None:
            covered_wait_ns(settings)
    except ValueError as error:
        raise ConfigError(f"error: {error}") from None


def _resolved(name: str) -> Mapping[str, Any]:
    """The device as a run of it would have it."""
    if all(entry["name"] != name for entry in builtin_presets.devices()):
        known = ", ".join(entry["name"] for entry in builtin_presets.devices())
        raise ConfigError(f'error: there is no device "{name}"\n  = help: there are: {known}')
    checked = json.loads(engine.check(building.request("oltp", None, None, name, None, None)))
    settings: Mapping[str, Any] = checked["settings"]["device"]
    return settings
