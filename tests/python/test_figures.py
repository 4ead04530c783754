"""Figures of reproductions: bars, lines, shares of requests and curves over time."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

import flashgc
from flashgc.charts import sheet
from flashgc.reproduction import bars, grid
from flashgc.reproduction import read_experiment as described
from flashgc.reproduction.beside import Beside
from flashgc.reproduction.results import Results
from in_process import apart
from own_paper import EXPERIMENT, HIGH, results

SVG = "{http://www.w3.org/2000/svg}"


def drawn(latency):
    found = results(latency)
    (item,) = (one for one in found.experiment.items if one.id == "1")
    cells = grid.measured(item, found)
    return cells, bars.chart(cells, Beside())


@apart
def test_a_figure_has_a_bar_for_each_cell_as_high_as_its_value():
    cells, chart = drawn({("low", "fifo"): 50.0, ("high", "fifo"): 25.0})
    assert cells.rows == ["low load", "high", "mean"]
    assert cells.blocks[0][2] == [1.0, 0.375]
    assert [row["value"] for row in chart.rows()] == [1, 0.5, 1, 0.25, 1, 0.375]
    svg = sheet.svg([chart]).decode()
    heights = {}
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        told = path.get("aria-label", "")
        if path.get("aria-roledescription") == "bar":
            heights[told] = float(re.search(r"v(-?[\d.]+)h", path.get("d"))[1])
    first, second = list(heights.values())[:2]
    assert second / first == pytest.approx(0.5, abs=0.002)
    assert {"greedy", "fifo", "low load", "high", "mean"} <= texts(svg)


@apart
def test_a_bar_that_is_far_too_high_is_cut_and_bears_its_value():
    _, chart = drawn({("low", "fifo"): 5000.0})
    (y,) = {str(layer["encoding"]["y"]["scale"]["domain"][1]) for layer in chart.spec["layer"][:1]}
    assert float(y) < 5
    assert "cut off" in chart.note
    assert "50.0" in texts(sheet.svg([chart]).decode())


@apart
def test_the_number_of_the_paper_is_a_point_beside_the_bar():
    cells, _ = drawn({("low", "fifo"): 50.0})
    chart = bars.chart(cells, Beside(values={(0, 0, 1): 0.625}))
    (point,) = [row for row in chart.rows() if row["by"] == "the paper"]
    assert (point["row"], point["value"], point["text"]) == ("low load", 0.625, "0.625")
    assert "the paper" in texts(sheet.svg([chart]).decode())


def texts(svg):
    return {one.text for one in ET.fromstring(svg).iter(f"{SVG}text")}


@apart
def test_equal_charts_are_equal_pictures_and_several_are_one():
    _, chart = drawn({})
    assert sheet.svg([chart]) == sheet.svg([chart])
    both = sheet.svg([chart, chart]).decode()
    assert both.count(">normalised</text>") + len(re.findall("mean latency, normalised", both)) >= 2
    assert len(set(re.findall(r' id="([^"]*)"', both))) == len(re.findall(r' id="([^"]*)"', both))


def test_a_figure_may_be_of_means_over_a_third_axis():
    more = EXPERIMENT.replace(
        "[axes.scheme.greedy]", "[axes.day.one]\n[axes.day.two]\n[axes.scheme.greedy]"
    )
    more = more.replace(
        'scheme = "*" }\nagainst', 'day = "*", scheme = "*" }\nover = "day"\nagainst'
    )
    more = more.replace(
        'load = ["low", "high"], scheme', 'load = ["low", "high"], day = "one", scheme'
    )
    known = described.load(more, "here")
    item = next(one for one in known.items if one.id == "1")
    latency = {("low", "one", "fifo"): 50.0, ("low", "two", "fifo"): 150.0}
    reports = {
        point: {"latency_ns": {"all": {"mean": latency.get(point, 100.0)}}}
        for point in known.points({axis: list(names) for axis, names in known.axes.items()})
    }
    cells = grid.measured(item, Results(known, reports, {}))
    assert cells.blocks[0] == [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    reports[("low", "two", "fifo")]["latency_ns"]["all"]["mean"] = 250.0
    assert grid.measured(item, Results(known, reports, {})).blocks[0][0] == [1.0, 1.5]
    wrong = more.replace('over = "day"', 'over = "load"')
    with pytest.raises(flashgc.ConfigError, match="neither `rows` nor `columns`"):
        described.load(wrong, "here")


CURVES = EXPERIMENT.replace("[axes.load.low]", "[axes.load.low]\nvalue = 2").replace(
    "[axes.load.high]", "[axes.load.high]\nvalue = 1"
)
LINES = CURVES.replace('form = "bars"', 'form = "lines"\nx = "depth"').replace(
    'measures = ["latency"]', 'measures = ["latency", "waf"]'
)
CDF = EXPERIMENT.replace('form = "bars"', 'form = "cdf"').replace(
    'against = { scheme = "greedy" }\nas = "ratio"\nmean = true', ""
)


@apart
def test_lines_go_through_the_values_of_an_axis(paper, tmp_path):
    (paper / "experiment.toml").write_text(LINES)
    done = flashgc.reproduce("own-paper", ["1"], out=tmp_path / "out", quick=True)
    svg = (tmp_path / "out/figure-1.svg").read_text()
    assert {"depth", "mean latency, ratio", "write amplification, ratio", "fifo"} <= texts(svg)
    latency, waf = done.charts["1"]
    assert [latency.title, waf.title] == ["mean latency, ratio", "write amplification, ratio"]
    assert latency.names == ["greedy", "fifo"]
    assert {row["place"] for row in latency.rows()} == {1, 2}
    assert "figure-1.svg" in (tmp_path / "out/report-1.md").read_text()


@apart
def test_shares_of_requests_are_kept_with_the_runs_that_need_them(paper, tmp_path):
    (paper / "experiment.toml").write_text(EXPERIMENT)
    flashgc.reproduce("own-paper", out=tmp_path / "out", quick=True)
    (paper / "experiment.toml").write_text(CDF)
    done = flashgc.reproduce("own-paper", ["1"], out=tmp_path / "out", quick=True)
    assert (done.runs, done.runs_kept) == (4, 0)
    assert flashgc.reproduce("own-paper", out=tmp_path / "out", quick=True).runs_kept == 4
    kept = [json.loads(path.read_text()) for path in (tmp_path / "out/runs").iterdir()]
    assert all(sum(n for _, n in one["report"]["distribution"]) == 500 for one in kept)
    assert [chart.title for chart in done.charts["1"]] == ["low load", "high"]
    for chart in done.charts["1"]:
        values = [row["value"] for row in chart.rows() if row[chart.series] == "fifo"]
        assert values == sorted(values)
        assert values[-1] == 1


COURSE = EXPERIMENT.replace(
    'form = "bars"',
    'form = "course"\ncourse = { column = "free_blocks_min", per = "2", label = "free blocks" }',
).replace('against = { scheme = "greedy" }\nas = "ratio"\nmean = true', "")


@apart
def test_a_curve_over_time_is_drawn_from_the_series_of_a_run(paper, tmp_path):
    (paper / "experiment.toml").write_text(COURSE)
    done = flashgc.reproduce("own-paper", ["1"], out=tmp_path / "out", quick=True)
    kept = [json.loads(path.read_text()) for path in (tmp_path / "out/runs").glob("*.json")]
    series = [one["report"]["series"] for one in kept]
    assert all(len(one["start_ns"]) == len(one["free_blocks_min"]) > 0 for one in series)
    assert "free blocks" in texts((tmp_path / "out/figure-1.svg").read_text())
    assert [chart.names for chart in done.charts["1"]] == [["greedy", "fifo"]] * 2
    again = flashgc.reproduce("own-paper", ["1"], out=tmp_path / "out", quick=True)
    assert again.runs_kept == 4
    assert again.charts == done.charts


@pytest.mark.usefixtures("no_figures")
def test_runs_that_are_the_same_are_one(paper, tmp_path):
    twice = '[axes.load.again]\nset = { "workload.synthetic.queue_depth" = 1 }\n'
    twice += 'quick = { "workload.synthetic.requests" = 500 }\n\n[axes.load.high]'
    text = EXPERIMENT.replace("[axes.load.high]", twice, 1)
    text = text.replace('load = ["low", "high"]', 'load = ["low", "again", "high"]')
    (paper / "experiment.toml").write_text(text)
    done = flashgc.reproduce("own-paper", out=tmp_path / "out", quick=True)
    assert done.runs == 4 == len(list((tmp_path / "out/runs").iterdir()))
    rows = {row[0]: row[1:] for row in done.tables["table-1"]}
    assert rows["again"] == rows["low load"] != rows["high"]
    assert flashgc.reproduce("own-paper", out=tmp_path / "out", quick=True).runs_kept == 4


def test_cells_beyond_what_the_drive_serves_are_marked():
    found = results({}, saturated=(HIGH,))
    item = next(one for one in found.experiment.items if one.id == "table-1")
    table = grid.measured(item, found).table()
    assert [cell.endswith("*") for cell in table[2][1:]] == [True, True, False, False]
    assert not any(cell.endswith("*") for cell in table[1])
