"""Saved results read again, on one page and as figures."""

import json
import pathlib
import shutil

import pytest

import flashgc as package
import pages
from conftest import SMALL
from flashgc.charts import latency
from test_charts import valid


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two runs of one scheme and a comparison, each in its folder."""
    root = tmp_path_factory.mktemp("saved")
    one = package.run(SMALL, over_time=True, blame=True)
    two = package.run(SMALL, set={"device.exported": 0.6})
    both = package.compare(SMALL, ["fifo", "pgc", "gftl"])
    for name, found in (("one", one), ("two", two), ("both", both)):
        found.save_folder(root / name)
    return root, one, two, both


@pytest.fixture(autouse=True)
def here(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "both"):
        shutil.copytree(saved[0] / name, tmp_path / name)


def test_a_run_without_a_clock_has_no_figures_and_the_command_says_why(flashgc):
    package.run(SMALL, untimed=True).save_folder("bare")
    shown = flashgc("report", "bare", "--figures", "drawn", "--format", "svg").err
    assert "no figure is saved in drawn: charts show times, and no run has them" in shown


def test_what_is_read_is_what_was_saved(saved, tmp_path):
    _, one, *_ = saved
    (again,) = package.load(tmp_path / "one")
    assert again.to_dict() == one.to_dict()
    for kind in ("read", "write", "all"):
        for name, column in one.distribution(kind).items():
            assert (again.distribution(kind)[name] == column).all()
    for name, table in one.over_time._asdict().items():
        kept = getattr(again.over_time, name)
        assert [*kept] == [*table]
        for column in table:
            assert json.dumps(kept[column].tolist()) == json.dumps(table[column].tolist())
    assert again._origin == one._origin
    files = again.save_folder(tmp_path / "again")
    assert [path.name for path in files] == ["report.html", "report.json", "curves.json"]
    for path in files:
        assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes()


def test_a_page_of_several_results_replaces_none_of_them(flashgc, tmp_path):
    before = (tmp_path / "one/report.json").read_bytes()
    for first in ("one", "one/report.json"):
        said = flashgc("report", first, "two", "--out", "one", code=2).err
        assert "one/report.json is read, and would be replaced" in said
    assert (tmp_path / "one/report.json").read_bytes() == before
    flashgc("report", "one", "--out", "one")


def test_runs_of_one_scheme_get_names(flashgc, tmp_path):
    done = flashgc("report", "one", "two", "both/report.json", "--out", "all")
    assert "saved all/report.html, all/report.json and all/curves.json" in done.err
    page = (tmp_path / "all/report.html").read_text()
    assert pages.addresses(page) == []
    names = ["greedy, one", "greedy, two", "fifo", "pgc", "gftl"]
    assert pages.charts(page)["latency-reads"]["names"] == names
    assert "flashgc report one two both/report.json --out all" in page
    # Differences between the runs have a column in the head.
    assert "<th>over-provisioning</th>" in page
    assert [
        one["scheme"] for one in json.loads((tmp_path / "all/report.json").read_text())
    ] == names
    flashgc("report", "all", "--out", "more", "--names", "a,b,c,d,e")
    drawn = pages.charts((tmp_path / "more/report.html").read_text())
    assert drawn["percentiles-writes"]["names"] == [*"abcde"]
    assert len(package.load("one", "one")) == 2
    assert package.load("one", "one").keys() == ["greedy, one (1)", "greedy, one (2)"]


def test_a_page_has_the_percentiles_of_each_run(saved, tmp_path):
    reports = package.load(tmp_path / "one", tmp_path / "both")
    drawn = {chart.name: chart for chart in reports.charts()}
    found = drawn["percentiles-reads"].rows()
    for report in reports:
        for shown, key in (("p99", "p99"), ("p99.9", "p99_9"), ("mean", "mean")):
            parts = [row for row in found
                     if (row["run"], row["percentile"]) == (report.scheme, shown)]  # fmt: skip
            whole = sum(row["time_ns"] for row in parts)
            assert whole == pytest.approx(report.latency_ns.read[key], rel=1e-9)
            assert (len(parts) > 1) == ("blame" in report)
    shares = drawn["activity"].rows()
    for report in reports:
        parts = {row["activity"]: row["percent"] for row in shares if row["run"] == report.scheme}
        assert sum(parts.values()) == pytest.approx(100, abs=0.01)
        assert parts.get("idle", 0) == pytest.approx(100 * report.utilisation.unit.idle, abs=0.01)


def test_curves_are_points_of_the_distribution(saved):
    _, one, *_ = saved
    for kind in ("read", "write"):
        spread = one.distribution(kind)
        known = dict(zip(spread["latency_ns"].tolist(), spread["share"].tolist(), strict=True))
        points = latency.points(one, kind)
        assert 30 < len(points) <= 500
        assert [share for share, _ in points] == sorted(share for share, _ in points)
        for share, latency_ns in points[:-1]:
            assert share == pytest.approx(known[latency_ns], rel=1e-8)
        assert points[-1] == (
            pytest.approx(1 - 0.5 / one.requests[kind]),
            int(spread["latency_ns"][-1]),
        )


def test_every_chart_has_a_valid_specification(tmp_path):
    for folder in ("one", "both"):
        for chart in package.load(tmp_path / folder).charts():
            valid(chart)
            assert len({len(column) for column in chart.columns.values()}) == 1
            assert chart.text.endswith(".")


def test_figures_are_saved(flashgc, tmp_path):
    done = flashgc("report", "two", "--figures", "drawn", "--format", "svg")
    names = sorted(path.name for path in (tmp_path / "drawn").iterdir())
    assert names == ["activity.svg", "latency.svg", "percentiles-reads.svg",
                     "percentiles-writes.svg"]  # fmt: skip
    assert "drawn/latency.svg" in done.err
    text = (tmp_path / "drawn/latency.svg").read_text()
    for words in ("percentile of requests", "reads", "writes", "99.9"):
        assert f">{words}</text>" in text
    assert "gif" in flashgc("report", "two", "--figures", "drawn", "--format", "gif", code=2).err


def test_without_curves_the_page_has_the_rest(tmp_path):
    (tmp_path / "one/curves.json").unlink()
    found = package.load(tmp_path / "one")
    names = [chart.name for chart in found.charts()]
    assert names == ["percentiles-reads", "percentiles-writes", "activity"]
    found.save_folder(tmp_path / "less")


def broken(tmp_path, name):
    """A file that cannot be read as a result."""
    file = tmp_path / "broken.json"
    values = json.loads((tmp_path / "one/report.json").read_text())
    if name == "older":
        values["version"] = "0.0.9"
    if name == "lacking":
        del values["wear"]
    made = {"no JSON": "{", "a number": "3", "empty": "[]", "other": '{"a": 1}'}
    file.write_text(made.get(name) or json.dumps(values))
    return file


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no JSON", "it is not JSON"),
        ("a number", "it has no metrics"),
        ("empty", "it has no run"),
        ("other", "it has no key 'version'"),
        ("lacking", "it has no key 'wear'"),
        ("older", "is a result of flashgc 0.0.9, and this is"),
    ],
)
def test_what_is_not_a_result_is_refused(flashgc, tmp_path, name, why):
    said = flashgc("report", str(broken(tmp_path, name)), "--out", "x", code=2).err
    assert why in said
    assert "broken.json" in said
    assert "= help:" in said
    assert not (tmp_path / "x").exists()


def test_wrong_folders_names_and_curves_are_refused(flashgc, tmp_path):
    (tmp_path / "nothing").mkdir()
    cases = [
        (["nothing", "--out", "x"], "has no report.json"),
        (["missing", "--out", "x"], "there is no such file"),
        (["one", "two", "--names", "a", "--out", "x"], "2 runs cannot have 1 name"),
        (["one", "two", "--names", "a,a", "--out", "x"], "cannot have the same name"),
        (["one"], "--out for the page, --figures for figures"),
    ]
    for words, why in cases:
        said = flashgc("report", *words, code=2).err
        assert why in " ".join(said.replace("│", " ").split()), words
    shutil.copy(tmp_path / "two/curves.json", tmp_path / "one/curves.json")
    said = flashgc("report", "one", "--out", "x", code=2).err
    assert "does not belong to the runs of report.json" in said
    (tmp_path / "one/curves.json").write_text('{"runs": [{}]}')
    assert "does not belong" in flashgc("report", "one", "--out", "x", code=2).err


def test_refused_schemes_are_read_again(tmp_path):
    several = package.compare(SMALL, ["greedy", "pb"])
    several.save_folder(tmp_path / "several")
    again = package.load(tmp_path / "several")
    assert again.to_dict() == several.to_dict()
    assert again.refused == several.refused
    twice = package.load(tmp_path / "several", tmp_path / "several")
    assert len(twice) == 2
    assert twice.refused == several.refused


@pytest.mark.parametrize(("change", "named"), [
    ({"gc": None}, "gc = null"), ({"latency_ns": "x"}, 'latency_ns = "x"'),
    ({"erases": "3"}, 'erases = "3"'), ({"latency_ns": ...}, "latency_ns"),
    ({"utilisation": ...}, "utilisation"), ({"simulated_ns": ...}, "simulated_ns"),
    ({"utilisation": {}}, "`utilisation` without the key 'unit'"), ({"wear": {}}, "`wear`"),
    ({"erases": 10**400}, "erases = 1000"), ({"notes": [1]}, "notes[0] = 1"),
    ({"unused_keys": 5}, "unused_keys = 5"), (("gc", "busy_ns", ...), "'gc.busy_ns'"),
    (("steady", "reasons", ["a", None]), "steady.reasons[1] = null"),
    (("steady", "write_amplification_halves", [1.0]), "steady.write_amplification_halves = [1.0]"),
    (("config", "device", {}), "config.device.shape.channels = null"),
    (("config", "device", "shape", "page_bytes", "4k"), 'config.device.shape.page_bytes = "4k"'),
    (("config", "device", "timing", "erase_ns", ...), "config.device.timing.erase_ns = null"),
    (("config", "precondition", {}), "config.precondition.fill = null"),
    ({"seeds": {"count": 1, "not_steady": 0, "values": [1], "metrics": {"erases": {}}}},
     "`seeds.metrics.erases` without the key 'mean'"),
    ({"seeds": {"count": 1, "not_steady": 0, "values": ["x"], "metrics": {}}}, 'values[0] = "x"'),
])  # fmt: skip
def test_a_damaged_result_is_an_error_that_names_the_file_and_the_key(change, named):
    """Its page ended as a fault of flashgc."""
    path = pathlib.Path("one/report.json")
    values = json.loads(path.read_text())
    whole = values["runs"][0] if "runs" in values else values
    *places, key, value = change if isinstance(change, tuple) else next(iter(change.items()))
    for place in places:
        whole = whole[place]
    whole.pop(key) if value is ... else whole.update({key: value})
    path.write_text(json.dumps(values))
    with pytest.raises(package.ConfigError) as error:
        package.load("one")
    assert "report.json" in str(error.value)
    assert named in str(error.value)


@pytest.mark.parametrize(("path", "value", "why"), [
    (["origin"], "x", "`origin` needs config, trace and again"),
    (["origin", "again"], 3, "`origin.again` is not a text"),
    (["distributions"], None, "`distributions` is not a table of read and write"),
    (["distributions", "read"], [[1]], "`distributions.read` is not a list of latencies"),
    (["distributions", "read", 0, 0], 10**30, "`distributions.read` is not a list of latencies"),
    (["over_time"], {}, "`over_time` needs the tables responses, states, collections, wear"),
    (["over_time", "wear"], {}, "`over_time.wear` has other columns"),
    (["over_time", "wear", "plane"], [], "the columns of `over_time.wear` have different lengths"),
    (["over_time", "wear", "plane", 0], "x", "`over_time.wear` has values that are not numbers"),
])  # fmt: skip
def test_damaged_curves_are_an_error_that_names_the_place(path, value, why):
    """They ended as a fault of flashgc, such as a KeyError."""
    folder = pathlib.Path("curved")
    package.run(SMALL, over_time=True).save_folder(folder)
    curves = json.loads((folder / "curves.json").read_text())
    *inner, last = path
    place = curves["runs"][0]
    for key in inner:
        place = place[key]
    place[last] = value
    (folder / "curves.json").write_text(json.dumps(curves))
    with pytest.raises(package.ConfigError) as error:
        package.load(folder)
    assert str(error.value).startswith(f"error: curved/curves.json is damaged: {why}")
    assert "remove curved/curves.json" in str(error.value)
