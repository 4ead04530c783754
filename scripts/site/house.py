"""The picture of the engine's rooms, drawn from the code: docs/images/house.svg.

A room is a folder or a file of the engine's crates, or one of them as a whole. It lies above all
that it uses. An arrow leads to each room that is used directly and by no room between the two; what
else a room uses can be reached along the arrows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CRATES = {
    "flashgc-model": "",
    "flashgc-workload": "workload",
    "flashgc-setup": "config",
    "flashgc-watch": "",
    "flashgc": "",
}
"""The crates of the engine, and the room of those that are one."""
SOURCES = {ROOT / "crates" / name / "src": room for name, room in CRATES.items()}
PICTURE = ROOT / "docs" / "images" / "house.svg"
USED = re.compile(
    r"(?<!\w)(?:crate|flashgc_model|flashgc_watch)::(?:\{([^}]*)\}|(\w+))|\bflashgc_(workload)\b"
)

WIDTH, HEIGHT = 104, 30
ACROSS, DOWN = 128, 74
MARGIN = 14


def rooms(sources: Mapping[Path, str] = SOURCES) -> dict[str, set[str]]:
    """Each room, and those that it uses."""
    found: dict[str, set[str]] = {}
    for source, whole in sources.items():
        for path in sorted(source.rglob("*.rs")):
            room = whole or path.relative_to(source).parts[0].removesuffix(".rs")
            if room == "lib":
                continue
            code = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
            code = "\n".join(line.partition("//")[0] for line in code.splitlines())
            if whole:
                # Its own files are `crate` there.
                code = re.sub(r"(?<!\w)crate::", "", code)
            used = found.setdefault(room, set())
            for several, one, crate in USED.findall(code):
                used.update(re.findall(r"\w+", several) if several else [one or crate])
    return {room: (used - {room}) & found.keys() for room, used in found.items()}


def heights(uses: dict[str, set[str]]) -> dict[str, int]:
    """The floor of each room: one above the highest room that it uses."""
    floors: dict[str, int] = {}
    left = dict(uses)
    while left:
        ready = [room for room, used in left.items() if used <= floors.keys()]
        if not ready:
            raise ValueError(f"rooms use each other: {', '.join(sorted(left))}")
        for room in ready:
            floors[room] = 1 + max((floors[used] for used in left.pop(room)), default=-1)
    return floors


def direct(uses: dict[str, set[str]]) -> dict[str, set[str]]:
    """The uses that no path through another room replaces."""
    reach: dict[str, set[str]] = {}
    for room in sorted(uses, key=heights(uses).__getitem__):
        reach[room] = set(uses[room]).union(*(reach[used] for used in uses[room]))
    return {
        room: {one for one in used if not any(one in reach[other] for other in used)}
        for room, used in uses.items()
    }


def places(uses: dict[str, set[str]]) -> dict[str, tuple[float, int]]:
    """The column and the floor of each room: above the middle of those that it uses."""
    floors = heights(uses)
    columns: dict[str, float] = {}
    for floor in range(max(floors.values()) + 1):
        here = [room for room, at in floors.items() if at == floor]

        def middle(room: str) -> float:
            used = [columns[one] for one in uses[room]]
            return sum(used) / len(used) if used else 0.0

        here.sort(key=lambda room: (middle(room), room))
        for at, room in enumerate(here):
            columns[room] = at - (len(here) - 1) / 2
    return {room: (columns[room], floors[room]) for room in uses}


def svg() -> str:
    """The picture."""
    uses = rooms()
    where = places(uses)
    left = min(column for column, _ in where.values())
    right = max(column for column, _ in where.values())
    top = max(floor for _, floor in where.values())
    width = (right - left) * ACROSS + WIDTH + 2 * MARGIN
    height = top * DOWN + HEIGHT + 2 * MARGIN

    def corner(room: str) -> tuple[float, float]:
        column, floor = where[room]
        return MARGIN + (column - left) * ACROSS, MARGIN + (top - floor) * DOWN

    lines, boxes = [], []
    for room, used in sorted(direct(uses).items()):
        x, y = corner(room)
        middle, foot = x + WIDTH / 2, y + HEIGHT
        for one in sorted(used):
            to_x, to_y = corner(one)
            to_x += WIDTH / 2
            lines.append(
                f'<path d="M{middle:g} {foot:g}C{middle:g} {y + DOWN - 12:g} '
                f'{to_x:g} {to_y - DOWN + HEIGHT + 12:g} {to_x:g} {to_y:g}"/>'
            )
        title = f"{room} uses {', '.join(sorted(uses[room]))}" if uses[room] else room
        boxes.append(
            f'<g><title>{escape(title)}</title><rect x="{x:g}" y="{y:g}" width="{WIDTH}" '
            f'height="{HEIGHT}" rx="5"/><text x="{middle:g}" y="{y + 20:g}">{room}</text></g>'
        )
    style = (
        "rect{fill:#eef1fb;stroke:#3f51b5}path{fill:none;stroke:#9aa0a6}"
        "text{font:13px sans-serif;text-anchor:middle;fill:#1a1a1a}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img">',
            "<title>The rooms of the engine: each lies above those that it uses</title>",
            f"<style>{style}</style>",
            f'<rect width="{width:g}" height="{height:g}" style="fill:#fff;stroke:none"/>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}\n")
