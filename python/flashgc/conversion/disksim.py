"""A DiskSim parameter file with the MSR SSD extension as [device], [gc] and [workload].

Meanings of keys were read in DiskSim 4.0 with its SSD extension (benh/disksim e0d4cc9, their own
licences): ssdmodel/modules/ssd.modspec and the parameter files of ssdmodel/valid.
"""

from __future__ import annotations

from fractions import Fraction

from flashgc._engine import ConfigError
from flashgc.conversion import disksim_load, thresholds
from flashgc.conversion.disksim_text import Block, File, Place
from flashgc.conversion.findings import Findings, Key
from flashgc.conversion.values import Part, duration, plain, size

SECTOR_BYTES = 512
FLASH_SECTOR_BYTES = 528
"""The bytes of a sector on the pins of a chip."""
MS = 10**6

PRINTED = "output options; the report here is always complete"
QUEUE = "no queue of the host or of a controller is modelled"
HOST = "no host, controller or driver is modelled, but for the bus at the SSD"
SSD_REASONS = {
    "Never disconnect": HOST,
    "Print stats": PRINTED,
    "Max queue length": "any number of requests may be at the device",
    "Write policy": "the only one that the extension has: a log",
    "Timing model": "one model of times here",
    "Block count": "follows from the geometry",
    "Plane block mapping": "the order in which blocks are numbered has no influence here",
}
OF_TYPE = {
    "disksim_stats": PRINTED,
    "disksim_iodriver": QUEUE,
    "disksim_ctlr": HOST,
    "disksim_bus": HOST,
    "disksim_logorg": "one device, whose addresses are those of the requests",
    "disksim_pf": "processes and their waiting are not modelled",
    "disksim_synthio": "requests come at their times, whatever processes do",
    "disksim_iosim": "one SSD is simulated",
    "disksim_global": "output options and their start: here all metrics, always",
    "disksim_ioqueue": QUEUE,
}
KNOWN_SSD = (
    *SSD_REASONS, "Scheduler", "Bus transaction latency", "Bulk sector transfer time",
    "Command overhead", "Flash chip elements", "Page size", "Pages per block",
    "Blocks per element", "Element stride pages", "Chip xfer latency", "Page read latency",
    "Page write latency", "Block erase latency", "Reserve pages percentage",
    "Minimum free blocks percentage", "Cleaning policy", "Planes per package", "Blocks per plane",
    "Copy back", "Number of parallel units", "Elements per gang", "Cleaning in background",
    "Gang share", "Allocation pool logic",
)  # fmt: skip


def keys(name: str, file: File) -> list[Key]:
    """All keys of all blocks, each with the blocks around it."""
    found: list[Key] = []
    for block in file.blocks:
        _collect(name, block, block.name or block.type, found)
    return found


def _collect(file: str, block: Block, part: str, found: list[Key]) -> None:
    for key, line, value in block.keys:
        inner = [one for one in value if isinstance(one, Block)] if isinstance(value, list) else []
        if isinstance(value, Block):
            _collect(file, value, f"{part}.{key}", found)
        elif inner:
            for number, one in enumerate(inner, 1):
                _collect(file, one, f"{part}.{key}[{number}]", found)
        else:
            found.append(Key(file, line, part, key, text(value)))


def text(value: object) -> str:
    """A value as it is written."""
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    return value if isinstance(value, str) else ""


def convert(findings: Findings, name: str, file: File) -> None:
    """Device, scheme, workload and preconditioning."""
    drives = [block for block in file.blocks if block.type == "ssdmodel_ssd"]
    if not drives:
        raise ConfigError(
            f"error: {name} has no `ssdmodel_ssd` block\n"
            "  = help: only drives of the MSR SSD extension can be converted, and no disks"
        )
    drive = drives[0]
    part = Part(findings, _of(findings, drive.name or drive.type))
    part.drop_all(SSD_REASONS)
    planes = _geometry(findings, part, name)
    _layout(findings, part, planes)
    _times(findings, part, name)
    _collection(findings, part)
    _bus(findings, file, drive)
    disksim_load.convert(findings, file)
    findings.choose("precondition.fill", "by-block", "the extension begins with a full drive")
    _others(findings, file, drives)


def _of(findings: Findings, part: str) -> list[Key]:
    return [key for key in findings.keys if key.part == part]


