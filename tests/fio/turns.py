"""Places, turns, runs and passes of a stream, as far as the options determine them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator

from chance import LEAST
from determined import behind, blocks, covers, has_random_turns, is_of_one_size
from draw import Drawn
from theirs import Request

FAR = 49152 << 26
"""The distance between the files of one section, in bytes."""
FEW = 8
"""Requests from which something is known of all places."""
RUNS_LEAST = 6
"""Runs and blocks from which the usual length is compared: some runs meet the end of the part."""


def fixed_differences(
    one: Drawn, fio: list[Request], own: list[Request], *, shared: bool
) -> list[str]:
    """Properties that are determined even if places, sizes or kinds are drawn."""
    found = []
    for kind in one.kinds:
        parts = [[one for one in stream if one.kind == kind] for stream in (fio, own)]
        step = _grid(one, [request for part in parts for request in part])
        rests = [sorted({one.offset % step for one in part}) for part in parts]
        # Behind a hole, the start of the file follows that of the part.
        has_holes = not one.is_random and ":" in one.options["rw"]
        if min(map(len, parts)) >= FEW and not has_holes and rests[0] != rests[1]:
            found.append(f"places of {kind}s are {rests[0][:4]} and {rests[1][:4]} modulo {step}")
        ends = [max((one.offset + one.bytes for one in part), default=0) for part in parts]
        if covers(one) and not shared and len(one.kinds) == 1 and ends[0] != ends[1]:
            found.append(f"{kind}s end at {ends[0]} and {ends[1]}")
    if covers(one) and not one.has_drawn_sizes and len(one.kinds) == 1:
        places = [{request.offset for request in stream if request.kind != "flush"}
                  for stream in (fio, own)]  # fmt: skip
        if places[0] != places[1]:
            found.append(f"{len(places[0] - places[1])} places are those of fio alone, and "
                         f"{len(places[1] - places[0])} of flashgc alone")  # fmt: skip
    if not shared:
        found += _order(one, fio, own)
    return found


def _grid(one: Drawn, requests: list[Request]) -> int:
    """The unit of all places, behind the first one."""
    gap = int(one.options.get("zoneskip", "0"))
    return math.gcd(gap, *(request.bytes for request in requests)) or 1


def _order(one: Drawn, fio: list[Request], own: list[Request]) -> list[str]:
    """The turns of files and zones, the lengths of runs, and the writes before each flush."""
    found = []
    moves = [[one for one in stream if one.kind != "flush"] for stream in (fio, own)]
    # The last requests of a pass are a matter of chance where kinds or sizes are drawn.
    least = min(map(len, moves)) // (1 if covers(one) else 2)
    by_chance = not one.is_random and len(one.kinds) == 2 and "read" in one.kinds
    # With some random places the map of a file is full when as many requests were random.
    by_chance |= "percentage_random" in one.options
    is_fixed = not (one.has_drawn_sizes or has_random_turns(one) or by_chance)
    if is_fixed and is_of_one_size(one):
        low = min((request.offset for stream in moves for request in stream), default=0)
        for what, of in _places_in_turn(one, low):
            turns = [[of(request) for request in stream[:least]] for stream in moves]
            if turns[0] != turns[1]:
                at = next(at for at, pair in enumerate(zip(*turns, strict=True))
                          if pair[0] != pair[1])  # fmt: skip
                found.append(f"request {at} is in {what} {turns[0][at]} and {turns[1][at]}")
    if one.runs and len(one.kinds) == 1:
        usual = [_usual_run(one, stream) for stream in moves]
        runs = min(map(len, moves)) // int(behind(one))
        is_told = runs >= RUNS_LEAST and blocks(moves[0], one) >= RUNS_LEAST
        if is_told and usual[0] != usual[1]:
            found.append(f"most runs have {usual[0]} and {usual[1]} requests")
    # In a mix a flush comes again after each read up to the next write.
    # So it does where a pass ends with one.
    gaps = [[gap for gap in _flush_gaps(stream) if gap]
            for stream in (fio, own)]  # fmt: skip
    if all(gaps) and gaps[0] != gaps[1]:
        found.append(f"writes before a flush: {gaps[0]} and {gaps[1]}")
    return found


def _places_in_turn(one: Drawn, low: int) -> Iterator[tuple[str, Callable[[Request], int]]]:
    if "nrfiles" in one.options:
        yield "file", lambda request: request.offset // FAR
    if "zonemode" in one.options and (one.is_random or len(one.kinds) == 1):
        zone = int(one.options.get("zonerange", one.options["zonesize"]))
        zone += int(one.options["zoneskip"])
        yield "zone", lambda request: (request.offset - low) // zone


def _usual_run(one: Drawn, stream: list[Request]) -> int:
    """The length of most runs; some are cut where they meet the end of the part."""
    stays = one.options.get("rw_sequencer") == "identical"
    lengths = [1]
    for before, request in itertools.pairwise(stream):
        if request.offset == (before.offset if stays else before.offset + before.bytes):
            lengths[-1] += 1
        else:
            lengths.append(1)
    return Counter(lengths).most_common(1)[0][0]


def _flush_gaps(stream: list[Request]) -> list[int]:
    """The numbers of writes before a flush, each once."""
    gaps, writes = set(), 0
    for one in stream:
        writes += one.kind == "write"
        if one.kind == "flush":
            gaps.add(writes)
            writes = 0
    return sorted(gaps)


def pass_differences(
    one: Drawn, fio: list[Request], own: list[Request], *, shared: bool
) -> list[str]:
    """Blocks that are visited once, and passes that repeat, where fio's are so."""
    if not one.is_random or one.scattered or shared or one.runs:
        return []
    if {"percentage_random", "zonemode"} & one.options.keys():
        return []
    if len(one.kinds) == 2 and "read" in one.kinds and "," in one.options.get("bs", ""):
        # Blocks of different sizes overlap, and the kinds are a matter of chance.
        return []
    if "nrfiles" in one.options and one.has_drawn_sizes:
        # Passes begin with the file behind that of the last request.
        return []
    found = []
    streams = [[one for one in stream if one.kind in {"read", "write", "trim"}]
               for stream in (fio, own)]  # fmt: skip
    if "trimwrite" in one.options["rw"]:
        streams = [[one for one in stream if one.kind == "trim"] for stream in streams]
    draws_apart = bool({"norandommap", "random_distribution"} & one.options.keys())
    for what, of in (("first pass", _first_pass), ("repeats", _repeats)):
        told = [of(stream) for stream in streams]
        if what == "repeats" and draws_apart and _few_places(streams):
            # Places that come again by chance look like those of another pass.
            continue
        if what == "first pass" and one.has_drawn_sizes:
            # Passes begin at other places where their sizes differ.
            continue
        if what == "first pass":
            # With independent draws the length is a matter of chance.
            least = [length == len({place(one)[0] for one in stream})
                     for length, stream in zip(told, streams, strict=True)]  # fmt: skip
            places = {place(one)[0] for one in streams[0]}
            if least[0] != least[1] and len(places) >= LEAST:
                found.append(f"all places come before one comes again: {least[0]} and {least[1]}")
        elif len(one.kinds) == 2 and one.has_drawn_sizes and "read" in one.kinds:
            # A few kinds of fio's later passes differ, and with them the sizes.
            continue
        elif told[0] != told[1] and all(
            len(stream) - _first_pass(stream) >= FEW for stream in streams
        ):
            found.append(f"passes repeat the first: {told[0]} and {told[1]}")
    return found


def _few_places(streams: list[list[Request]]) -> bool:
    return any(len({place(one)[0] for one in stream}) < FEW for stream in streams)


def _first_pass(stream: list[Request]) -> int:
    """Requests before a place comes again."""
    seen: set[int] = set()
    for at, one in enumerate(stream):
        if one.offset in seen:
            return at
        seen.add(one.offset)
    return len(stream)


def _repeats(stream: list[Request]) -> bool:
    """Whether the requests after the first pass are the first pass again."""
    length = _first_pass(stream)
    rest = [(one.offset, one.bytes) for one in stream[length:]]
    first = [(one.offset, one.bytes) for one in stream[: len(rest)]]
    return len(rest) >= 8 and rest[: len(first)] == first[: len(rest)]


def place(one: Request) -> tuple[int, int, str]:
    """The place of a request, its length and its kind, for an order that is that of no clone."""
    return one.offset, one.bytes, one.kind
