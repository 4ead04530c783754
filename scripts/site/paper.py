"""The tool paper: its PDF from docs/paper/flashgc.typ.

`python scripts/site/paper.py` writes target/paper/flashgc.pdf. Counts of files and the version come
from the repository; all other numbers stand in docs/paper/sources.toml.
"""

from __future__ import annotations

import datetime
import sys
import tomllib
from pathlib import Path

import typst

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "paper"
SOURCE = FOLDER / "flashgc.typ"
PAGE = FOLDER / "README.md"
PDF = ROOT / "target" / "paper" / "flashgc.pdf"
MADE = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
"""The time in the file, so that equal sources give equal bytes."""


def sources() -> dict[str, dict[str, str]]:
    """For each number of the paper, where it comes from."""
    return tomllib.loads((FOLDER / "sources.toml").read_text(encoding="utf-8"))


def count(one: dict[str, str]) -> int:
    """The number of the files that a source names, or of the lines of a kind in them."""
    paths = sorted(ROOT.glob(one["count"]))
    if "lines" not in one:
        return len(paths)
    return sum(path.read_text(encoding="utf-8").splitlines().count(one["lines"]) for path in paths)


def inputs() -> dict[str, str]:
    """What the document cannot read by itself."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    counts = {key: str(count(one)) for key, one in sources().items() if "count" in one}
    for path in ROOT.glob("papers/*/claims.toml"):
        one = {"count": str(path.relative_to(ROOT)), "lines": "[[claims]]"}
        counts[f"claims-{path.parent.name}"] = str(count(one))
    return counts | {"version": cargo["workspace"]["package"]["version"]}


def build(out: Path = PDF) -> None:
    """Writes the PDF; an error of the document is an error here."""
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        typst.compile(
            SOURCE, output=out, root=ROOT, ignore_system_fonts=True, sys_inputs=inputs(),
            timestamp=MADE,
        )  # fmt: skip
    except typst.TypstError as error:
        raise LookupError(f"docs/paper/flashgc.typ: {error}") from None


if __name__ == "__main__":
    try:
        build()
    except LookupError as error:
        sys.exit(str(error))
    sys.stdout.write(f"{PDF.relative_to(ROOT)}\n")
