"""The Python package."""

import json
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flashgc
from conftest import SMALL
from flashgc.files import toml
from flashgc.formatting.table import Table
from flashgc.reports.report import Comparison, Report
from flashgc.results import compared
from flashgc.results.statistics import interval, student_t


@pytest.fixture(scope="module")
def report():
    return flashgc.run(SMALL)


def test_a_configuration_in_any_form(tmp_path, report):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    for config in (path, str(path), tomllib.loads(SMALL)):
        assert flashgc.run(config).result_hash == report.result_hash


def test_settings_in_any_form():
    forms = [
        {"workload.synthetic.read_share": 0.25, "gc.scheme": "fifo"},
        {"workload": {"synthetic": {"read_share": 0.25}}, "gc": {"scheme": "fifo"}},
        ["workload.synthetic.read_share=0.25", "gc.scheme=fifo"],
        {"workload.synthetic.read_share": np.float64(0.25), "gc.scheme": "fifo"},
    ]
    assert len({flashgc.run(SMALL, set=form).result_hash for form in forms}) == 1


def test_figures_are_attributes_and_items(report):
    assert report.gc.count == report["gc"]["count"] == report.to_dict()["gc"]["count"]
    assert json.loads(report.to_json()) == report.to_dict()
    assert "latency_ns" in report
    assert "latency_ns" in dir(report)
    with pytest.raises(AttributeError, match="there is no key `latency_s`"):
        _ = report.latency_s


def test_a_metric_that_was_not_requested_says_how_to_have_it(report):
    for name, words in [
        ("blame", "comes with blame=True"),
        ("seeds", "comes with flashgc.run_seeds"),
        ("without_gc_cost", "comes with cost=True"),
        ("scheem", "valid keys: "),
    ]:
        with pytest.raises(AttributeError, match=f"there is no key `{name}`; .*{words}"):
            getattr(report, name)
    untimed = flashgc.run(SMALL, untimed=True)
    with pytest.raises(AttributeError, match="`latency_ns`; the run has no times"):
        _ = untimed.latency_ns
    assert not hasattr(untimed, "blame")


def test_latencies_are_a_table(report):
    table = report.latency
    assert table["kind"].tolist() == ["read", "write", "all"]
    assert table["count"].tolist()[2] == 20_000
    assert table["p99"].dtype.kind in "iuf"
    assert "<table>" in table._repr_html_()
    only_reads = flashgc.run(SMALL, set={"workload.synthetic.read_share": 1.0})
    assert np.isnan(only_reads.latency["p50"][1])


def test_a_long_table_is_shown_by_its_ends():
    whole = Table({"a": np.arange(60)})
    assert len(repr(whole).splitlines()) == 61
    long = Table({"a": np.arange(61), "b": ["<"] * 61})
    lines = repr(long).splitlines()
    assert [len(lines), lines[11].split(), lines[-1]] == [23, ["…", "…"], "61 rows"]
    assert long._repr_html_().count("<tr>") == 22
    assert long._repr_html_().endswith("</table><p>61 rows</p>")
    assert "<table>" in Table({})._repr_html_()
    assert repr(Table({})) == ""


def test_the_distribution_agrees_with_the_percentiles(report):
    for kind in ("read", "write", "all"):
        spread = report.distribution(kind)
        assert spread["count"].sum() == report.latency_ns[kind]["count"]
        assert np.all(np.diff(spread["latency_ns"]) > 0)
        at = np.searchsorted(spread["share"], 0.99)
        assert spread["latency_ns"][at] == pytest.approx(report.latency_ns[kind]["p99"], rel=2e-3)
    with pytest.raises(ValueError, match="read, write or all"):
        report.distribution("trim")


def test_a_table_for_pandas(report):
    pandas = pytest.importorskip("pandas")
    frame = report.latency.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.shape == (3, 12)


def test_pages_for_notebooks(report):
    page = report._repr_html_()
    assert "<script" not in page
    assert "p99.99" in page
    both = flashgc.compare(SMALL, ["greedy", "random"])
    assert "random" in both._repr_html_()
    assert Comparison()._repr_html_() == "<p>no runs</p>"


def test_reports_are_saved(report, tmp_path):
    assert json.loads(report.save(tmp_path / "a.json").read_text()) == report.to_dict()
    assert report.save(tmp_path / "a.html").read_text().startswith("<!doctype html>")
    with pytest.raises(flashgc.OutputError, match=r"\.json or \.html"):
        report.save(tmp_path / "a.pdf")
    assert len(list(tmp_path.iterdir())) == 2


def test_schemes_meet_identical_requests():
    both = flashgc.compare(SMALL, ["greedy", "fifo", "d-choices"], jobs=3)
    assert both.unequal == {}
    assert len({tuple(report.requests.values()) for report in both}) == 1
    assert both.table.rows == 3
    assert both[0].result_hash == flashgc.run(SMALL, scheme="greedy").result_hash


