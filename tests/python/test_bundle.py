"""Bundles of reproductions: their content, repeated runs from them, and hostile archives."""

import hashlib
import json
import shutil
import zipfile

import pytest

import flashgc as package
from conftest import SPC
from flashgc.charts import sheet
from flashgc.reproduction import bundle as bundles
from in_process import apart
from own_paper import CLAIMS, EXPERIMENT

BUILT_IN = EXPERIMENT.replace('config = "small.toml"', 'config = "oltp"\n[base.set]\n'
                              '"device.blocks_per_plane" = 64\n'
                              '"workload.synthetic.requests" = 500')  # fmt: skip
BUILT_IN = BUILT_IN.replace("workload.synthetic.queue_depth", "seed")
BUILT_IN = BUILT_IN.replace('config = "replay.toml"\n', "")


pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture
def portable(paper):
    """The small paper without files of its own outside its folder."""
    (paper / "experiment.toml").write_text(BUILT_IN)
    return paper


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bundle of this paper."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "own-paper").mkdir()
    texts = {"experiment.toml": BUILT_IN, "claims.toml": CLAIMS, "README.md": "# A paper\n"}
    for name, text in texts.items():
        (folder / "own-paper" / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sheet, "drawable", lambda: False)
        package.reproduce(str(folder / "own-paper"), out=folder / "out", bundle=folder / "b.zip")
    return folder / "b.zip"


@pytest.fixture
def made(whole, tmp_path, monkeypatch):
    """A copy of it, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return shutil.copy(whole, tmp_path / "paper.zip")


def names(path):
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def read(path, name):
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def changed(path, changes):
    """The archive with other contents of some members; None removes one."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members |= changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            if data is not None:
                archive.writestr(name, data)
    return path


def test_it_has_descriptions_results_environment_and_hashes(made, tmp_path):
    found = names(made)
    assert found == sorted(found)
    own = [f"papers/own-paper/{name}" for name in ("README.md", "claims.toml", "experiment.toml")]
    assert {"README.md", "bundle.json", "ro-crate-metadata.json", "environment/requirements.txt",
            "results/own-paper/report.html", "results/own-paper/claims.json",
            *own} <= {*found}  # fmt: skip
    listed = json.loads(read(made, "bundle.json"))
    (paper,) = listed["papers"]
    assert len(paper["runs"]) == 4
    for run in paper["runs"]:
        report = json.loads(read(made, f"results/own-paper/runs/{run['file']}"))["report"]
        assert report["result_hash"] == run["result_hash"]
        assert "config" in report
    for name, sha256 in listed["files"].items():
        assert hashlib.sha256(read(made, name)).hexdigest() == sha256
    assert {*found} == {*listed["files"], "bundle.json", "ro-crate-metadata.json"}
    assert f"flashgc=={package.__version__}" in read(made, "environment/requirements.txt").decode()


