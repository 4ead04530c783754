"""The properties that the options of a section determine."""

from __future__ import annotations

import re

from draw import Drawn
from theirs import Request


def sizes_of(one: Drawn) -> list[int]:
    """All numbers among the sizes of a section, which are in bytes."""
    texts = [one.options[name] for name in ("bs", "bsrange", "bssplit") if name in one.options]
    return [int(part.partition("/")[0]) for text in texts for part in re.split("[-:,]", text)]


def is_of_one_size(one: Drawn) -> bool:
    """Whether `bs` has one size for all kinds."""
    return len(set(one.options.get("bs", "").split(","))) == 1


def has_random_turns(one: Drawn) -> bool:
    """Whether the file of each request is drawn."""
    return "random" in one.options.get("file_service_type", "")


def is_exact(one: Drawn) -> bool:
    """Whether passes visit all of the part, so that the bytes are known."""
    has_map = "norandommap" not in one.options and "random_distribution" not in one.options
    has_map &= ":" not in one.options["rw"] and "zonemode" not in one.options
    plain = not {"io_size", "percentage_random", "loops", "filesize"} & one.options.keys()
    return has_map and plain and len(one.kinds) == 1


def covers(one: Drawn) -> bool:
    """Whether every block of the part is visited."""
    return is_exact(one) and one.is_random and "number_ios" not in one.options


def _has_rest(one: Drawn) -> bool:
    """Whether less than a block is left at the end of the part, of each file."""
    bytes_ = int(one.options["size"]) // int(one.options.get("nrfiles", 1))
    return bytes_ % max(sizes_of(one)) != 0


def ends_with_rest(one: Drawn) -> bool:
    """Whether a request that follows the one before ends the pass where a rest is left."""
    return "percentage_random" in one.options and _has_rest(one)


def is_cut_by_chance(one: Drawn) -> bool:
    """Whether a pass ends where a drawn request, or its kind, happens to leave the part."""
    mixed = len(one.kinds) == 2 and "trimwrite" not in one.options["rw"]
    mixed_sizes = "," in one.options.get("bs", "") and one.is_random and len(one.kinds) == 2
    # A pass ends with the kind that has come to its end, also where a rest of the size is left.
    again = _has_rest(one) or {"io_size", "loops", "zonemode"} & one.options.keys()
    sequential = mixed and not one.is_random and again
    holes = ":" in one.options["rw"] and (one.has_drawn_sizes or mixed)
    turns = "random" in one.options.get("file_service_type", "") and "trim" in one.kinds
    # Where less than a block is left of the part, it ends the pass.
    # With a file below `size`, fio ends when its map is full.
    rest = ends_with_rest(one) or {"percentage_random", "filesize"} <= one.options.keys()
    return bool(
        rest or holes or turns or mixed_sizes or sequential or (mixed and one.has_drawn_sizes)
    )


def blocks(stream: list[Request], one: Drawn) -> int:
    """Number of blocks in the part of a section."""
    return int(one.options["size"]) // min((one.bytes for one in stream), default=1)


def behind(one: Drawn) -> str:
    """The part of `rw` behind the colon."""
    return one.options["rw"].partition(":")[2]