def test_blocks_that_a_scheme_brings_are_told_and_pages_that_moved_ahead_have_a_row():
    several = flashgc.compare(SMALL, ["greedy", "gftl", "pregc"])
    physical = [report.capacity.physical_pages for report in several]
    assert several.unequal == {"physical pages": physical}
    assert physical[1] - physical[0] == several[1].capacity.extra_pages
    assert physical[2] == physical[0]
    assert "adds spare blocks" in " ".join(several[1].notes)
    rows = {row[0]: row[1:] for row in compared.comparison(several)}
    assert len(rows["! physical pages differ"]) == 3
    assert "pages pre-migrated" not in rows  # a closed loop is never idle


def test_preconditioning_that_differs_is_told_in_words():
    """It had the names of Python's values and keys: scheme None, until_steady False."""
    reports = [flashgc.run(SMALL, set={"precondition.overwrite": one}) for one in (0.5, 1.0)]
    rows = {row[0]: row[1:] for row in compared.comparison(Comparison(reports))}
    told = rows["! preconditioning differs"]
    assert told[0].startswith("fill sequential, overwrite 0.5")
    assert "None" not in str(told)
    assert "_" not in str(told)


def test_what_is_not_equal_is_told(report):
    other = report.to_dict()
    other["capacity"]["reserve_pages"] += 1
    both = Comparison([report, Report(other)])
    reserve = report.capacity.reserve_pages
    assert both.unequal == {"reserve pages": [reserve, reserve + 1]}


def test_parts_sums_and_copies_of_a_comparison_are_comparisons():
    """They were lists, without a table and a page."""
    both = flashgc.compare(SMALL, ["greedy", "fifo", "fpgc"])
    last, twice, other = both[1:], both + both[:1], both.copy()
    assert (last.keys(), twice.keys()) == (["fifo"], ["greedy", "fifo", "greedy"])
    assert [one.scheme for one in last.refused] == ["fpgc"]
    assert last.table.rows == 1
    assert other.to_json() == both.to_json()
    assert (other is both, repr(both + list(both[:1]))) == (False, repr(twice))
    with pytest.raises(TypeError):
        both + 5


@pytest.mark.parametrize(("given", "shown"), [
    ([5], r"\[5\]"), (5, "5"), ("greedy", "'greedy'"), ([{"scheme": "greedy"}], "scheme"),
])  # fmt: skip
def test_a_comparison_is_made_from_reports(given, shown):
    with pytest.raises(flashgc.ConfigError, match=f"a list of reports, got .*{shown}") as error:
        Comparison(given)
    assert "flashgc.compare" in str(error.value)


def test_a_report_is_no_list_of_reports(report):
    with pytest.raises(flashgc.ConfigError, match=r"of reports, got a value of the type flashgc"):
        Comparison(report)
    with pytest.raises(flashgc.ConfigError, match=r"of refused schemes, got \['fpgc'\]"):
        Comparison([report], ["fpgc"])


@pytest.mark.parametrize("name", ["a.json", "a.html"])
def test_an_empty_comparison_cannot_be_saved(tmp_path, name):
    """It ended in an IndexError."""
    with pytest.raises(flashgc.ConfigError, match="without a report cannot be saved"):
        Comparison().save(tmp_path / name)
    with pytest.raises(flashgc.ConfigError, match="without a report cannot be saved"):
        Comparison().save_folder(tmp_path / "folder")
    assert list(tmp_path.iterdir()) == []


def test_errors_have_a_common_base():
    for error in (flashgc.ConfigError, flashgc.TraceError, flashgc.RunError, flashgc.OutputError):
        assert issubclass(error, flashgc.FlashgcError)
        assert error.__module__ == "flashgc"
    with pytest.raises(flashgc.ConfigError, match="dictionary"):
        flashgc.run(17)
    with pytest.raises(flashgc.ConfigError, match="`seed` is of type set"):
        flashgc.run({"seed": set()})
    with pytest.raises(flashgc.TraceError):
        flashgc.run("replay", "no such file")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flashgc.run("oltp", series="s.csv", series_interval=5), "series_interval must be"),
        (lambda: flashgc.run("oltp", timeline="t", timeline_window=5), "such as '1 s..1.2 s', got"),
        (lambda: flashgc.animate("oltp", window=5), "window must be a text with a unit, such as"),
        (lambda: flashgc.trace.info("a.spc", start=5), "such as '10 ms', got 5"),
        (lambda: flashgc.trace.merge([], "m.spc"), "there is no trace to merge"),
        (lambda: flashgc.trace.check_fit("a.spc", None, seeds=0), "seeds must be a whole number"),
        (lambda: flashgc.tune("oltp", objectives="reed"), "the objective 'reed' is not"),
    ],
)
def test_a_wrong_argument_is_named(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.spc").write_text("0,8,8192,W,0.5\n")
    with pytest.raises(flashgc.FlashgcError, match=re.escape(words)):
        call()
    assert [path.name for path in tmp_path.iterdir() if path.name != "runs"] == ["a.spc"]


def test_a_single_word_is_a_list_of_it(tmp_path):
    (tmp_path / "a.spc").write_text("11,8,8192,W,0.5\n1,8,8192,W,0.6\n")
    assert flashgc.trace.info(tmp_path / "a.spc", devices="11")["rows"] == 1
    assert flashgc.trace.info(tmp_path / "a.spc", devices=[11, "1"])["rows"] == 2
    assert flashgc.trace.merge(tmp_path / "a.spc", tmp_path / "b.spc")["traces"] == 1


def test_a_trace_error_in_a_run_is_a_trace_error(tmp_path):
    path = tmp_path / "bad.spc"
    path.write_text("0,8,4096,w,0.1\n" * 20 + "0,x,4096,w,0.2\n")
    with pytest.raises(flashgc.TraceError, match=r"bad\.spc:21:3"):
        flashgc.run("replay", path)


def test_starting_loads_nothing_heavy():
    script = "import sys, flashgc.cli.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert not {"numpy", "pandas", "rich.table", "rich.progress"} & {
        *loaded.stdout.decode().split()
    }


