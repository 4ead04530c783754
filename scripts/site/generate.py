"""Builds the manual as a site: writes it as plain Markdown, runs the generator, checks all links.

The generator is Zensical. It reads target/manual and nothing else.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import build
import links

from pages import ROOT


def generate(site: Path) -> str | None:
    """Builds the site, beside the folder of its Markdown; returns what is wrong, if anything is."""
    manual = site.parent / "manual"
    build.write(manual)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=manual, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    if site.exists():
        shutil.rmtree(site)
    (manual / "site").rename(site)
    return "\n".join(f"broken link: {line}" for line in links.broken(site)) or None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "site")
    try:
        wrong = generate(parser.parse_args().out.resolve())
    except LookupError as error:
        wrong = str(error)
    sys.exit(wrong)
