"""Heads of pages: scheme, device, and a command that makes the page again."""

import html
import re
import shlex

import pytest

import flashgc as package
from flashgc.pages import provenance
from flashgc.pages.page import whole


def text_of(page):
    visible = page.partition("<details>")[0]
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<style>.*?</style>", "", visible)))


def again(page):
    return html.unescape(re.search(r'<pre class="again">(.*?)</pre>', page, re.S).group(1))


@pytest.fixture
def page(flashgc, small, tmp_path):
    """The page of a command, saved in a folder whose name a shell would split."""

    def made(*command):
        flashgc(*command, "--out", "it's here")
        return (tmp_path / "it's here/report.html").read_text()

    return made


@pytest.mark.parametrize("command", [["run"], ["compare", "--schemes", "greedy,fifo"]])
def test_a_head_says_what_ran(page, command):
    text = text_of(page(*command, "small.toml", "--seed", "7"))
    for words in (
        "synthetic, by small.toml",
        "2 channels x 1 chip x 1 die x 2 planes x 64 blocks x 32 pages of 4 KiB",
        "((physical - user) / user); the host sees",
        "filled sequential",
        f"flashgc {package.__version__}",
    ):
        assert words in text, words
    assert re.search(r"\bseed\s+7\b", text)


def test_the_command_of_a_page_makes_the_same_page(flashgc, page, small, tmp_path):
    first = page("run", "small.toml", "--set", 'gc.trigger.watermark.soft="4 blocks"')
    words = shlex.split(again(first))
    assert words[0] == "flashgc"
    (tmp_path / "it's here/report.html").unlink()
    flashgc(*words[1:])
    second = (tmp_path / "it's here/report.html").read_text()
    figures = r'"result_hash": "\w+"|&quot;result_hash&quot;: &quot;\w+'
    assert re.findall(figures, first) == re.findall(figures, second) != []


def test_the_call_of_a_page_makes_the_same_report(small, tmp_path):
    report = package.run(str(small), scheme="fifo", set={"precondition.overwrite": 0.5}, seed=3)
    assert eval(again(whole([report])), {"flashgc": package}).result_hash == report.result_hash
    several = package.compare(str(small), ["greedy", "fifo"], seeds=2)
    again_ = eval(again(whole(several)), {"flashgc": package})
    assert [one.result_hash for one in again_] == [one.result_hash for one in several]


def test_the_head_of_a_replay_names_its_trace(page, replay, spc):
    text = text_of(page("run", "replay.toml", "--trace", "requests.spc"))
    assert "trace requests.spc" in text


def test_the_head_of_a_run_on_a_saved_drive_names_it(flashgc, page, small):
    flashgc("drive", "save", "small.toml", "small.drive")
    text = text_of(page("run", "small.toml", "--drive", "small.drive"))
    assert "saved drive small.drive" in text


def test_the_page_of_a_trace_has_a_head(flashgc, spc, tmp_path):
    flashgc("trace", "info", "requests.spc", "--format", "spc", "--plot", "my plot.html")
    page = (tmp_path / "my plot.html").read_text()
    assert again(page) == "flashgc trace info requests.spc --format spc --plot 'my plot.html'"
    assert f"flashgc {package.__version__}" in text_of(page)


def test_a_comparison_shows_reads_and_writes_apart(small):
    page = whole(package.compare(small, ["greedy", "fifo"]))
    for kind in ("reads", "writes"):
        assert page.count(f"<h2>Latency of {kind}</h2>") == 1
        assert page.count(f"<figcaption>Latency of {kind}</figcaption>") == 1


@pytest.mark.parametrize("schemes", [["greedy"], ["greedy", "fifo"]])
def test_nothing_is_shown_twice_and_nothing_is_loaded(small, schemes):
    page = whole(package.compare(small, schemes))
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    twice = {row for row in rows if rows.count(row) > 1 and "<td>" in row}
    assert not twice
    assert not re.search(r"(?:src|href)=|url\(|@import", page.partition("<details>")[0])


def test_geometry_counts_in_singular_and_plural():
    shape = {"channels": 1, "chips_per_channel": 2, "dies_per_chip": 1, "planes_per_die": 1,
             "blocks_per_plane": 2048, "pages_per_block": 1, "page_bytes": 16384}  # fmt: skip
    told = provenance.geometry(shape)
    assert told == "1 channel x 2 chips x 1 die x 1 plane x 2,048 blocks x 1 page of 16 KiB"


def test_the_report_of_a_reproduction_has_a_head(flashgc, paper):
    flashgc("reproduce", "own-paper", code=1)
    report = (paper.parent / "runs/reproduce/own-paper/report.md").read_text()
    head = report.partition("\n## ")[0]
    assert "```sh\nflashgc reproduce own-paper\n```" in head
    for words in ("geometry: 2 channels x 1 chip", "over-provisioning: ", "preconditioning: filled",
                  "seed: ", f"version: flashgc {package.__version__}"):  # fmt: skip
        assert words in head, words
