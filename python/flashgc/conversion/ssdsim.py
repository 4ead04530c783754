"""An SSDSim parameter file (page.parameters) as [device], [gc] and [precondition].

Meanings of keys were read in SSDSim 2.x (huaicheng/ssdsim f411289, its own licence): the file,
and where the program uses them.
"""

from __future__ import annotations

import re
from fractions import Fraction

from flashgc.conversion import ssdsim_keys, thresholds
from flashgc.conversion.findings import Finding, Findings, Key
from flashgc.conversion.values import Part, Value, duration, plain, size

SECTOR_BYTES = 512
BUFFER_NS = 1000
PLACES = 5
_KEY = re.compile(r"([^=;#]*?)\s*=\s*([^;#]*?)\s*(?:;.*|#.*)?", re.DOTALL)
_CHIPS = re.compile(r"chip number\s*\[(\d{1,4})\]", re.ASCII)


def keys(file: str, text: str) -> tuple[list[Key], list[str]]:
    """All keys, and lines of another form."""
    found, wrong = [], []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        match = _KEY.fullmatch(bare)
        if match and match[1]:
            name = re.sub(r"\s+", " ", match[1])
            found.append(Key(file, number, "", re.sub(r"\s*\[", "[", name), match[2]))
        elif _begins_as_a_date(bare):
            continue
        else:
            wrong.append(f"{file}:{number}: `{bare[:40]}` does not have the form `key = value;`")
    return found, wrong


def _begins_as_a_date(line: str) -> bool:
    """The head of the file that comes with SSDSim: a date before a comment."""
    return re.match(r"\d{4}-\d\d-\d\d\s*#", line, re.ASCII) is not None


def convert(findings: Findings, found: list[Key]) -> None:
    """Device, scheme and preconditioning."""
    part = Part(findings, found)
    part.drop_all(ssdsim_keys.REASONS)
    file = found[0].file
    channels = _geometry(findings, part, file)
    _chips(findings, part, file, channels)
    commands = _times(findings, part)
    blocks = part.whole("block number", 0, 1)
    exported = _space(findings, part)
    _allocation(findings, part, commands, channels)
    _collection(findings, part, commands, thresholds.Room(max(blocks.is_, 1), exported))
    _buffer(findings, part)
    _precondition(findings, part)
    why = "SSDSim replays a trace; name it with `flashgc run --trace`"
    findings.choose("workload.trace.format", "ssdsim", why)
    findings.choose("workload.trace.address", "wrap", "SSDSim takes addresses modulo the drive")
    findings.choose("seed", 1, "SSDSim draws nothing")


def _geometry(findings: Findings, part: Part, file: str) -> int:
    channels = 1
    for name, ours in (
        ("channel number", "channels"), ("die number", "dies_per_chip"),
        ("plane number", "planes_per_die"), ("block number", "blocks_per_plane"),
        ("page number", "pages_per_block"),
    ):  # fmt: skip
        value = part.whole(name, 0, 1)
        if value.key is None:
            findings.missing(file, name, f"device.{ours} needs it")
            continue
        findings.map(value.key, f"device.{ours}", value.is_)
        channels = value.is_ if name == "channel number" else channels
    parts, each = part.whole("subpage page", 0, 1), part.whole("subpage capacity", SECTOR_BYTES, 1)
    page = part.whole("page capacity", 0, SECTOR_BYTES)
    if parts.key is None:
        findings.missing(file, "subpage page", "device.page_size is that many times 512 B")
        return channels
    bytes_ = parts.is_ * SECTOR_BYTES
    findings.map(parts.key, "device.page_size", size(bytes_))
    for value, fits in ((each, each.is_ == SECTOR_BYTES), (page, page.is_ == bytes_)):
        if fits:
            findings.part_of(value.key, "device.page_size")
        else:
            how = "SSDSim's requests are cut into sub-pages of 512 B, so `subpage page` decides"
            findings.differ(value.key, "device.page_size", None, how)
    return channels


