"""A story as lines: what happened from when until when, and for whom.

Consecutive operations of one collection, or of other requests, are one line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flashgc.formatting import units

OWN, HOST, COLLECTION, SPACE, BUFFER = "service", "host", "collection", "space", "buffer"
"""For whom a line is: the parts of a latency."""
LEFT_OUT = "left out"
"""For several: operations in a row that the engine has not kept one by one."""


class Line(NamedTuple):
    """A stretch of a story."""

    from_ns: int
    """From when, from the arrival of the request; below zero where it began earlier."""
    to_ns: int
    kind: str
    """For whom: `service`, `host`, `collection`, `space`, `buffer`; or `left out`."""
    text: str


class _Stay(NamedTuple):
    """The time of an operation at a unit: in its queue, and from its start."""

    unit: int
    queued_ns: int
    starts_ns: int
    end_ns: int
    lacks_space_ns: int | None
    """Since when it found no page."""
    carried: str | None
    """The way in which a collection carries it: merged or loaded."""
    suspensions: list[tuple[int, int]]
    """From when to when its program was suspended for reads."""


_WAITS = {
    "accepted": (HOST, "waits for an earlier request to its page"),
    "admitted": (HOST, "waits outside the drive, or to be accepted"),
    "command_begins": (OWN, "the firmware handles its command"),
    "command_handled": (HOST, "waits for the host's link, or to be accepted"),
    "crosses_link": (OWN, "its data crosses the host's link"),
    "crossed_link": (HOST, "waits for the host's link, or outside the drive"),
    "awaits_idle_unit": (HOST, "waits for an idle unit"),
    "awaits_buffer": (BUFFER, "waits for the write buffer"),
    "accesses_buffer": (OWN, "accesses the write buffer"),
    "done": (HOST, "waits for the host's link"),
    "awaits_flash": (BUFFER, "waits until flash has its data"),
}


def lines(story: Mapping[str, Any]) -> list[Line]:
    """The lines of a story, in order; times count from its arrival."""
    arrival, end, steps = story["arrival_ns"], story["end_ns"], story["steps"]
    found = []
    if steps and steps[0]["at_ns"] > arrival:
        found.append(Line(arrival, steps[0]["at_ns"], HOST, "waits outside the drive"))
    ends = [*(step["at_ns"] for step in steps[1:]), end]
    for step, next_ns in zip(steps, ends, strict=True):
        if step["step"] in _WAITS and next_ns > step["at_ns"]:
            found.append(Line(step["at_ns"], next_ns, *_WAITS[step["step"]]))
    for stay in _stays(steps, end):
        found += _at_unit(story, stay)
    shifted = [line._replace(from_ns=line.from_ns - arrival, to_ns=line.to_ns - arrival)
               for line in found]  # fmt: skip
    return sorted(shifted, key=lambda line: (line.from_ns, line.to_ns))


def _stays(steps: Sequence[Mapping[str, Any]], end_ns: int) -> Iterator[_Stay]:
    """The stays of an operation: each begins in the queue of a unit."""
    for at, step in enumerate(steps):
        if step["step"] != "queued":
            continue
        until, starts, lacks, carried = end_ns, None, None, None
        suspensions: list[tuple[int, int]] = []
        for later in steps[at + 1 :]:
            if later["step"] in {"queued", "done", "awaits_buffer", "awaits_idle_unit"}:
                until = later["at_ns"]
                break
            if later["step"] == "starts" and starts is None:
                starts = later["at_ns"]
            elif later["step"] == "awaits_space":
                lacks = later["at_ns"]
            elif later["step"] in {"merged", "loaded"}:
                carried = later["step"]
            elif later["step"] == "suspended":
                suspensions.append((later["at_ns"], end_ns))
            elif later["step"] == "resumed":
                suspensions[-1] = (suspensions[-1][0], later["at_ns"])
        yield _Stay(step["unit"], step["at_ns"], until if starts is None else starts, until, lacks,
                    carried, suspensions)  # fmt: skip


def _at_unit(story: Mapping[str, Any], stay: _Stay) -> list[Line]:
    """The work of a unit during a stay, and its rests while the operation waited."""
    collections = {(one["unit"], one["number"]): one for one in story["collections"]}
    work = [one for one in story["work"]
            if one["unit"] == stay.unit and one["to_ns"] > stay.queued_ns
            and one["from_ns"] < stay.end_ns and _concerns(one, stay)]  # fmt: skip
    work.sort(key=lambda one: one["from_ns"])
    found: list[Line] = []
    last_ns, at = stay.queued_ns, 0
    while at < len(work):
        group = _group(work, at, stay)
        first, end_ns = work[at], max(one["to_ns"] for one in group)
        if last_ns < first["from_ns"]:
            found.append(_rest(last_ns, first["from_ns"], stay, story))
        kind, text = _told(group, stay, collections)
        found.append(Line(first["from_ns"], end_ns, kind, text))
        last_ns, at = max(last_ns, end_ns), at + len(group)
    if last_ns < stay.starts_ns:
        found.append(_rest(last_ns, stay.starts_ns, stay, story))
    own_ns = max(last_ns, stay.starts_ns)
    if own_ns < stay.end_ns:
        # A write that is done when it is loaded ends before its program.
        found.append(Line(own_ns, stay.end_ns, OWN, f"its own {story['kind']}"))
    return found


def _concerns(one: Mapping[str, Any], stay: _Stay) -> bool:
    """Whether an operation of the unit is that of the stay, or one that it may have waited for.

    Where planes read by themselves, a read of another plane delays nothing after the start.
    """
    if "plane" not in one or one["to_ns"] <= stay.starts_ns:
        return True
    return (one["from_ns"], one["to_ns"]) == (stay.starts_ns, stay.end_ns)


def _group(work: Sequence[Mapping[str, Any]], at: int, stay: _Stay) -> list[Mapping[str, Any]]:
    """The operations from one on that share a line: without a rest between them."""
    first, group, until_ns = work[at], [work[at]], work[at]["to_ns"]
    for one in work[at + 1 :]:
        # Reads of several planes overlap.
        touches = "plane" in one and one["from_ns"] < until_ns
        if not touches and one["from_ns"] != group[-1]["to_ns"]:
            break
        if _key(one, stay) != _key(first, stay):
            break
        group.append(one)
        until_ns = max(until_ns, one["to_ns"])
    return group


def _key(one: Mapping[str, Any], stay: _Stay) -> object:
    if _is_left_out(one):
        return LEFT_OUT
    if not one["gc"]:
        return ("own", one["operation"]) if _is_own(one, stay) else "host"
    name = one["operation"]
    return (one["collection"], "copies" if name in _COPIES else name)


def _is_left_out(one: Mapping[str, Any]) -> bool:
    """Whether it stands for several operations."""
    return bool(one["operation"] == "left_out")


def _is_own(one: Mapping[str, Any], stay: _Stay) -> bool:
    if _is_left_out(one):
        return False
    if any(since_ns <= one["from_ns"] < until_ns for since_ns, until_ns in stay.suspensions):
        return False
    return not one["gc"] and stay.starts_ns <= one["from_ns"] and stay.carried != "merged"


_COPIES = {"copy", "copy-read", "copy-program", "read-out"}
_HOST = {"read": "read", "read-rest": "read-modify-write read", "program": "write"}
_HOSTS = {"read": "reads", "read-rest": "read-modify-write reads", "program": "writes"}


def _told(
    group: Sequence[Mapping[str, Any]], stay: _Stay, collections: Mapping[Any, Mapping[str, Any]]
) -> tuple[str, str]:
    first = group[0]
    if _is_own(first, stay):
        return OWN, f"its own {_HOST[first['operation']]}"
    if _is_left_out(first):
        return LEFT_OUT, _left_out(group)
    if not first["gc"]:
        return HOST, _others(Counter(one["operation"] for one in group))
    return COLLECTION, _collecting(
        group, stay, collections.get((first["unit"], first["collection"]))
    )


def _left_out(group: Sequence[Mapping[str, Any]]) -> str:
    """Operations that are not in the story: their number, and the pages that they copied."""
    operations = units.counted(sum(one["operations"] for one in group), "operation")
    pages = sum(one["pages"] for one in group)
    copied = f", with {units.counted(pages, 'page')} copied" if pages else ""
    return f"{operations} left out{copied}"


def _others(counts: Mapping[str, int]) -> str:
    """The operations of other requests, and flushes, which are of no request."""
    requests = [units.counted(counts[name], _HOST[name], several)
                for name, several in _HOSTS.items() if counts[name]]  # fmt: skip
    told = [f"{units.listed(requests)} of other requests"] if requests else []
    if counts["suspend"]:
        told.insert(0, "a program is suspended")
    if counts["flush"]:
        told.append(units.counted(counts["flush"], "flush of the write buffer",
                                  "flushes of the write buffer"))  # fmt: skip
    return ", ".join(told)


def _collecting(
    group: Sequence[Mapping[str, Any]], stay: _Stay, collection: Mapping[str, Any] | None
) -> str:
    name = group[0]["operation"]
    if collection is None:
        return {"program-copy": "writes pages of a collection of another unit"}.get(
            name, f"background work: {name}"
        )
    where = f"plane {collection['plane']}, {_blocks(collection)}"
    if name in _COPIES:
        pages = sum(one["pages"] for one in group if one["operation"] != "copy-read")
        valid = sum(block["valid"] for block in collection["blocks"])
        if not pages:
            return f"collection of {where}: reads valid pages"
        of = f"collection of {where}: copies {pages} of {units.counted(valid, 'valid page')}"
        carries = stay.carried == "merged" and group[-1]["to_ns"] == stay.end_ns
        return f"{of}, with this write" if carries else of
    return f"collection of {where}: {_STEPS.get(name, name)}"


_STEPS = {"erase": "erase", "collection": "copies and erase", "suspend": "is suspended",
          "poll": "polls the queue"}  # fmt: skip


def _blocks(collection: Mapping[str, Any]) -> str:
    blocks = [str(one["block"]) for one in collection["blocks"]]
    if len(blocks) == 1:
        return f"block {blocks[0]}"
    shown = blocks if len(blocks) <= 3 else [*blocks[:2], "..."]
    return f"{len(blocks)} blocks ({', '.join(shown)})"


def _rest(from_ns: int, to_ns: int, stay: _Stay, story: Mapping[str, Any]) -> Line:
    """The unit does nothing while the operation waits for it."""
    if stay.lacks_space_ns is not None and stay.lacks_space_ns <= from_ns:
        return Line(from_ns, to_ns, SPACE, "waits for a page to write to")
    closed = any(one["unit"] == stay.unit and one["selected_ns"] <= from_ns
                 and (one["end_ns"] is None or one["end_ns"] > from_ns)
                 for one in story["collections"])  # fmt: skip
    if closed:
        return Line(from_ns, to_ns, COLLECTION, "the unit rests: a collection keeps it closed")
    return Line(from_ns, to_ns, HOST, "the unit rests")
