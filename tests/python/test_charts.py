"""Charts: their specifications, the page that draws them, and figures for papers."""

import json
import re

import altair
import pytest
import vl_convert

from conftest import ROOT
from flashgc import OutputError, charts, page
from flashgc.charts import embed, static

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
    cls = altair.LayerChart if "layer" in whole else altair.Chart
    return cls.from_dict(whole, validate=True)


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
    with pytest.raises(OutputError, match=r"pip install 'flashgc\[figures\]'"):
        charts.save([chart()], tmp_path)


def test_a_notebook_gets_the_specification_with_its_data():
    (form, whole), _ = chart()._repr_mimebundle_().items()
    assert form == "application/vnd.vegalite.v5+json"
    assert whole["data"]["values"] == chart().rows()


def test_the_style_has_no_address():
    assert "url(" not in embed.style() + (ROOT / "python/flashgc/charts/page.js").read_text()
