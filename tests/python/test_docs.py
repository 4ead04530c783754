"""Every command and every example of the manual runs, and prints what the page shows.

A block "text output" after an example is its standard output at 80 columns, where `...` stands for
any text. `FLASHGC_BLESS=1` writes the output into the pages.

A run of `oltp` whose output no page shows takes a smaller drive and fewer requests, unless the
example sets them itself; `FLASHGC_LONG=1` runs every example as it is written.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from conftest import LONG, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(
    r"^```(sh|python)\n(.*?)^```\n(?:\n```text output\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
# How long a run takes is another on every machine.
TOOK = re.compile(r"^took .*\n(?: .*\n)*", re.MULTILINE)
BLESS = os.environ.get("FLASHGC_BLESS") == "1"
FILE = re.compile(r"^```\w+ (\S+\.\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block with the name of a file, which the commands of its page read."""


SMALLER = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 100_000}


def blocks(page):
    return BLOCK.findall(page.read_text())


def smaller(words):
    """The words of a command, with settings for a shorter run where nothing depends on them."""
    if LONG or "--drive" in words:
        return words
    sets = [(key, f"{key}={value}") for key, value in SMALLER.items()]
    if words[0] == "run" and words[1].endswith(".fio"):
        sets = sets[:1]  # its jobs say how many requests there are
    elif words[:2] not in (["run", "oltp"], ["compare", "oltp"]):
        return words
    more = (["--set", text] for key, text in sets if not any(key in word for word in words))
    return [*words, *(word for pair in more for word in pair)]


def command(flashgc, line, shows):
    """Runs a line of a shell block, and returns its output."""
    if line.startswith("make"):
        # A dry run only, since the real command runs these tests.
        subprocess.run(["make", "-n", *shlex.split(line)[1:]], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return ""
    words = shlex.split(line)
    if words[0] == "git":
        # The repository under test stays as it is: a patch has to apply, and no more.
        if words[1] == "apply" and "-R" not in words:
            subprocess.run(["git", "apply", "--check", words[-1]], cwd=ROOT, check=True)
        return ""
    if words[0] != "flashgc":
        assert words[0] == "cargo" or "=" in words[0], f"the test cannot run: {line}"
        return ""
    if ">" in words:
        at = words.index(">")
        Path(words[at + 1]).write_text(flashgc(*words[1:at]).out)
        return ""
    words = words[1:] if shows else smaller(words[1:])
    return flashgc(*words, env={"COLUMNS": "80"}).out


def printed(flashgc, page, kind, text, shows):
    """The output of an example."""
    if kind == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(page), "exec"), {})
        return out.getvalue()
    lines = (line.split(" #")[0].strip() for line in text.replace("\\\n", " ").splitlines())
    lines = [line for line in lines if line and not line.startswith("#")]
    return "".join(command(flashgc, line, shows) for line in lines)


def differs(shown, found):
    """Where the output differs from that of the page, if it does."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
    checker = doctest.OutputChecker()
    if checker.check_output(shown, found, flags):
        return None
    return checker.output_difference(doctest.Example("", shown), found, flags)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_shows_runs_and_prints_what_it_says(flashgc, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILE.findall(page.read_text()):
        Path(name).write_text(text)
    for kind, text, shown in blocks(page):
        found = printed(flashgc, page, kind, text, bool(shown))
        if not shown:
            continue
        if BLESS and differs(shown, found):
            page.write_text(page.read_text().replace(shown, TOOK.sub("...\n", found), 1))
            continue
        assert differs(shown, found) is None, f"{page.name}: {text}\n{differs(shown, found)}"


def test_settings_of_an_example_are_kept():
    requests, blocks = (f"{key}={value}" for key, value in reversed(SMALLER.items()))
    if not LONG:
        assert smaller(["run", "oltp"]) == ["run", "oltp", "--set", blocks, "--set", requests]
        given = ["compare", "oltp", "--set", "workload.synthetic.requests=5"]
        assert smaller(given) == [*given, "--set", blocks]
        assert smaller(["run", "job.fio"]) == ["run", "job.fio", "--set", blocks]
    for other in (["drive", "save", "oltp", "d"], ["run", "oltp", "--drive", "d"]):
        assert smaller(other) == other


def test_another_output_is_noticed():
    assert differs("write amplification  5.00\n...\n", "write amplification  5.00\nx\n") is None
    assert differs("write amplification  5.00\n", "write amplification  5.01\n")


def test_every_command_has_a_page():
    names = {page.stem for page in (ROOT / "docs/cli").glob("*.md")}
    assert names >= {"run", "compare", "advise", "drive", "trace", "schemes", "devices",
                     "workloads", "sweep", "reproduce", "schema", "convert"}  # fmt: skip
