"""Whether the streams of fio and of flashgc are the same, or come from the same distributions."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace

from draw import Drawn
from theirs import Outcome, Request

CHANCE = 1e-8
"""Samples that are less alike than this are not from one distribution."""
LEAST = 20
"""Requests from which distributions are compared."""
FAR = 49152 << 26
"""The distance between the files of one section, in bytes."""
FEW = 8
"""Requests from which something is known of all places."""
RUNS_LEAST = 6
"""Runs and blocks from which the usual length is compared: some runs meet the end of the part."""
PACED_ROOM, PACED_SHARE = 4, 0.04
"""Requests, and the share of all, by which a clock of the host may be late."""
BLOCKS_LEAST = 400
"""Blocks from which the popularity of places is compared."""


def differences(sections: list[Drawn], theirs: Outcome, ours: Outcome) -> list[str]:
    """The differences, in words."""
    if theirs.refused or ours.refused:
        if theirs.refused and ours.refused:
            return []
        who, why = ("fio", theirs.error) if theirs.refused else ("flashgc", ours.error)
        return [f"only {who} refuses it: {why[:300]}"]
    found = _groups(sections, theirs, ours)
    for one in sections:
        if theirs.is_torn and one.clones > 1:
            found += [f"{one.name}: {text}" for text in _reported(one, theirs, ours)]
            continue
        for name, fio, own in pairs(one, theirs, ours):
            if one.scattered and not _is_of_one_size(one):
                # fio ends with a block that is cut off at the end of the part.
                continue
            if not (fio and own):
                found.append(f"{name}: {len(fio)} requests, and {len(own)}")
                continue
            shared = name.startswith("shared.")
            found += [f"{name}: {text}" for text in _stream(one, fio, own, shared=shared)]
    return found


def pairs(
    one: Drawn, theirs: Outcome, ours: Outcome
) -> Iterator[tuple[str, list[Request], list[Request]]]:
    """The streams of a section with the same name, with several files together."""
    streams = [of.streams if "nrfiles" not in one.options else _together(one, of.streams)
               for of in (theirs, ours)]  # fmt: skip
    names = {name: None for of in streams for name in of if _belongs(name, one)}
    for name in names:
        yield name, streams[0].get(name, []), streams[1].get(name, [])


def _groups(sections: list[Drawn], theirs: Outcome, ours: Outcome) -> list[str]:
    """Whether a section with `stonewall` begins after all before it have ended."""
    found, group, latest = [], 0, 0.0
    for at, one in enumerate(sections):
        times = [request.at_ms for name, stream in ours.streams.items() if _belongs(name, one)
                 for request in stream]  # fmt: skip
        if at and "stonewall" in one.options:
            group += 1
            if times and min(times) < latest:
                found.append(f"{one.name}: it begins before the group before it has ended")
        latest = max([latest, *times])
        told = {job["groupid"] for job in theirs.report["jobs"] if job["jobname"] == one.name}
        if told != {group}:
            found.append(f"{one.name}: fio has it in the groups {told}, and not in {group}")
    return found


def _reported(one: Drawn, theirs: Outcome, ours: Outcome) -> list[str]:
    """The requests that fio counts, where its log is torn."""
    found = []
    for kind in one.kinds:
        counted = sum(job[kind]["total_ios"] for job in theirs.report["jobs"]
                      if job["jobname"] == one.name)  # fmt: skip
        own = sum(request.kind == kind for name, stream in ours.streams.items()
                  if _belongs(name, one) for request in stream)  # fmt: skip
        is_due = len(one.kinds) == 1 and not (one.has_drawn_sizes or one.is_paced)
        if is_due and not _is_cut_by_chance(one) and counted != own:
            found.append(f"fio counts {counted} {kind}s, and flashgc {own}")
    return found


def _together(one: Drawn, streams: dict[str, list[Request]]) -> dict[str, list[Request]]:
    """The files of each clone as one, each behind the other."""
    found: dict[str, list[Request]] = {}
    for name, stream in streams.items():
        if _belongs(name, one):
            clone, _, file = name.rpartition(".")
            behind = [replace(one, offset=one.offset + int(file) * FAR) for one in stream]
            found.setdefault(clone, []).extend(behind)
    return {name: sorted(stream, key=lambda one: one.order) for name, stream in found.items()}


def _belongs(name: str, one: Drawn) -> bool:
    own = name.split(".", maxsplit=1)[0] == one.name
    return own or name in {f"shared.{one.name}", f"file.{one.name}"}


def _stream(one: Drawn, fio: list[Request], own: list[Request], *, shared: bool) -> list[str]:
    if one.is_paced:
        return _paced(one, fio, own)
    found = []
    is_fixed = not one.has_drawn_sizes and not _has_random_turns(one)
    if shared:
        fio, own = sorted(fio, key=_place), sorted(own, key=_place)
    if is_fixed and not one.is_random and (len(one.kinds) == 1 or "trim" in one.kinds):
        if (at := _first_difference(fio, own)) is not None:
            found.append(f"request {at}: {_shown(fio, at)} and {_shown(own, at)}, "
                         f"of {len(fio)} and {len(own)}")  # fmt: skip
        return found
    found += _counts(one, fio, own)
    found += _passes(one, fio, own, shared=shared)
    found += _fixed(one, fio, own, shared=shared)
    if one.is_random and not shared:
        # Passes that repeat the first say nothing new.
        fio, own = _first_bytes(fio, one), _first_bytes(own, one)
    # A clone that ends early by chance leaves the others' places.
    has_places = not (shared and "percentage_random" in one.options)
    moves = [[one for one in stream if one.kind != "flush"] for stream in (fio, own)]
    # Requests that follow each other have places near each other.
    step = 10 if one.runs or "percentage_random" in one.options else 1
    # So have those that are cut where they meet visited blocks.
    step = max(step, 4 if one.has_drawn_sizes else 1)
    for kind in one.kinds:
        parts = [[one for one in stream if one.kind == kind] for stream in moves]
        found += _alike(f"sizes of {kind}s", *([one.bytes for one in part] for part in parts))
        if has_places and not one.scattered and one.is_random:
            # Places of sequential requests follow from kinds and sizes.
            found += _alike(f"places of {kind}s", *_eighths(*(part[::step] for part in parts)))
    found += _alike("kinds", *([one.kind for one in stream] for stream in moves))
    if one.scattered and "filesize" not in one.options and _blocks(moves[0], one) >= BLOCKS_LEAST:
        # Of few blocks, fio's hash gives several ranks the same one, and so it does for some
        # numbers of blocks in addition to the size: 600 ranks have 41 blocks.
        found += _alike("popularity", *(_popular(stream) for stream in moves))
    elif not (shared or one.scattered or _ends_with_rest(one)):
        found += _alike("neighbours", *(_neighbours(stream) for stream in moves))
    return found


def _has_random_turns(one: Drawn) -> bool:
    return "random" in one.options.get("file_service_type", "")


def _fixed(one: Drawn, fio: list[Request], own: list[Request], *, shared: bool) -> list[str]:
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
        if _covers(one) and not shared and len(one.kinds) == 1 and ends[0] != ends[1]:
            found.append(f"{kind}s end at {ends[0]} and {ends[1]}")
    if _covers(one) and not one.has_drawn_sizes and len(one.kinds) == 1:
        places = [{request.offset for request in stream if request.kind != "flush"}
                  for stream in (fio, own)]  # fmt: skip
        if places[0] != places[1]:
            found.append(f"{len(places[0] - places[1])} places are those of fio alone, and "
                         f"{len(places[1] - places[0])} of flashgc alone")  # fmt: skip
    if not shared:
        found += _order(one, fio, own)
    return found


def _order(one: Drawn, fio: list[Request], own: list[Request]) -> list[str]:
    """The turns of files and zones, the lengths of runs, and the writes before each flush."""
    found = []
    moves = [[one for one in stream if one.kind != "flush"] for stream in (fio, own)]
    # The last requests of a pass are a matter of chance where kinds or sizes are drawn.
    least = min(map(len, moves)) // (1 if _covers(one) else 2)
    by_chance = not one.is_random and len(one.kinds) == 2 and "read" in one.kinds
    # With some random places the map of a file is full when as many requests were random.
    by_chance |= "percentage_random" in one.options
    is_fixed = not (one.has_drawn_sizes or _has_random_turns(one) or by_chance)
    if is_fixed and _is_of_one_size(one):
        low = min((request.offset for stream in moves for request in stream), default=0)
        for what, of in _places_in_turn(one, low):
            turns = [[of(request) for request in stream[:least]] for stream in moves]
            if turns[0] != turns[1]:
                at = next(at for at, pair in enumerate(zip(*turns, strict=True))
                          if pair[0] != pair[1])  # fmt: skip
                found.append(f"request {at} is in {what} {turns[0][at]} and {turns[1][at]}")
    if one.runs and len(one.kinds) == 1:
        usual = [_usual_run(one, stream) for stream in moves]
        runs = min(map(len, moves)) // int(_behind(one))
        is_told = runs >= RUNS_LEAST and _blocks(moves[0], one) >= RUNS_LEAST
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


def _behind(one: Drawn) -> str:
    """The part of `rw` behind the colon."""
    return one.options["rw"].partition(":")[2]


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


def _is_of_one_size(one: Drawn) -> bool:
    return len(set(one.options.get("bs", "").split(","))) == 1


def _grid(one: Drawn, requests: list[Request]) -> int:
    """The unit of all places, behind the first one."""
    gap = int(one.options.get("zoneskip", "0"))
    return math.gcd(gap, *(request.bytes for request in requests)) or 1


def _covers(one: Drawn) -> bool:
    """Whether every block of the part is visited."""
    return _is_exact(one) and one.is_random and "number_ios" not in one.options


def _first_bytes(stream: list[Request], one: Drawn) -> list[Request]:
    """The requests of one pass, by bytes: the section's size, for each request of a pair."""
    left = int(one.options["size"]) * (2 if "trimwrite" in one.options["rw"] else 1)
    found = []
    for request in stream:
        if left <= 0:
            break
        left -= request.bytes
        found.append(request)
    return found


