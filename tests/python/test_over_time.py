"""The longest responses over time and the pages moved, as data and on a page."""

import csv
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flashgc
import pages
from conftest import REPLAY, SMALL
from flashgc.results import over_time, run_facts
from flashgc.results.over_time import MOST_ROWS, stretches
from flashgc.traces import axis
from flashgc.traces.line_charts import Curve, Panel

ONLY_READS = {"workload.synthetic.read_share": 1.0}


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A report over time, and the rows of the files that it was made from."""
    folder = tmp_path_factory.mktemp("watched")
    files = {"series": folder / "series.csv", "gc_log": folder / "gc.csv"}
    report = flashgc.run(SMALL, over_time=True, **files)
    rows = {name: list(csv.DictReader(open_(path))) for name, path in files.items()}
    return report, rows["series"], rows["gc_log"]


def open_(path):
    return path.read_text().splitlines()


def test_the_envelope_is_that_of_the_series(watched):
    report, series, _ = watched
    found = report.over_time.responses
    assert MOST_ROWS / 2 < found.rows <= MOST_ROWS < len(series)
    spans = list(zip(found["start_ns"], found["end_ns"], strict=True))
    assert len({end - start for start, end in spans}) == 1
    for kind in ("read", "write"):
        for at, (start, end) in enumerate(spans):
            rows = [row for row in series if start <= int(row["start_ns"]) < end]
            longest = [int(row[f"latency_{kind}_max_ns"] or 0) for row in rows]
            count = sum(int(row[f"requests_{kind}"]) for row in rows)
            assert found[f"requests_{kind}"][at] == count
            assert np.nan_to_num(found[f"latency_{kind}_max_ns"][at]) == max(longest)
        counts, means = found[f"requests_{kind}"], found[f"latency_{kind}_mean_ns"]
        latency = report.latency_ns[kind]
        assert counts.sum() == report.requests[kind]
        assert np.nanmax(found[f"latency_{kind}_max_ns"]) == latency["max"]
        assert np.nansum(counts * means) / counts.sum() == pytest.approx(latency["mean"])


def test_what_collections_moved_is_that_of_the_log(watched):
    report, _, log = watched
    found = report.over_time.collections
    moved = [int(row["moved"]) for row in log]
    assert MOST_ROWS / 2 < found.rows <= MOST_ROWS < len(moved)
    for first, count, fewest, mean, most in zip(*found.values(), strict=True):
        stretch = moved[first : first + count]
        assert (fewest, mean, most) == (min(stretch), np.mean(stretch), max(stretch))
    assert found["count"].sum() == report.gc.count
    assert found["moved_max"].max() == max(moved)


@given(st.lists(st.integers(0, 500), max_size=3 * MOST_ROWS))
def test_stretches_lose_nothing(moved):
    found = stretches(moved)
    assert len(found) <= MOST_ROWS
    assert len({count for _, count, *_ in found[:-1]}) <= 1
    for first, count, fewest, mean, most in found:
        stretch = moved[first : first + count]
        assert (len(stretch), min(stretch), max(stretch)) == (count, fewest, most)
        assert mean == sum(stretch) / count
    assert sum(count for _, count, *_ in found) == len(moved)


def test_states_are_those_of_the_last_row_of_each_part(watched):
    report, series, _ = watched
    found = report.over_time.states
    for at, (start, end) in enumerate(zip(found["start_ns"], found["end_ns"], strict=True)):
        rows = [row for row in series if start <= int(row["start_ns"]) < end]
        assert rows
        for name in ("free_blocks_end", "used_pages_end"):
            assert found[name][at] == int(rows[-1][name])
        assert found["free_blocks_min"][at] == min(int(row["free_blocks_min"]) for row in rows)
        assert found["outstanding_max"][at] == max(int(row["outstanding_max"]) for row in rows)
        assert found["gc_busy_ns"][at] == sum(int(row["gc_busy_ns"]) for row in rows)
    assert found["gc_count"].sum() == report.gc.count
    assert found["gc_moved"].sum() == report.pages.gc_moved
    assert found["gc_busy_ns"].sum() == report.gc.total_busy_ns


def test_the_map_of_wear_has_every_erase_at_its_place(watched):
    report, _, log = watched
    wear = report.over_time.wear
    assert wear["erases"].sum() == report.erases
    assert (wear["planes"] * wear["blocks"]).sum() == report.capacity.physical_pages // 32
    first = (wear["plane"] == 0) & (wear["block"] == 0)
    blocks = int(wear["blocks"][first][0])
    there = [row for row in log if row["plane"] == "0" and int(row["victim"]) < blocks]
    assert wear["erases"][first].tolist() == [sum(int(row["blocks"]) for row in there)]


def test_a_run_without_logs_shows_the_same(watched):
    """Collections may run as one event there, and count when they end."""
    logged, *_ = watched
    alone = flashgc.run(SMALL, over_time=True)
    assert alone.result_hash == logged.result_hash
    for name in ("responses", "collections", "wear"):
        one, other = getattr(alone.over_time, name), getattr(logged.over_time, name)
        assert list(one) == list(other)
        for column in one:
            np.testing.assert_array_equal(one[column], other[column])
    states = alone.over_time.states
    assert states["gc_moved"].sum() == logged.pages.gc_moved
    assert states["gc_busy_ns"].sum() == logged.gc.total_busy_ns


def series(*rows):
    """Columns of a series with reads alone: start, number and longest latency."""
    starts, reads, longest = (np.array(column) for column in zip(*rows, strict=True))
    nothing = np.where(reads > 0, longest, np.nan)
    return {
        "start_ns": starts, "requests_read": reads, "requests_write": 0 * reads,
        "latency_read_mean_ns": nothing / 2, "latency_read_max_ns": nothing,
        "latency_write_mean_ns": 0 * nothing, "latency_write_max_ns": 0 * nothing,
    }  # fmt: skip


def test_a_time_without_requests_has_no_row():
    # Intervals of 4 ns: 100,001 of them, so that 334 are joined.
    rows = series((0, 1, 10), (4, 3, 30), (8, 0, 0), (400_000, 2, 50))
    length_ns = over_time._length_ns(rows, 4)
    assert length_ns == 334 * 4
    found = over_time.responses(rows, length_ns)
    assert found["start_ns"].tolist() == [0, 299 * 334 * 4]
    assert found["end_ns"].tolist() == [334 * 4, 300 * 334 * 4]
    assert found["requests_read"].tolist() == [4, 2]
    assert found["latency_read_max_ns"].tolist() == [30, 50]
    assert found["latency_read_mean_ns"].tolist() == [12.5, 25.0]
    assert np.isnan(found["latency_write_max_ns"]).all()
    assert over_time._length_ns(series((0, 1, 10)), 123) == 123


def test_watching_changes_no_figure(watched):
    report, *_ = watched
    plain = flashgc.run(SMALL)
    assert plain.over_time is None
    assert plain.result_hash == report.result_hash
    assert "over_time" not in report.to_dict()


def test_the_time_of_collection_is_told_apart(watched):
    report, *_ = watched
    time = report.gc_time
    assert time.erase_ns == report.erase_operations * 1_500_000
    copies_ns = report.gc.copy_steps * 225_000 + report.gc.busy_open_ns
    assert time.move_ns == copies_ns > 0
    assert time.erase_share + time.move_share == pytest.approx(1)
    assert time.background_ns == time.background_share == 0
    nothing = flashgc.run(SMALL, set=ONLY_READS).gc_time
    assert (nothing.busy_ns, nothing.erase_share, nothing.move_share) == (0, None, None)


def test_a_page_draws_what_was_kept(watched):
    report, *_ = watched
    found = pages.charts(report.save_folder("one")[0].read_text())
    assert [*found] == [
        "latency", "percentiles-reads", "percentiles-writes", "responses", "used-space",
        "free-blocks", "activity", "moves", "wear",
    ]  # fmt: skip
    plain = flashgc.run(SMALL).save_folder("two")[0].read_text()
    assert [*pages.charts(plain)] == [
        "latency",
        "percentiles-reads",
        "percentiles-writes",
        "activity",
    ]
    assert "--over-time" in plain


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_no_maximum_is_lost_on_the_page(watched):
    report, *_ = watched
    page = report.save_folder("one")[0].read_text()
    found = report.over_time.responses
    drawn = pages.charts(page)["responses"]["columns"]
    for kind in ("read", "write"):
        known = found[f"latency_{kind}_max_ns"][found[f"requests_{kind}"] > 0].tolist()
        assert [one for one in drawn[f"{kind}_max_ns"] if one is not None] == known
        assert max(known) == report.latency_ns[kind].max
    assert sum(drawn["gc_count"]) == report.gc.count


def test_a_page_without_collections_says_so():
    report = flashgc.run(SMALL, set=ONLY_READS, over_time=True)
    assert report.over_time.collections.rows == 0
    page = report.save("a.html").read_text()
    assert "No collection worked in the measured part." in page
    drawn = pages.charts(page)
    assert not {"moves", "wear"} & {*drawn}
    assert "write_max_ns" not in drawn["responses"]["columns"]


def test_a_run_of_nothing_but_trims_has_nothing_to_draw(tmp_path):
    trace = tmp_path / "trims.csv"
    trace.write_text("time:ns,op,offset,size\n0,t,0,4096\n10,t,4096,4096\n")
    form = {"workload.trace.format": "csv:time:ns, op, offset, size; header=yes"}
    report = flashgc.run(REPLAY, trace, set=form, over_time=True)
    assert report.over_time.responses.rows == 0
    drawn = pages.charts(report.save("a.html").read_text())
    assert not {"latency", "percentiles-reads", "responses"} & {*drawn}


def test_a_comparison_has_charts_on_the_same_axes():
    both = flashgc.compare(SMALL, ["greedy", "fifo"], over_time=True)
    assert all(report.over_time is not None for report in both)
    page = both.save("a.html").read_text()
    assert len(page) < 1_500_000
    drawn = pages.charts(page)
    one, two = drawn["responses-1"], drawn["responses-2"]
    assert (one["names"], two["names"]) == (["greedy"], ["fifo"])
    for layer, other in zip(one["spec"]["layer"], two["spec"]["layer"], strict=True):
        for axis_ in ("x", "y"):
            scales = [each["encoding"].get(axis_, {}).get("scale") for each in (layer, other)]
            assert scales[0] == scales[1]
    most = [max(drawn[f"wear-{at}"]["columns"]["each"]) for at in (1, 2)]
    for at in (1, 2):
        assert drawn[f"wear-{at}"]["spec"]["encoding"]["color"]["scale"]["domain"] == [
            0, pytest.approx(max(most), rel=1e-3)
        ]  # fmt: skip


def test_the_command_shows_a_run_over_time(flashgc, small, tmp_path):
    plain = flashgc("run", small, "--json").json
    done = flashgc("run", small, "--json", "--out", "one", "--over-time", "--gc-log", "gc.csv")
    assert done.json["result_hash"] == plain["result_hash"]
    assert json.loads((tmp_path / "one/report.json").read_text()) == done.json
    assert "responses" in pages.charts((tmp_path / "one/report.html").read_text())
    assert len((tmp_path / "gc.csv").read_text().splitlines()) == plain["gc"]["count"] + 1
    command = ["compare", small, "--schemes", "greedy,fifo", "--out", "two", "--over-time"]
    flashgc(*command)
    assert "responses-2" in pages.charts((tmp_path / "two/report.html").read_text())
    flashgc("run", small, "--out", "three", "--no-over-time")
    assert "responses" not in pages.charts((tmp_path / "three/report.html").read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "gc.csv",
        "one",
        "small.toml",
        "three",
        "two",
    ]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--over-time"], "name its folder with --out"),
        (["--over-time", "--no-over-time", "--out", "a"], "exclude each other"),
        (["--over-time", "--out", "a", "--seeds", "2"], "cannot be combined with --seeds"),
    ],
)
def test_a_run_over_time_that_cannot_be_shown(flashgc, small, args, why):
    assert why in " ".join(flashgc("run", small, *args, code=2).err.replace("│", " ").split())


def test_a_gap_in_a_curve_is_not_drawn():
    points = [(0.0, 1.0), (1.0, 1.0), (1.0, math.nan), (3.0, 2.0), (4.0, 2.0)]
    x, y = axis.Axis(0.0, 4.0, [], ""), axis.linear(2.0, "")
    steps, line = (Panel("", x, y, [])._path(Curve("", points, 0, steps=how)) for how in (1, 0))
    assert steps.count("M") == line.count("M") == 2
    assert steps.count("H") == line.count("L") == 2
    assert "V" not in steps


def test_gc_time_counts_what_is_moved_in_the_background_as_a_part():
    text = re.sub("queue_depth = .*", 'interarrival = { exponential = "4 ms" }', SMALL)
    ahead = {"gc.scheme": "pregc", "gc.background.pre-migration.distance": "2 blocks"}
    report = flashgc.run(text, set={**ahead, "workload.synthetic.requests": 3000})
    time = report.gc_time
    assert time.background_ns == report.background.busy_ns > 0
    assert time.busy_ns == report.gc.busy_ns + report.background.busy_ns == report.gc.total_busy_ns
    assert time.erase_ns + time.move_ns + time.background_ns == time.busy_ns
    facts = dict(run_facts.facts(report))
    assert "moving pages in the background" in facts["GC time"]
    assert "in the background" in report._repr_html_()
