"""What a notebook shows of each result: tables, without boxes for charts that no script fills."""

import base64
import html
import inspect
import json
import re

import pytest

import flashgc
from conftest import SMALL

SHORT = {"workload.synthetic.requests": 500}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    axes = {"scheme": ["greedy", "fifo"], "seed": {"from": 1, "to": 31}}
    untimed = {"workload.synthetic.requests": 100, "engine.timing": "none"}
    base = {"config": "oltp", "set": {"device.blocks_per_plane": 64, **untimed}}
    return flashgc.sweep(
        {"base": base, "axes": axes}, store=tmp_path_factory.mktemp("store"), jobs=1
    )


def test_a_sweep_is_a_table_of_its_points(swept):
    shown = swept._repr_html_()
    assert "<p>points: 62: 62 done</p>" in shown
    assert shown.count("<tr>") == 1 + 60
    assert "<th>scheme</th><th>seed</th><th>status</th><th>write amplification</th>" in shown
    assert "<p>The first 60 points; to_pandas() and to_polars() have all.</p>" in shown
    assert "<script" not in shown


def test_points_without_a_result_have_their_reason(tmp_path):
    axes = {"device.over_provisioning": ["10%", "0.01%"]}
    base = {"config": "oltp", "set": {"device.blocks_per_plane": 64, **SHORT}}
    shown = flashgc.sweep({"base": base, "axes": axes}, store=tmp_path, jobs=1)._repr_html_()
    assert "<p>points: 2: 1 saturated, 1 refused</p>" in shown
    assert "device.over_provisioning 0.01% refused: " in shown
    assert "The first" not in shown


def test_an_animation_plays_in_a_frame_of_its_own():
    film = flashgc.animate(SMALL, requests=20, set=SHORT)
    shown = film._repr_html_()
    inside = html.unescape(re.fullmatch(r'<iframe .* srcdoc="([^"]*)"></iframe>', shown, re.S)[1])
    assert inside == film.page()
    head = json.loads(re.search(r'id="head">(.*?)</script>', inside, re.S)[1])
    assert head["pictures"] == film.pictures
    assert base64.b64decode(re.search(r'id="film">(.*?)</script>', inside, re.S)[1])
    assert 'sandbox="allow-scripts"' in shown


def test_tests_of_the_specification_are_tables():
    small = {"device.blocks_per_plane": 64, "device.pages_per_block": 16}
    found = flashgc.pts("enterprise-tlc", tests=["tp"], round="50 ms", set=small)
    shown = found._repr_html_()
    assert "<h4>Measurement window</h4>" in shown
    assert 'class="plot"' not in shown


def test_advice_has_no_empty_boxes():
    found = flashgc.advise(SMALL, schemes=["greedy", "fifo"], set=SHORT)
    shown = found._repr_html_()
    assert "<h2>The long runs</h2>" in shown
    assert 'class="plot"' not in shown


def test_a_reproduction_is_its_claims(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    done = flashgc.reproduce("parallel-gc", figures="table-5", quick=True)
    shown = done._repr_html_()
    assert html.escape(done.title) in shown
    assert html.escape(done.summary) in shown
    assert shown.count("<table>") >= 2


def test_whatever_has_a_page_is_shown():
    """A class whose result can be saved as a page is more in a notebook than the text of it."""
    for name in flashgc.__all__:
        made = getattr(flashgc, name)
        if inspect.isclass(made) and (hasattr(made, "save") or hasattr(made, "page")):
            assert hasattr(made, "_repr_html_"), name