def _blocks(stream: list[Request], one: Drawn) -> int:
    """Number of blocks in the part of a section."""
    return int(one.options["size"]) // min((one.bytes for one in stream), default=1)


def _place(one: Request) -> tuple[int, int, str]:
    return one.offset, one.bytes, one.kind


def _key(one: Request) -> tuple[str, int, int]:
    return one.kind, one.offset, one.bytes


def _first_difference(fio: list[Request], own: list[Request]) -> int | None:
    for at, (one, other) in enumerate(zip(fio, own, strict=False)):
        if _key(one) != _key(other):
            return at
    return None if len(fio) == len(own) else min(len(fio), len(own))


def _shown(stream: list[Request], at: int) -> str:
    return f"{stream[at].kind} {stream[at].offset}+{stream[at].bytes}" if at < len(stream) else "-"


def _counts(one: Drawn, fio: list[Request], own: list[Request]) -> list[str]:
    """Numbers of requests and of bytes, where they do not depend on random draws."""
    flushes = [sum(one.kind == "flush" for one in stream) for stream in (fio, own)]
    counts = [len(stream) - flush for stream, flush in zip((fio, own), flushes, strict=True)]
    found = []
    sizes = {one.bytes for stream in (fio, own) for one in stream if one.kind != "flush"}
    is_one = len(sizes) == 1
    most = int(one.options.get("number_ios", 0)) * int(one.options.get("loops", 1)) * one.clones
    are_few = most * max(sizes, default=0) <= int(one.options["size"]) * one.clones
    is_due = are_few and not _is_cut_by_chance(one)
    if most and is_due and counts[0] == most != counts[1]:
        found.append(f"{counts[0]} requests, which are number_ios, and {counts[1]}")
    if is_one and counts[0] != counts[1] and not _is_cut_by_chance(one):
        found.append(f"{counts[0]} requests, and {counts[1]}")
    is_due = len(one.kinds) == 1 and is_one and not _is_cut_by_chance(one)
    if is_due and flushes[0] != flushes[1]:
        found.append(f"{flushes[0]} flushes, and {flushes[1]}")
    total = [sum(request.bytes for request in stream if _counts_for_end(one, request))
             for stream in (fio, own)]  # fmt: skip
    room = 0 if _is_exact(one) else 2 * max(sizes, default=0) * one.clones
    room = max(room, _strides_room(one, total[0], max(sizes, default=0)))
    has_amount = "number_ios" not in one.options and not _is_cut_by_chance(one)
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


