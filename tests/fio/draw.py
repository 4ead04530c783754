"""Random job files, each from a seed: the options that fio and flashgc both know."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

PATTERNS = (
    "read", "write", "randread", "randwrite", "rw", "randrw", "trimwrite", "randtrimwrite", "trim",
    "randtrim",
)  # fmt: skip
KINDS = {
    "read": ("read",), "write": ("write",), "trim": ("trim",), "randread": ("read",),
    "randwrite": ("write",), "randtrim": ("trim",), "rw": ("read", "write"),
    "randrw": ("read", "write"), "trimwrite": ("trim", "write"), "randtrimwrite": ("trim", "write"),
}  # fmt: skip

WHOLE = 49152
"""A multiple of all sizes of requests."""


@dataclass
class Drawn:
    """One section, with its properties for the comparison."""

    name: str
    options: dict[str, str] = field(default_factory=dict)
    scattered: bool = False
    """Whether popular places are scattered, so that only their popularity can be compared."""
    clones: int = 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its requests."""
        return KINDS[self.options["rw"].partition(":")[0]]

    @property
    def is_random(self) -> bool:
        """Whether its places are drawn."""
        return self.options["rw"].startswith("rand")

    @property
    def runs(self) -> bool:
        """Whether requests follow each random one."""
        return self.is_random and ":" in self.options["rw"]

    @property
    def has_drawn_sizes(self) -> bool:
        """Whether its sizes are drawn."""
        return bool({"bsrange", "bssplit"} & self.options.keys())

    @property
    def is_paced(self) -> bool:
        """Whether it has a rate."""
        return bool({"rate", "rate_iops"} & self.options.keys())


def job_file(seed: int) -> list[Drawn]:
    """The sections of a job file."""
    choices = random.Random(seed)
    count = choices.choice((1, 1, 1, 2, 3))
    # Paced jobs take real time.
    paced = choices.random() < 0.04
    sections = [section(choices, f"job{at}", paced=paced) for at in range(count)]
    if not paced:
        # From a stream of its own, so that these options leave the others of a seed as they are.
        more = random.Random(f"walk {seed}")
        for one in sections:
            _walk(more, one)
    return sections


def text(sections: list[Drawn], seed: int) -> str:
    """The job file, with comments where fio allows them."""
    choices = random.Random(f"text {seed}")
    lines = []
    for one in sections:
        lines.append(f"[{one.name}]")
        for name, value in one.options.items():
            comment = choices.choice(("", "", "", "", " ; a comment", "\t# another"))
            lines.append(f"{name}={value}{comment if value else ''}"
                         if value else name)  # fmt: skip
    return "\n".join(lines) + "\n"


