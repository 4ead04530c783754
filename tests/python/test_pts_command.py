"""SNIA's Performance Test Specification: the command, and arguments that are refused."""

import re

import pytest

import flashgc
from test_pts import TINY


def test_a_drive_that_is_not_steady_is_told(flashgc):
    sets = [f"--set={key}={value}" for key, value in TINY.items()]
    done = flashgc("pts", "enterprise-tlc", "--tests", "iops", "--round", "2ms", "--rounds", 5,
                   "--depth", 4, "--out", "deep/pts", *sets, env={"COLUMNS": "80"})  # fmt: skip
    assert "IOPS (iops): NOT steady" in done.out
    assert "steady state was not reached in 5 rounds" in done.out.replace("\n", " ")
    assert "shortened form, not that of the specification" in done.out
    shown = done.out.partition("saved")[0].splitlines()
    assert [line for line in shown if len(line) > 80] == []


def test_rounds_that_are_shorter_than_a_request_are_not_steady(flashgc):
    """Rounds of 0 MB/s, which are all alike, were steady."""
    sets = [f"--set={key}={value}" for key, value in TINY.items()]
    done = flashgc("pts", "enterprise-tlc", "--tests", "tp", "--round", "1ms", "--rounds", 5,
                   "--set=device.channels=1", *sets)  # fmt: skip
    assert "Throughput (tp): NOT steady" in done.out
    told = " ".join(done.out.split())
    assert "no request was done in a round: give longer ones with --round" in told


def test_the_command_prints_json(flashgc):
    done = flashgc("pts", "enterprise-tlc", "--tests", "tp", "--round", "20 ms", "--json",
                   "--active-range", "50%",
                   *(f"--set={key}={value}" for key, value in TINY.items()))  # fmt: skip
    assert done.json["form"]["active_range"] == 0.5
    assert [test["test"] for test in done.json["tests"]] == ["tp"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"tests": ["cbw"]}, "there is no test 'cbw' here"),
        ({"tests": []}, "tests must be a list with one name or more"),
        ({"round": "2 min"}, "a round cannot last '2 min'"),
        ({"round": "soon"}, "give a time from 1 ms to 1 min"),
        ({"round": "5 s", "short": True}, "omit one of them"),
        ({"rounds": 4}, "a test of 4 rounds is not possible"),
        ({"rounds": 26}, "give a number from 5 to 25"),
        ({"active_range": 0}, "an active range of 0 is not possible"),
        ({"demand_mix": 65}, "a share of reads of 65 is not possible"),
        ({"demand_mix": 0.5, "tests": ["wsat"]}, "the demand mix 50/50 has no effect: only dirth"),
        ({"threads": 2, "tests": ["tp", "lat"]}, "2 x 32 (threads x depth) have no effect"),
        ({"threads": 0}, "threads must be a whole number from 1"),
        ({"set": {"precondition.overwrite": 2}}, "each test begins with a drive as new"),
        ({"set": {"workload.synthetic.requests": 2}}, "has requests of its own"),
        ({"set": {"device.no_such": 2}}, "no_such"),
    ],
)
def test_errors_tell_what_is_allowed(more, told):
    with pytest.raises(flashgc.ConfigError) as error:
        flashgc.pts("enterprise-tlc", **{"set": TINY, **more})
    assert told in str(error.value)


def test_an_unknown_device_is_told(flashgc):
    assert "`flashgc devices` lists the devices" in flashgc("pts", "no-such", code=2).err


def test_a_wrong_share_is_told(flashgc):
    assert 'such as "75%"' in flashgc("pts", "enterprise-tlc", "--active-range", "0.5", code=2).err
    assert 'such as "65/35"' in flashgc("pts", "enterprise-tlc", "--demand-mix", "65", code=2).err


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"depth": 10**9}, "give a depth up to 1,000,000"),
        ({"threads": 10**5, "depth": 10**5}, "10,000,000,000 at a time"),
        ({"device": "slc-msr"}, "two devices: enterprise-tlc and slc-msr"),
    ],
)
def test_too_many_requests_and_two_devices_are_refused(wrong, told):
    """Requests by the thousand million took all memory of the machine."""
    with pytest.raises(flashgc.FlashgcError, match=re.escape(told)):
        flashgc.pts("enterprise-tlc", tests=["wsat"], round="1 ms", **wrong)