def _is_exact(one: Drawn) -> bool:
    """Whether passes visit all of the part, so that the bytes are known."""
    has_map = "norandommap" not in one.options and "random_distribution" not in one.options
    has_map &= ":" not in one.options["rw"] and "zonemode" not in one.options
    plain = not {"io_size", "percentage_random", "loops", "filesize"} & one.options.keys()
    return has_map and plain and len(one.kinds) == 1


def _is_cut_by_chance(one: Drawn) -> bool:
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
    rest = _ends_with_rest(one) or {"percentage_random", "filesize"} <= one.options.keys()
    return bool(
        rest or holes or turns or mixed_sizes or sequential or (mixed and one.has_drawn_sizes)
    )


def _has_rest(one: Drawn) -> bool:
    """Whether less than a block is left at the end of the part, of each file."""
    bytes_ = int(one.options["size"]) // int(one.options.get("nrfiles", 1))
    return bytes_ % max(sizes_of(one)) != 0


def _ends_with_rest(one: Drawn) -> bool:
    """Whether a request that follows the one before ends the pass where a rest is left."""
    return "percentage_random" in one.options and _has_rest(one)


def _passes(one: Drawn, fio: list[Request], own: list[Request], *, shared: bool) -> list[str]:
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
            least = [length == len({_place(one)[0] for one in stream})
                     for length, stream in zip(told, streams, strict=True)]  # fmt: skip
            places = {_place(one)[0] for one in streams[0]}
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
    return any(len({_place(one)[0] for one in stream}) < FEW for stream in streams)


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


