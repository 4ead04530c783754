"""`flashgc reproduce --trace`: the schemes of a paper on traces of the user's own."""

import json

import pytest

import flashgc as package
from conftest import PAPERS, SMALL
from flashgc.reproduction import papers
from flashgc.reproduction.own_traces import OwnTraces
from own_paper import CLAIMS, EXPERIMENT

pytestmark = pytest.mark.usefixtures("no_figures")

OWN = '\n[own_trace]\naxis = "load"\nitems = ["1"]\nset = { "workload.trace.address" = "wrap" }\n'
SPC = "".join(f"0,{8 * (page % 500)},4096,{'rw'[page % 2]},{page / 1000}\n" for page in range(3000))
ORDERS = """
[[claims]]
in = ["1"]
kind = "order"
place = "Fig. 1"
what = "latency, fifo below greedy"
claimed = "always"
measure = "latency"
is = "below"
at = { load = ["low", "high"], scheme = "fifo" }
than = { scheme = "greedy" }
note = "of the paper's loads"

[[claims]]
in = ["table-1"]
kind = "order"
place = "Table 1"
what = "write amplification of both above 0.5"
claimed = "always"
measure = "waf"
is = "above"
bound = 0.5
at = { load = "*", scheme = "*" }

[[claims]]
in = ["1"]
kind = "order"
place = "Fig. 1"
what = "latency at low load below 1 s"
claimed = "always"
measure = "latency"
is = "below"
bound = 1e9
at = { load = "low", scheme = "*" }
"""


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A folder with a paper, and two traces next to it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "own-paper"
    folder.mkdir()
    base = SMALL[: SMALL.index("[workload.synthetic]")] + SMALL[SMALL.index("[precondition]") :]
    (tmp_path / "small.toml").write_text(base)
    (tmp_path / "one.spc").write_text(SPC)
    (tmp_path / "two.spc").write_text(SPC.replace(",4096,", ",8192,"))
    (folder / "experiment.toml").write_text(EXPERIMENT + OWN)
    (folder / "claims.toml").write_text(CLAIMS + ORDERS)
    (folder / "README.md").write_text("# A paper\n\nNothing was chosen.\n")
    return folder


def test_orders_alone_are_judged_on_traces_of_ones_own(paper, flashgc, tmp_path):
    done = flashgc("reproduce", "own-paper", "--trace", "one.spc", "--trace", "two.spc", "--json")
    (claim,) = done.json
    assert claim["what"] == "latency, fifo below greedy"
    assert claim["measured"].endswith("of 2")
    assert "your own trace" in claim["note"]
    assert "of the paper's loads" not in claim["note"]
    folder = tmp_path / "runs/reproduce/own-paper-one-two"
    assert len(list((folder / "runs").iterdir())) == 4
    page = (folder / "report.md").read_text()
    assert "Traces of your own" in page
    assert "| one.spc | one.spc; 3,000 requests |" in page
    assert "## 1: Latency" in page
    assert "table-1" not in page


def test_a_figure_may_be_named(paper):
    done = package.reproduce("own-paper", ["table-1"], trace="one.spc")
    assert [claim["what"] for claim in done.claims] == ["write amplification of both above 0.5"]
    assert done.claims[0]["verdict"] == "met"
    assert [row[0] for row in done.tables["table-1"]] == ["", "one.spc"]


def test_an_order_that_fails_on_a_trace_of_ones_own_is_no_failure(paper):
    claims = paper / "claims.toml"
    claims.write_text(claims.read_text().replace("bound = 0.5", "bound = 50"))
    done = package.reproduce("own-paper", ["table-1"], trace=["one.spc"])
    (claim,) = done.claims
    assert (claim["verdict"], claim["fails"]) == ("not met", False)


def test_what_the_trace_holds_decides_the_run(paper, tmp_path):
    out = tmp_path / "out"
    assert package.reproduce("own-paper", out=out, trace="one.spc").runs_kept == 0
    assert package.reproduce("own-paper", out=out, trace="one.spc").runs_kept == 2
    (tmp_path / "one.spc").write_text(SPC[: len(SPC) // 2].rpartition("\n")[0] + "\n")
    assert package.reproduce("own-paper", out=out, trace="one.spc").runs_kept == 0


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--trace", "none.spc"], "none.spc: there is no such file"),
        (["--trace", "own-paper"], "own-paper is not a file"),
        (["--trace", "one.spc", "--trace", "own-paper/one.spc"], "another trace named one.spc"),
        (["--trace", "one.spc", "--traces", "."], "replaces all workloads"),
        (["--format", "spc"], "--format needs --trace"),
        (["--trace", "one.spc", "--format", "spcc"], "spcc"),
    ],
)
def test_mistakes_are_told(paper, flashgc, args, told):
    (paper / "one.spc").write_text(SPC)
    assert told in flashgc("reproduce", "own-paper", *args, code=2).err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (OWN, "", "the paper cannot run on other traces"),
        ('axis = "load"\n', 'axis = "laod"\n', 'there is no axis "laod"'),
        ('items = ["1"]', 'itms = ["1"]', "`itms` is not a valid key here"),
    ],
)
def test_mistakes_of_the_paper_are_told(paper, flashgc, old, new, told):
    path = paper / "experiment.toml"
    path.write_text(path.read_text().replace(old, new))
    assert told in flashgc("reproduce", "own-paper", "--trace", "one.spc", code=2).err


def test_a_format_may_be_named(paper, tmp_path):
    rows = "".join(f"{page / 10} 0 {8 * (page % 500)} 16 {page % 2}\n" for page in range(200))
    (tmp_path / "plain").write_text(rows)
    done = package.reproduce("own-paper", trace="plain", trace_format="disksim")
    assert done.sources[0].requests == 200


@pytest.mark.parametrize(
    ("row", "words", "told"),
    [
        ("what is this", ["--on-bad-line", "skip"], "not a row of spc"),
        ("0,8,4096,r,0.5", ["--sort-window", "10 s"], "--sort-window"),
    ],
)
def test_a_trace_is_read_as_the_options_say(paper, flashgc, tmp_path, row, words, told):
    (tmp_path / "one.spc").write_text(f"{SPC}{row}\n")
    assert told in flashgc("reproduce", "own-paper", "--trace", "one.spc", code=2).err
    flashgc("reproduce", "own-paper", "--trace", "one.spc", *words)
    (report,) = tmp_path.rglob("report.md")
    assert words[0] in report.read_text()
    done = flashgc("reproduce", "own-paper", *words, code=2)
    assert f"{words[0]} needs --trace" in done.err


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_of_the_package_runs_on_traces_of_ones_own(name, tmp_path):
    trace = tmp_path / "requests.spc"
    trace.write_text(SPC)
    known = papers.load(name, OwnTraces([trace]))
    assert known.main
    assert known.items(None)
    assert any(not isinstance(claim.claimed, float | int) for claim in known.claims)
    done = package.reproduce(name, trace=trace, out=tmp_path / "out", quick=True)
    assert not done.failed
    assert {row[0] for table in done.tables.values() for row in table[1:]} >= {"requests.spc"}
    assert json.loads((tmp_path / "out/claims.json").read_text()) == done.claims


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_takes_several_traces(tmp_path, name):
    files = [tmp_path / "one.spc", tmp_path / "two.spc"]
    for file in files:
        file.write_text(SPC)
    known = papers.load(name, OwnTraces(files))
    shown = known.items(None)
    assert shown
    assert all({"one.spc", "two.spc"} <= {name for names in item.at.values() for name in names}
               for item in shown)  # fmt: skip
