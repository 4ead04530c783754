"""Every command and every example of the manual runs, and prints what the page shows.

A block "text output" after an example is its standard output at 80 columns, where `...` stands for
any text. `FLASHGC_BLESS=1` writes the output into the pages.

A run whose output no page shows has at most 20,000 requests, one of `oltp` a smaller drive, of
which less is overwritten before where the page says that it is large, advice has smaller blocks,
the same advice or reproduction runs once, and a calibration of 25 s not at all; `FLASHGC_LONG=1`
runs every example as it is written.
"""

import contextlib
import doctest
import functools
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from conftest import LONG, ROOT
from in_process import apart

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(
    r"^```(sh|python)\n(.*?)^```\n(?:\n```text output\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
# The duration of a run differs on every machine.
TOOK = re.compile(r"^took .*\n(?: .*\n)*", re.MULTILINE)
BLESS = os.environ.get("FLASHGC_BLESS") == "1"
IS_WHOLE = LONG or BLESS
"""Whether examples run as the pages have them."""
FILE = re.compile(r"^```\w+ (\S+\.\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block with the name of a file, which the commands of its page read."""


SHORTER = {
    "docs/llm-serving.md": (
        "serve(env",
        'in (("28 %", 207), ("7 %", 160)):\n'
        '    for name, hints in ((spare, NO_HINTS), (f"{spare}, handles", HINTS)):',
        'in (("28 %", 207),):\n    for name, hints in ((f"{spare}, handles", HINTS),):',
    ),
    "docs/sprandom.md": (
        "COLLECTORS",
        'in ("7%", "15%", "28%"):\n        for',
        'in ("15%",):\n        for',
    ),
    "docs/suspended-programs.md": (
        "host_max_suspends",
        '("greedy", 0.0, "without", {}), ("greedy", 0.0, "with", on), ("greedy", 0.0, "once", once)'
        ',\n    ("fpgc", 1.5, "without", {}), ("fpgc", 1.5, "with", on),\n'
        '    ("tokens-fpgc", 1.5, "without", {}), ',
        '("greedy", 0.0, "once", once), ',
    ),
    "docs/victims.md": (
        "victims.toml",
        '"second-chance", "fifo", "random", "d-choices", "cost-benefit", "cost-age-times",',
        '"d-choices",',
    ),
}
"""Examples of several seconds: a word of the example, a text of the page, and its replacement in
the short form, whose lines are among those of the page."""
SMALLER = {
    "README.md": ("seed = { from = 1, to = 3 }", "seed = [1]"),
    "docs/gallery.md": ('requests" = 50_000', 'requests" = 2_000'),
    "docs/report.md": ('"workload.synthetic.queue_depth" = [1, 8]\nseed = [1, 2]', "seed = [1, 2]"),
    "docs/superblocks.md": (
        'requests = 1_000_000\nread_share = 0.0\nsize = "4 KiB"\nqueue_depth = 64\n\n'
        '[precondition]\nfill = "sequential"\noverwrite = 3.0\n',
        'requests = 20_000\nread_share = 0.0\nsize = "4 KiB"\nqueue_depth = 64\n\n'
        '[precondition]\nfill = "sequential"\noverwrite = 0.2\n',
    ),
}
"""Files of examples whose output no page shows: a text, and its replacement in the short form."""
SAMPLED = {"docs/placement.md": ("placement.toml", "skew.toml")}
"""Examples of a minute, by a word of each: test_docs_samples.py has a sample of their values."""

LONGEST = {"docs/calibrate.md": ("flashgc calibrate result.json",)}
"""An example whose run takes 25 s, by a word of it: in the long form alone. test_calibrate.py has
the output of such a command."""

BLOCKS, REQUESTS = "device.blocks_per_plane", "workload.synthetic.requests"
OVERWRITE, PAGES_OF_BLOCK = "precondition.overwrite", "device.pages_per_block"
MOST_BLOCKS, MOST_REQUESTS, MOST_OVERWRITTEN, MOST_PAGES = 64, 20_000, 0.2, 16


def blocks(page):
    return BLOCK.findall(page.read_text())


def text_of(page):
    """The text of a page, in the short form."""
    text, name = page.read_text(), str(page.relative_to(ROOT))
    shorter = [SHORTER[name][1:]] if name in SHORTER else []
    for whole, part in [*shorter, *([SMALLER[name]] if name in SMALLER else [])]:
        assert text.count(whole) == 1, f"{name} has no {whole}"
        text = text if IS_WHOLE else text.replace(whole, part)
    return text


def is_left_out(page, kind, text):
    """Whether the short form has a sample of an example, or its test elsewhere."""
    words = {"python": SAMPLED, "sh": LONGEST}[kind].get(str(page.relative_to(ROOT)), ())
    return not IS_WHOLE and any(word in text for word in words)


def smaller(words):
    """The words of a command, with settings for a shorter run where nothing depends on them."""
    if LONG or "--drive" in words or words[0] not in {"run", "compare", "advise"}:
        return words
    if words[0] == "advise":
        return [*words, "--set", f"{PAGES_OF_BLOCK}={MOST_PAGES}"]
    words = [re.sub(rf"^{REQUESTS}=([\d_]+)$", fewer, word) for word in words]
    is_oltp, has_jobs = words[1] == "oltp", words[1].endswith(".fio")
    more = [(BLOCKS, MOST_BLOCKS)] * (is_oltp or has_jobs)
    more += [(REQUESTS, MOST_REQUESTS)] * is_oltp
    # The layers and sub-blocks of other devices divide their own blocks.
    more += [(PAGES_OF_BLOCK, MOST_PAGES)] * (is_oltp and "--device" not in words)
    given = {word.partition("=")[0]: word.partition("=")[2] for word in words}
    more += [(OVERWRITE, MOST_OVERWRITTEN)] * (is_oltp and int(given.get(BLOCKS, 0)) > 64)
    return words + [part for key, most in more if key not in given
                    for part in ("--set", f"{key}={most}")]  # fmt: skip


def fewer(found):
    return f"{REQUESTS}={min(int(found[1]), MOST_REQUESTS)}"


def lines_of(text):
    """The commands of a shell block."""
    lines = (line.split(" #")[0].strip() for line in text.replace("\\\n", " ").splitlines())
    return [" ".join(line.split()) for line in lines if line and not line.startswith("#")]


@functools.cache
def homes():
    """The page that runs a command which leaves nothing to later ones: the first that has it."""
    found = {}
    for page in PAGES:
        for kind, text, shown in blocks(page):
            lines = lines_of(text) if kind == "sh" else []
            for line in lines:
                if (
                    line.split()[1:2] in (["advise"], ["reproduce"], ["tune"], ["calibrate"])
                    and "--out" not in line
                ):
                    found.setdefault(line, page)
                    if shown:
                        found[line] = page
    return found


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


def printed(flashgc, page, kind, text, shows, before):
    """The output of an example, after the commands that ran before it on its page."""
    if kind == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(page), "exec"), {})
        return out.getvalue()
    lines = [
        line
        for line in lines_of(text)
        if LONG or shows or (homes().get(line, page) == page and line not in before)
    ]
    before += lines
    return "".join(command(flashgc, line, shows) for line in lines)


