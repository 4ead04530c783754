"""The records of `validation/`, and the tables of docs/validation.md."""

import csv
import statistics
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "validation"))

import drives
import tables

NAMES = drives.names()
OWN = [name for name in NAMES if not drives.load(name).paper]
MOST_NUMBERS, MOST_RUNS = 5, 6
LARGE = 0.25
"""A load whose errors are larger in the median has a cause on record."""


def at(tree, key):
    """The value of a key with points."""
    for part in key.split("."):
        if key in tree:
            return tree[key]
        tree, key = tree[part], key.partition(".")[2]
    return tree


def run(*words):
    return subprocess.run([sys.executable, "scripts/validation", *words], cwd=ROOT,
                          capture_output=True, text=True)  # fmt: skip


def test_ten_drives_have_flash():
    assert sum(drives.load(name).about.get("flash", True) for name in NAMES) == 10


@pytest.mark.parametrize("name", NAMES)
def test_few_numbers_are_fitted_to_few_runs(name):
    numbers, runs = tables.fitted(drives.load(name))
    assert 1 <= numbers <= MOST_NUMBERS
    assert 1 <= runs <= MOST_RUNS
    # All points of a run by which a slot was chosen count as fitted.
    points = drives.load(name).points()
    assert sum(not one.fitted for one in points) > 3 * sum(one.fitted for one in points)


@pytest.mark.parametrize("name", OWN)
def test_each_fitted_number_is_that_of_the_device_and_each_of_its_runs_is_marked(name):
    drive = drives.load(name)
    named = set()
    for one in drive.about["fitted"]:
        where = drive.about if one["key"].startswith("sets.") else drive.about["config"]
        assert at(where, one["key"]) == one["value"]
        for text in one["runs"]:
            other, _, found = text.rpartition(": ")
            owner = other if other in NAMES else name
            marked = {run.name for run in drives.load(owner).runs if run.fitted}
            assert (found if owner != name else text) in marked
            named.add(text)
    assert {run.name for run in drive.runs if run.fitted} <= named


@pytest.mark.parametrize("name", OWN)
def test_sources_and_sets_are_complete(name):
    drive = drives.load(name)
    assert set(drive.about["source"]) == {
        "study", "repository", "commit", "path", "licence", "method"
    }  # fmt: skip
    assert all(set(one) == {"what", "value", "source"} for one in drive.about.get("data_sheet", []))
    assert {run.set for run in drive.runs} == set(drive.about["sets"])
    assert len({run.name for run in drive.runs}) == len(drive.runs)
    for run_ in drive.runs:
        assert run_.values
        assert set(run_.fitted) <= set(run_.values)
    assert {one for miss in drive.about["misses"] for one in miss["sets"]} <= set(
        drive.about["sets"]
    )


@pytest.mark.parametrize("name", OWN)
def test_results_are_those_of_the_measured_points(name):
    drive = drives.load(name)
    measured = {
        (run_.name, metric): (value, metric in run_.fitted)
        for run_ in drive.runs for metric, value in run_.values.items()
    }  # fmt: skip
    found = {(one.run, one.metric): (one.measured, one.fitted) for one in drive.points()}
    assert found == measured
    with (drive.folder / "results.csv").open(newline="") as file:
        for row, one in zip(csv.DictReader(file), drive.points(), strict=True):
            assert row["error_percent"] == f"{100 * one.error:+.1f}"


@pytest.mark.parametrize("name", OWN)
def test_loads_that_are_far_off_have_a_cause(name):
    drive = drives.load(name)
    named = {one for miss in drive.about["misses"] for one in miss["sets"]}
    sets = {run_.name: run_.set for run_ in drive.runs}
    for own in drive.about["sets"]:
        for kind in tables.KINDS:
            errors = [abs(one.error) for one in drive.points()
                      if sets[one.run] == own and one.kind == kind and not one.fitted]  # fmt: skip
            if errors and statistics.median(errors) > LARGE:
                assert own in named, (own, kind)


@pytest.mark.parametrize("rows", [tables.by_drive, tables.by_load, tables.data_sheets])
def test_the_page_has_the_tables_of_the_records(rows):
    assert "\n".join(rows()) + "\n\n" in tables.PAGE.read_text("utf-8")


def test_the_points_of_a_paper_are_those_of_its_claims():
    by_run = {(one.run, one.metric): one for one in drives.load("micron-7450-max").points()}
    one = by_run["596 GiB", "IOPS"]
    assert one.fitted
    assert abs(one.error) < 0.01
    assert by_run["95/5", "p99.9 of writes"].kind == drives.TAIL
    assert by_run["372 GiB", "bytes programmed for each byte written"].kind == ""


@pytest.mark.parametrize("name", ["intel-optane", "wd-sn640"])
def test_runs_give_the_results_on_record(name):
    done = run(name, "--check", "--every", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" 0 differ from the record\n")


def test_a_changed_device_differs_from_the_record_and_writes_nothing():
    before = (drives.FOLDER / "intel-optane" / "results.csv").read_bytes()
    change = ("--set", "device.timing.read=9 us")
    assert run("intel-optane", "--check", "--every", "9", *change).returncode == 1
    assert "| Optane | random reads by depth |" in run("intel-optane", "--every", "9").stdout
    assert (drives.FOLDER / "intel-optane" / "results.csv").read_bytes() == before


@pytest.mark.parametrize(("words", "said"), [
    (["optane"], "unknown drive optane; there are micron-7450-max, "),
    (["--every", "0"], "--every 0: a number from 1 is needed"),
    (["--set", "seed"], "--set seed: KEY=VALUE is needed"),
    (["intel-optane", "--only", "writes"], "--only writes: "),
])  # fmt: skip
def test_wrong_words_are_refused(words, said):
    done = run(*words)
    assert done.returncode == 2
    assert said in done.stderr
