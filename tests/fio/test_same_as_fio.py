"""Random job files ask for the same requests from flashgc as from fio: 80, or 5,000 with
FLASHGC_LONG."""

import os
import shutil

import pytest

import check
import draw

LONG = bool(os.environ.get("FLASHGC_LONG"))
COUNT, PART = (5_000, 250) if LONG else (80, 40)

MIB = 1 << 20

FAULTS = [
    101,
    151,
    158,
    431,
    503,
    588,
    831,
    1000,
    1135,
    1148,
    1216,
    1700,
    1807,
    1866,
    2359,
    2620,
    2821,
    3162,
    3217,
    3461,
    3956,
    4018,
    4129,
    4895,
    10004,
    10115,
    10402,
]
"""Seeds of job files that once differed, beyond the short form."""

pytestmark = pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")


@pytest.mark.parametrize("first", range(1, COUNT + 1, PART))
def test_the_requests_of_random_job_files_are_those_of_fio(first):
    assert check.check(range(first, first + PART)) == []


def test_the_requests_are_the_same_with_files():
    """The psync engine, with files on disk; a trim needs a device, and of a file that is not there
    yet fio takes 0 for any percentage."""
    jobs = {seed: draw.job_file(seed) for seed in range(1, COUNT)}
    seeds = [seed for seed, sections in jobs.items()
             if all("trim" not in one.kinds and int(one.options["size"]) < MIB
                    and "%" not in one.options.get("offset", "")
                    for one in sections)]  # fmt: skip
    assert check.check(seeds[: COUNT // 10], engine="psync") == []


def test_job_files_that_once_differed():
    assert check.check(FAULTS) == []
