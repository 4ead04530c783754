"""An MQSim device file (ssdconfig.xml) as [device] and [gc].

Meanings of keys were read in MQSim 7ec40e3: README.md, src/exec and src/ssd.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flashgc._engine import ConfigError
from flashgc.conversion import mqsim_keys, thresholds
from flashgc.conversion.findings import Findings, Key
from flashgc.conversion.values import Part, Value, duration, plain, size
from flashgc.conversion.xml_text import Node

GC_BLOCKS_LEAST = 10
"""MQSim's threshold is at least as many free blocks as collections may be open in a plane."""


@dataclass(frozen=True)
class Device:
    """The properties of a device that its workload depends on."""

    page_bytes: int
    planes: tuple[int, int, int, int]
    """Channels, chips of a channel, dies of a chip, planes of a die."""
    preconditioned: Value[bool]


def keys(file: str, root: Node) -> list[Key]:
    """All keys of the file, each with its section."""
    found: list[Key] = []
    _collect(file, root, "", found)
    return found


def _collect(file: str, node: Node, part: str, found: list[Key]) -> None:
    for inner in node.nodes:
        if inner.nodes or inner.name in mqsim_keys.SECTIONS:
            _collect(file, inner, inner.name, found)
        else:
            found.append(Key(file, inner.line, part, inner.name, inner.text, alone=True))


def convert(findings: Findings, found: list[Key]) -> Device:
    """Device and scheme, and the properties that the workload needs."""
    host, device, flash = (
        Part(findings, [key for key in found if key.part == name]) for name in mqsim_keys.SECTIONS
    )
    for part, reasons in (
        (host, mqsim_keys.HOST), (device, mqsim_keys.DEVICE), (flash, mqsim_keys.FLASH)
    ):  # fmt: skip
        part.drop_all(reasons)
    seed = device.whole("Seed", 123)
    findings.differ(seed.key, "seed", seed.is_, "other random numbers are drawn from it")
    planes = _geometry(findings, device, flash)
    _times(findings, device, flash)
    _link(findings, host)
    _always(findings, device)
    blocks = flash.whole("Block_No_Per_Plane", 2048, 1).is_
    exported = _space(findings, device)
    _collection(findings, device, flash, thresholds.Room(blocks, exported))
    _unit(findings)
    page_bytes = flash.whole("Page_Capacity", 8192, 512).is_
    _write_buffer(findings, device, page_bytes)
    return Device(page_bytes, planes, device.flag("Enabled_Preconditioning", True))


def check_root(file: str, root: Node) -> None:
    """An error where the tree is not that of a device file."""
    if root.name == "MQSim_IO_Scenarios":
        raise ConfigError(
            f"error: {file} is a workload file of MQSim\n  = help: name the device file first: "
            f"`flashgc convert ssdconfig.xml --workload {file}`"
        )
    if root.name != "Execution_Parameter_Set":
        raise ConfigError(
            f"error: {file}:{root.line}: the outermost element is `{root.name}`, where MQSim's "
            "device file has `Execution_Parameter_Set`"
        )


def _geometry(findings: Findings, device: Part, flash: Part) -> tuple[int, int, int, int]:
    sizes = []
    for part, name, default, ours in (
        (device, "Flash_Channel_Count", 8, "channels"),
        (device, "Chip_No_Per_Channel", 4, "chips_per_channel"),
        (flash, "Die_No_Per_Chip", 2, "dies_per_chip"),
        (flash, "Plane_No_Per_Die", 2, "planes_per_die"),
        (flash, "Block_No_Per_Plane", 2048, "blocks_per_plane"),
        (flash, "Page_No_Per_Block", 256, "pages_per_block"),
    ):
        value = part.whole(name, default, 1)
        findings.map(value.key, f"device.{ours}", value.is_)
        sizes.append(value.is_)
    page = flash.whole("Page_Capacity", 8192, 512)
    findings.map(page.key, "device.page_size", size(page.is_))
    scheme = device.word("Plane_Allocation_Scheme", "CWDP", _allocation_schemes())
    order = [mqsim_keys.ORDERS[letter] for letter in scheme.is_]
    findings.map(scheme.key, "device.order", order)
    findings.choose("device.allocation", "striped", "MQSim finds the plane from the page's number")
    return sizes[0], sizes[1], sizes[2], sizes[3]


