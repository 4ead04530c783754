"""A pass of `sprandom`: its regions by a second program, and fio's own where it has the option."""

import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pytest

import ours
import theirs
from flashgc import ConfigError
from flashgc.conversion import fio_run

BLOCK = 4096
JOB = """[pre]
filename={name}
size={blocks}
bs=4k
rw=randwrite
norandommap=1
sprandom=1
spr_op={spare}
spr_num_regions={regions}
spr_cs={cache}
"""


def job(blocks, spare, regions, cache=0, name="pass"):
    return JOB.format(name=name, blocks=blocks * BLOCK, spare=spare, regions=regions, cache=cache)


def valid_shares(spare, regions):
    """The valid share of each region, the oldest first: powers of one factor, with the mean that
    the spare space leaves."""
    low, high = 0.0, 1.0
    for _ in range(60):
        factor = (low + high) / 2
        powers = factor ** np.arange(regions)
        low, high = (factor, high) if powers.mean() < 1 / (1 + spare) else (low, factor)
    return powers[::-1]


def bounds(writes, regions):
    """The first write of each region, and the end."""
    return [writes * at // regions for at in range(regions + 1)]


def last_writes(written, blocks):
    """The place of the last write of each block."""
    last = np.full(blocks, -1)
    last[written] = np.arange(len(written))
    return last


def ours_of(text, tmp_path):
    """The blocks that the job writes, in order."""
    found = ours.run(text, tmp_path)
    assert not found.error, found.error
    [stream] = found.streams.values()
    assert {one.kind for one in stream} == {"write"}
    assert {one.bytes for one in stream} == {BLOCK}
    return np.array([one.offset // BLOCK for one in stream])


@pytest.mark.parametrize(("spare", "regions"), [(0.15, 100), (0.07, 20), (0.28, 10), (0.9, 2)])
@pytest.mark.parametrize("waits", [False, True])
def test_regions_have_their_shares_and_their_order(tmp_path, spare, regions, waits):
    blocks = 10_000
    written = ours_of(job(blocks, spare, regions, cache=4096 * waits), tmp_path)
    assert len(written) == blocks + round(blocks * spare)
    last = last_writes(written, blocks)
    assert last.min() >= 0, "every block is written"
    is_valid = last[written] == np.arange(len(written))
    cuts = bounds(len(written), regions)
    before = np.array([], int)
    for (start, end), expected in zip(pairwise(cuts), valid_shares(spare, regions), strict=True):
        region, valid = written[start:end], is_valid[start:end]
        # Counts are rounded, and a region is one block larger than another.
        assert abs(valid.sum() - expected * (end - start)) < 2
        at = len(region) - len(before) if waits else 0
        assert (region[at : at + len(before)] == before).all(), "those of the region before"
        before = region[~valid]
        # All writes of a region are chosen alike, and its chosen ones are everywhere in it.
        if len(before) > 50:
            halves = (~valid[: len(valid) // 2]).sum() / len(before)
            assert abs(halves - 0.5) < 2.5 / np.sqrt(len(before))
    new = written[np.sort(np.unique(written, return_index=True)[1])]
    assert len(new) == blocks
    assert abs(np.corrcoef(new, np.arange(blocks))[0, 1]) < 0.05, "in random order"


@pytest.mark.parametrize(("line", "told"), [
    ("rw=write", "give rw=randwrite"),
    ("rw=randrw", "give rw=randwrite"),
    ("rw=randwrite:4", "give rw=randwrite"),
    ("numjobs=2", "it is one job"),
    ("nrfiles=2", "it writes one file"),
    ("filename=a:b", "writes one file"),
    ("norandommap=0", "it must be 1, or be left out"),
    ("random_generator=tausworthe", "it must be lfsr"),
    ("random_distribution=zipf:1.2", "it must be random"),
    ("percentage_random=50", "all its places are random"),
    ("bssplit=4k/50:8k/50", "blocks have one size"),
    ("bsrange=4k-8k", "blocks have one size"),
    ("ba=8k", "it must be the block size"),
    ("loops=2", "it writes the physical capacity once"),
    ("time_based=1", "it writes the physical capacity once"),
    ("zonemode=strided", "it writes all of its part"),
    ("spr_op=0", "it must be above 0 and below 1"),
    ("spr_op=1.2", "a number from 0 to 1"),
    ("spr_num_regions=1", "a whole number from 2 to 100000"),
    ("spr_cs=much", "a whole number"),
    ("sprandom=2", "it must be 0 or 1"),
])  # fmt: skip
def test_what_fio_does_not_allow_is_refused_by_name(tmp_path, line, told):
    path = tmp_path / "wrong.fio"
    path.write_text(job(1000, 0.15, 10) + line + "\n")
    with pytest.raises(ConfigError) as error:
        fio_run.layer(path)
    assert f"`pre.{line.partition('=')[0]}`" in str(error.value)
    assert told in str(error.value)


def test_a_region_smaller_than_the_cache_is_refused(tmp_path):
    found = ours.run(job(1000, 0.15, 10, cache="1m"), tmp_path)
    assert "larger than a region" in found.error
    assert "give at most 4 regions" in found.error


def test_options_without_a_pass_are_ignored(tmp_path):
    text = job(1000, 0.15, 10).replace("sprandom=1", "sprandom=0")
    assert len(ours_of(text, tmp_path)) == 1000


def test_an_amount_is_ignored_as_in_fio(tmp_path):
    assert len(ours_of(job(1000, 0.15, 10) + "io_size=1m\n", tmp_path)) == 1150


def test_a_job_file_with_a_pass_begins_with_an_erased_drive(tmp_path):
    path = tmp_path / "pass.fio"
    path.write_text(job(1000, 0.15, 10))
    assert 'fill = "none"' in fio_run.alone(path).text
    assert fio_run.with_drive("pass.fio", path.read_text()).settings["precondition.fill"] == "none"
    path.write_text(job(1000, 0.15, 10).replace("sprandom=1", "sprandom=0"))
    assert 'fill = "sequential"' in fio_run.alone(path).text


def has_fio():
    """Whether the installed fio has the option: version 3.41 or later."""
    if not shutil.which("fio"):
        return False
    done = subprocess.run(["fio", "--cmdhelp"], capture_output=True, text=True, timeout=60)
    return "sprandom" in done.stdout


@pytest.mark.skipif(not has_fio(), reason="fio has no sprandom")
@pytest.mark.parametrize(("spare", "regions"), [(0.15, 100), (0.07, 20), (0.28, 10)])
@pytest.mark.parametrize("waits", [False, True])
def test_fio_writes_such_a_pass(tmp_path, spare, regions, waits):
    blocks = 20_000
    found = theirs.run(job(blocks, spare, regions, cache=4096 * waits), tmp_path)
    assert not found.error, found.error
    [stream] = found.streams.values()
    written = np.array([one.offset // BLOCK for one in stream])
    assert abs(len(written) / (blocks * (1 + spare)) - 1) < 0.01
    last = last_writes(written, blocks)
    assert (last < 0).mean() < 0.01, "nearly every block is written"
    is_valid = last[written] == np.arange(len(written))
    cuts = bounds(len(written), regions)
    shares = [is_valid[start:end].mean() for start, end in pairwise(cuts)]
    assert np.abs(shares - valid_shares(spare, regions)).mean() < 0.03
    # Blocks that are written again come at the start of a region, and with a cache at its end.
    is_again = np.ones(len(written), bool)
    is_again[np.unique(written, return_index=True)[1]] = False
    start, end = cuts[regions // 3], cuts[regions // 3 + 1]
    places = np.flatnonzero(is_again[start:end]) / (end - start)
    assert places.min() > 0.6 if waits else places.max() < 0.4
    # They are chosen like all others.
    expected = valid_shares(spare, regions)[regions // 3]
    assert abs(is_valid[start:end][is_again[start:end]].mean() - expected) < 0.12
