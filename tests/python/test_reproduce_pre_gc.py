"""Paper pre-gc: metrics of single events, and that its experiment is that of the paper."""

import json
import tomllib

import pytest

import flashgc
from conftest import ROOT, SPC
from flashgc.reproduction import checks, cliffs

pytestmark = pytest.mark.usefixtures("no_figures")

MAIN = ["usr0", "src0", "ts0", "rsrch0", "wdev0", "hm0", "mds1", "fiu-web"]
EXPORTED_PAGES = 838_848
PAGES_OF_A_WRITE = 0.45 * 1 + 0.5 * 1.25 + 0.05 * 4.75
"""Pages of 16 KiB in writes of 4, 8 and 64 KiB that begin at any multiple of 4 KiB."""


@pytest.fixture(scope="module")
def experiment():
    return tomllib.loads((ROOT / "papers/pre-gc/experiment.toml").read_text())


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Figures 3 to 5 and 9, quick, and the folder of their runs."""
    out = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flashgc.charts.sheet.drawable", lambda: False)
        return flashgc.reproduce("pre-gc", ["3-4", "5", "9"], out=out, quick=True), out


def synthetic_workload(name):
    path = ROOT / f"python/flashgc/workloads/{name}.toml"
    return tomllib.loads(path.read_text())


def kept(out, needle):
    """The reports of the runs whose names contain a word."""
    found = [json.loads(path.read_text()) for path in (out / "runs").glob("*.json")]
    return [one["report"] for one in found if needle in one["run"]]


def test_a_chart_of_peaks_for_each_column_and_no_peak_lost(drawn):
    done, out = drawn
    assert [chart.title for chart in done.charts["3-4"]] == ["2D", "3D"]
    titles = [chart.title for chart in done.charts["9"]]
    assert titles == ["Original", "PreGC", "GFTL", "GFTL after PreGC"]
    for report in kept(out, "hm0"):
        series = report["series"]
        peaks = [
            value for name in ("latency_read_max_ns", "latency_write_max_ns")
            for value in series[name] if value is not None
        ]  # fmt: skip
        assert max(peaks) == report["latency_ns"]["all"]["max"]
        assert max(value for _, value in cliffs._peaks(report)) == max(peaks)


def test_a_long_run_is_drawn_in_stretches_each_with_its_longest_response():
    series = {
        "start_ns": list(range(3000)),
        "latency_read_max_ns": [None] * 3000,
        "latency_write_max_ns": [7.0 if at == 2999 else 1.0 for at in range(3000)],
    }
    pairs = cliffs._peaks({"series": series})
    assert len(pairs) == 600
    assert pairs[-1] == (2995.0, 7.0)
    assert cliffs._peaks({}) == []


def test_what_each_collection_moved_is_kept_and_drawn_between_its_bounds(drawn):
    done, out = drawn
    (chart,) = done.charts["5"]
    assert chart.names == ["2D", "3D"]
    assert all(row["fewest"] <= row["mean"] <= row["most"] for row in chart.rows())
    for report in kept(out, "Original"):
        if "moves" not in report:
            continue
        firsts = [first for first, *_ in report["moves"]]
        assert firsts == sorted(set(firsts))
        assert all(least <= mean <= most for _, least, mean, most in report["moves"])
        if report["gc"]["count"] <= 600:
            assert len(firsts) == report["gc"]["count"]
            total = sum(mean for _, _, mean, _ in report["moves"])
            assert total == pytest.approx(report["gc"]["count"] * report["gc"]["moved_per_gc"])


def test_collections_in_stretches_lose_no_extreme():
    moved = [5] * 1300
    moved[700], moved[701] = 0, 128
    found = cliffs.stretches(moved)
    assert len(found) <= 600
    assert (min(one[1] for one in found), max(one[3] for one in found)) == (0, 128)
    assert sum(one[2] * 4 for one in found[:-1]) + found[-1][2] * (1300 - found[-1][0]) == sum(
        moved
    )


def test_a_log_that_is_gone_is_an_error(tmp_path):
    with pytest.raises(flashgc.OutputError, match=r"no\.csv"):
        cliffs.read_moves(tmp_path / "no.csv")


@pytest.mark.parametrize("name", MAIN)
def test_workloads_are_as_long_as_the_trace_and_as_fast_as_table_2_says(experiment, name):
    source = experiment["axes"]["workload"][name]["sources"][-1]
    like = synthetic_workload(source["config"])
    settings = source["set"]
    requests = settings["workload.synthetic.requests"]
    assert requests == like["about"]["original_requests"]
    rate = settings.get("workload.synthetic.rate", 1.0)
    printed_ms = {"usr0": 27.038, "src0": 44.863, "ts0": 38.800, "rsrch0": 42.186,
                  "mds1": 36.646, "fiu-web": 105.357}  # fmt: skip
    mean_ms = like["about"]["targets"]["mean_interarrival_ms"] / rate
    assert mean_ms == pytest.approx(printed_ms.get(name, mean_ms), rel=0.01)
    writes = requests * (1 - like["about"]["targets"]["read_share"])
    pages = writes * (1 if name == "fiu-web" else PAGES_OF_A_WRITE)
    assert settings["precondition.overwrite"] == pytest.approx(pages / EXPORTED_PAGES, abs=0.01)


def test_t_block_and_t_page_are_what_they_are_called(experiment):
    for name, choice in experiment["axes"]["t_block"].items():
        distance = choice.get("set", {}).get("gc.background.pre-migration.distance", "1%")
        assert choice["value"] == float(distance.removesuffix("%"))
        assert float(name) == pytest.approx(10 + choice["value"])
    for name, choice in experiment["axes"]["t_page"].items():
        share = choice.get("set", {}).get("gc.background.pre-migration.t_page", "10%")
        assert float(name) == choice["value"] == float(share.removesuffix("%"))


def test_the_closed_loop_is_the_mixture_of_hm0(experiment):
    settings = experiment["axes"]["workload"]["closed"]["sources"][0]["set"]
    like = synthetic_workload("hm0-like")["workload"]["synthetic"]
    for key in ("read_share", "read_size", "write_size", "align", "address", "footprint"):
        assert settings[f"workload.synthetic.{key}"] == like[key]


def test_its_schemes_run_on_a_trace_of_the_users(tmp_path):
    trace = tmp_path / "requests.spc"
    trace.write_text(SPC)
    done = flashgc.reproduce("pre-gc", trace=trace, out=tmp_path / "out", quick=True)
    assert {"3-4", "5", "table-3", "table-4", "table-5", "9", "10-99", "11"} <= {*done.charts} | {
        *done.tables
    }
    assert not done.failed
    assert all(claim["verdict"] in ("met", "near", "not met", "not comparable")
               for claim in done.claims)  # fmt: skip


BOUNDS_NS = [(10_500_000, True), (14_500_000, True), (10_499_979, False), (14_500_021, False)]


@pytest.mark.parametrize(("busy_ns", "holds"), BOUNDS_NS)
def test_gc_time_of_layers_lies_between_the_fastest_and_the_slowest(busy_ns, holds):
    timing = {"read_ns": 50_000, "program_ns": 350_000, "erase_ns": 8_500_000, "layer_ratio": 3.0}
    report = {
        "gc": {"busy_ns": busy_ns, "busy_open_ns": 0, "copy_steps": 10},
        "erase_operations": 1,
        "config": {"device": {"timing": timing, "shape": {"layers": 2}}},
    }
    complaint = checks.gc_time_identity(report)
    assert (complaint is None) == holds
    assert holds or "10,499,980 to 14,500,020" in complaint


def test_factors_of_layers_are_those_of_the_engine():
    fastest, slowest = checks.layer_factors({"shape": {"layers": 64}, "timing": {"layer_ratio": 2}})
    assert slowest == pytest.approx(2 * fastest)
    # For ever more layers it is 1 / ln 2.
    assert slowest == pytest.approx(1 / 0.6931, rel=0.02)
