"""Paper on-demand-gc: its metrics over time and of victims, and its traces."""

import pytest

import flashgc
from conftest import ROOT
from flashgc.reproduction import papers
from flashgc.reproduction.derived import with_derived
from flashgc.reproduction.formula import Formula
from flashgc.reproduction.plan import Planner

pytestmark = pytest.mark.usefixtures("no_figures")

NAME = "on-demand-gc"
TRACES = ROOT / "../shared/traces"


def report(pages=128, **shape):
    """The part of a report that victims are counted in: 128 pages, valid ones when chosen."""
    pairs = [[0, 3], [12, 5], [13, 7], [38, 11], [39, 13]]
    device = {
        "shape": {"pages_per_block": pages, "planes_per_die": 4, **shape},
        "timing": {"read_ns": 25, "program_ns": 230, "erase_ns": 700, "transfer_ns": 0},
    }
    return {"config": {"device": device}, "gc": {"valid_distribution": pairs}}


def test_victims_are_counted_by_their_invalid_pages():
    found = with_derived(report())["victims"]
    # 90 % of 128 pages are 115.2, 80 % are 102.4 and 70 % are 89.6 invalid ones.
    assert found == {"invalid_100": 3, "invalid_90": 8, "invalid_80": 15, "invalid_70": 26}
    # A page of summaries has no data: 10 % of 120 pages are 12 valid ones.
    assert with_derived(report(121, summary_pages=1))["victims"]["invalid_90"] == 8
    assert with_derived(report(120))["victims"]["invalid_90"] == 8
    assert with_derived(report(119))["victims"]["invalid_90"] == 3


def test_jobs_have_their_names():
    jobs = [{"name": "even", "iops": 7.0}, {"name": "others", "iops": 9.0}]
    found = with_derived({**report(), "jobs": jobs})
    assert Formula("job.others.iops - job.even.iops").of(found) == 2.0
    assert Formula("job.even.iops").of(with_derived(report())) is None


def test_victims_are_not_counted_where_parts_of_blocks_are_erased():
    assert "victims" not in with_derived(report(sub_blocks=16))


def test_extremes_over_time_are_those_of_the_rows_that_have_them():
    series = {"start_ns": [0.0, 5.0], "mean": [None, 2.0], "never": [None, None]}
    found = with_derived({**report(), "series": series})["over_time"]
    assert found == {"start_ns": {"min": 0.0, "max": 5.0}, "mean": {"min": 2.0, "max": 2.0}}
    assert "over_time" not in with_derived(report())


def test_used_space_is_a_saw_tooth_of_lists_and_flat_on_demand(tmp_path):
    done = flashgc.reproduce(NAME, ["5"], out=tmp_path, quick=True)
    head, *rows = done.tables["5"]
    swings = {scheme: head.index(f"{scheme}, swing of used space")
              for scheme in ("PBGC", "BBGC", "Proposed")}  # fmt: skip
    for row in rows:
        swing = {scheme: float(row[at].removesuffix(" %")) for scheme, at in swings.items()}
        assert swing["PBGC"] > 20, row
        assert swing["BBGC"] > 20, row
        assert swing["Proposed"] < 3, row
    assert len(done.charts["5"]) == 6
    for chart in done.charts["5"]:
        assert chart.names == ["PBGC", "BBGC", "Proposed"]
        assert chart.spec["encoding"]["y"]["axis"]["title"] == "pages in use, of all"
        # Each chart is as long as its own runs.
        assert "domain" not in chart.spec["encoding"]["x"]["scale"]


def test_look_alikes_take_the_place_of_captures_that_are_not_there():
    known = papers.load(NAME)
    planner = Planner(known.experiment, None, quick=True)
    used = planner.used("workload", "MySQL-server")
    assert (used.file, used.source.config) == (None, "mysql-like")


@pytest.mark.skipif(not TRACES.is_dir(), reason="there is no folder ../shared/traces")
def test_captures_are_replayed_where_they_are_given(tmp_path):
    done = flashgc.reproduce(NAME, ["traces"], traces=TRACES, out=tmp_path, quick=True)
    ran = {one.label: one.what for one in done.sources}
    assert len(ran) == 4
    assert all(what.startswith("a capture, ") for what in ran.values()), ran
    assert all("not the paper's trace" in (one.differs or "") for one in done.sources)
    assert {row[0] for row in done.tables["traces"][1:]} == set(ran)


def test_every_figure_of_the_paper_that_is_drawn_is_there():
    forms = {item.id: item.form for item in papers.load(NAME).items(None)}
    assert {"5": "course", "7": "bars", "8": "bars"}.items() <= forms.items()
    assert {"table-1", "table-3", "table-4", "table-5"} <= set(forms)


def test_the_requests_of_a_workload_are_counted_where_a_measure_needs_it(tmp_path):
    done = flashgc.reproduce(ROOT / "papers" / NAME, ["table-3"], out=tmp_path, quick=True)
    found = {one["place"]: one for one in done.claims if one["what"] == "sequential requests"}
    assert len(found) == 6
    for one in found.values():
        assert one["measured"] == pytest.approx(one["claimed"], abs=0.5)
        assert one["evidence"] == "arithmetic"
