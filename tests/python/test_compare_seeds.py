"""Comparisons over several seeds: each with its interval, and differences seed by seed."""

import json
import statistics

import pytest

import flashgc as package
from flashgc.results import compared, gc_cost, steady_state
from flashgc.results.statistics import student_t

NAME = "latency_ns.write.mean"


@pytest.fixture
def several(small):
    return package.compare(small, ["greedy", "fifo", "random"], seeds=4, seed=5)


def test_each_scheme_has_what_run_seeds_gives(small, several):
    alone = package.run_seeds(small, 4, scheme="fifo", seed=5)
    assert several["fifo"].seeds["values"] == alone.seeds["values"] == [5, 6, 7, 8]
    assert several["fifo"].seeds.metrics.to_dict() == alone.seeds.metrics.to_dict()
    assert several["fifo"].result_hash == alone.result_hash


def test_differences_are_those_of_runs_with_one_seed(small, several):
    runs = [package.compare(small, ["greedy", "fifo"], seed=seed) for seed in range(5, 9)]
    apart = [fifo.latency_ns.write.mean - greedy.latency_ns.write.mean for greedy, fifo in runs]
    found = several["fifo"].seeds.over_first
    assert found.scheme == "greedy"
    mean, half = statistics.mean(apart), student_t(3) * statistics.stdev(apart) / 2
    expected = {"mean": mean, "low": mean - half, "high": mean + half}
    assert found.metrics[NAME].to_dict() == pytest.approx(expected)
    assert "over_first" not in several["greedy"].seeds


def test_the_table_shows_mean_and_interval(several):
    rows = {row[0]: row[1:] for row in compared.comparison(several)}
    assert all("+/-" in cell for cell in rows["write mean"])
    apart = compared.differences(several)
    assert apart[0] == ["over greedy", "fifo", "random"]
    assert any(row[0] == "write mean" and row[1][0] in "+-" for row in apart)


def test_one_seed_has_no_interval(small):
    several = package.compare(small, ["greedy", "fifo"], seeds=1)
    rows = {row[0]: row[1:] for row in compared.comparison(several)}
    assert not any("+/-" in cell for cell in rows["write mean"])
    assert several["fifo"].seeds.over_first.metrics[NAME].low is None


def test_as_a_command(flashgc, small, tmp_path):
    command = ["compare", "small.toml", "--schemes", "greedy,fifo", "--seeds", "3"]
    flashgc(*command, "--out", "both")
    found = json.loads((tmp_path / "both/report.json").read_text())
    assert [one["seeds"]["count"] for one in found] == [3, 3]
    assert "over_first" not in found[0]["seeds"]
    assert found[1]["seeds"]["over_first"]["scheme"] == "greedy"
    assert "over greedy" in (tmp_path / "both/report.html").read_text()
    told = flashgc(*command)
    assert "over greedy" in told.out
    assert "3 seeds" in told.out
    assert "--seeds" in flashgc(*command, "--over-time", "--out", "both", code=2).err


def test_a_scheme_that_does_not_run_is_left_out_of_all_seeds(small):
    several = package.compare(small, ["fpgc", "greedy", "fifo"], seeds=2)
    assert [one.scheme for one in several.refused] == ["fpgc"]
    assert several["fifo"].seeds.over_first.scheme == "greedy"


def test_an_interval_of_runs_that_are_not_steady_says_so(small, flashgc):
    """Such intervals missed the value of the long run in 30 of 56 cases."""
    short = {"workload.synthetic.requests": 2000}
    several = package.compare(small, ["greedy", "random"], seeds=3, set=short, cost=True)
    assert all(one.seeds.not_steady == 3 for one in several)
    tables = [compared.comparison(several), compared.differences(several)]
    cells = [cell for table in tables for row in table for cell in row if "+/-" in cell]
    assert cells
    assert all(cell.endswith("(not steady)") for cell in cells), cells
    priced = [cell for row in gc_cost.rows(several) for cell in row if "+/-" in cell]
    assert priced
    assert all(cell.endswith("(not steady)") for cell in priced), priced
    assert "their intervals hold for runs of this length" in compared.over_seeds(several)
    assert steady_state.marks(several) == [["! steady state", "no with 3 of 3", "no with 3 of 3"]]
    told = flashgc("run", small, "--seeds", "3", "--set", "workload.synthetic.requests=2000").out
    assert "95 % interval, not steady" in told


def test_one_seed_that_is_not_steady_is_enough(small):
    several = package.compare(small, ["greedy", "fifo"], seeds=2)
    steady = [one.seeds.not_steady == 0 for one in several]
    rows = {row[0]: row[1:] for row in compared.comparison(several)}
    for cell, is_steady in zip(rows["write mean"], sorted(steady, reverse=True), strict=True):
        assert cell.endswith("(not steady)") != is_steady
