"""The page of a reproduction: its head, figures with the paper's numbers, and its story."""

import re
import tomllib
from dataclasses import replace

import altair
import pytest

import flashgc
from conftest import PAPERS, ROOT, WHOLE
from flashgc.reproduction import bars, beside, curves, grid, papers, pins, prose, story
from flashgc.reproduction.pairs import Pair, charts
from own_paper import CLAIMS, EXPERIMENT, claim_of, results
from own_paper import verdict as judged
from pages import addresses, rows
from pages import charts as drawn

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture
def page(paper, tmp_path):
    """The page of a small paper, and its charts by name."""
    done = flashgc.reproduce("own-paper", out=tmp_path / "out")
    text = (tmp_path / "out" / done.page).read_text()
    return text, drawn(text), done


def test_it_needs_nothing_else_and_begins_with_the_verdicts(page):
    text, _, done = page
    assert [one for one in addresses(text) if not one.startswith("href=")] == []
    body = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    anchors = {f"#{name}" for name in re.findall(r'id="([^"]*)', body)}
    assert set(re.findall(r'href="([^"]*)', body)) <= anchors
    order = [text.index(part) for part in (
        'class="summary"', "Verdicts by evidence", ">1: Latency<", ">table-1: Both<",
        'id="seeds"', 'id="workloads"', 'id="environment"', 'id="about"',
    )]  # fmt: skip
    assert order == sorted(order)
    assert done.summary in text
    assert "Nothing was chosen." in text


def test_a_claim_that_fails_comes_before_all_others(paper, tmp_path):
    claims = CLAIMS.replace("low = 1.5", "low = 100.0")
    (paper / "claims.toml").write_text(claims)
    done = flashgc.reproduce("own-paper", out=tmp_path / "out")
    assert done.failed
    text = (tmp_path / "out/report.html").read_text()
    assert text.index("<h2>What fails</h2>") < text.index("Verdicts by evidence")
    first = re.search(r'<h2>What fails</h2><?.*?<a href="#(claim-\d+)">(.*?)</a>', text, re.DOTALL)
    assert first[2] == "Table 1, low load"
    assert f'id="{first[1]}" class="fails"' in text


def test_each_figure_has_its_values_and_the_numbers_of_the_paper(page):
    _, found, done = page
    assert {"figure-1", "numbers-table-1"} <= set(found)
    bars = rows(found["figure-1"])
    assert len([row for row in bars if row["by"] == "flashgc"]) == 3 * 2
    numbers = rows(found["numbers-table-1"])
    assert [row["there"] for row in numbers] == [1.5, 1.5]
    table = done.tables["table-1"]
    assert numbers[0]["here_text"] in table[1]


def test_hashes_of_all_runs_are_there(page):
    text, _, done = page
    assert len(done.made.runs) == 4 == done.runs
    for run in done.made.runs:
        assert run.result_hash in text
        assert run.config_hash in text
        assert (done.folder / "runs" / run.file).is_file()
    assert "numpy" in text
    assert "No trace was read" in text


def test_a_quick_page_says_so(paper, tmp_path):
    flashgc.reproduce("own-paper", out=tmp_path / "out", quick=True)
    assert "The numbers mean nothing." in (tmp_path / "out/report.html").read_text()


def test_texts_of_a_paper_cannot_break_the_page(paper, tmp_path):
    experiment = EXPERIMENT.replace(
        'title = "Latency"', 'title = "<script>x</script> & </section>"'
    )
    hostile = 'citation = "<img src=x>"\nurl = "javascript:alert(1)"'
    experiment = experiment.replace('citation = "Nobody: Nothing"', hostile)
    (paper / "experiment.toml").write_text(experiment)
    (paper / "README.md").write_text(
        "# A\n\n<script>y</script> [z](javascript:1) ![p](https://q)\n"
    )
    flashgc.reproduce("own-paper", ["1"], out=tmp_path / "out", quick=True)
    text = (tmp_path / "out/report-1.html").read_text()
    body = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "<script>" not in body
    assert "<img" not in body
    assert 'href="javascript' not in text
    assert "&lt;script&gt;x&lt;/script&gt;" in text


# ---- the numbers of the paper at the places of a figure ----


def numbers(claim, latency):
    found = results(latency)
    item = next(one for one in found.experiment.items if one.id == "1")
    one = judged({"in": ["1"], "measure": "latency", **claim}, found)
    return beside.of(grid.measured(item, found), found.experiment, [one])


AGAINST = {"scheme": "greedy"}