def _geometry(findings: Findings, part: Part, file: str) -> int:
    elements = part.whole("Flash chip elements", 1, 1)
    gang = part.whole("Elements per gang", 1, 1)
    share = part.whole("Gang share", 1, 1, 2)
    if elements.is_ % gang.is_ and gang.key is not None:
        findings.wrong(gang.key, f"it must divide the {elements.is_} elements")
    findings.map(elements.key, "device.channels", elements.is_ // gang.is_)
    findings.map(gang.key, "device.chips_per_channel", gang.is_)
    if gang.is_ == 1:
        findings.always(share.key, "a channel of its own for each element")
    elif share.is_ == 1:
        findings.part_of(share.key, "device.chips_per_channel")
    else:
        how = "elements of a gang share a bus here, not the control"
        findings.differ(share.key, "device.chips_per_channel", None, how)
    planes = part.whole("Planes per package", 1, 1)
    units = part.whole("Number of parallel units", 1, 1)
    if planes.is_ % units.is_ and units.key is not None:
        findings.wrong(units.key, f"it must divide the {planes.is_} planes")
    findings.map(units.key, "device.dies_per_chip", units.is_)
    findings.map(planes.key, "device.planes_per_die", planes.is_ // units.is_)
    findings.choose("device.unit", "chip" if units.is_ == 1 else "die", "a parallel unit")
    for name, ours in (("Blocks per plane", "blocks_per_plane"),
                       ("Pages per block", "pages_per_block")):  # fmt: skip
        value = part.whole(name, 1, 1)
        if value.key is None:
            findings.missing(file, name, f"device.{ours} needs it")
        findings.map(value.key, f"device.{ours}", value.is_)
    _page(findings, part, file)
    blocks = part.whole("Blocks per plane", 1, 1).is_
    each = part.whole("Blocks per element", 0)
    if each.is_ == blocks * planes.is_:
        findings.part_of(each.key, "device.blocks_per_plane")
    else:
        how = f"the planes have {blocks * planes.is_} blocks together, and these count"
        findings.differ(each.key, "device.blocks_per_plane", None, how)
    return planes.is_


def _page(findings: Findings, part: Part, file: str) -> None:
    page = part.whole("Page size", 8, 1, 2048)
    if page.key is None:
        findings.missing(file, "Page size", "device.page_size needs it")
    findings.map(page.key, "device.page_size", size(page.is_ * SECTOR_BYTES))
    why = "in the extension a sector takes 528 B on the pins"
    findings.choose("device.transfer_bytes", f"{page.is_ * FLASH_SECTOR_BYTES} B", why)
    why = "in the extension the last page of each block describes it"
    findings.choose("device.summary.pages", 1, why)
    findings.choose("device.summary.transfer", f"{FLASH_SECTOR_BYTES} B", why)
    findings.choose("device.summary.copies", "free", "as in its published results")
    reserve = part.whole("Reserve pages percentage", 15, 1, 99)
    findings.map(reserve.key, "device.exported.reserved_blocks", f"{reserve.is_}%")


def _layout(findings: Findings, part: Part, planes: int) -> None:
    pool = part.whole("Allocation pool logic", 1, 0, 2)
    ours = "device.allocation"
    if pool.is_ == 2 or planes == 1:
        findings.map(pool.key, ours, "striped")
    else:
        why = "the element, or the gang, that the page belongs to"
        findings.choose("device.pool", "chip" if pool.is_ else "channel", why)
        one_unit = pool.is_ == 1 and findings.settings["device.unit"] == "chip"
        how = (
            "the extension also passes over planes whose open block is older than the old copy"
            if one_unit
            else "the plane with the least work; in the extension that with the most free pages"
        )
        findings.differ(pool.key, ours, "dynamic", how)
    findings.choose("device.order", ["channel", "chip", "die", "plane"], "stripes over elements")
    stride = part.whole("Element stride pages", 1, 1)
    if stride.is_ == 1:
        findings.always(stride.key, "each page goes to the next channel")
    else:
        findings.drop(stride.key, "each page goes to the next channel here")
    findings.choose("device.service", ["gc", "host"], "cleaning comes first in the extension")


def _times(findings: Findings, part: Part, file: str) -> None:
    for name, ours in (("Page read latency", "read"), ("Page write latency", "program"),
                       ("Block erase latency", "erase")):  # fmt: skip
        value = part.decimal(name, "1", "0.000001", "1000000")
        if value.key is None:
            findings.missing(file, name, f"device.timing.{ours} needs it")
        findings.map(value.key, f"device.timing.{ours}", duration(value.is_ * MS))
    each = part.decimal("Chip xfer latency", "0", "0", "1000")
    findings.map(each.key, "device.timing.transfer", f"{plain(each.is_ * MS)} ns/B")
    for name in ("Command overhead", "Bus transaction latency", "Bulk sector transfer time"):
        value = part.decimal(name, "0")
        if value.is_:
            findings.drop(
                value.key, "a request has no time of its own here in addition to those of its pages"
            )
        else:
            findings.always(value.key, "no such time")


def _collection(findings: Findings, part: Part) -> None:
    findings.choose("gc.scheme", "greedy-msr", "the rules of the extension")
    policy = part.whole("Cleaning policy", 2, 1, 3)
    if policy.is_ == 3:
        how = "worn blocks are passed over; the extension also moves cold data to them"
        findings.differ(policy.key, "gc.victim.use", "wear-aware", how)
    elif policy.is_ == 2:
        findings.map(policy.key, "gc.victim.use", "greedy")
    else:
        findings.differ(
            policy.key, "gc.victim.use", "random", "the extension has this switched off"
        )
    least = part.whole("Minimum free blocks percentage", 5, 0, 100)
    reserve = part.whole("Reserve pages percentage", 15, 1, 99)
    blocks = part.whole("Blocks per plane", 1, 1).is_
    room = thresholds.Room(blocks, 1 - Fraction(reserve.is_, 100))
    if int(blocks * Fraction(least.is_, 100)) > room.most:
        half = f"{plain(Fraction(reserve.is_, 2))}%"
        how = (
            f"a full drive cannot reach it with a reserve of {reserve.is_} %; half of that is taken"
        )
        findings.differ(least.key, thresholds.SOFT, half, how)
    else:
        findings.map(least.key, thresholds.SOFT, f"{least.is_}%")
    copyback = part.whole("Copy back", 1, 0, 1)
    findings.map(copyback.key, "gc.copy.use", "copyback" if copyback.is_ else "bus")
    background = part.whole("Cleaning in background", 0, 0, 1)
    findings.map(background.key, "gc.trigger.watermark.idle_units", bool(background.is_))


def _bus(findings: Findings, file: File, drive: Block) -> None:
    """The bus that the drive hangs on is the link to the host."""
    instances = [name for name, of in file.instances.items() if of == drive.name]
    names = [_bus_above(place, instances, "") for place in file.topology]
    name = next((one for one in names if one), "")
    of = file.instances.get(name, name)
    if not of:
        return
    part = Part(findings, _of(findings, of))
    read = part.decimal("Read block transfer time", "0", "0", "500")
    write = part.decimal("Write block transfer time", "0", "0", "500")
    mean = (read.is_ + write.is_) / 2
    if not mean:
        for value in (read, write):
            findings.always(value.key, "no time without device.host_link")
        return
    ours, rate = "device.host_link.transfer", f"{plain(mean * MS / SECTOR_BYTES)} ns/B"
    for value in (read, write):
        if read.is_ == write.is_:
            findings.map(value.key, ours, rate)
        else:
            findings.differ(value.key, ours, rate, "one rate for both ways: the mean")


def _bus_above(place: Place, instances: list[str], bus: str) -> str:
    """The nearest bus above one of the instances."""
    if place.name in instances:
        return bus
    inside = place.name if place.type == "disksim_bus" else bus
    found = (_bus_above(one, instances, inside) for one in place.below)
    return next((one for one in found if one), "")


def _others(findings: Findings, file: File, drives: list[Block]) -> None:
    """Keys of the blocks that do not belong to the SSD."""
    done = {id(one.key) for one in (*findings.mapped, *findings.differs, *findings.not_mapped)}
    types = {block.name or block.type: block.type for block in file.blocks}
    later = {block.name for block in drives[1:]}
    scheduler = f"{drives[0].name or drives[0].type}.Scheduler"
    for key in findings.keys:
        if id(key) in done:
            continue
        top = key.part.partition(".")[0]
        if top in later:
            findings.drop(key, "one drive: the first of the file")
        elif key.part.startswith(scheduler):
            findings.drop(key, "requests of a unit go in the order of their arrival")
        elif types.get(top) in OF_TYPE:
            findings.drop(key, OF_TYPE[types[top]])