def _allocation_schemes() -> list[str]:
    from itertools import permutations

    return ["".join(letters) for letters in permutations(mqsim_keys.ORDERS)]


def _times(findings: Findings, device: Part, flash: Part) -> None:
    technology = flash.word("Flash_Technology", "MLC", ("SLC", "MLC", "TLC"))
    kinds = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}[technology.is_]
    for what, ours, default in (
        ("Read", "device.timing.read", 75_000), ("Program", "device.timing.program", 750_000)
    ):  # fmt: skip
        used = [flash.whole(f"Page_{what}_Latency_{kind}", default, 1) for kind in kinds]
        mean = Fraction(sum(value.is_ for value in used), len(used))
        findings.settings[ours] = duration(mean)
        how = "the mean of all kinds of pages; in MQSim the kind follows from the page's number"
        for value in used:
            if len({one.is_ for one in used}) == 1:
                findings.map(value.key, ours, duration(mean))
            else:
                findings.differ(value.key, ours, duration(mean), how)
        for kind in {"LSB", "CSB", "MSB"} - set(kinds):
            key = flash.key(f"Page_{what}_Latency_{kind}")
            findings.drop(key, f"{technology.is_} has no {kind} pages")
    findings.part_of(technology.key, "device.timing.program")
    erase = flash.whole("Block_Erase_Latency", 3_800_000, 1)
    findings.map(erase.key, "device.timing.erase", duration(erase.is_))
    _bus(findings, device)


def _bus(findings: Findings, device: Part) -> None:
    ours = "device.timing.transfer"
    rate = device.whole("Channel_Transfer_Rate", 300, 1)
    width = device.whole("Flash_Channel_Width", 1, 1)
    text = f"{rate.is_ * width.is_} MB/s"
    findings.settings[ours] = text
    if 1000 % rate.is_:
        whole = 1000 // rate.is_
        each = f"{plain(Fraction(whole, width.is_), 6)} ns/B"
        how = (
            f"MQSim cuts the time of a transfer to whole ns; here it is exact; for MQSim's: {each}"
        )
        findings.differ(rate.key, ours, text, how)
    else:
        findings.map(rate.key, ours, text)
    findings.part_of(width.key, ours)
    protocol = device.word("Flash_Comm_Protocol", "NVDDR2", ("NVDDR2",))
    how = (
        "a read's command and address: 6 cycles of 25 ns, 20, 100 and 20 ns; programs take "
        "361 ns in MQSim, erases 220 ns"
    )
    findings.differ(protocol.key, "device.timing.command", "290 ns", how)


def _link(findings: Findings, host: Part) -> None:
    lanes = host.whole("PCIe_Lane_Count", 4, 1)
    each = host.decimal("PCIe_Lane_Bandwidth", "1.0", "0.000001")
    text = f"{plain(each.is_ * lanes.is_ * 1000, 6)} MB/s"
    how = "one request crosses at a time in each direction; MQSim adds packet headers"
    for value in (each, lanes):
        findings.differ(value.key, "device.host_link.transfer", text, how)
    why = "MQSim: PCIe transfers in both directions at once"
    findings.choose("device.host_link.duplex", "full", why)


def _always(findings: Findings, device: Part) -> None:
    memory = device.word("Memory_Type", "FLASH", ("FLASH",))
    findings.always(memory.key, "flash")
    mapping = device.word("Address_Mapping", "PAGE_LEVEL", ("PAGE_LEVEL", "HYBRID"))
    if mapping.is_ == "PAGE_LEVEL":
        findings.always(mapping.key, "each page is mapped")
    else:
        findings.drop(mapping.key, "each page is mapped here; MQSim 7ec40e3 has no hybrid map")
    ideal = device.flag("Ideal_Mapping_Table", False)
    if ideal.is_:
        findings.always(ideal.key, "the whole map is in memory")
    else:
        findings.drop(ideal.key, mqsim_keys.MAPPING)


