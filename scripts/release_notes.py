"""Prints the notes of a release from CHANGELOG.md.

    scripts/release_notes.py v0.2.0

They are refused where the tag is not the version in Cargo.toml, or the change log has no section
for it.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def section(changelog: str, version: str) -> str | None:
    """The text of the change log below `## VERSION`, with or without a date; None if nothing."""
    lines = changelog.splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith("## ")]
    for at, following in zip(heads, [*heads[1:], len(lines)], strict=True):
        words = lines[at].removeprefix("## ").replace("[", "").replace("]", "").split()
        if words[:1] == [version]:
            return "\n".join(lines[at + 1 : following]).strip() or None
    return None


def main(arguments: list[str]) -> int:
    """Prints the notes; status 1 with a reason where there are none."""
    if len(arguments) != 1:
        print("usage: scripts/release_notes.py TAG, as v0.2.0", file=sys.stderr)
        return 2
    version = arguments[0].removeprefix("v")
    stated = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    if version != stated:
        print(f"the tag is {version}, Cargo.toml says {stated}: set one to the other",
              file=sys.stderr)  # fmt: skip
        return 1
    notes = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    if notes is None:
        print(f"CHANGELOG.md has no section `## {version}`: rename `## Unreleased`",
              file=sys.stderr)  # fmt: skip
        return 1
    sys.stdout.write(notes + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
