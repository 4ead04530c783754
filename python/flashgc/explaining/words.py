"""A story in words, the same on a terminal and on a page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.explaining.lines import Line, lines
from flashgc.formatting import units
from flashgc.results import blame

Rows = list[list[str]]

MOST_ROWS = 24
"""Lines of a story that are shown; the others are in --json."""

_COLUMNS = 80
_FIXED = "\N{NO-BREAK SPACE}"

NOTHING = "the run has no request of this kind"

_PARTS = {"service_ns": "service", "host_ns": "other requests", "copies_ns": "copies",
          "erase_ns": "erase", "bus_ns": "collection on the bus",
          "switch_ns": "suspending and resuming", "blocked_ns": "closed planes",
          "space_ns": "space", "buffer_ns": "buffer"}  # fmt: skip


def title(story: Mapping[str, Any]) -> str:
    """The request: its number, kind, size and address."""
    told = f"request {story['request']:,}: {story['kind']}"
    if not story["pages"]:
        return told
    return f"{told} of {units.size(story['size_bytes'])} at byte {story['offset_bytes']:,}"


def about(story: Mapping[str, Any]) -> str:
    """Arrival, latency, and the parts of the latency."""
    told = f"{units.time(story['latency_ns'])} from its arrival at {instant(story['arrival_ns'])}"
    if story["pages"] > 1:
        told += f"; timeline of the last of its {story['pages']} pages"
    return told


def instant(ns: int) -> str:
    """An instant of a run, to the microsecond.

    >>> from flashgc.explaining.words import instant
    >>> instant(3_214_000_123)
    '3.214000 s'
    """
    return f"{ns / 1e9:.6f} s"


def split(story: Mapping[str, Any]) -> str:
    """The parts of the latency that are above zero."""
    if not story["latency_ns"]:
        return "no time at all"
    parts = story["parts"]
    if parts is None:
        return f"the latency of a {story['kind']} has no parts"
    told = [f"{name} {units.time(parts[key])}" for key, name in _PARTS.items() if parts.get(key)]
    return ", ".join(told)


def rows(story: Mapping[str, Any]) -> Rows:
    """A row for each line: from when, for how long, and what; times count from the arrival."""
    found = [[since(line.from_ns), units.time(line.to_ns - line.from_ns), line.text]
             for line in lines(story)]  # fmt: skip
    head = ["at", "for", _unit(story)]
    if len(found) <= MOST_ROWS:
        return [head, *found]
    half = MOST_ROWS // 2
    left = len(found) - 2 * half
    between = f"... {units.counted(left, 'more line')}"
    return [head, *found[:half], ["", "", between], *found[-half:]]


def since(ns: int) -> str:
    """A time from the arrival on; earlier times have a minus."""
    return f"{'-' if ns < 0 else ''}{units.time(abs(ns))}"


def text(story: Mapping[str, Any]) -> str:
    """The whole story as lines of text, each of at most 80 columns."""
    found = [_wrapped("", one) for one in (title(story), about(story), split(story))]
    found += [_wrapped("".join(f"{cell}  " for cell in times), what)
              for *times, what in rows(story)[1:]]  # fmt: skip
    return "\n".join(found)


def _wrapped(head: str, told: str) -> str:
    """A line, whose further lines begin below its text; a number keeps its unit."""
    fixed = re.sub(r"(?<=\d) (?=\S)", _FIXED, told)
    found = textwrap.wrap(
        fixed, _COLUMNS, initial_indent=head, subsequent_indent=" " * (len(head) or 2),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return "\n".join(found).replace(_FIXED, " ")


def _unit(story: Mapping[str, Any]) -> str:
    found = list(dict.fromkeys(step["unit"] for step in story["steps"] if "unit" in step))
    return "unit " + ", then ".join(map(str, found)) if found else ""


def legend(found: Sequence[Line]) -> list[str]:
    """The kinds of lines, in the order of the parts."""
    kinds = {line.kind for line in found}
    return [part for part in blame.PARTS if part in kinds]