def _space(findings: Findings, device: Part) -> Fraction:
    spare = device.decimal("Overprovisioning_Ratio", "0.07", "0.000001", "0.999999")
    exported = 1 - spare.is_
    findings.map(spare.key, "device.exported", float(plain(exported)))
    return exported


def _collection(findings: Findings, device: Part, flash: Part, room: thresholds.Room) -> None:
    preemptible = device.flag("Preemptible_GC_Enabled", True)
    suspension = _suspension(findings, flash, preemptible.is_)
    base = "pgc-se" if suspension == "erase" else "fpgc" if suspension else "pgc"
    if not preemptible.is_:
        findings.map(preemptible.key, "gc.scheme", "greedy")
    else:
        findings.map(preemptible.key, "gc.scheme", base if suspension else "pgc")
    if suspension:
        _plain_suspension(findings)
    policy = device.word("Transaction_Scheduling_Policy", "OUT_OF_ORDER",
                         ("OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER", "FLIN"))  # fmt: skip
    order = ["reads", "writes", "gc"] if preemptible.is_ else ["gc", "reads", "writes"]
    how = "reads before writes as in MQSim; all requests are of one priority class"
    findings.differ(policy.key, "device.service", order, how)
    _victim(findings, device, room.blocks)
    copyback = device.flag("Use_Copyback_for_GC", False)
    findings.map(copyback.key, "gc.copy.use", "copyback" if copyback.is_ else "bus")
    findings.choose("gc.placement.use", "separate-gc", "MQSim keeps an open block for copies")
    _thresholds(findings, device, room, preemptible.is_)


def _plain_suspension(findings: Findings) -> None:
    for key in ("merge", "pipeline"):
        findings.choose(f"gc.preemption.suspend.{key}", False, "MQSim does not do so")


def _suspension(findings: Findings, flash: Part, preemptible: bool) -> str:
    """The operations of a collection that may be suspended: none, `erase` or `any`."""
    support = flash.word("CMD_Suspension_Support", "ERASE",
                         ("NONE", "ERASE", "PROGRAM", "PROGRAM_ERASE"))  # fmt: skip
    erase = flash.whole("Suspend_Erase_Time", 700_000)
    program = flash.whole("Suspend_Program_Time", 100_000)
    never = "MQSim 7ec40e3 itself never suspends an operation: its scheduler's switch falls through"
    programs, host = "PROGRAM" in support.is_, "device.suspend.host_programs"
    if programs and not (preemptible and support.is_ == "PROGRAM_ERASE"):
        how = f"programs of the host only, for reads; {never}"
        findings.differ(support.key, host, True, how)
        findings.map(program.key, "device.suspend.suspend", duration(program.is_))
        findings.drop(erase.key, "erases are not suspended" if support.is_ == "PROGRAM" else
                      "only erases of a preemptible collection are suspended here")  # fmt: skip
        return ""
    if support.is_ == "NONE" or not preemptible:
        if support.is_ == "NONE":
            findings.always(support.key, "no operation is suspended")
        else:
            findings.drop(support.key, "only operations of a preemptible collection are suspended "
                                       f"here; {never}")  # fmt: skip
        for key in (erase.key, program.key):
            findings.drop(key, "nothing is suspended, see CMD_Suspension_Support")
        return ""
    of = "any" if programs else "erase"
    which = "operations of a collection only, for reads and writes"
    if programs:
        which = "operations of a collection for reads and writes, programs of the host for reads"
        findings.choose(host, True, "CMD_Suspension_Support names programs of the host as well")
    how = f"{which}; {never}"
    findings.differ(support.key, "gc.preemption.suspend.of", of, how)
    findings.map(erase.key, "device.suspend.suspend", duration(erase.is_))
    findings.drop(program.key, "one time for all operations here: Suspend_Erase_Time" if programs
                               else "programs are not suspended")  # fmt: skip
    return of


