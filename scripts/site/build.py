"""Writes the manual as a folder of plain Markdown with one configuration, target/manual.

A generator of sites needs nothing else: no hook, no plugin of ours, no file outside the folder.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import yaml
from navigation import expanded

from pages import ROOT, files, manual

SETTINGS = ROOT / "mkdocs.yml"
NAVIGATION = re.compile(r"^nav:\n(?:[ #].*\n|\n)*", re.MULTILINE)


def settings(pages: dict[str, str]) -> str:
    """The configuration of the generator, with every page in its navigation."""
    text = SETTINGS.read_text(encoding="utf-8")
    found = NAVIGATION.search(text)
    if found is None:
        raise LookupError(f"{SETTINGS.name}: no nav")
    entries = expanded(yaml.safe_load(found.group())["nav"], pages)
    nav: str = yaml.safe_dump({"nav": entries}, sort_keys=False, allow_unicode=True, width=1000)
    whole = text[: found.start()] + nav + "\n" + text[found.end() :]
    return whole.partition("\n\n")[2]


def write(folder: Path) -> int:
    """Writes the folder anew, and returns the number of its pages."""
    docs = folder / "docs"
    if docs.exists():
        shutil.rmtree(docs)
    pages = manual()
    for name, content in (pages | files()).items():
        place = docs / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, place)
        else:
            place.write_text(content, encoding="utf-8")
    (folder / SETTINGS.name).write_text(settings(pages), encoding="utf-8")
    return len(pages)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "manual")
    out = parser.parse_args().out
    try:
        sys.stdout.write(f"{out}: {write(out)} pages\n")
    except LookupError as error:
        sys.exit(str(error))