@pytest.mark.parametrize(
    ("claim", "place", "value"),
    [
        ({"as": "reduction", "unit": "%", "claimed": 40, "at": {"load": "low"}}, (0, 0, 1), 0.6),
        ({"as": "ratio", "unit": "%", "claimed": 70, "at": {"load": "high"}}, (0, 1, 1), 0.7),
        ({"as": "factor", "claimed": 4, "at": {"load": "low"}}, (0, 0, 1), 0.25),
        ({"as": "reduction", "claimed": 0.25, "over": "load", "at": {"load": ["low", "high"]}},
         (0, 2, 1), 0.75),
    ],
)  # fmt: skip
def test_a_number_of_the_paper_is_converted_into_what_the_figure_shows(claim, place, value):
    at = {**claim.pop("at"), "scheme": "fifo"}
    found = numbers({**claim, "at": at, "against": AGAINST}, {})
    assert found.values == {place: pytest.approx(value)}
    assert found.loose == []


@pytest.mark.parametrize(
    "claim",
    [
        {"as": "factor", "claimed": 4, "over": "load", "at": {"load": ["low", "high"]}},
        {"as": "ratio", "claimed": 4, "over": "load", "take": "max",
         "at": {"load": ["low", "high"]}},
        {"as": "ratio", "claimed": 4, "at": {"load": "recorded"}},
    ],
)  # fmt: skip
def test_a_number_that_is_no_cell_is_left_over(claim):
    at = {**claim.pop("at"), "scheme": "fifo"}
    found = numbers({**claim, "at": at, "against": AGAINST}, {})
    assert found.values == {}
    assert len(found.loose) == 1


def test_a_second_number_for_a_cell_is_left_over():
    found = results({})
    item = next(one for one in found.experiment.items if one.id == "1")
    claim = {"in": ["1"], "measure": "latency", "as": "ratio", "claimed": 0.5, "against": AGAINST,
             "at": {"load": "low", "scheme": "fifo"}}  # fmt: skip
    both = [judged(claim, found), judged({**claim, "claimed": 0.7}, found)]
    made = beside.of(grid.measured(item, found), found.experiment, both)
    assert made.values == {(0, 0, 1): 0.5}
    assert [one.claim.claimed for one in made.loose] == [0.7]


def test_pairs_have_a_chart_for_each_unit_and_a_logarithmic_axis_where_it_is_needed():
    pairs = [Pair("a", "ns", 10.0, 1e6), Pair("b", "ns", None, 20.0), Pair("c", "%", -1.0, 5.0)]
    times, shares = charts("numbers", pairs)
    scales = [one.spec["layer"][0]["encoding"]["x"]["scale"] for one in (times, shares)]
    assert scales[0]["type"] == "log"
    assert "type" not in scales[1]
    assert [row["here"] for row in times.rows()] == [10.0, None]


def test_counts_and_ratios_that_are_far_apart_have_a_chart_of_their_own_each():
    pairs = [
        Pair("a: IOPS", "", 9e4, 1e5, measure="iops"), Pair("a: WA", "", 1.2, 1.1, measure="waf"),
        Pair("b: IOPS", "", 7e4, 8e4, measure="iops"),
    ]  # fmt: skip
    drawn = charts("numbers", pairs)
    assert [[row["what"] for row in one.rows()] for one in drawn] == [
        ["a: IOPS", "b: IOPS"], ["a: WA"]
    ]  # fmt: skip
    assert all("type" not in one.spec["layer"][0]["encoding"]["x"]["scale"] for one in drawn)
    near = [pair._replace(here=1.0, there=1.3) for pair in pairs]
    assert len(charts("numbers", near)) == 1


def fields_of(one):
    """The fields whose values give the x axis its extent."""
    return [part["encoding"]["x"].get("field") for part in one.spec["layer"]]


def test_a_chart_without_a_measured_value_has_no_marks_for_it():
    drawn = charts("numbers", [Pair("a", "ns", None, 5.0), Pair("b", "ns", None, 7.0)])
    assert fields_of(drawn[0]) == [None, "there"]
    drawn = charts("numbers", [Pair("a", "ns", None, 5.0), Pair("b", "ns", 6.0, 7.0)])
    assert fields_of(drawn[0]) == ["here", None, "here", "there"]


def test_curves_without_a_measured_value_have_no_marks_for_it():
    found = results({("low", "fifo"): 50.0})
    item = next(one for one in found.experiment.items if one.id == "1")
    cells = grid.measured(item, found)
    nothing = replace(cells, blocks=[[[None] * len(cells.columns) for _ in cells.rows]])
    paper = beside.Beside(values={(0, 0, 1): 0.5})
    assert curves.lines(nothing, beside.Beside(), found.experiment) == []
    drawn = [curves.lines(one, paper, found.experiment)[0] for one in (nothing, cells)]
    marks = [[part["mark"]["type"] for part in one.spec["layer"]] for one in drawn]
    assert marks == [["point"], ["line", "point", "point"]]


