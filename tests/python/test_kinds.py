"""Every kind of request that the engine has, in every output of a run.

The kinds and the outputs are lists of the engine: a new one fails here until it is added.
"""

from collections import Counter

import polars as pl
import pytest

import flashgc as package
from conftest import SMALL
from flashgc._engine import REQUEST_KINDS
from flashgc._engine_types import NO_LOGS
from flashgc.explaining import words
from flashgc.formatting import units
from flashgc.results import run_facts
from in_process import apart
from test_timeline import Slices

HAS_PARTS = dict(REQUEST_KINDS)
"""Whether the latency of each kind, by name, is split."""
JOBS = (
    SMALL[: SMALL.index("[workload.synthetic]")]
    + """
[device.write_buffer]
size = "64 KiB"
power_loss_protection = false
[[workload.jobs.job]]
name = "all"
file = "drive"
read_share = 0.3
trim_share = 0.2
size = "4 KiB"
depth = 4
requests = 400
flush_after = 4
[precondition]
fill = "sequential"
overwrite = 1.0
"""
)
"""A workload with requests of every kind. Its flushes wait for the write buffer."""


@pytest.fixture(scope="module")
def report():
    return package.run(JOBS, blame=True)


@pytest.fixture(scope="module")
def counts(report):
    """The number of requests of each kind by the report."""
    counts = {**report.requests.to_dict(), "flush": report.flush.requests}
    assert counts.keys() == HAS_PARTS.keys()
    assert all(counts.values())
    return counts


def rows(path):
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    return pl.read_csv(path, infer_schema_length=None)


def logged(name):
    """The rows of a log, whose parts add up where the kind has parts, and else are undefined."""

    def kinds(tmp_path, _total):
        package.run(JOBS, request_log=tmp_path / name, blame=True)
        log = rows(tmp_path / name)
        parts = log.columns[log.columns.index("latency_ns") + 1 :]
        for kind, has_parts in REQUEST_KINDS:
            own = log.filter(kind=kind).select(
                whole=pl.sum_horizontal(parts) == pl.col("latency_ns"),
                none=pl.all_horizontal(pl.col(parts).is_null()),
            )
            assert own["whole" if has_parts else "none"].all(), kind
        assert log["request"].sort().to_list() == list(range(len(log)))
        return log["kind"]

    return kinds


def on_the_timeline(tmp_path, _total):
    package.run(JOBS, timeline=tmp_path / "t.pftrace")
    slices = Slices(tmp_path / "t.pftrace").slices.values()
    # The slice of a request has its number; its steps lie below it.
    return [name for track in slices for name, _, _, _, found, depth in track
            if depth == 0 and "latency_ns" in found]  # fmt: skip


def in_stories(_tmp_path, total):
    told = package.explain(JOBS, request=range(total)).to_dict()
    assert told["requests"] == total
    for story in told["stories"]:
        assert (story["parts"] is not None) == HAS_PARTS[story["kind"]]
        text = words.text(story)
        assert text.startswith(f"request {story['request']:,}: {story['kind']}")
        assert ("no time at all" in text) == (story["latency_ns"] == 0)
    return [story["kind"] for story in told["stories"]]


COUNTED = {
    "requests": [logged("a.csv"), logged("a.parquet")],
    "timeline": [on_the_timeline],
    "stories": [in_stories],
}
"""The form of a request's kind in each output that shows single requests."""
NOT_OF_REQUESTS = {"gc_log", "series", "series_interval"}
"""Outputs of collections and of intervals. The series sums up the kinds whose latency is split."""


def test_every_output_of_the_engine_is_walked():
    assert COUNTED.keys() | NOT_OF_REQUESTS == NO_LOGS.keys()


@pytest.mark.parametrize("output", [one for row in COUNTED.values() for one in row])
@apart
def test_every_kind_is_in_the_output(output, counts, tmp_path):
    assert dict(Counter(output(tmp_path, sum(counts.values())))) == counts


@apart
def test_the_series_has_the_kinds_whose_latency_is_split(counts, tmp_path):
    package.run(JOBS, series=tmp_path / "s.csv", series_interval="1 ms", gc_log=tmp_path / "g.csv")
    table = rows(tmp_path / "s.csv")
    named = {name.removeprefix("requests_") for name in table.columns if "requests_" in name}
    assert named == {kind for kind, has_parts in REQUEST_KINDS if has_parts}
    assert {kind: table[f"requests_{kind}"].sum() for kind in named} == {
        kind: counts[kind] for kind in named
    }


def test_blame_has_the_kinds_whose_latency_is_split(report):
    split = {kind for kind in report.blame if kind in HAS_PARTS}
    assert split == {kind for kind, has_parts in REQUEST_KINDS if has_parts}


def test_every_kind_is_on_the_page_and_in_the_terminal(report, counts, flashgc, tmp_path):
    told = [units.counted(counts[kind], kind, "flushes" if kind == "flush" else "")
            for kind in HAS_PARTS]  # fmt: skip
    rows = dict(run_facts.facts(report))
    assert all(one in rows["requests"] and one in rows["job all"] for one in told), rows
    (tmp_path / "jobs.toml").write_text(JOBS)
    shown = flashgc("run", "jobs.toml", "--out", "here").out
    page = (tmp_path / "here" / "report.html").read_text()
    assert all(one in page and one in shown for one in told)
