"""The scheme `ideal` beside others: the floor of a comparison."""

import flashgc as package
from conftest import SMALL
from flashgc import floor, units

FEW = {"workload.synthetic.requests": 5000}


def test_ideal_comes_first_unless_it_is_given(flashgc, small):
    def schemes(*more):
        shown = flashgc("compare", small, "--json", *more).json
        return [one["scheme"] for one in shown]

    assert schemes("--schemes", "greedy,fifo") == ["ideal", "greedy", "fifo"]
    assert schemes("--schemes", "greedy,ideal") == ["greedy", "ideal"]
    assert schemes("--schemes", "greedy", "--no-ideal") == ["greedy"]


def test_a_floor_does_not_run_alone(flashgc, small):
    told = flashgc("compare", small, "--schemes", "fpgc", code=2).err
    assert "needs a device that can suspend operations" in told


def test_python_runs_what_it_is_given():
    assert package.compare(SMALL, ["greedy"], set=FEW).keys() == ["greedy"]
    several = package.compare(SMALL, ["greedy"], set=FEW, ideal=True)
    assert several.keys() == ["ideal", "greedy"]
    assert several["ideal"].write_amplification == several["greedy"].write_amplification


def test_the_price_is_the_difference_to_ideal():
    several = package.compare(SMALL, ["greedy", "fifo"], set=FEW, ideal=True, blame=True)
    head, *rows = floor.rows(several)
    assert head == ["price of collection", "greedy", "fifo"]
    found = {name: cells for name, *cells in rows}
    mean = several["greedy"].latency_ns.write.mean - several["ideal"].latency_ns.write.mean
    assert found["write mean above ideal"][0] == f"+{units.time(mean)}"
    blamed = several["fifo"].blame.write.p99_9.collection_ns
    assert found["write p99.9 by blame"][1] == units.time(blamed)
    assert floor.note(several)


def test_without_blame_or_ideal_there_is_less_to_show():
    several = package.compare(SMALL, ["greedy"], set=FEW, ideal=True)
    assert floor.note(several) is None
    assert not any("by blame" in row[0] for row in floor.rows(several))
    assert floor.rows(several[1:]) == floor.rows(several[:1]) == []


def test_of_several_seeds_the_means_are_compared():
    several = package.compare(SMALL, ["greedy"], set=FEW, ideal=True, seeds=2)
    ideal, greedy = (one.seeds.metrics["latency_ns.write.p99"].mean for one in several)
    found = {name: cells for name, *cells in floor.rows(several)}
    assert found["write p99 above ideal"] == [f"+{units.time(greedy - ideal)}"]


def test_the_page_and_the_text_show_the_price(flashgc, small, tmp_path):
    told = flashgc("compare", small, "--schemes", "greedy", "--blame", "--out", "both").out
    assert "price of collection" in told
    assert "ideal: of a" not in told
    page = (tmp_path / "both/report.html").read_text()
    assert "Price of collection" in page
    assert "above ideal are not equal" in page