def section(choices: random.Random, name: str, *, paced: bool) -> Drawn:
    """One section."""
    one = Drawn(name, {"rw": choices.choice(PATTERNS)})
    options = one.options
    largest = _sizes(choices, one)
    blocks = choices.choice((4, 8, 20, 50, 100, 100, 400))
    size = blocks * largest
    if choices.random() < 0.3:
        size += choices.choice((512, 1000, 2048, 3 * 1024))
    options["size"] = str(size)
    _place(choices, one, size)
    if options["rw"] == "randtrimwrite":
        # With an offset fio 3.33 makes one trim, and writes one place over and over.
        options.pop("offset", None)
        options.pop("offset_increment", None)
    if paced:
        return _rates(choices, one)
    _amount(choices, one, size, largest)
    if "trimwrite" in options["rw"] and "number_ios" in options:
        # fio makes twice as many requests in several passes.
        options.pop("io_size", None)
    if one.is_random:
        _addresses(choices, one, size)
    if one.scattered:
        # A last block that is cut off is drawn by fio, which ends with it.
        options["size"] = str(-(-size // WHOLE) * WHOLE)
    if "write" in one.kinds and choices.random() < 0.1:
        options["fsync"] = str(choices.randint(1, 9))
    if choices.random() < 0.15:
        options["stonewall"] = ""
    if choices.random() < 0.3:
        options["randseed"] = str(choices.randint(1, 10**6))
    if choices.random() < 0.1:
        options["randrepeat"] = choices.choice(("0", "1"))
    return one


def _size(choices: random.Random) -> int:
    return choices.choice((512, 1024, 4096, 4096, 4096, 8192, 12288, 16384))


def _sizes(choices: random.Random, one: Drawn) -> int:
    """Sizes of requests; returns the largest."""
    form = choices.random()
    if form < 0.6:
        found = [_size(choices)]
        one.options["bs"] = str(found[0])
    elif form < 0.7:
        # The size of a kind without requests applies to another kind.
        found = [_size(choices) for _ in range(2)]
        if "trimwrite" in one.options["rw"]:
            # Random writes after trims have the size of these.
            given = [found[1]] * 3 if one.is_random else [found[0], *found]
        elif len(one.kinds) == 2:
            given = found
        else:
            given = found[:1] * 2
        one.options["bs"] = ",".join(map(str, given))
    elif form < 0.85:
        low = _size(choices)
        found = [low, low * choices.choice((2, 3, 4, 8))]
        one.options["bsrange"] = "-".join(map(str, found))
    else:
        found = sorted({_size(choices) for _ in range(choices.choice((2, 2, 3)))})
        cuts = sorted(choices.sample(range(5, 95), len(found) - 1))
        shares = [high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]
        one.options["bssplit"] = ":".join(
            f"{size}/{share}" for size, share in zip(found, shares, strict=True)
        )
    return max(found)


def _place(choices: random.Random, one: Drawn, size: int) -> None:
    options = one.options
    if choices.random() < 0.3:
        options["offset"] = choices.choice(
            ("512", "1000", "4k", "12k", "10%", "25%", "33%", str(size))
        )
    if choices.random() < 0.2:
        one.clones = choices.choice((2, 3))
        options["numjobs"] = str(one.clones)
        if choices.random() < 0.5:
            options["offset_increment"] = choices.choice(("512", "5000", "64k", "20%"))
        if choices.random() < 0.3:
            options["filename"] = f"shared.{one.name}"
    elif choices.random() < 0.2:
        options["filename"] = f"file.{one.name}"
    if choices.random() < 0.15 and "offset_increment" not in options:
        options["size"] = str(-(-size // WHOLE) * WHOLE)
        options["filesize"] = str(-(-int(size * choices.choice((0.5, 1, 1.5, 3))) // WHOLE) * WHOLE)
        if "offset" in options and "%" not in options["offset"]:
            # fio makes no request for a section whose file ends with its offset; it is refused
            # here.
            options["offset"] = "48k" if int(options["filesize"]) > WHOLE else "0"


def _amount(choices: random.Random, one: Drawn, size: int, largest: int) -> None:
    options = one.options
    # With an offset in percent, passes of fio after the first begin elsewhere, and drawn sizes may
    # skip the last block.
    if any("%" in options.get(name, "") for name in ("offset", "offset_increment")):
        for name in ("bsrange", "bssplit"):
            if options.pop(name, None):
                options["bs"] = "4096"
        return
    if choices.random() < 0.25:
        options["io_size"] = choices.choice(
            (str(int(size * choices.choice((0.3, 0.7, 1.5, 2, 2.5)))), "50%", "30%")
        )
    if choices.random() < 0.25:
        options["loops"] = str(choices.randint(2, 4))
    elif choices.random() < 0.15:
        options["number_ios"] = str(choices.randint(1, max(2, 2 * size // largest)))
        if "trimwrite" not in options["rw"] and choices.random() < 0.3:
            options["loops"] = "2"


def _addresses(choices: random.Random, one: Drawn, size: int) -> None:
    options = one.options
    if choices.random() < 0.2:
        options["norandommap"] = choices.choice(("", "1"))
    form = choices.random()
    if form < 0.2:
        options["random_distribution"] = choices.choice(
            ("zipf:1.2", "zipf:0.8", "pareto:0.3", "zoned:60/10:30/20:10/70",
             "zoned:50/5:30/15:20/", f"zoned_abs:60/{size // 2}:40/{size // 4}")
        )  # fmt: skip
        one.scattered = options["random_distribution"].startswith(("zipf", "pareto"))
    elif form < 0.3:
        options["percentage_random"] = choices.choice(("50", "90", "0", "100,0", "30,80"))
    if len(one.kinds) == 2 and "read" in one.kinds and choices.random() < 0.7:
        options[choices.choice(("rwmixread", "rwmixwrite"))] = str(choices.randint(10, 90))


def _walk(choices: random.Random, one: Drawn) -> None:
    """Holes, runs, strides, and several files."""
    options = one.options
    form = choices.random()
    is_plain = not {"random_distribution", "percentage_random"} & options.keys()
    has_trims = "trimwrite" in options["rw"]
    largest = max(_all_sizes(one))
    if form < 0.1 and not (one.is_random or has_trims):
        hole = choices.choice(("512", "4k", "6k", str(largest)))
        if options.keys().isdisjoint({"offset", "offset_increment"}):
            hole = choices.choice((hole, f"-{2 * largest}", f"-{4 * largest}"))
        options["rw"] += f":{hole}"
        _without_percent(options)
    elif form < 0.1 and one.is_random and is_plain and not has_trims:
        options["rw"] += f":{choices.choice((2, 3, 8))}"
        if choices.random() < 0.5:
            options["rw_sequencer"] = choices.choice(("identical", "sequential"))
        # In fio a run that meets a partial block ends all requests of its section.
        options["size"] = str(-(-int(options["size"]) // WHOLE) * WHOLE)
    elif 0.1 <= form < 0.2 and is_plain and not has_trims and "," not in options.get("bs", ""):
        if one.is_random and one.has_drawn_sizes:
            # They would leave their zone.
            return
        zone, gap = (largest * choices.choice(numbers) for numbers in ((1, 2, 4), (0, 1, 3)))
        options |= {"zonemode": "strided", "zonesize": str(zone), "zoneskip": str(gap)}
        if choices.random() < 0.5 and not one.is_random:
            options["zonerange"] = str(zone * choices.choice((2, 4)))
        _without_percent(options)
        # With a `size` above that of the file, zones of fio lie behind its end.
        options.pop("filesize", None)
        if one.is_random:
            # A last zone that is cut off ends the pass by chance.
            options["size"] = str(-(-int(options["size"]) // (zone + gap)) * (zone + gap))
    elif 0.2 <= form < 0.3 and not (one.scattered or (has_trims and one.is_random)):
        for name in ("filename", "fsync"):
            options.pop(name, None)
        options["nrfiles"] = str(choices.choice((2, 3, 4)))
        options["file_service_type"] = choices.choice(
            ("roundrobin", "roundrobin:3", "sequential", "random", "random:2")
        )


def _without_percent(options: dict[str, str]) -> None:
    """Without offsets in percent, with which passes of fio after the first begin elsewhere."""
    for name in ("offset", "offset_increment"):
        if "%" in options.get(name, ""):
            options.pop(name)


def _all_sizes(one: Drawn) -> list[int]:
    """All numbers among its sizes, which are in bytes."""
    texts = [one.options[name] for name in ("bs", "bsrange", "bssplit") if name in one.options]
    return [int(part.partition("/")[0]) for text in texts for part in re.split("[-:,]", text)]


def _rates(choices: random.Random, one: Drawn) -> Drawn:
    """One second with a few hundred requests."""
    options = one.options
    options["time_based"] = ""
    options["runtime"] = "1"
    options["rate_iops"] = str(choices.choice((100, 250, 400)))
    if len(one.kinds) == 2 and choices.random() < 0.5:
        options["rate_iops"] = f"{choices.choice((100, 300))},{choices.choice((50, 400))}"
    if one.options["rw"] in {"rw", "randrw"}:
        options["rwmixread"] = str(choices.choice((10, 50, 70, 90)))
    return one
