"""The price of collection: each scheme, and the same scheme without GC cost."""

import json

import pytest

import flashgc as package
from conftest import SMALL
from flashgc.formatting import units
from flashgc.results import gc_cost

FEW = {"workload.synthetic.requests": 5000}


def test_each_scheme_is_its_own_reference(flashgc, small):
    """A floor of another scheme can be beaten: that of `ideal` was, by `tokens`."""
    shown = flashgc("compare", small, "--schemes", "greedy,pgc,tokens", "--json").json
    assert [one["scheme"] for one in shown] == ["greedy", "pgc", "tokens"]
    for one in shown:
        alone = flashgc("run", small, "--scheme", one["scheme"], "--set", gc_cost.SETTING,
                        "--json").json  # fmt: skip
        for key in ("requests", "write_amplification", "latency_ns", "throughput"):
            assert one["without_gc_cost"][key] == alone[key], one["scheme"]
        assert alone["gc"]["total_busy_ns"] == 0
        assert alone["erases"] > 0
        assert alone["config"]["gc"]["cost"] == "none"
    assert all("without_gc_cost" not in one for one in flashgc(
        "compare", small, "--schemes", "greedy", "--no-cost", "--json").json)  # fmt: skip


def test_a_reference_is_not_a_scheme_that_can_run_where_none_of_the_others_can(flashgc, small):
    told = flashgc("compare", small, "--schemes", "fpgc", code=2).err
    assert "needs a device that can suspend operations" in told


def test_python_runs_what_it_is_given():
    alone = package.compare(SMALL, ["greedy"], set=FEW)
    assert "without_gc_cost" not in alone[0]
    both = package.compare(SMALL, ["greedy"], set=FEW, cost=True)
    assert both.keys() == ["greedy"]
    assert both[0].result_hash == alone[0].result_hash
    assert both[0].without_gc_cost.write_amplification == both[0].write_amplification


def test_the_price_is_the_difference_to_the_scheme_itself():
    several = package.compare(SMALL, ["greedy", "fifo"], set=FEW, cost=True, blame=True)
    head, *rows = gc_cost.rows(several)
    assert head == ["price of collection", "greedy", "fifo"]
    found = {name: cells for name, *cells in rows}
    fifo = several["fifo"]
    without_ns = fifo.without_gc_cost.latency_ns.write.mean
    assert found["write mean without GC cost"][1] == units.time(without_ns)
    over_ns = fifo.latency_ns.write.mean - without_ns
    assert found["write mean, difference"][1] == f"+{units.time(over_ns)}"
    assert found["write p99.9 by blame"][1] == units.time(fifo.blame.write.p99_9.collection_ns)
    assert len(gc_cost.notes(several)) == 1


def test_a_negative_difference_is_printed_as_such():
    """A scheme that delays writes can read faster than without GC cost."""
    [report] = package.compare(SMALL, ["greedy"], set=FEW, cost=True)
    values = report.to_dict()
    values["without_gc_cost"]["latency_ns"]["read"]["p99_9"] = 10 * report.latency_ns.read.p99_9
    made = package.Report(values)
    found = {name: cells for name, *cells in gc_cost.rows([made])}
    assert found["read p99.9, difference"] == [f"-{units.time(9 * report.latency_ns.read.p99_9)}"]
    assert any(text.startswith("A negative difference") for text in gc_cost.notes([made]))
    assert gc_cost.notes([report]) == []


def test_without_blame_or_reference_there_is_less_to_show():
    several = package.compare(SMALL, ["greedy"], set=FEW, cost=True)
    assert not any("by blame" in row[0] for row in gc_cost.rows(several))
    bare = package.compare(SMALL, ["greedy", "ideal"], set=FEW)
    assert gc_cost.rows(bare) == []
    # Nothing is without the cost of a scheme that has none.
    free = package.compare(SMALL, ["greedy", "ideal"], set=FEW, cost=True)
    assert gc_cost.rows(free)[0] == ["price of collection", "greedy"]


def test_of_several_seeds_the_differences_are_paired():
    [greedy] = package.compare(SMALL, ["greedy"], set=FEW, cost=True, seeds=2)
    apart = []
    for seed in (1, 2):
        [one] = package.compare(SMALL, ["greedy"], set=FEW, cost=True, seed=seed)
        apart.append(one.latency_ns.write.p99 - one.without_gc_cost.latency_ns.write.p99)
    metric = greedy.without_gc_cost.cost["latency_ns.write.p99"]
    assert metric.mean == pytest.approx(sum(apart) / 2)
    found = {name: cells for name, *cells in gc_cost.rows([greedy])}
    [cell] = found["write p99, difference"]
    assert cell.startswith(f"+{units.time(metric.mean)} +/- ")


def test_the_page_and_the_text_show_the_price(flashgc, small, tmp_path):
    told = flashgc("compare", small, "--schemes", "greedy", "--blame", "--out", "both").out
    assert "price of collection" in told
    assert "without GC cost" in told
    assert "floor" not in told
    page = (tmp_path / "both/report.html").read_text()
    assert "Price of collection" in page
    assert "By blame and the difference are not equal" in page
    assert "floor" not in page.partition("<script")[0]
    saved = json.loads((tmp_path / "both/report.json").read_text())
    assert saved[0]["without_gc_cost"]["latency_ns"]["read"]["count"] > 0
    again = package.load(tmp_path / "both")
    assert gc_cost.rows(again)


def test_the_runs_without_gc_cost_tell_their_progress():
    seen = []
    package.compare(SMALL, ["greedy", "fpgc", "ideal"], set=FEW, cost=True,
                    progress=lambda index, step: seen.append((index, step.phase)))  # fmt: skip
    assert {index for index, phase in seen if phase == "refused"} == {1, 4}
    # `ideal`, at 2, has no run without GC cost: that of `greedy` is at 3.
    assert {index for index, phase in seen if phase != "refused"} == {0, 2, 3}