def _chips(findings: Findings, part: Part, file: str, channels: int) -> None:
    """The chips of each channel, which must be as many on all."""
    ours = "device.chips_per_channel"
    listed = {}
    for name in part.names():
        match = _CHIPS.fullmatch(name)
        if match:
            listed[int(match[1])] = part.whole(name, 0)
    used = {number: value for number, value in listed.items() if number < channels}
    counts = {value.is_ for value in used.values()}
    if len(used) < channels or 0 in counts:
        missing = next((n for n in range(channels) if n not in used or not used[n].is_), 0)
        findings.missing(file, f"chip number[{missing}]", "each channel needs chips")
    elif len(counts) > 1:
        first = next(value for value in used.values() if value.key is not None)
        if first.key is not None:
            shown = ", ".join(str(used[n].is_) for n in sorted(used))
            needed = f"all channels must have the same number of chips here; they have {shown}"
            findings.wrong(first.key, needed)
    for number, value in listed.items():
        if number < channels:
            findings.map(value.key, ours, value.is_)
        else:
            findings.drop(value.key, "beyond `channel number`, so that SSDSim has no such channel")
    total = part.whole("chip number", 0)
    if total.is_ == sum(value.is_ for value in used.values()):
        findings.part_of(total.key, ours)
    else:
        findings.differ(total.key, ours, None, "the chips of each channel decide, not their sum")


def _times(findings: Findings, part: Part) -> int:
    """Times of the flash, and the advanced commands that SSDSim may use."""
    for name, ours in (("t_R", "read"), ("t_PROG", "program"), ("t_BERS", "erase")):
        value = part.whole(name, 0, 1)
        if value.key is None:
            findings.missing("the file", name, f"device.timing.{ours} needs it")
        findings.map(value.key, f"device.timing.{ours}", duration(max(value.is_, 1)))
    write, read = part.whole("t_WC", 0), part.whole("t_RC", 0)
    ours = "device.timing.transfer"
    if write.is_ == read.is_:
        findings.map(write.key, ours, f"{write.is_} ns/B")
        findings.part_of(read.key, ours)
    else:
        mean = plain(Fraction(write.is_ + read.is_, 2))
        for value in (write, read):
            findings.differ(value.key, ours, f"{mean} ns/B", "one rate for both ways: the mean")
    findings.choose("device.timing.command", duration(7 * write.is_),
                    "SSDSim: 7 cycles of t_WC for a command and its address")  # fmt: skip
    return part.whole("advanced command", 0).is_


def _space(findings: Findings, part: Part) -> Fraction:
    spare = part.decimal("overprovide", "0", "0.000001", "0.999999")
    if spare.key is None:
        findings.missing("the file", "overprovide", "device.exported is the rest")
        return Fraction(1, 2)
    findings.map(spare.key, "device.exported", float(plain(1 - spare.is_)))
    return 1 - spare.is_


def _allocation(findings: Findings, part: Part, commands: int, channels: int) -> None:
    kind = part.whole("allocation", 0, 0, 1)
    dynamic = part.whole("dynamic_allocation", 0, 0, 1)
    static = part.whole("static_allocation", 0, 0, 6)
    if kind.is_ == 0:
        findings.map(kind.key, "device.allocation", "when-idle")
        findings.map(dynamic.key, "device.pool", "channel" if dynamic.is_ else "device")
        findings.drop(static.key, "counts with allocation = 1 only, in SSDSim as well")
        findings.choose("device.order", list(ssdsim_keys.ORDERS[1]), "SSDSim's tokens in turn")
    else:
        findings.map(kind.key, "device.allocation", "striped")
        findings.drop(dynamic.key, "counts with allocation = 0 only, in SSDSim as well")
        if static.is_ in ssdsim_keys.ORDERS:
            findings.map(static.key, "device.order", list(ssdsim_keys.ORDERS[static.is_]))
        elif static.key is not None:
            findings.wrong(static.key, "SSDSim 2.x has the orders 0 to 5")
    findings.choose("device.service", ["gc", "reads", "writes"], "the main loop of SSDSim")
    why = "SSDSim: a write is done when its data is in the register of the chip"
    findings.choose("device.write_completion", "loaded", why)
    why = "SSDSim: a channel sends the commands that wait before data"
    findings.choose("device.bus_order", "commands-first", why)
    why = "SSDSim: all that ends at an instant has ended before anything starts"
    findings.choose("device.completions", "together", why)
    places = part.whole("queue_length", PLACES, 1)
    findings.map(places.key, "device.queue_length", places.is_)
    _advanced(findings, part, commands)