def test_it_is_a_crate_whose_entities_are_all_there(made):
    crate = json.loads(read(made, "ro-crate-metadata.json"))
    entities = {one["@id"]: one for one in crate["@graph"]}
    assert len(entities) == len(crate["@graph"])
    assert entities["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    root = entities["./"]
    assert {"name", "description", "datePublished", "license"} <= {*root}
    files = {one["@id"] for one in root["hasPart"]}
    assert files == {*names(made)} - {"ro-crate-metadata.json"}

    def referred(value):
        if isinstance(value, list):
            return [name for one in value for name in referred(one)]
        return [value["@id"]] if isinstance(value, dict) and "@id" in value else []

    for one in entities.values():
        for key, value in one.items():
            for name in referred(value) if key != "conformsTo" else []:
                assert name in entities, (one["@id"], key, name)
    action = next(one for one in entities.values() if one["@type"] == "CreateAction")
    assert action["instrument"] == {"@id": "#flashgc"}


@apart
def test_the_same_content_gives_the_same_bytes(portable, tmp_path, monkeypatch):
    monkeypatch.setattr(sheet, "drawable", lambda: True)
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    for target in (first, second):
        done = package.reproduce("own-paper", out=tmp_path / "out", again="again")
        bundles.save(target, [done])
    assert first.read_bytes() == second.read_bytes()
    assert "results/own-paper/figure-1.svg" in names(first)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    bundles.save(second, [done])
    assert '"datePublished": "2023-11-14"' in read(second, "ro-crate-metadata.json").decode()


def test_a_rerun_elsewhere_has_the_same_hashes(made, flashgc, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    found = package.check_bundle(made)
    assert found.same
    assert found.runs == {"own-paper": 4}
    assert found.rows()[1] == ["own-paper", "4", "4"]
    told = flashgc("reproduce", "--check", made, "--json")
    assert told.json["same"] is True


def test_another_result_is_told(made, flashgc):
    listed = json.loads(read(made, "bundle.json"))
    listed["papers"][0]["runs"][0]["result_hash"] = "0123"
    listed["papers"][0]["runs"].pop()
    changed(made, {"bundle.json": json.dumps(listed).encode()})
    told = flashgc("reproduce", "--check", made, code=1)
    assert "was 0123" in told.out
    assert "was -, is" in told.out


def test_traces_must_be_the_same(paper, flashgc, tmp_path):
    experiment = BUILT_IN.replace('load = ["low", "high"]', 'load = ["low", "recorded"]')
    experiment = experiment.replace('files = ["requests.spc"]\n', 'files = ["requests.spc"]\n'
                                    'set = { "workload.trace.format" = "spc" }\n')  # fmt: skip
    experiment = experiment.replace('[base]\nconfig = "oltp"', "[base]").replace(
        '"workload.synthetic.requests" = 500', ""
    )
    for name in ("low", "high"):
        experiment = experiment.replace(
            f"[axes.load.{name}]", f'[axes.load.{name}]\nconfig = "oltp"'
        )
    experiment = experiment.replace("[[axes.load.recorded.sources]]\ndiffers",
                                    '[[axes.load.recorded.sources]]\nconfig = "oltp"\n'
                                    "differs")  # fmt: skip
    experiment = experiment.replace('what = "the trace"', 'what = "the trace"\nconfig = "replay"')
    few = '"workload.synthetic.requests" = 500, "seed"'
    experiment = experiment.replace('set = { "seed"', "set = { " + few)
    (paper / "experiment.toml").write_text(experiment)
    (tmp_path / "traces").mkdir()
    trace = tmp_path / "traces/requests.spc"
    trace.write_text(SPC)
    arguments = ["own-paper/table-1", "--quick", "--traces", "traces"]
    flashgc("reproduce", *arguments, "--bundle", "b.zip")
    (known,) = json.loads(read(tmp_path / "b.zip", "bundle.json"))["papers"][0]["traces"]
    assert known["sha256"] == hashlib.sha256(SPC.encode()).hexdigest()
    assert not any(name.endswith("requests.spc") for name in names(tmp_path / "b.zip"))
    assert "with --traces" in flashgc("reproduce", "--check", "b.zip", code=2).err
    flashgc("reproduce", "--check", "b.zip", "--traces", "traces")
    trace.write_text(SPC[: len(SPC) // 2])
    told = flashgc("reproduce", "--check", "b.zip", "--traces", "traces", code=2).err
    assert "has another content" in told
    trace.unlink()
    told = flashgc("reproduce", "--check", "b.zip", "--traces", "traces", code=2).err
    assert known["sha256"] in told


@pytest.mark.parametrize(
    ("spoilt", "told"),
    [
        (lambda path: path.write_bytes(b""), "is not a zip file"),
        (lambda path: path.write_bytes(path.read_bytes()[:2000]), "is not a zip file"),
        (lambda path: path.write_bytes(b"PK\x05\x06" + bytes(18)), "it has no bundle.json"),
        (lambda path: changed(path, {"bundle.json": None}), "it has no bundle.json"),
        (lambda path: changed(path, {"bundle.json": b"[]"}), "is not the list of a bundle"),
        (lambda path: changed(path, {"bundle.json": b"\xff"}), "is not the list of a bundle"),
        (lambda path: changed(path, {"bundle.json": b"[" * 99_999}), "is not the list"),
        (lambda path: changed(path, {"README.md": b"x"}), "README.md has another content"),
        (lambda path: changed(path, {"README.md": None}), "README.md is missing"),
        (lambda path: listed_as(path, "form_version", 2), "this version reads"),
        (lambda path: named(path, "../../evil"), "cannot be the name of a file"),
        (lambda path: named(path, ".."), "cannot be the name of a file"),
        (lambda path: named(path, "other"), "papers/other/experiment.toml is missing"),
        (lambda path: path.unlink(), "there is no such file"),
    ],
)  # fmt: skip
def test_other_archives_are_refused(made, flashgc, tmp_path, spoilt, told):
    spoilt(made)
    before = sorted(tmp_path.rglob("*"))
    done = flashgc("reproduce", "--check", made, code=2)
    assert told in done.err
    assert sorted(tmp_path.rglob("*")) == before


def listed_as(path, key, value):
    listed = json.loads(read(path, "bundle.json"))
    listed[key] = value
    return changed(path, {"bundle.json": json.dumps(listed).encode()})


def named(path, name):
    listed = json.loads(read(path, "bundle.json"))
    listed["papers"][0]["paper"] = name
    return changed(path, {"bundle.json": json.dumps(listed).encode()})


def test_a_flipped_bit_is_found(made, flashgc):
    data = bytearray(made.read_bytes())
    data[len(data) // 2] ^= 0x10
    made.write_bytes(data)
    told = flashgc("reproduce", "--check", made, code=2).err
    assert "damaged" in told or "another content" in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["own-paper", "--bundle", "b.tar"], "must end in .zip"),
        (["own-paper", "--bundle", "nowhere/b.zip"], "there is no folder nowhere"),
        (["own-paper", "--bundle", "d.zip"], "is a directory"),
        (["--bundle", "b.zip"], "needs PAPER or --all"),
        (["own-paper", "--all"], "--all cannot be combined with PAPER"),
        (["--all", "--pin"], "--all cannot be combined with --pin"),
        (["--check", "b.zip", "--quick"], "--check cannot be combined with --quick"),
        (["own-paper", "--trace", "t", "--bundle", "b.zip"], "not for --trace"),
    ],
)
def test_mistakes_are_told_before_anything_runs(portable, flashgc, tmp_path, arguments, told):
    (tmp_path / "d.zip").mkdir()
    done = flashgc("reproduce", *arguments, code=2)
    assert told in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "runs").exists()


def test_a_paper_that_needs_other_files_has_no_bundle(paper, flashgc):
    told = flashgc("reproduce", "own-paper", "--bundle", "b.zip", code=2).err
    assert "names the configuration small.toml" in told
