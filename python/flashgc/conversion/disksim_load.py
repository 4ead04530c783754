"""The synthetic generator of a DiskSim parameter file as [workload.synthetic].

Meanings of keys were read in DiskSim 4.0 (benh/disksim e0d4cc9, its own licence): the parameter
files of ssdmodel/valid, and the numbers of each distribution in src/disksim_synthio.c.
"""

from __future__ import annotations

import re
from fractions import Fraction

from flashgc.conversion import sizes
from flashgc.conversion.disksim_text import File
from flashgc.conversion.findings import Findings, Key
from flashgc.conversion.values import Part, duration, plain, size

SECTOR_BYTES = 512
MS = 10**6
_NUMBER = r"([+-]?\d{1,12}(?:\.\d{0,12})?(?:[eE][+-]?\d{1,2})?)"
_LIST = re.compile(rf"\[(\w+)(?:, {_NUMBER})?(?:, {_NUMBER})?(?:, {_NUMBER})?\]", re.ASCII)
REQUESTS = "workload.synthetic.requests"
GAPS = "workload.synthetic.interarrival"
SIZE = "workload.synthetic.size"
UNUSED = "the generator of the file is the workload here, or a trace in its place"


def convert(findings: Findings, file: File) -> None:
    """The first generator; a trace, named when the configuration is run, without one."""
    for block in file.blocks:
        if block.type == "disksim_iosim":
            _scale(findings, Part(findings, _of(findings, block.name or block.type)))
        if block.type == "disksim_global":
            _seed(findings, Part(findings, _of(findings, block.name or block.type)))
    loads = [block.name or block.type for block in file.blocks if block.type == "disksim_synthio"]
    parts = sorted({key.part for key in findings.keys if ".Generators[" in key.part})
    if not loads or not parts:
        why = "no generator in the file; name a trace with `flashgc run --trace`"
        findings.choose("workload.trace.format", "disksim", why)
        findings.choose("workload.trace.address", "reject", "DiskSim refuses such addresses too")
        return
    _length(findings, Part(findings, _of(findings, loads[0])))
    _generator(findings, Part(findings, _of(findings, parts[0])))
    for part in parts[1:]:
        for key in _of(findings, part):
            findings.drop(key, "one generator: the first of the file")


def _of(findings: Findings, part: str) -> list[Key]:
    return [key for key in findings.keys if key.part == part]


def _scale(findings: Findings, part: Part) -> None:
    scale = part.decimal("I/O Trace Time Scale", "1", "0.000001", "1000000")
    if scale.is_ == 1:
        findings.always(scale.key, "the times of a trace as they are")
    else:
        findings.drop(
            scale.key, f"counts for traces: workload.trace.time_scale = {plain(scale.is_)}"
        )


def _seed(findings: Findings, part: Part) -> None:
    seed = part.key("Real Seed")
    if seed is not None and re.fullmatch(r"\d{1,18}", seed.text, re.ASCII):
        findings.differ(seed, "seed", int(seed.text), "other random numbers are drawn from it")
    first = part.key("Init Seed")
    findings.drop(first, "one seed for all: Real Seed")


def _length(findings: Findings, part: Part) -> None:
    count = part.whole("Number of I/O requests to generate", 10_000, 1)
    findings.map(count.key, REQUESTS, count.is_)
    findings.drop(part.key("Maximum time of trace generated"), "the number of requests ends a run")
    for name in ("Think time from call to request", "Think time from request to return"):
        findings.drop(part.key(name), "requests come at their times, whatever processes do")
    findings.drop(part.key("System call/return with each request"),
                  "requests come at their times, whatever processes do")  # fmt: skip


def _generator(findings: Findings, part: Part) -> None:
    reads = part.decimal("Probability of read access", "0", "0", "1")
    findings.map(reads.key, "workload.synthetic.read_share", float(plain(reads.is_)))
    follows = part.decimal("Probability of sequential access", "0", "0", "1")
    findings.map(follows.key, "workload.synthetic.sequential_share", float(plain(follows.is_)))
    findings.choose("workload.synthetic.address", "uniform", "DiskSim's other accesses")
    block = part.whole("Blocking factor", 1, 1, 1 << 20)
    findings.map(block.key, "workload.synthetic.align", size(block.is_ * SECTOR_BYTES))
    span = part.whole("Storage capacity per device", 0, 0)
    if span.is_:
        bytes_ = span.is_ // block.is_ * block.is_ * SECTOR_BYTES
        findings.map(span.key, "workload.synthetic.footprint", size(bytes_))
    _sizes(findings, part, block.is_)
    _gaps(findings, part, bool(follows.is_))
    local = part.decimal("Probability of local access", "0", "0", "1")
    if local.is_:
        findings.drop(local.key, "no accesses near the one before; these go anywhere")
    else:
        findings.always(local.key, "no accesses near the one before")
    for name in ("Local inter-arrival times", "Local distances"):
        findings.drop(part.key(name), "no accesses near the one before")
    for name in ("Probability of time-critical request", "Probability of time-limited request",
                 "Time-limited think times"):  # fmt: skip
        findings.drop(part.key(name), "no process waits for a request")
    findings.drop(part.key("devices"), "one drive")


