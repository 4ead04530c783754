"""`flashgc reproduce`: the runs of a paper, compared with its claims."""

import functools
import json
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ET

import pytest

import flashgc
from conftest import COMMAND, LONG, PAPERS, ROOT, SMALL
from flashgc.reproduction import papers
from flashgc.reproduction import read_claims as stated
from flashgc.reproduction import read_experiment as described
from flashgc.reproduction.verdict import VERDICTS
from test_faults import ITEMS, UNTIMED

pytestmark = pytest.mark.usefixtures("no_figures")

KEYS = ["paper", "place", "what", "unit", "claimed", "measured", "verdict", "note"]


# ---- the papers that come with the package ----


def test_every_folder_is_a_paper_and_comes_with_the_package():
    assert papers.names() == PAPERS


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_of_a_paper_can_be_tested(name):
    known = papers.load(name)  # measures, axes, choices, places: a mistake is an error
    assert known.claims
    assert known.readme.startswith("# ")
    ids = {item.id for item in known.items(None)}
    points = set(known.experiment.points({axis: list(names) for axis, names
                                          in known.experiment.axes.items()}))  # fmt: skip
    for claim in known.claims:
        assert set(claim.runs(known.experiment)) <= points
        assert set(claim.parts) <= {*ids, "*"}
    assert all(any(claim.belongs([item]) for claim in known.claims) for item in ids)


@functools.cache
def other_forms():
    """One figure of each form that the figures for faults do not have, that with the fewest runs:
    a form is drawn in the same way for all papers."""
    known = [papers.load(name) for name in PAPERS]
    of_faults = {one.form for paper in known for one in paper.items(None)
                 if one.id in (ITEMS | UNTIMED)[paper.name]}  # fmt: skip
    found = {}
    for paper in known:
        for one in paper.items(None):
            runs = len(paper.experiment.item_points(one))
            if one.form not in of_faults and runs < found.get(one.form, (runs + 1,))[0]:
                found[one.form] = runs, (paper.name, one.id)
    return [at for _, at in found.values()]


def items_of(known):
    """The whole of a paper; in the short form the figures and tables that show faults, and those
    that are one of each other form."""
    if LONG:
        return known.items(None)
    kept = {*(ITEMS | UNTIMED)[known.name], *(item for name, item in other_forms()
                                              if name == known.name)}  # fmt: skip
    return [one for one in known.items(None) if one.id in kept]


def test_the_short_form_has_figures_of_every_form():
    known = [papers.load(name) for name in PAPERS]
    assert {one.form for paper in known for one in items_of(paper)} == {
        one.form for paper in known for one in paper.items(None)
    }


@pytest.fixture(scope="module", params=PAPERS)
def quick(once, request):
    """A quick reproduction by the command; in the long form of everything."""
    known = papers.load(request.param)
    items = items_of(known)
    what = "" if LONG else "/" + ",".join(one.id for one in items)

    def make(folder):
        words = ["reproduce", known.name + what, "--quick", "--json"]
        done = subprocess.run([COMMAND, *words], cwd=folder,
                              capture_output=True, timeout=300)  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        assert done.stderr.decode().count("\n") == 0
        (folder / "claims.json").write_bytes(done.stdout)

    folder = once(f"quick-{known.name}", make)
    claims = json.loads((folder / "claims.json").read_text())
    return folder / "runs/reproduce" / known.name, claims, known, items


def test_the_keys_of_json_are_those_of_the_contract(quick):
    _, claims, known, items = quick
    ids = [one.id for one in items]
    assert len(claims) == sum(claim.belongs(ids) for claim in known.claims)
    for claim in claims:
        assert list(claim)[: len(KEYS)] == KEYS
        assert claim["verdict"] in VERDICTS
        assert claim["measured"] is not None or claim["note"].startswith("undefined")


def test_a_quick_run_judges_orders_and_checks_alone(quick):
    _, claims, _, _ = quick
    for claim in claims:
        numbers = isinstance(claim["claimed"], int | float)
        assert not numbers or claim["verdict"] == "not comparable", claim
    every = next(claim for claim in claims if claim["place"] == "every run")
    assert every["verdict"] == "met"
    total = len(list((quick[0] / "runs").glob("*.json")))
    assert every["measured"] == f"{total} of {total}"


