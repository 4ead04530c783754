"""One flow of an MQSim workload file (workload.xml) as [workload] and [precondition].

Meanings of keys were read in MQSim 7ec40e3: README.md, src/exec and src/host.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from flashgc._engine import ConfigError
from flashgc.conversion import sizes
from flashgc.conversion.findings import Findings, Key
from flashgc.conversion.mqsim_device import Device
from flashgc.conversion.values import Part, Value, duration, plain, size
from flashgc.conversion.xml_text import Node

SYNTHETIC = "IO_Flow_Parameter_Set_Synthetic"
TRACE = "IO_Flow_Parameter_Set_Trace_Based"
SECTOR_BYTES = 512
REQUESTS = 100_000
CACHES = ("WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE", "TURNED_OFF")
BOTH = ("Priority_Class", "Device_Level_Data_Caching_Mode", "Channel_IDs", "Chip_IDs", "Die_IDs",
        "Plane_IDs", "Initial_Occupancy_Percentage")  # fmt: skip
KNOWN = (
    *BOTH, "Working_Set_Percentage", "Synthetic_Generator_Type", "Read_Percentage",
    "Address_Distribution", "Percentage_of_Hot_Region", "Generated_Aligned_Addresses",
    "Address_Alignment_Unit", "Request_Size_Distribution", "Average_Request_Size",
    "Variance_Request_Size", "Seed", "Average_No_of_Reqs_in_Queue", "Bandwidth", "Stop_Time",
    "Total_Requests_To_Generate", "File_Path", "Percentage_To_Be_Executed", "Relay_Count",
    "Time_Unit",
)  # fmt: skip


@dataclass(frozen=True)
class Flow:
    """The flow that becomes the workload, and how many share the drive with it."""

    kind: str
    part: str
    flows: int


def keys(file: str, root: Node, scenario: int, flow: int) -> tuple[list[Key], Flow]:
    """All keys of the file, and the requested flow."""
    if root.name != "MQSim_IO_Scenarios":
        raise ConfigError(
            f"error: {file}:{root.line}: the outermost element is `{root.name}`, where MQSim's "
            "workload file has `MQSim_IO_Scenarios`"
        )
    scenarios = [node for node in root.nodes if node.name == "IO_Scenario"]
    found = [Key(file, node.line, "", node.name, node.text)
             for node in root.nodes if node.name != "IO_Scenario"]  # fmt: skip
    for number, node in enumerate(scenarios, 1):
        for at, inner in enumerate(node.nodes, 1):
            part = f"Flow[{number}.{at}]"
            if inner.nodes:
                found += [Key(file, key.line, part, key.name, key.text) for key in inner.nodes]
            else:
                found.append(Key(file, inner.line, part, inner.name, inner.text))
    _check_number(file, scenario, "scenario", len(scenarios), "")
    flows = scenarios[scenario - 1].nodes
    _check_number(file, flow, "flow", len(flows), f" in scenario {scenario}")
    chosen = flows[flow - 1]
    if chosen.name not in (SYNTHETIC, TRACE):
        raise ConfigError(
            f"error: {file}:{chosen.line}: `{chosen.name}` is not one of MQSim's flows, "
            f"`{SYNTHETIC}` and `{TRACE}`"
        )
    return found, Flow(chosen.name, f"Flow[{scenario}.{flow}]", len(flows))


def _check_number(file: str, asked: int, what: str, count: int, where: str) -> None:
    if not count:
        raise ConfigError(f"error: {file} has no {what}{where}")
    if not 1 <= asked <= count:
        raise ConfigError(
            f"error: {file} has no {what} {asked}{where}\n  = help: the {what}s are 1 to {count}"
        )


def convert(findings: Findings, found: list[Key], flow: Flow, device: Device, here: Path) -> None:
    """The workload; `here` is the folder that paths of the new configuration are seen from."""
    for key in found:
        if key.part != flow.part:
            why = "one flow is converted at a time; --scenario and --flow name another"
            findings.drop(key, why if key.part else "MQSim has no such key here")
    part = Part(findings, [key for key in found if key.part == flow.part])
    _shared(findings, part, device)
    if flow.kind == TRACE:
        _trace(findings, part, here)
        reads = True
    else:
        reads = _synthetic(findings, part, flow, device)
    _precondition(findings, part, device, flow.kind == TRACE, reads)


def absent(findings: Findings, device: Device) -> None:
    """Without a workload file: a trace, which is named when the configuration is run."""
    why = "no workload file; name a trace with `flashgc run --trace`"
    findings.choose("workload.trace.format", "mqsim", why)
    findings.choose("workload.trace.address", "wrap", "MQSim takes addresses modulo the drive")
    _precondition(findings, Part(findings, []), device, True, True)


def _shared(findings: Findings, part: Part, device: Device) -> None:
    findings.drop(part.key("Priority_Class"), "one flow, so that there is nothing to put in order")
    names = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
    for name, count in zip(names, device.planes, strict=True):
        key = part.key(name)
        if key is None:
            continue
        listed = {one.strip() for one in key.text.split(",")}
        if len(listed) == count and listed == {str(number) for number in range(count)}:
            findings.always(key, "a workload goes to the whole drive")
        else:
            findings.drop(key, "a workload always goes to the whole drive")
    cache = part.word("Device_Level_Data_Caching_Mode", "WRITE_CACHE", CACHES)
    buffer = "device.write_buffer.size"
    if cache.is_ == "WRITE_CACHE" and buffer in findings.settings:
        findings.part_of(cache.key, buffer)
    elif cache.is_ == "WRITE_READ_CACHE" and buffer in findings.settings:
        findings.differ(
            cache.key, buffer, None, "pages that are written only; reads do not fill the buffer"
        )
    else:
        findings.drop(cache.key, "no cache for reads here" if cache.is_ == "READ_CACHE"
                                 else "there is no buffer")  # fmt: skip
        _without_buffer(findings, cache.is_)


def _without_buffer(findings: Findings, mode: str) -> None:
    """The flow does not use the buffer, so that the device has none."""
    for ours in ("device.write_buffer.size", "device.write_buffer.access"):
        findings.settings.pop(ours, None)
    why = f"the flow does not buffer its writes (Device_Level_Data_Caching_Mode {mode})"
    buffered = [one for one in findings.differs if one.ours.startswith("device.write_buffer")]
    findings.differs = [one for one in findings.differs if one not in buffered]
    findings.chosen = [one for one in findings.chosen if "device.write_buffer" not in one.ours]
    for one in buffered:
        findings.drop(one.key, why)


def _synthetic(findings: Findings, part: Part, flow: Flow, device: Device) -> bool:
    """A workload of distributions; whether it reads."""
    workload = "workload.synthetic"
    reads = part.whole("Read_Percentage", 100, 0, 100)
    findings.map(reads.key, f"{workload}.read_share", reads.is_ / 100)
    _addresses(findings, part, flow)
    _sizes(findings, part)
    gap_ns = _arrivals(findings, part)
    _length(findings, part, gap_ns)
    findings.drop(part.key("Seed"), "one seed for all: that of the device file")
    for name in ("File_Path", "Percentage_To_Be_Executed", "Relay_Count", "Time_Unit"):
        findings.drop(part.key(name), "a synthetic flow has no trace")
    return reads.is_ > 0


def _addresses(findings: Findings, part: Part, flow: Flow) -> None:
    workload = "workload.synthetic"
    working = part.whole("Working_Set_Percentage", 100, 0)
    percent = working.is_ if 1 <= working.is_ <= 100 else 100
    share = float(plain(Fraction(percent, 100 * flow.flows)))
    if flow.flows > 1:
        how = f"of the 1/{flow.flows} of the drive that MQSim gives each of {flow.flows} flows"
        findings.differ(working.key, f"{workload}.footprint", share, how)
    elif percent != working.is_:
        findings.differ(working.key, f"{workload}.footprint", share, "MQSim takes 100 for it too")
    else:
        findings.map(working.key, f"{workload}.footprint", share)
    kinds = ("STREAMING", "RANDOM_UNIFORM", "RANDOM_HOTCOLD")
    kind = part.word("Address_Distribution", "RANDOM_UNIFORM", kinds)
    hot = part.whole("Percentage_of_Hot_Region", 0, 0, 100)
    if kind.is_ == "RANDOM_HOTCOLD":
        cold = {"f": hot.is_ / 100, "r": (100 - hot.is_) / 100}
        findings.map(kind.key, f"{workload}.address", {"hot_cold": cold})
        findings.part_of(hot.key, f"{workload}.address")
    else:
        findings.drop(hot.key, "counts with RANDOM_HOTCOLD only, in MQSim as well")
        if kind.is_ == "STREAMING":
            findings.differ(kind.key, f"{workload}.sequential_share", 1.0,
                            "begins at the start of the drive, in MQSim anywhere")  # fmt: skip
        else:
            findings.map(kind.key, f"{workload}.address", "uniform")
    aligned = part.flag("Generated_Aligned_Addresses", True)
    unit = part.whole("Address_Alignment_Unit", 16, 1)
    bytes_ = unit.is_ * SECTOR_BYTES if aligned.is_ else SECTOR_BYTES
    findings.map(aligned.key, f"{workload}.align", size(bytes_))
    if aligned.is_:
        findings.part_of(unit.key, f"{workload}.align")
    else:
        findings.drop(unit.key, "addresses are not aligned, see Generated_Aligned_Addresses")


def _sizes(findings: Findings, part: Part) -> None:
    ours = "workload.synthetic.size"
    kind = part.word("Request_Size_Distribution", "FIXED", ("FIXED", "NORMAL"))
    mean = part.whole("Average_Request_Size", 8, 1, 1 << 21)
    spread = part.whole("Variance_Request_Size", 0, 0, 1 << 21)
    if kind.is_ == "NORMAL" and spread.is_:
        how = (
            "the normal distribution in whole sectors, cut at 4 standard deviations; MQSim takes "
            "Variance_Request_Size as the standard deviation, and so does this"
        )
        findings.settings[ours] = sizes.normal(mean.is_, spread.is_)
        for value in (kind, mean, spread):
            findings.differ(value.key, ours, None, how)
        return
    findings.map(mean.key, ours, size(mean.is_ * SECTOR_BYTES))
    findings.part_of(kind.key, ours)
    if kind.is_ == "NORMAL":
        findings.part_of(spread.key, ours)
    else:
        findings.drop(spread.key, "counts with NORMAL only, in MQSim as well")


def _arrivals(findings: Findings, part: Part) -> int | None:
    """Closed or open loop; the mean gap of an open one."""
    workload = "workload.synthetic"
    kind = part.word("Synthetic_Generator_Type", "BANDWIDTH", ("BANDWIDTH", "QUEUE_DEPTH"))
    depth = part.whole("Average_No_of_Reqs_in_Queue", 2, 1, 1_000_000)
    bandwidth = part.whole("Bandwidth", 262_144, 0)
    if kind.is_ == "QUEUE_DEPTH":
        findings.map(depth.key, f"{workload}.queue_depth", depth.is_)
        findings.part_of(kind.key, f"{workload}.queue_depth")
        findings.drop(bandwidth.key, "counts with BANDWIDTH only, in MQSim as well")
        return None
    findings.drop(depth.key, "counts with QUEUE_DEPTH only, in MQSim as well")
    mean = part.whole("Average_Request_Size", 8, 1, 1 << 21).is_
    each_s = bandwidth.is_ // SECTOR_BYTES // mean
    if not each_s:
        key = bandwidth.key or kind.key
        if key is not None:
            least = mean * SECTOR_BYTES
            findings.wrong(key, f"the bandwidth must be at least one request a second, {least}")
        return None
    gap = 10**9 // each_s
    ours = f"{workload}.interarrival"
    how = "the mean gap in whole ns, cut as MQSim cuts it"
    findings.differ(bandwidth.key, ours, {"exponential": duration(gap)}, how)
    findings.part_of(kind.key, ours)
    return gap


def _length(findings: Findings, part: Part, gap_ns: int | None) -> None:
    ours = "workload.synthetic.requests"
    stop = part.whole("Stop_Time", 0)
    count = part.whole("Total_Requests_To_Generate", 0)
    if stop.is_ and gap_ns:
        requests = max(stop.is_ // gap_ns, 1)
        findings.differ(stop.key, ours, requests, "as many as the mean gap gives in that time")
        findings.drop(count.key, "counts without Stop_Time only, in MQSim as well")
    elif stop.is_:
        findings.drop(stop.key, f"{ours} ends a run here, not a time; {REQUESTS} were chosen")
        findings.drop(count.key, "counts without Stop_Time only, in MQSim as well")
        findings.choose(ours, REQUESTS, "MQSim's flow ends at a time")
    elif count.is_:
        findings.map(count.key, ours, count.is_)
        findings.drop(stop.key, "0: the number of requests ends the flow")
    else:
        findings.drop(stop.key, "0: the number of requests ends the flow")
        findings.drop(count.key, f"0: the flow has no requests; {REQUESTS} were chosen")
        findings.choose(ours, REQUESTS, "the file gives no number")


def _trace(findings: Findings, part: Part, here: Path) -> None:
    trace = "workload.trace"
    path = part.key("File_Path")
    if path is None:
        findings.choose(f"{trace}.format", "mqsim", "no File_Path; `flashgc run --trace` names one")
    else:
        found = _near(path, here)
        if found is None:
            findings.differ(path, f"{trace}.file", path.text, "there is no such file here now")
        else:
            findings.map(path, f"{trace}.file", os.path.relpath(found, here))
    units = {"NANOSECOND": "mqsim", "MICROSECOND": "mqsim-us", "PICOSECOND": "mqsim-ps"}
    unit = part.word("Time_Unit", "NANOSECOND", tuple(units))
    if unit.is_ == "NANOSECOND":
        findings.map(unit.key, f"{trace}.format", "mqsim")
    else:
        how = "as the key says; MQSim 7ec40e3 reads it and takes the times as ns all the same"
        findings.differ(unit.key, f"{trace}.format", units[unit.is_], how)
    findings.choose(f"{trace}.address", "wrap", "MQSim takes addresses modulo the drive")
    _rows(findings, part, path, here)
    for name in KNOWN:
        if name not in (*BOTH, "File_Path", "Time_Unit", "Relay_Count",
                        "Percentage_To_Be_Executed"):  # fmt: skip
            findings.drop(part.key(name), "a trace-based flow has no distributions")


def _near(path: Key, here: Path) -> Path | None:
    """The trace, seen from the workload file or from the working directory."""
    folders = (Path(path.file).parent, Path(), here)
    names = (folder / path.text for folder in folders)
    try:
        return next((name.absolute() for name in names if name.is_file()), None)
    except (OSError, ValueError):
        return None


def _rows(findings: Findings, part: Part, path: Key | None, here: Path) -> None:
    again = part.whole("Relay_Count", 1, 0)
    share = part.whole("Percentage_To_Be_Executed", 100, 0)
    if again.is_ == 1:
        findings.always(again.key, "a trace is replayed once")
    elif again.is_ == 0:
        findings.drop(again.key, "a trace is replayed at least once")
    else:
        how = ("as often; a time begins one mean gap after the last request of the time before, in "
               "MQSim after that request by the time of the first row")  # fmt: skip
        findings.differ(again.key, "workload.trace.loops", again.is_, how)
    if share.is_ >= 100:
        findings.always(share.key, "the whole trace")
    elif again.is_ != 1:
        findings.drop(share.key, "MQSim ignores it where Relay_Count is not 1")
    else:
        found = None if path is None else _near(path, here)
        rows = 0 if found is None else _lines(found) * share.is_ // 100
        if rows:
            findings.map(share.key, "workload.trace.rows", rows)
        else:
            findings.drop(share.key, "the rows cannot be counted now; set workload.trace.rows")


def _lines(path: Path) -> int:
    count, last = 0, b""
    try:
        with open(path, "rb") as file:
            while chunk := file.read(1 << 20):
                count, last = count + chunk.count(b"\n"), chunk
    except OSError:
        return 0
    return count + (not last.endswith(b"\n") and bool(last))


def _precondition(findings: Findings, part: Part, device: Device, trace: bool, reads: bool) -> None:
    wanted: Value[bool] = device.preconditioned
    occupied = part.whole("Initial_Occupancy_Percentage", 100, 0, 100)
    if wanted.is_:
        how = (
            "the whole drive is filled and overwritten until write amplification is steady; MQSim "
            "sets the steady state from a formula"
        )
        findings.differ(wanted.key, "precondition.until", "steady", how)
        if occupied.is_ == 100:
            findings.map(occupied.key, "precondition.fill", "sequential")
        else:
            findings.differ(occupied.key, "precondition.fill", "sequential", "all of it is filled")
        return
    findings.drop(occupied.key, "counts with Enabled_Preconditioning only, in MQSim as well")
    ours = "precondition.fill"
    if trace:
        findings.map(wanted.key, ours, "none")
        findings.choose("precondition.reads", "mapped", "MQSim maps a page that is read first")
    elif reads:
        how = (
            "the drive is full at the start, so that reads find data; in MQSim it is empty, and "
            "a page that is read gets its place then"
        )
        findings.differ(wanted.key, ours, "sequential", how)
    else:
        findings.map(wanted.key, ours, "none")