def differs(shown, found):
    """The place where the output differs from the page, if it does."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
    checker = doctest.OutputChecker()
    if checker.check_output(shown, found, flags):
        return None
    return checker.output_difference(doctest.Example("", shown), found, flags)


def is_shorter(page, text):
    word, *_ = SHORTER.get(str(page.relative_to(ROOT)), [None])
    return not IS_WHOLE and bool(word) and word in text


def is_part(shown, found):
    """Whether the output has some lines of the page and no others, in the same order."""
    lines = iter(shown.splitlines())
    return bool(found.strip()) and all(line in lines for line in found.splitlines())


@apart
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_shows_runs_and_prints_what_it_says(flashgc, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole, before = text_of(page), []
    for name, text in FILE.findall(whole):
        Path(name).write_text(text)
    for kind, text, shown in BLOCK.findall(whole):
        if is_left_out(page, kind, text):
            continue
        found = printed(flashgc, page, kind, text, bool(shown), before)
        if not shown:
            continue
        if is_shorter(page, text):
            assert is_part(shown, found), f"{page.name}: {text}\n{found}"
            continue
        if BLESS and differs(shown, found):
            page.write_text(page.read_text().replace(shown, TOOK.sub("...\n", found), 1))
            continue
        assert differs(shown, found) is None, f"{page.name}: {text}\n{differs(shown, found)}"


@pytest.mark.skipif(LONG, reason="every example runs as it is written")
def test_settings_of_an_example_are_kept():
    small = ["--set", f"{PAGES_OF_BLOCK}=16"]
    assert smaller(["run", "oltp"]) == ["run", "oltp", "--set", f"{BLOCKS}=64", "--set",
                                        f"{REQUESTS}=20000", *small]  # fmt: skip
    given = ["compare", "oltp", "--set", f"{REQUESTS}=5", "--set", f"{BLOCKS}=32"]
    assert smaller(given) == [*given, *small]
    assert smaller([*given, "--device", "mqsim"]) == [*given, "--device", "mqsim"]
    assert smaller(["run", "x.toml", "--set", f"{REQUESTS}=500_000"])[-1] == f"{REQUESTS}=20000"
    large = ["run", "oltp", "--set", f"{BLOCKS}=512", "--set", f"{REQUESTS}=5"]
    assert smaller(large) == [*large, *small, "--set", f"{OVERWRITE}=0.2"]
    given = [*large, "--set", f"{OVERWRITE}=1"]
    assert smaller(given) == [*given, *small]
    assert smaller(["run", "job.fio"]) == ["run", "job.fio", "--set", f"{BLOCKS}=64"]
    assert smaller(["advise", "oltp"]) == ["advise", "oltp", *small]
    for other in (["drive", "save", "oltp", "d"], ["run", "oltp", "--drive", "d"]):
        assert smaller(other) == other


def test_no_command_is_left_to_a_page_that_does_not_have_it():
    assert len(homes()) >= 4
    for line, page in homes().items():
        assert any(line in lines_of(text) for _, text, _ in blocks(page))


def test_every_output_is_that_of_an_example():
    """An output that does not follow its example at once would be compared with nothing."""
    for page in PAGES:
        shown = [text for _, _, text in blocks(page) if text]
        assert page.read_text().count("```text output\n") == len(shown), page


def test_no_output_of_a_page_is_empty():
    """A block that was never filled shows nothing, and would be compared with nothing."""
    for page in PAGES:
        assert "```text output\n```" not in page.read_text(), page


def test_the_short_form_of_a_page_is_one_example_of_it():
    for name, word in [
        *((name, word) for name, words in (SAMPLED | LONGEST).items() for word in words),
        *((name, word) for name, (word, *_) in SHORTER.items()),
    ]:
        shown = [text for kind, text, shown in blocks(ROOT / name) if shown and word in text]
        assert len(shown) == 1, (name, word)
    assert is_part("a\nb\nc\n", "a\nc\n")
    assert not any(is_part("a\nb\nc\n", other) for other in ("", "a\nd\n", "c\na\n"))


def test_another_output_is_noticed():
    assert differs("write amplification  5.00\n...\n", "write amplification  5.00\nx\n") is None
    assert differs("write amplification  5.00\n", "write amplification  5.01\n")


def test_every_command_has_a_page():
    names = {page.stem for page in (ROOT / "docs/cli").glob("*.md")}
    assert names >= {"run", "compare", "advise", "explain", "animate", "report", "drive", "trace",
                     "schemes", "devices", "workloads", "sweep", "tune", "calibrate",
                     "reproduce", "schema",
                     "convert", "serve", "top", "fio", "pts"}  # fmt: skip
