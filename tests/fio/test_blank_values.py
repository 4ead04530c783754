"""Shares and sizes of 0 in job files, which are blank to fio 3.33; each value is fio's."""

from functools import partial

import pytest

import ours

MIB = 1 << 20


@pytest.fixture
def stream(tmp_path):
    return partial(ours.only_stream, folder=tmp_path)


def test_a_percentage_of_0_is_one_left_blank(stream):
    job = "[a]\nrw=randwrite\nsize=4m\nnorandommap\nbssplit="
    for split in ("4k/0:8k/50", "4k/0:8k/", "4k/0:8k/0", "4k/0:8k/0,4k/100"):
        assert stream(f"{job}{split}\n") == stream(f"{job}{split.replace('/0', '/')}\n"), split
    assert {one.bytes for one in stream(f"{job}4k/0:8k/50\n")} == {4096, 8192}


def test_a_size_without_a_share_aligns_the_others(stream):
    job = "[a]\nrw=randwrite\nsize=4m\nbssplit=4k/0:8k/100\n"
    requests = stream(job)
    assert sum(one.bytes for one in requests) == 4 * MIB
    # fio 3.33: 578 requests, 132 of which a visited block has shortened.
    assert len(requests) == pytest.approx(578, rel=0.05)
    assert {one.offset % 8192 for one in requests} == {0, 4096}
    assert {one.bytes for one in stream(f"{job}norandommap\n")} == {8192}


def test_a_zone_of_size_0_is_one_left_blank(stream):
    job = "[z]\nrw=randread\nbs=4k\nsize=4m\nnorandommap\nrandom_distribution=zoned:60/"
    assert stream(f"{job}0:40/50\n") == stream(f"{job}:40/50\n")