@pytest.mark.parametrize("form", ["bars", "numbers"])
def test_charts_are_valid_by_the_schema_of_vega_lite(form):
    found = results({("low", "fifo"): 50.0})
    item = next(one for one in found.experiment.items if one.id == "1")
    cells = grid.measured(item, found)
    pairs = [Pair("a", "ns", 10.0, 1e6, "met"), Pair("b", "ns", None, 20.0)]
    made = {"bars": [bars.chart(cells, beside.Beside(values={(0, 0, 1): 0.5}))],
            "numbers": charts("numbers", pairs)}[form]  # fmt: skip
    for one in made:
        whole = {**one.specification(), "data": {"values": one.rows()}}
        whole.pop("$schema")
        assert altair.LayerChart.from_dict(whole, validate=True)


# ---- the story ----


@pytest.mark.parametrize("name", WHOLE)
def test_each_paper_has_a_story_of_ten_lines_whose_numbers_are_on_record(name):
    known = papers.load(ROOT / f"papers/{name}")
    lines = story.told(known.experiment.story, known.claims, [], known.pins)
    assert 9 <= len(lines) <= 12
    assert all("{" not in line and " - " not in line for line in lines)
    assert sum(line != told for line, told in zip(known.experiment.story, lines, strict=True)) >= 6
    assert any(item.sensitivity for item in known.experiment.items)


def test_a_story_takes_the_values_that_were_measured_now():
    found = results({("low", "greedy"): 250.0})
    one = judged({"in": ["1"], "measure": "latency", "unit": "ns", "claimed": 100,
                  "at": {"load": "low", "scheme": "greedy"}}, found)  # fmt: skip
    lines = ["{x: y}", "{paper x: y}", "{measured x: y}"]
    pinned = pins.Pins({"no trace": {"x: y": 7.0}, "quick no trace": {"x: y": 1.0}})
    assert story.told(lines, [one.claim], [one], pinned) == [
        "250 ns (paper 100 ns)", "100 ns", "250 ns",
    ]  # fmt: skip
    assert story.told(lines[:1], [one.claim], [], pinned) == ["7.00 ns (paper 100 ns)"]
    assert story.told(lines[2:], [one.claim], [], pins.Pins()) == ["-"]
    at = {"load": "low", "scheme": "fifo"}
    known = claim_of({"in": ["1"], "measure": "latency", "claimed": 1, "at": at}, found)
    other = replace(known, place="z")
    with pytest.raises(flashgc.ConfigError, match='line 2 of `story` names a claim "x: z"'):
        story.check(["nothing", "{measured x: z}"], [one.claim, other], "experiment.toml")


@pytest.mark.parametrize("name", PAPERS)
def test_numbers_of_other_programs_are_those_of_the_manual(name):
    """Each number is in the page of the manual that is named as its source."""
    described = tomllib.loads((ROOT / f"papers/{name}/experiment.toml").read_text())
    for program in described.get("programs", []):
        page = (ROOT / program["source"].split(",")[0]).read_text().replace(",", "")
        for row in program["rows"]:
            line = row["what"].split(":")[0].split(",")[0]
            for value in (row["here"], row["there"]):
                assert any(f"{value:.{digits}f}" in page for digits in range(7)), (row, value)
            assert line in page


def test_the_prose_of_a_paper_keeps_links_inside_and_to_the_web_alone():
    text = "## Two words\n\n[a](#two-words) [b](../x.md) [c](https://d)\n\n| e |\n|---|\n| f |\n"
    made = prose.html(text)
    assert '<h3 id="about-two-words">' in made
    assert '<a href="#about-two-words">a</a> <span>b</span> <a href="https://d">c</a>' in made
    assert '<div class="wide prose"><table class="facts">' in made


@pytest.mark.parametrize("name", WHOLE)
def test_every_reason_names_the_experiment_that_backs_it(name):
    """Errors of the paper itself are arithmetic, and need none."""
    claims = tomllib.loads((ROOT / "papers" / name / "claims.toml").read_text())["claims"]
    told = [one for claim in claims for one in (claim, *claim.get("remarks", []))]
    reasons = [one for one in told if "why_not" in one]
    alone = [one["why_not"] for one in reasons if not one.get("backed_by")]
    assert reasons
    assert [one for one in alone if not one.startswith("an error of the paper: ")] == []
