#!/usr/bin/env python3
"""Figures of the engine's house, to be compared between commits: `scripts/figures.py [FOLDER]`.

FOLDER is a checkout of the repository (this one). Code in `#[cfg(test)]` is not counted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

RUNNING = ("sim", "collect", "store", "host", "arbiter", "background", "flash", "allocation")
"""The rooms whose types change while a simulation runs."""
WATCHING = ("verify",)
"""Checker and observers."""
FEATURE = re.compile(
    r"\bplan\.(?!geometry\b|pools\b|timing\b|gc\b|seed\b)\w+|\bplan\.gc\.(?!trigger\b)\w+"
    r"|\bplan\.timing\.\w+|\bshape\.\w+(?:\(\))?\s*[><!=]|\bgeometry\.(?:readers\b|has_\w+|names_\w+)"
    r"|\bself\.(?:switches\.)?(?:rests|orders_instants|runs_unseen|follows_phases|begins_beside"
    r"|has_seconds|awaits_places|names_steps)\b|\bis_preemptive\(\)|\barbiter\.preemptive\(\)"
    r"|\bprices\.(?:asks_for|depends_on)_pages\(\)|\balloc\.(?:chooses_at_start|has_groups)\(\)"
)
"""Questions of the code whether the device or the scheme has a feature."""
PRICE = re.compile(
    r"\.(?:add_pages|program_again|set_passes|joined_program)\(|prices\.merging\("
    r"|\.nominal\((?:flash::)?Op::Program,"
)
STRUCT = re.compile(r"\bstruct (\w+)[^;{(]*\{\n(.*?)\n\}", re.DOTALL)
FIELD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?\w+:", re.MULTILINE)


def engine_of(root: Path) -> list[tuple[Path, str]]:
    """The sources of the engine's crates, with the room of those that are one."""
    crates = {"flashgc": "", "flashgc-model": "", "flashgc-workload": "workload",
              "flashgc-setup": "config", "flashgc-watch": ""}  # fmt: skip
    sources = [(root / "crates" / name / "src", room) for name, room in crates.items()]
    return [(source, room) for source, room in sources if source.is_dir()]


def code_of(root: Path, *rooms: str) -> Iterator[tuple[Path, str]]:
    """The files of rooms, or of the whole engine, without tests and comments."""
    for source, whole in engine_of(root):
        for path in sorted(source.rglob("*.rs")):
            name = Path(whole) / path.relative_to(source)
            if not rooms or name.parts[0].removesuffix(".rs") in rooms:
                text = path.read_text().split("#[cfg(test)]\nmod ")[0]
                yield name, re.sub(r"//.*", "", text)


def figures(root: Path) -> dict[str, str]:
    """The figures of a checkout."""
    priced = {
        str(path)
        for path, code in code_of(root)
        if PRICE.search(code) and path.parts[0] not in ("flash", *WATCHING)
    }
    asked = sum(len(FEATURE.findall(code)) for _, code in code_of(root, "sim"))
    types = [
        (len(FIELD.findall(body)), name, str(path))
        for path, code in code_of(root, *RUNNING)
        for name, body in STRUCT.findall(code)
    ]
    counted = [code for path, code in code_of(root) if path.parts[0] not in WATCHING]
    lines = sum(1 for code in counted for line in code.splitlines() if line.strip())
    largest = ", ".join(f"{name} {count}" for count, name, _ in sorted(types, reverse=True)[:3])
    return {
        "files that price what pages add to a program": ", ".join(sorted(priced)),
        "questions about features in sim": str(asked),
        "fields of the largest types in running rooms": largest,
        "lines of code without checker, observers and tests": str(lines),
        "files of them": str(len(counted)),
    }


if __name__ == "__main__":
    here = Path(__file__).resolve().parents[1]
    for name, value in figures(Path(sys.argv[1]) if len(sys.argv) > 1 else here).items():
        print(f"{name:52} {value}")
