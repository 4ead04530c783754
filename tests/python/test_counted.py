"""A count of one is in the singular, and a mean of nothing is left out."""

import copy

import pytest

import flashgc as package
from conftest import SMALL
from flashgc.explaining import words
from flashgc.pages import provenance
from flashgc.results import run_facts
from flashgc.snia import words as pts_words
from flashgc.traces import trace_summary

ONE = {"workload.synthetic.requests": 1}


@pytest.fixture(scope="module")
def values():
    return package.run(SMALL).to_dict()


def test_collections_that_have_not_ended_have_no_mean(values):
    assert " each); host blocked" in run_facts.gc_waits(package.Report(values))
    open_ = copy.deepcopy(values)
    open_["gc"]["count"] = 0
    told = run_facts.gc_waits(package.Report(open_))
    assert "each" not in told
    assert "-" not in told


def test_one_operation_of_a_page_and_one_cycle(values):
    one = {**values, "page_operations": 1,
           "endurance": {"rated_cycles": 1, "tbw_bytes": None, "why_not": "no writes"}}  # fmt: skip
    facts = dict(run_facts.facts(package.Report(one)))
    assert " for 1 page operation (" in facts["took"]
    assert facts["endurance"] == "not stated for 1 P/E cycle: no writes"


def test_a_run_of_one_request_has_one():
    with pytest.raises(package.ConfigError, match=r"had 1 request\n  = help: give 0$"):
        package.explain(SMALL, request=5, set=ONE)
    with pytest.raises(package.ConfigError, match=r"had 20,000 requests\n.*from 0 to 19,999$"):
        package.explain(SMALL, request=20_000)


def test_one_line_between(monkeypatch):
    story = package.explain(SMALL, set={"workload.synthetic.requests": 500}).to_dict()["stories"][0]
    lines = words.lines(story)
    odd = lines[: len(lines) - 1 + len(lines) % 2]
    monkeypatch.setattr(words, "lines", lambda _: odd)
    monkeypatch.setattr(words, "MOST_ROWS", len(odd) - 1)
    assert "... 1 more line" in [row[2] for row in words.rows(story)]


def test_one_group_of_rows_at_the_same_time(tmp_path):
    trace = tmp_path / "two.spc"
    trace.write_text("0,8,512,R,1.0\n0,8,512,R,1.0\n0,8,512,R,2.0\n")
    facts = dict(trace_summary.facts(package.trace.info(trace)))
    assert "in 1 group of 2.00, 2 at most" in facts["equal times"]


def test_one_register(flashgc):
    told = flashgc("devices", "slc-msr", "--registers", 1).out
    assert "1 data register in each plane, 1 set in each die" in told
    told = flashgc("devices", "slc-msr", "--registers", 2).out
    assert "9 data, 1 command and 1 address register of" in told


def test_one_round_one_capacity_and_one_plane():
    with pytest.raises(package.ConfigError, match="a test of 1 round is not possible"):
        package.pts("slc-msr", rounds=1)
    part = {"name": "", "preconditioning": {"times": 1, "bytes": 4096, "took_ns": 1}, "rounds": 1,
            "steady": None, "continues": False, "drive_writes": 1.5}  # fmt: skip
    assert "preconditioned with 1 user capacity in" in pts_words.about(part)
    shape = {"channels": 1, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 1,
             "blocks_per_plane": 1, "pages_per_block": 1, "page_bytes": 4096}  # fmt: skip
    assert provenance.geometry(shape).endswith("1 plane x 1 block x 1 page of 4 KiB")


def test_one_block_of_a_plane():
    with pytest.raises(package.ConfigError, match='give at most "1 block"'):
        package.plan("oltp", set={"device.blocks_per_plane": 1})


def test_a_plane_that_no_share_helps_needs_more_blocks():
    with pytest.raises(package.ConfigError, match="help: give each plane more blocks"):
        package.plan("oltp", set={"device.blocks_per_plane": 4})
    with pytest.raises(package.ConfigError, match=r"device\.exported below 0\.1667, or"):
        package.plan("oltp", set={"device.blocks_per_plane": 6})
