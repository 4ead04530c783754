"""The comparison with fio finds faults: each is put into the TOML of job files, and one differs."""

import functools
import shutil

import pytest

import check
import compare
import draw
import faults
import ours
import pool
from flashgc.conversion import fio_run

pytestmark = pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")

SEEDS = {
    "offsets are rounded down to whole requests": 58,
    "each pass has an order of its own": 24,
    "each pass has the order of the first": 25,
    "the length of the file caps nothing": 1,
    "a rate is a fifth higher": 10,
    "a kind that is ahead delays the other": 267,
    "one loop is missing": 1,
    "the map of visited blocks is missing": 13,
    "a tenth of the requests has another kind": 86,
    "a flush comes one write later": 6,
    "clones begin at one place": 8,
    "the amount is the size": 1,
    "one request is missing": 19,
    "holes are missing": 23,
    "holes are behind and not ahead": 39,
    "gaps between zones are missing": 11,
    "zones are left late": 11,
    "a run is one longer": 5,
    "a run goes on where it stays": 5,
    "files have turns of one request": 88,
    "files are sequential": 53,
    "files come in turns": 166,
    "the largest size is missing": 6,
    "popular places are less popular": 5,
    "places are uniform": 5,
    "writes follow no trims": 4,
    "groups begin at once": 5,
    "clones are one": 9,
}
"""A seed whose job file shows a fault, and whose log has no clones that could tear it."""


@pytest.fixture
def broken(monkeypatch):
    """Puts a fault into the TOML of job files."""

    def put(fault):
        right = fio_run.layer

        def layer(path):
            name, text = right(path)
            return name, faults.FAULTS[fault](text)

        monkeypatch.setattr(fio_run, "layer", layer)

    return put


def test_every_fault_has_a_job_file_that_tells():
    assert {*SEEDS, "random places are more"} == {*faults.FAULTS}


@functools.cache
def without_fault(seed):
    """The differences, and the last requests of fio for each job file."""
    known, run = {}, check.theirs_of

    def noted(text, engine):
        known[text] = run(text, engine)
        return known[text]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "theirs_of", noted)
        return check.check([seed]), known


@pytest.mark.parametrize("fault", SEEDS)
def test_a_job_file_tells_of_the_fault(fault, broken, monkeypatch):
    found, known = without_fault(SEEDS[fault])
    assert found == []
    # With the requests that agreed before, a late clock of fio cannot be taken for the fault.
    monkeypatch.setattr(check, "theirs_of", lambda text, engine: known[text])
    broken(fault)
    assert check.check([SEEDS[fault]]) != []


def test_many_job_files_tell_of_what_one_leaves_to_chance(broken, tmp_path):
    """A share of random places of 0.7 and not 0.5, in 40 jobs of 200 requests."""
    jobs = [draw.Drawn(f"a{seed}", {"rw": "randread", "bs": "4096", "size": "819200",
                                    "percentage_random": "50", "randseed": str(seed + 100)})
            for seed in range(40)]  # fmt: skip
    fio = check.theirs_of(draw.text(jobs, 1))  # all at once, since a process of fio takes long
    found = []
    for is_broken in (False, True):
        if is_broken:
            broken("random places are more")
        means = pool.Pool()
        for seed, one in enumerate(jobs):
            own = ours.run(draw.text([one], seed), tmp_path, seed)
            assert compare.differences([one], fio, own) == []
            means.add([one], fio, own)
        found.append(means.differences())
    # The places of fio are alike where the seeds follow each other.
    told = [any("sequential share" in text for text in one) for one in found]
    assert told == [False, True], found