values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
tables = st.recursive(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values, max_size=4),
    lambda inner: st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), values | inner, max_size=4
    ),
    max_leaves=4,
)


@given(tables)
def test_dictionaries_become_the_same_toml(config):
    read = tomllib.loads(toml.dumps(config))
    assert json.dumps(rounded(read), sort_keys=True) == json.dumps(rounded(config), sort_keys=True)


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, 9) + 0.0 if isinstance(value, float) else value


@pytest.mark.parametrize(
    ("degrees", "point"), [(1, 12.7062), (9, 2.2622), (31, 2.0395), (40, 2.0211), (120, 1.9799)]
)
def test_the_points_of_student(degrees, point):
    assert student_t(degrees) == pytest.approx(point, abs=1e-4)


def test_an_interval_by_hand():
    found = interval([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert found["mean"] == 5.0
    assert found["high"] - 5 == pytest.approx(2.3646 * (32 / 7) ** 0.5 / 8**0.5)
    assert interval([1.0]) == {"mean": 1.0, "low": None, "high": None}


def test_tables_are_equal_where_their_columns_are():
    def table(*p50, name="p50"):
        return Table({"kind": ["read", "write"], name: list(p50)})

    assert table(1.0, None) == table(1.0, None)
    assert table(1.0, None) != table(1.0, 2.0)
    assert table(1.0, 2.0) != table(1.0, 2.0, name="p99")
    assert table(1.0, 2.0) != Table({"kind": ["read"], "p50": [1.0]})
    assert table(1.0, 2.0) != "a table"
    assert table(1.0, 2.0) == {"kind": ["read", "write"], "p50": [1.0, 2.0]}


TINY = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 300}


@pytest.mark.parametrize("call", [
    lambda: flashgc.run("oltp", scheme="greedy", set={"gc.scheme": "fifo"}),
    lambda: flashgc.run("oltp", device="slc-msr", set={"device.preset": "slc-low-latency"}),
    lambda: flashgc.compare("oltp", ["greedy", "pgc"], set=["gc.scheme=fifo"]),
])  # fmt: skip
def test_two_schemes_or_devices_of_one_run_are_refused(call):
    """The setting won, so that columns had the wrong names."""
    with pytest.raises(flashgc.ConfigError, match=r"error: two (schemes|devices): "):
        call()


def test_each_of_several_schemes_is_the_one_of_its_name(tmp_path):
    """A setting of the base made all of them one scheme."""
    base = {"config": "oltp", "set": {"gc.scheme": "fifo", **TINY}}
    with pytest.raises(flashgc.ConfigError, match=r"error: two schemes: greedy, and gc\.scheme"):
        flashgc.sweep({"base": base, "axes": {"scheme": ["greedy", "pgc"]}}, store=tmp_path)
    found = flashgc.advise("oltp", schemes=["pgc"], set={"gc.scheme": "fifo", **TINY})
    assert sorted({report.scheme for report in found.reports}) == ["fifo", "pgc"]
    assert not [one for one in found.commands if "gc.scheme" in one]


def test_a_scheme_file_has_no_key_of_another_scheme(tmp_path):
    (tmp_path / "g.toml").write_text('base = "greedy"\nscheme = "fifo"\n')
    with pytest.raises(flashgc.ConfigError, match="a scheme file has no key `scheme`"):
        flashgc.run("oltp", scheme=tmp_path / "g.toml", set=TINY)


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_number_from_python_is_the_number_of_its_text(number):
    text = toml.value(number, "key")
    assert "e" not in text
    assert float(text) == number
