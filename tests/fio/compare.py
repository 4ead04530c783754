"""Whether the streams of fio and of flashgc are the same, or come from the same distributions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chance import alike, eighths, neighbours, popular
from counts import count_differences, paced_differences
from determined import blocks, ends_with_rest, has_random_turns, is_cut_by_chance, is_of_one_size
from draw import Drawn
from theirs import Outcome, Request
from turns import FAR, fixed_differences, pass_differences, place

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
            if one.scattered and not is_of_one_size(one):
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
        if is_due and not is_cut_by_chance(one) and counted != own:
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
        return paced_differences(one, fio, own)
    found = []
    is_fixed = not one.has_drawn_sizes and not has_random_turns(one)
    if shared:
        fio, own = sorted(fio, key=place), sorted(own, key=place)
    if is_fixed and not one.is_random and (len(one.kinds) == 1 or "trim" in one.kinds):
        if (at := _first_difference(fio, own)) is not None:
            found.append(f"request {at}: {_shown(fio, at)} and {_shown(own, at)}, "
                         f"of {len(fio)} and {len(own)}")  # fmt: skip
        return found
    found += count_differences(one, fio, own)
    found += pass_differences(one, fio, own, shared=shared)
    found += fixed_differences(one, fio, own, shared=shared)
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
        found += alike(f"sizes of {kind}s", *([one.bytes for one in part] for part in parts))
        if has_places and not one.scattered and one.is_random:
            # Places of sequential requests follow from kinds and sizes.
            found += alike(f"places of {kind}s", *eighths(*(part[::step] for part in parts)))
    found += alike("kinds", *([one.kind for one in stream] for stream in moves))
    if one.scattered and "filesize" not in one.options and blocks(moves[0], one) >= BLOCKS_LEAST:
        # Of few blocks, fio's hash gives several ranks the same one, and so it does for some
        # numbers of blocks in addition to the size: 600 ranks have 41 blocks.
        found += alike("popularity", *(popular(stream) for stream in moves))
    elif not (shared or one.scattered or ends_with_rest(one)):
        found += alike("neighbours", *(neighbours(stream) for stream in moves))
    return found


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


def _key(one: Request) -> tuple[str, int, int]:
    return one.kind, one.offset, one.bytes


def _first_difference(fio: list[Request], own: list[Request]) -> int | None:
    for at, (one, other) in enumerate(zip(fio, own, strict=False)):
        if _key(one) != _key(other):
            return at
    return None if len(fio) == len(own) else min(len(fio), len(own))


def _shown(stream: list[Request], at: int) -> str:
    return f"{stream[at].kind} {stream[at].offset}+{stream[at].bytes}" if at < len(stream) else "-"