def _advanced(findings: Findings, part: Part, commands: int) -> None:
    """Copyback, two planes at once, and both dies of a chip at once."""
    key = part.key("advanced command")
    multi = bool(commands & 4) and part.whole("plane number", 1).is_ > 1
    findings.settings["device.unit"] = "die" if commands & 8 else "chip"
    findings.settings["gc.copy.use"] = "copyback" if commands & 2 else "bus"
    if multi:
        findings.settings["device.multi_plane"] = 2
    ours = "gc.copy.use, device.unit" + (", device.multi_plane" if multi else "")
    told = f"{findings.settings['gc.copy.use']}, {findings.settings['device.unit']}"
    told += ", 2" if multi else ""
    how = (
        "copyback (2), interleaving (8) and two-plane programs (4) here; there are no random "
        "programs (1), and two-plane reads (16) come with two-plane programs"
    )
    if key is None:
        findings.choose("device.unit", "chip", "no advanced command")
        findings.choose("gc.copy.use", "bus", "no advanced command")
    else:
        findings.differs.append(Finding(key, ours, told, how))


def _collection(findings: Findings, part: Part, commands: int, room: thresholds.Room) -> None:
    findings.choose("gc.scheme", "ssdsim", "the channel is closed while pages move, as in SSDSim")
    why = "SSDSim: one collection at a time moves pages on a channel"
    findings.choose("gc.blocking.channel.collections", "one", why)
    hard = part.decimal("gc hard threshold", "0", "0", "1")
    asked, most = hard.is_ * 100, Fraction(100 * room.most, room.blocks)
    taken = asked if asked <= most else Fraction(100 * room.half, room.blocks)
    percent = f"{plain(taken, 3)}% of pages"
    if hard.key is None:
        findings.missing("the file", "gc hard threshold", "collection begins below it")
    elif asked > most:
        how = (
            f"{plain(asked, 3)} % of the pages of a plane are asked for, which a full drive cannot "
            "reach; half of what the host cannot fill is taken"
        )
        findings.differ(hard.key, thresholds.SOFT, percent, how)
    else:
        findings.map(hard.key, thresholds.SOFT, percent)
    why = "collection goes before every request, as in SSDSim"
    findings.choose(thresholds.HARD, percent, why)
    findings.drop(part.key("gc threshold"), "for collections that can be interrupted, which "
                  "SSDSim 2.x never begins")  # fmt: skip
    greedy = part.whole("greed CB command", 0, 0, 1)
    if not commands & 2:
        findings.drop(greedy.key, "counts with copyback only (advanced command 2)")
    elif greedy.is_:
        how = "a page that does not fit goes to the next that does; SSDSim wastes pages for it"
        findings.differ(greedy.key, "gc.copy.copyback.parity", True, how)
    else:
        how = "copyback goes anywhere in the plane; SSDSim moves what does not fit over the bus"
        findings.differ(greedy.key, "gc.copy.copyback.parity", False, how)


def _buffer(findings: Findings, part: Part) -> None:
    capacity = part.whole("dram capacity", 0)
    bytes_ = part.whole("subpage page", 1, 1).is_ * SECTOR_BYTES
    pages = capacity.is_ // bytes_
    if not pages:
        findings.drop(capacity.key, "less than a page, so there is no buffer")
        return
    how = "whole pages; SSDSim's buffer keeps sub-pages, and flushes what a new request displaces"
    findings.differ(capacity.key, "device.write_buffer.size", size(pages * bytes_), how)
    findings.choose("device.write_buffer.access", duration(BUFFER_NS),
                    "SSDSim: what its buffer serves is done after 1000 ns")  # fmt: skip


def _precondition(findings: Findings, part: Part) -> None:
    aged: Value[int] = part.whole("aged", 0, 0, 1)
    ratio = part.decimal("aged ratio", "0", "0", "1")
    findings.map(aged.key, "precondition.fill", "aged" if aged.is_ else "none")
    if aged.is_:
        findings.map(ratio.key, "precondition.aged_ratio", float(plain(ratio.is_)))
    else:
        findings.drop(ratio.key, "counts with aged = 1 only, in SSDSim as well")
    findings.choose("precondition.reads", "all-mapped", "SSDSim maps all that the trace reads")
