"""Percentages of `bssplit` and of zones that are blank, 0, not whole, or not 100 in all."""

from functools import partial

import pytest

import compare
import ours
import theirs
from draw import Drawn, text

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


AGREED = [
    # The rest to 100 belongs to the largest percentage, of equal ones to the last.
    "bssplit=4096/60:8192/30", "bssplit=4096/30:8192/30:16384/10", "bssplit=8192/20",
    "bssplit=4096/:8192/:16384/",
    # Digits behind the point are cut off, and 0 is one left blank then.
    "bssplit=4096/50.9:8192/49.9", "bssplit=4096/30.9:8192/", "bssplit=4096/0.5:8192/80",
    "bssplit=4096/49:1024/:32768/", "bssplit=4096/97:8192/0:16384/", "bssplit=4096/50%:8192/50%",
    "bssplit=4096/20:8192/80:",
    "random_distribution=zoned:60.9/10:40.2/90", "random_distribution=zoned:60/9.9:40/90.1",
    "random_distribution=zoned:30/:30/:40/", "random_distribution=zoned:60/10%:40/90%",
    "random_distribution=zoned:60/0:40/50", "random_distribution=zoned:60/10:40/50",
    "random_distribution=zoned:60/10:0/20:40/70", "random_distribution=zoned:60/10:40/90:",
    "random_distribution=zoned_abs:60.5/1048576:40/2097152",
    "random_distribution=zoned_abs:60/1048576:0/1048576:40/2097152",
]  # fmt: skip
REFUSED = [
    "bssplit=/50:8192/50", "bssplit=4096/50:8192/50:/",
    "random_distribution=zoned:60/10:30/90", "random_distribution=zoned:60/10:60/90",
    "random_distribution=zoned:50.5/10:49.5/90", "random_distribution=zoned:33/30:33/30:33/40",
    "random_distribution=zoned:60/10:/90", "random_distribution=zoned:60%/10:40%/90",
    "random_distribution=zoned:60/10:40/95", "random_distribution=zoned:60/60:40/60",
    "random_distribution=zoned:60", "random_distribution=zoned_abs:60/1048576:30/1048576",
    "random_distribution=zoned_abs:60/1048576:/1048576",
    "random_distribution=zoned_abs:60/1048576:40/",
]  # fmt: skip


@pytest.mark.parametrize("option", [*AGREED, *REFUSED])
def test_percentages_are_those_of_fio(option, tmp_path):
    name, _, value = option.partition("=")
    one = Drawn("a", {"rw": "randwrite", "size": "16777216", "number_ios": "3000",
                      "norandommap": "", **({} if name == "bssplit" else {"bs": "4096"}),
                      name: value})  # fmt: skip
    fio, own = (run(text([one], 1), tmp_path) for run in (theirs.run, ours.run))
    assert compare.differences([one], fio, own) == []
    assert fio.refused is (option in REFUSED)


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("bssplit=4k/60:8k/60", "add up to 100, not 120; one that is left blank is the rest"),
        ("bssplit=4k/60:8k/60:16k/", "add up to 100, not 120"),
        ("bssplit=4k/x:8k/50", "it must be a number from 0 to 100"),
        ("random_distribution=zoned:50.5/10:49.5/90", "in whole percent, must add up to 100"),
        ("random_distribution=zoned:60/10:/90", "a number without %, as in zoned:60/10:40/90"),
        ("random_distribution=zoned:60/100:40/", "the others have 100 percent"),
        ("random_distribution=zoned:60/99:20/:20/", "each zone needs at least 1"),
        ("random_distribution=zoned_abs:60/4m:40/10%", "must be a whole number"),
        ("random_distribution=zoned_abs:60/4m:40/0", "the size of a zone must be above 0"),
    ],
)
def test_percentages_that_cannot_be_are_refused(option, why, tmp_path):
    job = f"[a]\nrw=randwrite\nsize=4m\n{option}\n"
    assert why in " ".join(ours.run(job, tmp_path).error.split())
