"""Sweeps: their pages, tables and figures."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest

import flashgc
import pages
from flashgc.charts import multiples
from flashgc.cli import layout
from flashgc.sweeps import page as sweep_page
from in_process import apart
from test_sweep import six


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return six(tmp_path)


@apart
def test_the_page_has_the_points(sweep, tmp_path):
    done = flashgc.sweep(sweep, store="all", jobs=2)
    page = done.save(tmp_path / "six.html", "flashgc sweep six.toml").read_text()
    assert pages.addresses(page) == []
    assert "flashgc sweep six.toml" in page
    found = re.search(r'class="points">(.*?)</script>', page).group(1)
    kept = json.loads(found)
    frame = done.to_pandas()
    assert [*kept["axes"]] == done.axes
    for axis in done.axes:
        assert kept["columns"][axis] == list(frame[axis])
    for name in ("write_amplification", "latency_ns.all.p99_9"):
        assert kept["columns"][name] == pytest.approx(list(frame[name]), rel=1e-6)
    assert kept["layout"]["metric"] == "write_amplification"
    # Readers without scripts have a table.
    assert "<noscript><h2>The first 6 points</h2>" in page
    one = done.chart("latency_ns.all.p99")
    assert sum(one.columns["points"]) == 6
    assert max(one.columns["most"]) == frame["latency_ns.all.p99"].max()
    with pytest.raises(KeyError, match="no point has a metric 'waf'"):
        done.chart("waf")
    (saved,) = done.save_figures(tmp_path / "drawn", ["erases"], ["svg"])
    assert saved.name == "erases.svg"


def test_a_page_of_many_points_is_bounded():
    count = 30_000
    values = {name: pa.array([1.0 / 3] * count) for name in sweep_page._FIRST}
    points = pa.table(
        {
            "seed": range(count),
            "status": ["done"] * count,
            **values,
            "saturated": [False] * count,
            "error": pa.nulls(count, pa.string()),
            "report": pa.nulls(count, pa.string()),
        }
    )
    page = sweep_page.whole("many", ["seed"], points)
    assert len(page) < 5_000_000
    assert "The first 20,000 of 30,000 points" in page
    assert len(sweep_page.metrics(["seed"], points.slice(0, 20_000))) == 16


LOADED = """
[base]
config = "small.toml"
[axes.gap.short]
set = { "workload.synthetic.interarrival" = { fixed = "20 us" } }
[axes.gap.long]
set = { "workload.synthetic.interarrival" = { fixed = "2 ms" } }
[axes]
"device.exported" = [0.7, 0.8, 0.99]
"""


@pytest.fixture
def loaded(sweep):
    """Six points: two are saturated, and two refused."""
    return flashgc.sweep(LOADED, store="all", jobs=2)


def test_saturated_points_are_marked_and_left_out_of_lines(loaded, flashgc, tmp_path):
    assert loaded.counts["done"] == 4
    assert loaded.saturated == ["gap short, device.exported 0.7", "gap short, device.exported 0.8"]
    chart = loaded.chart("latency_ns.all.p99")
    assert set(chart.columns["series"]) == {"long"}
    assert "2 saturated points are omitted" in chart.note
    page = loaded.save(tmp_path / "page.html").read_text()
    assert "6: 2 saturated, 2 refused, 2 done" in page
    assert "2 points are saturated" in page
    kept = json.loads(page.split('class="points">')[1].partition("<")[0])
    assert kept["columns"]["state"].count("saturated") == 2
    (tmp_path / "loaded.toml").write_text(LOADED)
    told = flashgc("sweep", "loaded.toml", "--store", "all", code=1, env={"COLUMNS": "120"}).out
    rows = [line.split() for line in told.splitlines()]
    states = [row[2] for row in rows if row[:1] == ["short"]]
    assert states[:3] == ["saturated"] * 2 + ["refused"]
    assert "2 points are saturated: requests arrive faster than the drive serves" in " ".join(
        told.split())  # fmt: skip


def test_refused_points_have_their_reason_on_the_page(loaded, tmp_path):
    page = loaded.save(tmp_path / "page.html").read_text()
    [note] = [one for one in re.findall(r'<p class="note">(.*?)</p>', page) if "refused" in one]
    assert "gap short, device.exported 0.99; gap long, device.exported 0.99 refused: " in note
    assert "spare pages" in note


def test_device_workload_and_configuration_are_on_the_page(loaded, tmp_path):
    page = loaded.save(tmp_path / "page.html").read_text()
    heads = dict(re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", page))
    assert "2 channels x 1 chip" in heads["geometry"]
    assert heads["scheme"] == "greedy"
    assert "synthetic.requests 500" in heads["workload"]
    assert heads["workload"].endswith("differs between the points")
    assert "interarrival" in heads["workload"].rpartition(";")[2]
    assert heads["over-provisioning"] == "differs between the points"
    assert "configuration of the point gap short, device.exported 0.7" in page


def test_each_part_of_the_table_has_all_axes(sweep, flashgc):
    text = sweep.read_text() + '"workload.synthetic.queue_depth" = [1, 8]\n'
    sweep.write_text(text)
    told = flashgc("sweep", sweep, env={"COLUMNS": "56"}).out
    blocks = [block for block in told.split("\n\n") if "scheme" in block and "greedy" in block]
    assert len(blocks) > 1
    for block in blocks:
        assert "seed" in block
        assert "queue_depth" in block
    table = layout.Table([["a", "b", *"cdefgh"], *[["1", "2", *["345678901"] * 6]] * 8], names=2,
                         turns=True)  # fmt: skip
    lines = ["".join(text for text, _ in parts) for parts in table.lines(40)]
    heads = [line.split()[:2] for line in lines if line.startswith("a")]
    assert heads == [["a", "b"]] * 2


def test_numbers_stand_at_their_value():
    axes = {"x": ["7%", "12%", "28%"], "scheme": ["a"]}
    points = {"x": ["7%", "12%", "28%"], "scheme": ["a"] * 3, "m": [1.0, 2.0, 3.0]}
    drawn = multiples.chart(points, axes, multiples.layout(axes, "m"))
    assert drawn.columns["x_at"] == [7.0, 12.0, 28.0]
    x = drawn.spec["encoding"]["x"]
    assert (x["type"], x["axis"]["values"]) == ("quantitative", [7.0, 12.0, 28.0])
    assert x["axis"]["labelExpr"] == 'datum.label + " %"'
    numbers = {"x": [0.7, 0.72, 0.9], "scheme": ["a"]}
    drawn = multiples.chart({**points, "x": numbers["x"]}, numbers, multiples.layout(numbers, "m"))
    assert drawn.spec["encoding"]["x"]["axis"]["values"] == [0.7, 0.72, 0.9]


def test_columns_of_draws_are_in_order(tmp_path, monkeypatch):
    """They were in the order of the draws."""
    monkeypatch.chdir(tmp_path)
    low_high = {"from": 0.6, "to": 0.8}
    drawn = {
        "base": {"config": "oltp", "set": {"device.blocks_per_plane": 64,
                                           "workload.synthetic.requests": 500}},
        "axes": {"scheme": ["greedy", "fifo"], "device.exported": low_high,
                 "precondition.overwrite": low_high},
        "draw": {"method": "random", "count": 5, "axes": ["device.exported",
                                                          "precondition.overwrite"]},
    }  # fmt: skip
    done = flashgc.sweep(drawn, store="all", jobs=2)
    columns = done.chart().spec["facet"]["column"]["sort"]
    assert columns == sorted(set(done.to_pandas()["precondition.overwrite"]))
    page = done.save("drawn.html", "flashgc sweep drawn.toml").read_text()
    kept = json.loads(re.search(r'class="points">(.*?)</script>', page).group(1))
    assert kept["axes"]["precondition.overwrite"] == columns
    assert kept["axes"]["scheme"] == ["greedy", "fifo"]


def test_figures_of_runs_without_a_clock_leave_latencies_out(sweep, flashgc):
    sweep.write_text(sweep.read_text() + '"engine.timing" = ["none"]\n')
    shown = flashgc("sweep", sweep, "--figures", "drawn")
    assert "no figure of latency_ns.all.p99, latency_ns.all.p99_9" in shown.err
    names = sorted(path.name for path in Path("drawn").iterdir())
    assert names == [f"write-amplification.{kind}" for kind in ("pdf", "png", "svg")]
