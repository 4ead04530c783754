"""Regenerates the pictures of docs/gallery.md, each by the commands below it, into docs/images.

    scripts/gallery.py [NAME ...]

Without a name all are drawn whose commands name a file as the picture; the others have scripts of
their own.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
PICTURE = re.compile(r"^!\[[^\]]*\]\(images/(\S+)\)$", re.MULTILINE)
FILE = re.compile(r"^```toml (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MADE = "# the picture: "


def entries() -> dict[str, tuple[list[str], str | None]]:
    """For each picture of the page its commands, and the file that is the picture if it says so."""
    found = {}
    _, *parts = PICTURE.split(PAGE.read_text(encoding="utf-8"))
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        block = COMMANDS.search(text)
        if block is None:
            raise LookupError(f"docs/gallery.md: images/{name} has no command")
        lines = [line.removeprefix("$ ") for line in block[1].splitlines()]
        made = [line.removeprefix(MADE) for line in lines if line.startswith(MADE)]
        commands = [line for line in lines if not line.startswith("#")]
        found[name] = commands, made[0] if made else None
    return found


def draw(folder: Path, names: list[str]) -> None:
    """Runs the commands in this folder, each once, and copies the pictures."""
    for name, text in FILE.findall(PAGE.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
    done = set()
    for name, (commands, made) in entries().items():
        if made is None or (names and name not in names):
            continue
        for line in commands:
            if line not in done:
                done.add(line)
                words = shlex.split(line)
                program = str(Path(sys.executable).with_name(words[0]))
                subprocess.run([program, *words[1:]], cwd=folder, check=True, stdout=sys.stderr)
        (ROOT / "docs" / "images" / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / made, ROOT / "docs" / "images" / name)
        sys.stdout.write(f"docs/images/{name}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder), sys.argv[1:])
