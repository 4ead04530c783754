"""Numbers of requests and bytes: where random draws do not decide them, and at a rate."""

from __future__ import annotations

import math

from determined import is_cut_by_chance, is_exact
from draw import Drawn
from theirs import Request

PACED_ROOM, PACED_SHARE = 4, 0.04
"""Requests, and the share of all, by which a clock of the host may be late."""


def count_differences(one: Drawn, fio: list[Request], own: list[Request]) -> list[str]:
    """Numbers of requests and of bytes, where they do not depend on random draws."""
    flushes = [sum(one.kind == "flush" for one in stream) for stream in (fio, own)]
    counts = [len(stream) - flush for stream, flush in zip((fio, own), flushes, strict=True)]
    found = []
    sizes = {one.bytes for stream in (fio, own) for one in stream if one.kind != "flush"}
    is_one = len(sizes) == 1
    most = int(one.options.get("number_ios", 0)) * int(one.options.get("loops", 1)) * one.clones
    are_few = most * max(sizes, default=0) <= int(one.options["size"]) * one.clones
    is_due = are_few and not is_cut_by_chance(one)
    if most and is_due and counts[0] == most != counts[1]:
        found.append(f"{counts[0]} requests, which are number_ios, and {counts[1]}")
    if is_one and counts[0] != counts[1] and not is_cut_by_chance(one):
        found.append(f"{counts[0]} requests, and {counts[1]}")
    is_due = len(one.kinds) == 1 and is_one and not is_cut_by_chance(one)
    if is_due and flushes[0] != flushes[1]:
        found.append(f"{flushes[0]} flushes, and {flushes[1]}")
    total = [sum(request.bytes for request in stream if _counts_for_end(one, request))
             for stream in (fio, own)]  # fmt: skip
    room = 0 if is_exact(one) else 2 * max(sizes, default=0) * one.clones
    room = max(room, _strides_room(one, total[0], max(sizes, default=0)))
    has_amount = "number_ios" not in one.options and not is_cut_by_chance(one)
    if has_amount and abs(total[0] - total[1]) > room:
        found.append(f"{total[0]} bytes, and {total[1]}")
    return found


def _counts_for_end(one: Drawn, request: Request) -> bool:
    """Whether it counts for the end of a section's work.

    Of trims with writes of drawn sizes the writes do, and the trims are a matter of chance.
    """
    is_drawn = one.has_drawn_sizes and "nrfiles" in one.options
    return request.kind == "write" or not (is_drawn and one.options["rw"] == "trimwrite")


def _strides_room(one: Drawn, bytes_: int, largest: int) -> int:
    """Five standard errors of the bytes by which visits of zones exceed `zonesize`."""
    if "zonemode" not in one.options or not one.has_drawn_sizes:
        return 0
    loops = int(one.options.get("loops", 1))
    visits = bytes_ / int(one.options["zonesize"]) / loops
    return int(1.5 * largest * math.sqrt(visits) * loops)


def paced_differences(one: Drawn, fio: list[Request], own: list[Request]) -> list[str]:
    """Bytes of each kind up to each quarter of a second."""
    found = []
    for kind in one.kinds:
        streams = [[one for one in stream if one.kind == kind] for stream in (fio, own)]
        largest = max((one.bytes for stream in streams for one in stream), default=0)
        for quarter in range(1, 5):
            theirs, mine = (
                sum(one.bytes for one in stream if quarter == 4 or one.at_ms < quarter * 250e3)
                for stream in streams
            )
            # A clock that is late delays requests, which are made up for.
            if abs(theirs - mine) > PACED_ROOM * largest + PACED_SHARE * max(theirs, mine):
                found.append(f"bytes of {kind}s in {quarter} quarters of the second: {theirs} "
                             f"and {mine}")  # fmt: skip
    return found