def test_a_reproduction_leaves_report_claims_and_figures(quick):
    folder, claims, known, items = quick
    part = "" if LONG else "-" + "-".join(one.id for one in items)
    assert json.loads((folder / f"claims{part}.json").read_text()) == claims
    page = (folder / f"report{part}.md").read_text()
    for item in items:
        assert f"## {item.id}: " in page
        picture = folder / f"figure-{item.id}.svg"
        assert picture.is_file() == (item.form != "table")
        if picture.is_file():
            ET.fromstring(picture.read_text())
            assert f"({picture.name})" in page
    assert "Quick run" in page
    # The figures of the short form for this paper have the paper's own workloads.
    assert "synthetic workload" in page or (known.name == "ssd-iq" and not LONG)


def test_a_part_runs_what_it_needs(tmp_path):
    done = flashgc.reproduce("parallel-gc", ["table-5"], out=tmp_path, quick=True)
    assert done.runs == 7 == len(list((tmp_path / "runs").iterdir()))
    assert {"table-5"} == set(done.tables)
    assert (tmp_path / "report-table-5.md").is_file()
    assert not (tmp_path / "report.md").exists()


# ---- runs are kept ----


def test_what_was_run_is_not_run_again(paper, tmp_path):
    first = flashgc.reproduce("own-paper", out=tmp_path / "out")
    assert (first.runs, first.runs_kept) == (4, 0)
    kept = sorted((tmp_path / "out/runs").iterdir())
    kept[0].unlink()
    kept[1].write_text(kept[1].read_text()[:100])  # a disk that was full
    kept[2].write_text(kept[2].read_text().replace('"key": "', '"key": "0'))
    again = flashgc.reproduce("own-paper", out=tmp_path / "out")
    assert (again.runs, again.runs_kept) == (4, 1)
    assert again.claims == first.claims
    assert flashgc.reproduce("own-paper", out=tmp_path / "out").runs_kept == 4
    assert flashgc.reproduce("own-paper", out=tmp_path / "out", fresh=True).runs_kept == 0


def test_a_run_counts_only_for_what_it_was_made_of(paper, tmp_path):
    flashgc.reproduce("own-paper", out=tmp_path / "out")
    (tmp_path / "small.toml").write_text(SMALL.replace("seed = 1", "seed = 2"))
    assert flashgc.reproduce("own-paper", out=tmp_path / "out").runs_kept == 0
    assert flashgc.reproduce("own-paper", out=tmp_path / "out", quick=True).runs_kept == 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_reproduction_that_was_killed_goes_on(paper, tmp_path, sent):
    (tmp_path / "small.toml").write_text(SMALL.replace("20_000", "1_000_000"))
    command = [COMMAND, "reproduce", "own-paper", "--out", "out", "--jobs", "1"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:  # fmt: skip
        for _ in range(2000):
            if list((tmp_path / "out").glob("runs/*.json")):
                break
            assert child.poll() is None, child.stderr.read()
            time.sleep(0.01)
        child.send_signal(sent)
        _, err = child.communicate(timeout=20)
    done = len(list((tmp_path / "out").glob("runs/*.json")))
    assert 1 <= done < 4
    if sent == signal.SIGINT:
        assert child.returncode == 130
        assert b"continues" in err
    assert not (tmp_path / "out/report.md").exists()
    again = flashgc.reproduce("own-paper", out=tmp_path / "out")
    assert (again.runs, again.runs_kept) == (4, done)
    assert again.claims == flashgc.reproduce("own-paper", out=tmp_path / "other").claims


def test_what_progress_raises_ends_it(paper, tmp_path):
    class EnoughError(Exception):
        pass

    def told(step):
        shares.append((step.runs_done, step.share))
        if step.runs_done == 2:
            raise EnoughError

    shares = []
    with pytest.raises(EnoughError):
        flashgc.reproduce("own-paper", out=tmp_path / "out", jobs=1, progress=told)
    assert shares == sorted(shares)
    assert flashgc.reproduce("own-paper", out=tmp_path / "out").runs_kept == 2


# ---- mistakes of users ----


def test_without_a_paper_they_are_listed(flashgc):
    listed = flashgc("reproduce")
    assert "parallel-gc" in listed.out
    assert "table-3" in listed.out
    assert [one["paper"] for one in flashgc("reproduce", "--json").json] == PAPERS


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["parallel-cg"], "did you mean `parallel-gc`?"),
        (["parallel-gc/tabel-3"], "did you mean `table-3`?"),
        (["parallel-gc/5a,7"], 'no figure or table "7"'),
        (["parallel-gc", "--traces", "nowhere"], "nowhere: there is no such folder"),
        (["parallel-gc", "--traces", "file"], "file is not a folder"),
        (["parallel-gc", "--out", "file"], "file is a file"),
    ],
)
def test_mistakes_are_told(flashgc, tmp_path, arguments, told):
    (tmp_path / "file").write_text("")
    done = flashgc("reproduce", *arguments, "--quick", code=2)
    assert told in done.err
    assert done.out == ""


