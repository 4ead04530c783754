"""Runs of different length: their common settings, and the metrics that compare."""

import json
import re

import pytest

import flashgc
from conftest import SMALL
from flashgc.charts import course
from flashgc.formatting import units
from flashgc.pages import page
from flashgc.results import compared
from flashgc.results.metrics import drive_writes

STEADY = {"workload.until": "steady", "workload.within": 0.3,
          "workload.synthetic.requests": 60_000}  # fmt: skip
SCHEMES = ["greedy", "random"]


@pytest.fixture(scope="module")
def apart():
    """Two schemes, each until it is steady."""
    several = flashgc.compare(SMALL, SCHEMES, set=STEADY, over_time=True)
    lengths = [one.requests.read + one.requests.write for one in several]
    assert max(lengths) > 1.1 * min(lengths), lengths
    return several


def test_requests_that_differ_are_unequal(apart):
    counts = [one.requests.read + one.requests.write + one.requests.trim for one in apart]
    assert apart.unequal == {"requests": counts}
    same = flashgc.compare(SMALL, SCHEMES, set={"workload.synthetic.requests": 2000})
    assert same.unequal == {}
    rows = {name: cells for name, *cells in compared.comparison(same)}
    assert rows["requests"] == ["2,000", "2,000"]
    assert "erases" in rows
    told = "2 schemes with the same requests, space and preconditioning"
    assert compared.shared(same) == told


def test_counts_of_runs_of_different_length_are_per_drive_write(apart):
    rows = {name: cells for name, *cells in compared.comparison(apart)}
    inside = {name: at for at, name in enumerate(rows[""])}
    for one in apart:
        at = inside[one.scheme]
        writes = one.pages.host_written / one.capacity.exported_pages
        assert drive_writes(one) == pytest.approx(writes)
        assert rows["! requests"][at] == units.count(one.requests.read + one.requests.write)
        assert rows["erases per drive write"][at] == units.figures(one.erases / writes)
        assert rows["pages moved per drive write"][at] == units.figures(
            one.pages.gc_moved / writes)  # fmt: skip
        assert rows["GC busy per drive write"][at] == units.time(one.gc.total_busy_ns / writes)
    assert not {"erases", "pages moved", "GC busy", "collections", "requests"} & set(rows)


def test_of_several_seeds_the_rates_have_intervals():
    several = flashgc.compare(SMALL, SCHEMES, set=STEADY, seeds=2)
    rows = {name: cells for name, *cells in compared.comparison(several)}
    if "requests" in several.unequal:
        assert all("+/-" in cell for cell in rows["erases per drive write"])
        metric = several["greedy"].seeds.metrics["per_drive_write.erases"]
        assert metric.low < metric.mean < metric.high


def test_the_heading_tells_the_truth(apart, flashgc, small, tmp_path):
    counts = apart.unequal["requests"]
    said = (
        f"2 schemes, each with a run of its own length: {min(counts):,} to {max(counts):,} requests"
    )
    assert said in page.whole(apart)
    assert "the same requests" not in page.whole(apart)
    given = [f"--set={key}={json.dumps(value)}" for key, value in STEADY.items()]
    told = flashgc("compare", small, "--schemes", ",".join(SCHEMES), *given, "--no-cost").out
    assert said in " ".join(told.split())
    assert "identical" not in told


def domains(spec, field):
    """The ends of all axes of this field."""
    text = json.dumps(spec)
    found = re.findall(rf'"field": "{field}", "type": "quantitative", "scale": (\{{.*?\}})', text)
    return {tuple(json.loads(one)["domain"]) for one in found}


def test_axes_of_time_are_those_of_each_run_or_cut_to_the_shortest(apart):
    named = page.named(apart)
    responses, space, moves = course.drawn(named)
    ends = {name: float(one.over_time.states["end_ns"][-1]) for name, one in named}
    for chart, (name, _) in zip(responses, named, strict=True):
        assert domains(chart.spec, "from_ns") == {(0, ends[name])}
        assert chart.linked == []
    assert "its own axis of time" in responses[0].note
    for chart in space:
        assert domains(chart.spec, "from_ns") == {(0, min(ends.values()))}
        assert "Cut to the shortest run" in chart.note
    wear = [chart for chart in moves if chart.name.startswith("wear")]
    assert "drive write" in wear[0].note
    for chart, (_, one) in zip(wear, named, strict=True):
        found = one.over_time.wear
        most = float((found["erases"] / (found["planes"] * found["blocks"])).max())
        shown = max(chart.columns["each"]) * drive_writes(one)
        assert shown == pytest.approx(most, rel=1e-3)


def test_axes_of_runs_with_the_same_requests_are_shared():
    same = flashgc.compare(SMALL, SCHEMES, set={"workload.synthetic.requests": 20_000},
                           over_time=True)  # fmt: skip
    responses, space, _ = course.drawn(page.named(same))
    last = max(float(one.over_time.states["end_ns"][-1]) for one in same)
    for chart in (*responses, *space):
        assert domains(chart.spec, "from_ns") == {(0, last)}
        assert chart.linked