def _paced(one: Drawn, fio: list[Request], own: list[Request]) -> list[str]:
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


def _eighths(fio: list[Request], own: list[Request]) -> tuple[list[int], list[int]]:
    """The eighth of the whole range in which each request begins."""
    both = [one.offset for one in (*fio, *own)]
    if not both:
        return [], []
    low, width = min(both), (max(both) - min(both)) // 8 + 1
    return ([(one.offset - low) // width for one in fio],
            [(one.offset - low) // width for one in own])  # fmt: skip


def sizes_of(one: Drawn) -> list[int]:
    """All numbers among the sizes of a section, which are in bytes."""
    texts = [one.options[name] for name in ("bs", "bsrange", "bssplit") if name in one.options]
    return [int(part.partition("/")[0]) for text in texts for part in re.split("[-:,]", text)]


def most_popular(stream: list[Request]) -> int:
    """Requests to the place that has the most."""
    return Counter(one.offset for one in stream).most_common(1)[0][1]


def _popular(stream: list[Request]) -> list[int]:
    """The rank of the place of each request, up to the fourth."""
    ranks = {offset: rank for rank, (offset, _) in
             enumerate(Counter(one.offset for one in stream).most_common(3))}  # fmt: skip
    return [ranks.get(one.offset, 3) for one in stream]


def _neighbours(stream: list[Request]) -> list[bool]:
    """Whether each request begins where the one before ended."""
    pairs = itertools.pairwise(stream)
    return [one.offset + one.bytes == after.offset for one, after in pairs]


def _alike(what: str, fio: Iterable[Hashable], own: Iterable[Hashable]) -> list[str]:
    """Two samples of classes: chi-squared with the classes of few requests together."""
    counts = Counter(fio), Counter(own)
    sums = [sum(one.values()) for one in counts]
    if min(sums) < LEAST:
        return []
    classes = sorted(counts[0] | counts[1], key=lambda one: -(counts[0][one] + counts[1][one]))
    table: list[tuple[int, int]] = []
    rest = (0, 0)
    for one in classes:
        pair = counts[0][one], counts[1][one]
        if min(sums) * (pair[0] + pair[1]) / sum(sums) >= 5:
            table.append(pair)
        else:
            rest = rest[0] + pair[0], rest[1] + pair[1]
    if sum(rest):
        table.append(rest)
    square = 0.0
    for pair in table:
        for found, total in zip(pair, sums, strict=True):
            due = sum(pair) * total / sum(sums)
            square += (found - due) ** 2 / due
    chance = chi_squared(square, len(table) - 1)
    if chance >= CHANCE:
        return []
    return [f"{what}: {_listed(counts[0])} and {_listed(counts[1])} (chance {chance:.1e})"]


def _listed(counts: Counter[Hashable]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counts.most_common(6))


def chi_squared(square: float, freedom: int) -> float:
    """The chance of a larger sum of squares."""
    if freedom <= 0:
        return 1.0
    # By the series of the incomplete gamma function, and its continued fraction.
    a, x = freedom / 2, square / 2
    if x <= 0:
        return 1.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, 500):
            term *= x / (a + n)
            total += term
        return max(0.0, 1 - front * total)
    b = x + 1 - a
    c, d = 1e300, 1 / b
    fraction = d
    for n in range(1, 500):
        factor = -n * (n - a)
        b += 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        fraction *= c * d
    return front * fraction
