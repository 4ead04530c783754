"""Charts: their specifications, the page that draws them, and figures for papers."""

import itertools
import json
import re

import altair
import pytest
import vl_convert

from conftest import ROOT
from flashgc import ConfigError, OutputError, charts
from flashgc.charts import embed, multiples, static
from flashgc.pages import page
from in_process import apart

X = {"field": "depth", "type": "quantitative"}
Y = {"field": "waf", "type": "quantitative"}
SPEC = {"mark": "line", "encoding": {"x": X, "y": Y}}
DATA = {"scheme": ["greedy", "fifo</script>"], "depth": [1, 2], "waf": [1.5, None]}


def chart(**changes):
    given = {"name": "waf", "title": "Write amplification", "spec": SPEC, "columns": DATA,
             "text": "It rises."} | changes  # fmt: skip
    return charts.Chart(**given)


def valid(one):
    """The specification by the schema of Vega-Lite, which altair brings."""
    whole = {**one.specification(), "data": {"values": one.rows()}}
    whole.pop("$schema")
    forms = {"layer": altair.LayerChart, "facet": altair.FacetChart}
    cls = next((form for key, form in forms.items() if key in whole), altair.Chart)
    return cls.from_dict(whole, validate=True)


@apart
def test_the_runtime_is_that_of_vl_convert():
    text = (ROOT / "python/flashgc/charts/vega.js").read_text()
    code = text.partition("\n*/\n")[2]
    assert code == vl_convert.javascript_bundle() + "\n", "run python scripts/vega_bundle.py"
    for name in ("University of Washington", "Mike Bostock", "Joachim Wester", "AS IS"):
        assert name in text.partition("\n*/\n")[0]
    assert vl_convert.get_vega_version() == "6.2.0"
    assert f"'{static._VERSION}'" in str(vl_convert.get_vegalite_versions())


def test_a_page_has_the_runtime_once_and_allows_nothing_else():
    whole = page.document("T", charts.figures([chart(), chart(name="other")]), "")
    assert whole.count("window.vegaEmbed=") == 1
    (policy,) = re.findall(r'Security-Policy" content="([^"]+)"', whole)
    assert "default-src 'none'" in policy
    assert policy.count("sha256-") == 2
    assert 400_000 < len(whole) < 1_200_000
    plain = page.document("T", "<p>text</p>", "")
    assert "window.vega" not in plain
    assert "script-src 'none'" in plain
    assert len(plain) < 12_000


def test_no_value_ends_the_data():
    html = charts.figures([chart(title="<b>", text='"<i>')])
    assert html.count("</script>") == 1
    data = re.search(r'<script type="application/json">(.*?)</script>', html).group(1)
    assert json.loads(data)["columns"] == DATA
    assert "<b>" not in html
    assert "<i>" not in html


def test_the_legend_has_each_name_of_a_series_once():
    several = [chart(series="scheme", names=["greedy", "fifo"]),
               chart(series="scheme", names=["fifo", "gftl"]), chart()]  # fmt: skip
    assert re.findall(r'value="(\w+)"', charts.legends(several)) == ["greedy", "fifo", "gftl"]
    assert charts.legends([chart()]) == ""


def test_a_switched_series_is_filtered_before_all_else():
    spec = {**SPEC, "transform": [{"filter": "datum.waf > 1"}]}
    one = chart(spec=spec, series="scheme", names=["greedy"]).specification()
    assert [each["filter"] for each in one["transform"]] == [
        "indexof(shown, datum['scheme']) >= 0", "datum.waf > 1"
    ]  # fmt: skip
    assert one["params"][0] == {"name": "shown", "value": ["greedy"]}
    valid(chart(spec=spec, series="scheme", names=["greedy"]))


@apart
@pytest.mark.parametrize(
    ("form", "begins"), [("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")]
)
def test_a_figure_is_as_wide_as_a_column(tmp_path, form, begins):
    (saved,) = charts.save([chart()], tmp_path / "new", [form])
    assert saved.name == f"waf.{form}"
    data = saved.read_bytes()
    assert data.startswith(begins)
    if form == "svg":
        width = float(re.search(rb'width="([\d.]+)"', data).group(1))
        assert 235 <= width <= 245
    if form == "pdf":
        box = re.search(rb"MediaBox ?\[ ?0 0 ([\d.]+)", data)
        assert 235 <= float(box.group(1)) <= 245
    if form == "png":
        assert 235 / 72 * 300 <= int.from_bytes(data[16:20], "big") <= 245 / 72 * 300


def test_an_unknown_form_and_a_missing_package_are_named(tmp_path, monkeypatch):
    with pytest.raises(OutputError, match="cannot be saved as 'gif'"):
        charts.save([chart()], tmp_path, ["gif"])
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(ConfigError, match=r"pip install 'flashgc\[figures\]'"):
        charts.save([chart()], tmp_path)


def test_a_notebook_gets_the_specification_with_its_data():
    (form, whole), _ = chart()._repr_mimebundle_().items()
    assert form == "application/vnd.vegalite.v5+json"
    assert whole["data"]["values"] == chart().rows()


AXES = {"op": [0.1, 0.2, 0.3], "scheme": ["greedy", "fifo"], "depth": [1, 8], "seed": [1, 2],
        "load": ["a", "b"]}  # fmt: skip
POINTS = list(itertools.product(*AXES.values()))
COLUMNS = {axis: [point[at] for point in POINTS] for at, axis in enumerate(AXES)}


def multiple(metric="latency_ns.all.p99", **where):
    values = [None if point[2] == 8 and point[4] == "b" else at for at, point in enumerate(POINTS)]
    chosen = multiples.layout(AXES, metric)._replace(**where)
    return multiples.chart({**COLUMNS, metric: values}, AXES, chosen), values


def test_small_multiples_join_the_points_of_one_place():
    one, values = multiple()
    valid(one)
    assert {*one.columns} == {*multiples.PLACES, "x_at", "mean", "least", "most", "points"}
    rows = one.rows()
    assert len(rows) == 3 * 2 * 2 * 2 - 6  # without those that have no value
    for row in rows:
        found = [
            value for point, value in zip(POINTS, values, strict=True)
            if (point[0], point[1], point[2], point[4]) == (
                row["x"], row["series"], row["column"], row["row"])
        ]  # fmt: skip
        assert row["points"] == len(found) == 2
        assert (row["least"], row["most"]) == (min(found), max(found))
        assert row["mean"] == sum(found) / 2


@apart
@pytest.mark.parametrize("where", [{"row": ""}, {"row": "", "column": ""}, {"series": ""}])
def test_small_multiples_of_fewer_axes(tmp_path, where):
    one, values = multiple("erases", **where)
    valid(one)
    assert sum(row["points"] for row in one.rows()) == sum(value is not None for value in values)
    (saved,) = charts.save([one], tmp_path, ["svg"])
    width = float(re.search(r'width="([\d.]+)"', saved.read_text()).group(1))
    assert 180 < width < 260


def test_the_first_layout_of_axes():
    assert multiples.layout(AXES, "m") == ("m", "op", "scheme", "depth", "load")
    assert multiples.layout({"scheme": ["a", "b"]}, "m") == ("m", "scheme", "", "", "")
    assert multiples.layout({"seed": [1, 2]}, "m") == ("m", "seed", "", "", "")
    assert multiples.layout({"op": ["7%"], "seed": [1]}, "m").x == "op"


def test_the_style_has_no_address():
    assert "url(" not in embed.style() + (ROOT / "python/flashgc/charts/page.js").read_text()
