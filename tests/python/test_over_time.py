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
from conftest import REPLAY, SMALL
from flashgc import axis, cliff, summary
from flashgc.over_time import MOST_ROWS, parts, stretches
from flashgc.panel import Curve, Panel

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


def row(start_ns, reads, longest_ns):
    done = {"requests_read": str(reads), "requests_write": "0"}
    mean = str(longest_ns / 2) if reads else ""
    latency = {"latency_read_mean_ns": mean, "latency_read_max_ns": str(longest_ns or "")}
    return {"start_ns": str(start_ns), **done, **latency}


def test_a_time_without_requests_has_no_row():
    # Intervals of 4 ns: 100,001 of them, so that 334 are joined.
    series = [row(0, 1, 10), row(4, 3, 30), row(8, 0, 0), row(400_000, 2, 50)]
    found = parts(lambda: series, 400_004)
    assert found["start_ns"].tolist() == [0, 299 * 334 * 4]
    assert found["end_ns"].tolist() == [334 * 4, 300 * 334 * 4]
    assert found["requests_read"].tolist() == [4, 2]
    assert found["latency_read_max_ns"].tolist() == [30, 50]
    assert found["latency_read_mean_ns"].tolist() == [12.5, 25.0]
    assert np.isnan(found["latency_write_max_ns"]).all()
    assert parts(lambda: [row(0, 1, 10)], 123)["end_ns"].tolist() == [123]
    assert parts(list, 0).rows == 0


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


def test_a_page_draws_what_was_kept(watched, tmp_path):
    report, *_ = watched
    page = report.save(tmp_path / "a.html").read_text()
    for words in ("The performance cliff", "Longest response over time", "in order", "p99.99"):
        assert words in page
    assert page.count('<div class="charts">') == 3
    assert "nan" not in page.lower()
    assert "--over-time" not in page
    plain = flashgc.run(SMALL)._repr_html_()
    assert "Longest response over time" not in plain
    assert "--over-time" in plain
    assert "erasing" in plain


def test_no_maximum_is_lost_on_the_page(watched):
    report, *_ = watched
    found = report.over_time.responses
    most_ns = report.latency_ns.write.max
    y = axis.round_times(1000, most_ns, "latency")
    x = axis.span(float(found["end_ns"][-1]), "time")
    drawn = cliff._course(found, "write", "writes", x, y)
    peaks = {value for _, value in drawn.curves[0].points}
    assert max(peaks) == most_ns
    assert peaks >= set(found["latency_write_max_ns"][found["requests_write"] > 0].tolist())


def test_a_page_without_collections_says_so(tmp_path):
    report = flashgc.run(SMALL, set=ONLY_READS, over_time=True)
    assert report.over_time.collections.rows == 0
    page = report.save(tmp_path / "a.html").read_text()
    assert "No collection worked in the measured part." in page
    assert "No collection ended in the measured part." in page
    assert page.count('<div class="charts">') == 2
    assert "writes: " not in page


def test_a_run_of_nothing_but_trims_has_nothing_to_draw(tmp_path):
    trace = tmp_path / "trims.csv"
    trace.write_text("time:ns,op,offset,size\n0,t,0,4096\n10,t,4096,4096\n")
    form = {"workload.trace.format": "csv:time:ns, op, offset, size; header=yes"}
    report = flashgc.run(REPLAY, trace, set=form, over_time=True)
    assert report.over_time.responses.rows == 0
    page = report._repr_html_()
    assert "No read and no write was done" in page
    assert 'class="charts"' not in page


def test_a_comparison_has_charts_on_the_same_axes(tmp_path):
    both = flashgc.compare(SMALL, ["greedy", "fifo"], over_time=True)
    assert all(report.over_time is not None for report in both)
    page = both.save(tmp_path / "a.html").read_text()
    charts = re.findall(r"<svg[^>]*><title>((?:greedy|fifo)[^<]*)</title>(.*?)</svg>", page)
    titles = [title for title, _ in charts]
    kinds = ["greedy: reads", "greedy: writes", "fifo: reads", "fifo: writes"]
    assert titles == [*kinds, "greedy", "fifo"]
    grids = [re.findall(r'text-anchor="(?:middle|end)">([^<]*)<', text) for _, text in charts]
    without_notes = [[label for label in grid if "longest" not in label] for grid in grids]
    assert len({tuple(grid) for grid in without_notes[:4]}) == 1
    assert len(page) < 300_000


def test_the_command_shows_a_run_over_time(flashgc, small, tmp_path):
    plain = flashgc("run", small, "--json").json
    done = flashgc("run", small, "--json", "--out", "one", "--over-time", "--gc-log", "gc.csv")
    assert done.json["result_hash"] == plain["result_hash"]
    assert json.loads((tmp_path / "one/report.json").read_text()) == done.json
    assert "Longest response over time" in (tmp_path / "one/report.html").read_text()
    assert len((tmp_path / "gc.csv").read_text().splitlines()) == plain["gc"]["count"] + 1
    command = ["compare", small, "--schemes", "greedy,fifo", "--out", "two", "--over-time"]
    flashgc(*command)
    assert "fifo: writes" in (tmp_path / "two/report.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "gc.csv",
        "one",
        "small.toml",
        "two",
    ]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--over-time"], "name its folder with --out"),
        (["--over-time", "--out", "a", "--seeds", "2"], "cannot be combined with --seeds"),
        (["--over-time", "--out", "a", "--series", "/dev/null"], "is not a file that can be read"),
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
    facts = dict(summary.facts(report))
    assert "moving pages in the background" in facts["GC time"]
    assert "in the background" in report._repr_html_()
