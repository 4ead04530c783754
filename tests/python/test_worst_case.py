"""Worst-case response times: Table V of paper preemptible-gc."""

import pytest

import flashgc
from flashgc import WorstCase, check_wait, worst_case_wait

SLC = {"timing": {"read_ns": 25_000, "program_ns": 200_000, "erase_ns": 1_500_000,
                  "transfer_ns": 105_600}}  # fmt: skip


def test_the_formulas_of_the_paper():
    assert worst_case_wait(SLC) == WorstCase(1_700_000, 1_700_000, 1_700_000, 220_000)
    assert worst_case_wait(SLC, transfer=True) == WorstCase(
        1_805_600, 1_805_600, 1_805_600, 325_600
    )
    slow_read = {"timing": {**SLC["timing"], "read_ns": 9_000_000}}
    assert worst_case_wait(slow_read) == WorstCase(10_500_000, 9_000_000, 10_500_000, 9_020_000)


def test_a_suspend_takes_what_the_device_says_or_what_is_given():
    own = {"timing": {**SLC["timing"], "suspend": {"suspend_ns": 100_000, "resume_ns": 0}}}
    assert worst_case_wait(own).fpgc_ns == 300_000
    assert worst_case_wait(own, suspend_ns=0).fpgc_ns == 200_000


ONE_SERVER = {"kioxia-cm7-r", "micron-7450-max", "micron-7450-pro"}
"""One server stands for a whole drive: it erases in no more than the paper's suspend takes."""


@pytest.mark.parametrize("name", [device["name"] for device in flashgc.devices()])
def test_every_device_has_them(name):
    found = worst_case_wait(name, transfer=True)
    assert found.gftl_ns == found.pgc_ns > 0
    assert found.pgc_ns > found.fpgc_ns or name in ONE_SERVER


def test_the_device_of_a_report_will_do():
    report = flashgc.run("oltp", set={"workload.synthetic.requests": 100})
    assert worst_case_wait(report.config.device) == worst_case_wait(report.device)


def test_mistakes_are_told():
    with pytest.raises(flashgc.ConfigError, match="there is no device"):
        worst_case_wait("slc")
    with pytest.raises(ValueError, match="from 0, got -"):
        worst_case_wait(SLC, suspend_ns=-1)
    for table in ({}, {"timing": {"read_ns": 1}}, {"timing": None}):
        with pytest.raises(ValueError, match="times under `timing`"):
            worst_case_wait(table)


def test_layers_of_different_speed_have_none():
    device = {"timing": {**SLC["timing"], "layer_ratio": 2.0, "layer_map": "in-order"}}
    config = {"device": device, "gc": {"preemption": {"suspends": "any", "poll_ns": 0}}}
    with pytest.raises(ValueError, match="layers of this device differ"):
        check_wait({"config": config, "gc": {"response_max_ns": 1}})


def test_programs_that_reads_suspend_have_none():
    suspends = {"device.suspend.suspend": "20 us", "device.suspend.host_programs": True}
    report = flashgc.run("oltp", scheme="pgc", set={**SMALL, **suspends}).to_dict()
    with pytest.raises(ValueError, match="reads suspend programs of the host"):
        check_wait(report)
    report = flashgc.run("oltp", scheme="pgc", set={**SMALL, "device.suspend.suspend": "20 us"})
    assert check_wait(report.to_dict()) is None


def test_the_command_prints_them(flashgc):
    shown = flashgc("devices", "slc-msr", "--worst-case").out
    assert "1.7 ms" in shown
    assert "1.8056 ms" in shown
    found = flashgc("devices", "slc-msr", "--worst-case", "--json").json
    assert found["array"]["pgc_ns"] == 1_700_000
    assert found["transfer"]["rftl_ns"] == 1_805_600
    assert "needs a device" in flashgc("devices", "--worst-case", code=2).err
    assert "did you mean" in flashgc("devices", "slc-mrs", "--worst-case", code=2).err


SMALL = {"workload.synthetic.requests": 20_000, "device.blocks_per_plane": 64}


def test_a_run_is_held_against_the_worst_case_of_its_scheme():
    report = flashgc.run(
        "cello-like", scheme="fpgc", device="preemptible-gc-slc", set=SMALL
    ).to_dict()
    assert report["gc"]["preempted"] > 100
    assert flashgc.check_wait(report) is None
    report["gc"]["response_max_ns"] = 10**7
    assert "the worst case is 538,800 ns" in flashgc.check_wait(report)