def _drawn(findings: Findings, key: Key | None) -> tuple[str, list[Fraction]] | None:
    """A distribution: its name and its numbers."""
    if key is None:
        return None
    match = _LIST.fullmatch(key.text)
    if match is None:
        findings.wrong(key, "it must be a distribution, such as [exponential, 0.0, 5.0]")
        return None
    return match[1].lower(), [Fraction(one) for one in match.groups()[1:] if one is not None]


def _gaps(findings: Findings, part: Part, follows: bool) -> None:
    key = part.key("General inter-arrival times")
    drawn = _drawn(findings, key)
    name, numbers = drawn or ("exponential", [])
    mean = _mean(name, numbers)
    if mean is None or mean <= 0:
        findings.drop(key, "flashgc has no such gaps; a mean of 1 ms was chosen")
        findings.choose(GAPS, {"exponential": "1 ms"}, "the gaps of the file cannot be had")
    elif name == "exponential" and not numbers[0]:
        findings.map(key, GAPS, {"exponential": duration(mean * MS)})
    elif name == "uniform" and not numbers[0]:
        findings.map(key, GAPS, {"uniform": duration(numbers[1] * MS)})
    else:
        how = f"exponential gaps with the mean of the {name} ones"
        findings.differ(key, GAPS, {"exponential": duration(mean * MS)}, how)
    why = "the gaps are those of General inter-arrival times" if follows else "no such accesses"
    findings.drop(part.key("Sequential inter-arrival times"), why)


def _mean(name: str, numbers: list[Fraction]) -> Fraction | None:
    if name == "uniform" and len(numbers) == 2:
        return sum(numbers, Fraction(0)) / 2
    if name in ("exponential", "poisson") and len(numbers) == 2:
        return sum(numbers, Fraction(0))
    if name == "normal" and len(numbers) == 2:
        return numbers[0]
    if name == "twovalue" and len(numbers) == 3:
        return numbers[0] * (1 - numbers[2]) + numbers[1] * numbers[2]
    return None


def _sizes(findings: Findings, part: Part, block: int) -> None:
    key = part.key("Sizes")
    drawn = _drawn(findings, key)
    name, numbers = drawn or ("", [])
    mean = _mean(name, numbers)
    if mean is None or not 0 < mean < 1 << 21:
        findings.drop(key, "flashgc has no such sizes; one block of the file was chosen")
        findings.choose(SIZE, size(block * SECTOR_BYTES), "the sizes of the file cannot be had")
    elif name == "exponential" and not numbers[0]:
        how = "rounded up to the blocking factor as in DiskSim, in which a size of 0 is drawn again"
        findings.differ(key, SIZE, {"exponential": size(round(mean * SECTOR_BYTES))}, how)
    elif name == "uniform":
        findings.map(key, SIZE, _even(numbers, block))
    elif name == "normal" and numbers[1] > 0:
        table = sizes.normal(float(numbers[0]), float(numbers[1]) ** 0.5, block)
        findings.differ(key, SIZE, table, "cut at 4 standard deviations")
    else:
        how = f"a fixed size, the mean of the {name} ones"
        findings.differ(key, SIZE, size(_up(mean, block) * SECTOR_BYTES), how)


def _even(numbers: list[Fraction], block: int) -> dict[str, float] | str:
    """Equal weights for all sizes from the least to the greatest."""
    low, high = _up(numbers[0], block), max(_up(numbers[1], block), _up(numbers[0], block))
    step = block * max(1, -(-(high - low) // block) // sizes.MOST + 1) if high > low else block
    found = range(low, high + 1, step)
    if len(found) == 1:
        return size(low * SECTOR_BYTES)
    return {size(count * SECTOR_BYTES): 1.0 for count in found}


def _up(sectors: Fraction, block: int) -> int:
    """Rounded up to the blocking factor, and at least that."""
    return max(-(-sectors // block) * block, block)
