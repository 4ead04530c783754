"""Values of another kind in messages: frames, lists and schemes in Python, each by its type."""

import re

import numpy as np
import pytest

import flashgc
from conftest import SMALL

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

ROWS = {"time": range(100), "op": ["r"] * 100, "offset": range(100), "size": [4096] * 100}


@flashgc.victim
def own(candidates):
    return candidates.block[candidates.valid.argmin()]


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (pandas.DataFrame(ROWS), "pandas.DataFrame"),
        (polars.DataFrame(ROWS), "polars.DataFrame"),
        (np.zeros((100, 4)), "numpy.ndarray"),
        ([(0, "r", 0, 4096)] * 100, "list"),
    ],
)
def test_rows_in_place_of_a_trace_are_told_by_their_type_and_the_way_to_a_file(rows, kind):
    for call in (
        lambda: flashgc.run("replay", rows),
        lambda: flashgc.plan("replay", trace=rows),
        lambda: flashgc.trace.info(rows),
    ):
        with pytest.raises(flashgc.ConfigError) as error:
            call()
        first, second = str(error.value).splitlines()
        assert first == f"error: trace must be a name or a path, got a value of the type {kind}"
        assert 'trace="rows.csv", format="csv:time:s, op, offset, size"' in second


def test_the_way_to_a_file_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pandas.DataFrame(ROWS).to_csv("rows.csv", index=False)
    report = flashgc.run("replay", trace="rows.csv", format="csv:time:s, op, offset, size")
    assert report.requests.read == 100


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flashgc.run(SMALL, seed=[3] * 100), "1615, got a value of the type list"),
        (lambda: flashgc.run(SMALL, seed="3" * 100), f"1615, got '{'3' * 59}..."),
        (lambda: flashgc.run(SMALL, seed=[3]), "1615, got [3]"),
        (lambda: flashgc.run(SMALL, set={"seed": polars.DataFrame(ROWS)}), "type DataFrame, which"),
        (lambda: flashgc.run("replay", "sqlite", format=5), "format must be a text, got 5"),
        (lambda: flashgc.run("replay", "sqlite", fit=[9]), 'such as "90%" or 0.9, or "none", got'),
        (lambda: flashgc.trace.info("sqlite", format=5), "format must be a text, got 5"),
        (lambda: flashgc.trace.convert("sqlite", "x.fgt", 5), "to must be a text, got 5"),
        (lambda: flashgc.trace.convert("sqlite", ["x"]), "target must be a name or a path, got"),
        (lambda: flashgc.trace.fit("sqlite", 5), "target must be a name or a path, got 5"),
        (lambda: flashgc.trace.merge(["sqlite"], "x.fgt", 5), "to must be a text, got 5"),
        (lambda: flashgc.trace.generate(SMALL, "x.fgt", 5), "format must be a text, got 5"),
        (lambda: flashgc.load(pandas.DataFrame(ROWS)), "got a value of the type pandas.DataFrame"),
        (lambda: flashgc.load(np.zeros(3)), "a result must be a name or a path, got array("),
        (lambda: flashgc.compare(SMALL, {"greedy": 1}), "must be a list of names or paths, got {"),
    ],
)
def test_a_value_of_another_kind_is_named(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(flashgc.ConfigError, match=re.escape(words)):
        call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flashgc.run(own), "a configuration must be a path, a built-in name, TOML text"),
        (lambda: flashgc.run(SMALL, own), "trace must be a name or a path, got flashgc.scheme("),
        (lambda: flashgc.run(SMALL, device=own), "device must be a name or a path, got"),
        (lambda: flashgc.run(SMALL, gc_log=own), "gc_log must be a name or a path, got"),
        (lambda: flashgc.drive.save(SMALL, own), "file must be a name or a path, got"),
        (lambda: flashgc.load(own), "a result must be a name or a path, got"),
    ],
)
def test_a_scheme_in_python_is_no_file(call, words, tmp_path, monkeypatch):
    """It was one by its name: a log was written to a file with the name of the function."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(flashgc.ConfigError, match=re.escape(words)):
        call()
    assert list(tmp_path.iterdir()) == []


HALF = "\ud800"
CIRCLE: dict[str, object] = {"seed": []}
CIRCLE["device"] = [CIRCLE, CIRCLE]
CALLS = [flashgc.run, flashgc.sweep, flashgc.tune, flashgc.pts, flashgc.Component,
         lambda given: flashgc.run(SMALL, set=given)]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("given", "words"), [
    (CIRCLE, "nested too deeply, or one contains itself"),
    ({"about": {"title": HALF}}, r"title` has half of a character, '\ud800', which is not valid"),
    ({"seed": 10**5000}, "`seed` is a whole number with too many digits"),
])  # fmt: skip
def test_a_dictionary_that_cannot_be_text_is_refused(call, given, words, tmp_path, monkeypatch):
    """Errors were a RecursionError, a TypeError, a ValueError."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(flashgc.ConfigError, match=re.escape(words)):
        call(given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("call", "words"), [
    (lambda: flashgc.run(f"seed = 1\nx = '{HALF}'\n"), "text of the configuration has half"),
    (lambda: flashgc.tune(f"seed = 1\nx = '{HALF}'\n"), "(text) has half of a character"),
    (lambda: flashgc.run({HALF: 1}), "a key of the configuration has half of a character"),
    (lambda: flashgc.run(HALF), r"the configuration is '\ud800', which no file can be named"),
    (lambda: flashgc.run(SMALL, set=[f"gc.scheme={HALF}"]), "there is no scheme"),
    (lambda: flashgc.run(SMALL, unset=[HALF]), "there is no key"),
    (lambda: flashgc.run(SMALL, scheme=HALF), "scheme is"),
    (lambda: flashgc.run("replay", HALF), "trace is"),
    (lambda: flashgc.run(SMALL, drive=HALF), "drive is"),
    (lambda: flashgc.run(SMALL, gc_log=HALF), "gc_log is"),
    (lambda: flashgc.run(SMALL, seed=10**5000), "got a number with too many digits"),
    (lambda: flashgc.run(SMALL, seed=-(10**5000)), "got a number with too many digits"),
    (lambda: flashgc.trace.info(HALF), "trace is"),
    (lambda: flashgc.trace.generate(SMALL, HALF + ".fgt"), "target is"),
    (lambda: flashgc.load(HALF), "a result is"),
])  # fmt: skip
def test_text_that_no_file_can_have_is_refused(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(flashgc.ConfigError) as error:
        call()
    assert words in str(error.value)
    str(error.value).encode()  # it can be printed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("text", "what"), [
    ("[base]\nconfig = 'oltp'\n[axes]\nseed = [1, 2]\n", "a sweep, which has many runs"),
    ("[base]\nconfig = 'oltp'\n[axes.a.b]\nset = { seed = 1 }\n", "`flashgc sweep runs.toml`"),
    ("[base]\nconfig = 'oltp'\n[search]\ntrials = 3\n", "`flashgc tune runs.toml`"),
])  # fmt: skip
@pytest.mark.parametrize("call", [flashgc.run, flashgc.pts, flashgc.plan, flashgc.advise])
def test_a_file_with_many_runs_is_no_configuration(call, text, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.toml").write_text(text)
    with pytest.raises(flashgc.ConfigError, match=re.escape(what)):
        call("runs.toml")


def test_words_of_a_sweep_in_a_description_are_no_sweep(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(f'[about]\nnotes = """\n[axes]\n"""\n{SMALL}')
    assert flashgc.plan(path).scheme == flashgc.plan(SMALL).scheme


def test_a_scheme_in_python_is_no_base():
    words = (
        "error: base must be the name of a preset or a file, got own, a scheme in Python\n"
        "  = help: give its functions to their slots (victim), which take schemes as well, and its "
        "own base: base='greedy'"
    )
    for more in ({}, {"pacing": bool}):
        with pytest.raises(flashgc.ConfigError, match=f"^{re.escape(words)}$"):
            flashgc.scheme("mine", base=own, **more)
    both = flashgc.scheme("mine", base="gftl", victim=own, pacing=lambda step: step.waiting == 0)
    short = {"workload.synthetic.requests": 500}
    report = flashgc.run(SMALL, scheme=both, set=short)
    assert report.scheme == "mine"
    assert report._origin.again.startswith("flashgc.run(")
    assert "scheme=mine" in report._origin.again


def test_one_scheme_in_python_may_be_compared():
    short = {"workload.synthetic.requests": 500}
    assert flashgc.compare(SMALL, own, set=short).keys() == ["own"]


def test_a_placement_without_its_parentheses_is_refused_where_it_is_written():
    """It was a function that waits for another one, whatever was done with it."""
    for wrong, words in ((lambda page: 0, "a placement needs its number of classes"),
                         (0, "classes must be a whole number from 1, got 0")):  # fmt: skip
        with pytest.raises(flashgc.ConfigError, match=words):
            flashgc.placement(wrong)


def test_the_name_of_a_scheme_is_a_text():
    for wrong in (own, 5, len):
        with pytest.raises(flashgc.ConfigError, match="name must be a text, got "):
            flashgc.scheme(wrong, victim=own)


def test_a_report_is_no_configuration():
    """It is a mapping as well, and the error was about a None deep inside it."""
    report = flashgc.run(SMALL, set={"workload.synthetic.requests": 500})
    told = "error: a report is the result of a run, and not a configuration\n  = help: give the "
    for call in (
        lambda: flashgc.run(report),
        lambda: flashgc.compare(report, ["greedy"]),
        lambda: flashgc.run("oltp", set=report),
    ):
        with pytest.raises(flashgc.ConfigError, match=f"^{re.escape(told)}") as error:
            call()
        assert str(error.value).endswith(f"; it was made by: {report._origin.again}")
    with pytest.raises(flashgc.ConfigError, match="this Config is a part of a result, and not a"):
        flashgc.run(report.config)


@pytest.mark.parametrize("frame", [pandas.DataFrame(ROWS), polars.DataFrame(ROWS)])
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda rows: flashgc.compare(SMALL, rows), "schemes must be a list of names or paths"),
        (lambda rows: flashgc.run(SMALL, set=rows), "set must be a list of texts, got a value of"),
        (lambda rows: flashgc.run(SMALL, unset=rows), "unset must be a list of texts, got a value"),
        (lambda rows: flashgc.trace.merge(rows, "x.fgt"), "trace must be a name or a path, got a"),
        (lambda rows: flashgc.trace.info("sqlite", devices=rows), "a list of words is needed, got"),
        (lambda rows: flashgc.reproduce("parallel-gc", rows), "figures must be a word or a list"),
        (lambda rows: flashgc.reproduce("parallel-gc", trace=rows), "trace must be a name or a"),
    ],
)
def test_a_data_frame_is_no_list_of_its_columns(frame, call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(flashgc.ConfigError, match=re.escape(words)) as error:
        call(frame)
    assert f"a value of the type {type(frame).__module__.partition('.')[0]}." in str(error.value)


@pytest.mark.parametrize(
    ("base", "axis"),
    [
        ({}, ["greedy", own]),
        ({}, {"values": ["greedy", own]}),
        ({}, {"mine": {"scheme": own}}),
        ({"scheme": own}, ["greedy"]),
    ],
)
def test_a_scheme_in_python_is_no_value_of_an_axis(base, axis, tmp_path):
    told = (
        "error: a sweep cannot run the scheme in Python `own`\n"
        "  = help: flashgc.compare runs it next to others"
    )
    with pytest.raises(flashgc.ConfigError, match=f"^{re.escape(told)}$"):
        flashgc.sweep({"base": {"config": "oltp", **base}, "axes": {"scheme": axis}},
                      store=tmp_path / "store")  # fmt: skip
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("paper", "told"),
    [
        (
            "parallel-gc/table-5,5a",
            "figures are an argument of their own: "
            'flashgc.reproduce("parallel-gc", figures=["table-5", "5a"])',
        ),
        ("pregc", "did you mean `pre-gc`? give one of fdp-cache, "),
        ("nothing", "give one of fdp-cache, "),
    ],
)
def test_a_paper_that_there_is_not(paper, told):
    with pytest.raises(flashgc.ConfigError) as error:
        flashgc.reproduce(paper)
    first, second = str(error.value).splitlines()
    assert first == f'error: there is no paper "{paper}"'
    assert second.startswith(f"  = help: {told}")
