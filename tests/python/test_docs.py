"""Every command and every example that the documentation shows does run."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+ (\S+\.\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block with the name of a file, which the commands of its page read."""


def blocks(page):
    return BLOCK.findall(page.read_text())


def command(flashgc, line):
    if line.startswith("make"):
        # What it would do; the real thing is what runs these tests.
        subprocess.run(["make", "-n", *shlex.split(line)[1:]], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return
    words = shlex.split(line)
    if words[0] == "flashgc" and ">" in words:
        at = words.index(">")
        Path(words[at + 1]).write_text(flashgc(*words[1:at]).out)
    elif words[0] == "flashgc":
        flashgc(*words[1:])
    else:
        assert words[0] == "cargo" or "=" in words[0], f"the test cannot run: {line}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_shows_runs(flashgc, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILE.findall(page.read_text()):
        Path(name).write_text(text)
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, str(page), "exec"), {})
            continue
        for line in text.replace("\\\n", " ").splitlines():
            bare = line.split(" #")[0].strip()
            if bare and not bare.startswith("#"):
                command(flashgc, bare)


def test_every_command_has_a_page():
    names = {page.stem for page in (ROOT / "docs/cli").glob("*.md")}
    assert names >= {"run", "compare", "drive", "trace", "schemes", "devices", "workloads",
                     "reproduce", "schema", "convert"}  # fmt: skip