def test_a_broken_trace_is_an_error_of_the_trace(flashgc, tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/ssd-iozone-aligned2-100K.trace").write_text("what is this\n")
    done = flashgc("reproduce", "parallel-gc/table-5", "--quick", "--traces", "traces", code=2)
    assert "ssd-iozone-aligned2-100K.trace" in done.err


def test_a_trace_of_the_user_takes_the_place_of_a_look_alike(tmp_path):
    made = tmp_path / "Financial1.spc"
    settings = {"workload.synthetic.requests": 400}
    flashgc.trace.generate("fin1-like", made, "spc", set=settings)
    done = flashgc.reproduce("parallel-gc", ["table-5"], traces=tmp_path, out=tmp_path / "out",
                             quick=True)  # fmt: skip
    used = {one.label: one for one in done.sources}
    assert used["FIN 1"].differs is None
    assert "Financial1.spc" in used["FIN 1"].what
    assert used["FIN 1"].requests == 400
    assert used["FIN 1"].fitted is None
    assert used["FIN 2"].fitted is not None


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("experiment", 'as = "ratio"', 'as = "half"', "`as` must be one of"),
        ("experiment", 'rows = "load"', 'rows = "lode"', 'there is no axis "lode"'),
        ("experiment", 'measures = ["latency"]', 'measures = ["lat"]', 'no measure "lat"'),
        ("experiment", "mean = true", "means = true", "did you mean `mean`?"),
        ("experiment", "write_amplification", "__import__('os')", "is not a formula"),
        ("experiment", 'scheme = "fifo"', 'scheme = "fofi"', "fofi"),
        ("experiment", 'scheme = "fifo"', 'set = { "gc.victim.d-choices.d" = 3 }', "no effect"),
        ("experiment", 'id = "table-1"', 'id = "1"', "an id of its own"),
        ("claims", 'near = "10 %"', 'near = "1 %"', "`near` is the larger"),
        ("claims", 'in = ["1"]', 'in = ["2"]', 'there is no "2"'),
        ("claims", 'is = "below"', 'is = "rising"', "`along`"),
        ("claims", 'place = "Table 1, {load}"', 'place = "Table 1"', "two claims"),
        ("claims", 'is = "below"', 'is = "equal"', "needs `tie`"),
        ("claims", 'is = "below"', 'is = "below"\ntie = "a bit"', "`tie` must be a share"),
        ("claims", 'is = "below"', 'is = "below"\nthan_against = {}', "which is not given"),
        ("experiment", 'form = "bars"', 'form = "lines"\nx = "load"', "need a `value`"),
        ("experiment", 'form = "bars"', 'form = "course"', "`column` is missing"),
        ("claims", "low = 1.5", "lwo = 1.5", "lwo is none of"),
        ("claims", 'scheme = "greedy" }', 'scheme = "*" }', "one choice of each axis"),
        ("claims", "[[claims]]", "[[claims", "claims.toml"),
    ],
)
def test_mistakes_in_the_files_of_a_paper_are_told(paper, flashgc, file, old, new, told):
    path = paper / f"{file}.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    done = flashgc("reproduce", "own-paper", code=2)
    assert told in done.err


def test_the_examples_of_the_manual_are_a_paper():
    page = (ROOT / "docs/reproductions.md").read_text()
    first, second = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    known = described.load(first, "experiment.toml")
    assert [item.id for item in known.items] == ["5a"]
    assert len(stated.load(second, "claims.toml", known)) == 5