def _victim(findings: Findings, device: Part, blocks: int) -> None:
    policies = ("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO")
    policy = device.word("GC_Block_Selection_Policy", "RGA", policies)
    ours = "gc.victim.use"
    if policy.is_ == "RGA":
        drawn = max(1, math.floor(math.log2(max(blocks, 1))))
        findings.map(policy.key, ours, "d-choices")
        why = "MQSim draws log2 of the blocks of a plane, cut to a whole number"
        findings.choose("gc.victim.d-choices.d", drawn, why)
    elif policy.is_ in ("GREEDY", "FIFO"):
        findings.map(policy.key, ours, policy.is_.lower())
    else:
        how = {
            "RANDOM": "among full blocks; MQSim may also take one that is not full",
            "RANDOM_P": "among full blocks, as in MQSim; it gives up after a number of draws",
            "RANDOM_PP": "among all full blocks; MQSim's victim must also have some invalid pages",
        }[policy.is_]
        findings.differ(policy.key, ours, "random", how)


def _thresholds(findings: Findings, device: Part, room: thresholds.Room, preemptible: bool) -> None:
    share = device.decimal("GC_Exec_Threshold", "0.05", "0", "1")
    asked = max(int(share.is_ * room.blocks), 1, GC_BLOCKS_LEAST)
    least = "" if asked > GC_BLOCKS_LEAST else "; MQSim's least is 10 blocks"
    soft = thresholds.soft(findings, share.key, asked, room, least)
    hard = device.decimal("GC_Hard_Threshold", "0.005", "0", "1")
    if not preemptible:
        findings.drop(hard.key, "counts with Preemptible_GC_Enabled only, in MQSim as well")
        return
    thresholds.hard(findings, hard.key, max(int(hard.is_ * room.blocks), 1), soft)


def _unit(findings: Findings) -> None:
    findings.choose("device.unit", "chip", "MQSim sends a command to a chip only while the chip is "
                    "idle, so its dies do not work at the same time")  # fmt: skip
    findings.choose("device.multi_plane", 1, "a multi-plane command of MQSim needs pages of the "
                    "same number in all planes, which is rare in random requests")  # fmt: skip


def _write_buffer(findings: Findings, device: Part, page_bytes: int) -> None:
    """Set always; the workload takes it out where its flow does not use it."""
    mechanism = device.word("Caching_Mechanism", "ADVANCED", ("SIMPLE", "ADVANCED"))
    capacity = device.whole("Data_Cache_Capacity", 1 << 29)
    names = {"Row_Size": 8192, "Data_Rate": 800, "Data_Busrt_Size": 4,
             "tRCD": 13, "tCL": 13, "tRP": 13}  # fmt: skip
    dram = {
        name: device.whole(f"Data_Cache_DRAM_{name}", default, 0 if name[0] == "t" else 1)
        for name, default in names.items()
    }
    if capacity.is_ < page_bytes:
        for key in (mechanism.key, capacity.key, *(value.key for value in dram.values())):
            findings.drop(key, "the cache holds less than a page, so there is no buffer")
        return
    pages = capacity.is_ // page_bytes
    how = "pages that are written stay until the buffer is full, the least recently used go first"
    findings.differ(capacity.key, "device.write_buffer.size", size(pages * page_bytes), how)
    findings.differ(mechanism.key, "device.write_buffer.size", None,
                    "a buffer for writes, which also serves reads of its pages")  # fmt: skip
    access = _dram_access_ns({name: value.is_ for name, value in dram.items()}, page_bytes)
    findings.settings["device.write_buffer.access"] = duration(max(access, 1))
    how = "MQSim's time for a page in DRAM, calculated from its six DRAM keys"
    for value in dram.values():
        findings.differ(value.key, "device.write_buffer.access", None, how)


def _dram_access_ns(dram: dict[str, int], page_bytes: int) -> int:
    """MQSim's estimate_dram_access_time for one page (src/ssd/Data_Cache_Manager_Base.h)."""
    row, burst = dram["Row_Size"], dram["Data_Busrt_Size"]
    transfer = Fraction(1000, dram["Data_Rate"])
    opened = dram["tRCD"] + dram["tCL"]
    if page_bytes <= row:
        return opened + int(page_bytes // burst // 2 * transfer)
    rows = (opened + int(row // burst // 2 * transfer) + dram["tRP"]) * (page_bytes // row // 2)
    return int(rows + opened + Fraction(page_bytes % row) / (burst * transfer))
