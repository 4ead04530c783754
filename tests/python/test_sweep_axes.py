"""Sweeps: the axes of a file, their draws, and the places of its mistakes."""

import pytest

import flashgc
from flashgc.running import inputs
from flashgc.sweeps import plan, read


def test_two_axes_of_one_key_are_refused():
    axes = "[axes]\na = {{ key = 'device.exported', values = [0.6, 0.7] }}\n{}\n"
    for other in ("b = { key = 'device.exported', from = 0.8, to = 0.9, count = 2 }",
                  "'device.exported' = [0.8]"):  # fmt: skip
        with pytest.raises(flashgc.ConfigError, match=r"`a` and .* both set `device\.exported`"):
            read.load(axes.format(other))
    with pytest.raises(flashgc.ConfigError, match=r"`scheme` and `x` both set `gc\.scheme`"):
        read.load("[axes]\nscheme = ['greedy']\nx = { key = 'gc.scheme', values = ['fifo'] }\n")


def test_a_layer_is_named_once(tmp_path):
    """A base that names another one than an axis would have no effect."""
    refused = "name two schemes: sepbit and greedy\n  = help: name the scheme of a run once"
    tables = {"base": {"config": "oltp", "scheme": "sepbit"}, "axes": {"scheme": ["greedy"]}}
    with pytest.raises(flashgc.ConfigError, match=refused):
        plan.plan(read.load(tables), None, False)
    tables["base"]["scheme"] = "greedy"
    assert [one.refused for one in plan.plan(read.load(tables), None, False)] == [None]


def test_built_in_traces_are_known_by_name(tmp_path, monkeypatch):
    """A file of the name in the folder of the sweep comes first, as with `--trace`."""
    tables = {
        "base": {"config": "real-programs"},
        "axes": {"program": {"key": "trace", "values": ["sqlite", "dbench"]}},
    }
    monkeypatch.chdir(tmp_path)
    traces = [point[0].sources[0].trace for point in read.load(tables).points]
    assert traces == [str(inputs.captures()[name]) for name in ("sqlite", "dbench")]
    (tmp_path / "sqlite").write_text("")
    assert read.load(tables).points[0][0].sources[0].trace == "sqlite"


def test_a_draw_of_no_axis_is_refused():
    text = "[axes]\nseed = [1, 2]\n[draw]\nmethod = 'random'\ncount = 2\naxes = []\n"
    with pytest.raises(flashgc.ConfigError, match="`axes` must be a list of one element or more"):
        read.load(text)


def labels(text):
    asked = read.load(text)
    return [asked.label(point) for point in asked.points]


def test_kinds_of_axes():
    axes = (
        "[axes]\na = [1, 2.5, true]\n"
        "b = { key = 'x', from = 1, to = 100, count = 3, scale = 'log' }\n"
        "c = { from = 5, to = 20, step = 5, unit = '%' }\n"
    )
    asked = read.load(axes)
    assert [len({point[at].name for point in asked.points}) for at in range(3)] == [3, 3, 4]
    sets = [choice.sources[0].set for choice in asked.points[-1]]
    assert sets == [{"a": True}, {"x": 100}, {"c": "20%"}]
    points = (
        axes + '[[points]]\na = 1\nb = "*"\nc = "5%"\n[[points]]\na = [2.5, 1]\nb = 1\nc = ["5%"]\n'
    )
    assert labels(points) == ["a 1, b 1, c 5%", "a 1, b 10, c 5%", "a 1, b 100, c 5%",
                              "a 2.5, b 1, c 5%"]  # fmt: skip


def drawn(method, count, seed=1, axes="a = { from = 0.0, to = 1.0 }\nb = { from = 1, to = 8 }\n"):
    draw = f'[draw]\nmethod = "{method}"\ncount = {count}\nseed = {seed}\n'
    return read.load(f"{draw}[axes]\n{axes}").points


def test_draws():
    points = drawn("latin-hypercube", 40)
    # One value in each fortieth of the range, and each whole number equally often.
    assert sorted(int(40 * point[0].value) for point in points) == list(range(40))
    counts = [sum(point[1].value == number for point in points) for number in range(1, 9)]
    assert counts == [5] * 8
    assert points == drawn("latin-hypercube", 40)
    assert points != drawn("latin-hypercube", 40, seed=2)
    random = [point[0].value for point in drawn("random", 200)]
    assert 0 <= min(random) < max(random) <= 1
    assert len({int(40 * value) for value in random}) < 40 or max(random) < 1
    # Another axis changes nothing for this one, and crossed axes get the same draws.
    wider = drawn("random", 200, axes="a = { from = 0.0, to = 1.0 }\nc = [1, 2]\n")
    assert [point[0] for point in wider] == [point[0] for point in drawn("random", 200)]
    text = (
        '[draw]\nmethod = "random"\ncount = 3\naxes = ["a"]\n[axes]\na = { from = 0.5, to = 1 }\n'
    )
    both = read.load(text + 's = ["greedy", "fifo"]\n').points
    assert len(both) == 6
    assert [point[0] for point in both[:3]] == [point[0] for point in both[3:]]


@pytest.mark.parametrize(("text", "words"), [
    ("[axes]\nseed = []\n", "2:1"),
    ("[axes]\nseed = { from = 1, to = 5, step = 0 }\n", "`step` must be above 0"),
    ("[axes]\nseed = { from = 5, to = 1 }\n", "`to` must not be below `from`"),
    ("[axes]\nseed = { from = 1, to = 5, step = 1, count = 2 }\n", "exclude each other"),
    ("[axes]\nx = { from = 0, to = 5, scale = 'log' }\n", "`from` must be a positive number"),
    ("[axes]\nx = { from = 0.5, to = 5 }\n", "add `count` or `step`"),
    ("[axes]\nseed = { from = 1, to = 100_000_000 }\n", "at most 1,000,000"),
    ("[axes]\nseed = { from = 1, to = 1_000_001 }\n", "the range has 1,000,001 values; at most"),
    ("[axes]\nx = { from = 0, to = 1.1, step = 1e-6 }\n", "the range has 1,100,001 values"),
    ("[axes]\nx = { from = 0, to = 1 }\n[draw]\nmethod = 'random'\ncount = 2_000_000\n",
     "lower the `count` of [draw]"),
    ("[axes]\nx = { from = 1, to = 2000 }\ny = { from = 1, to = 2000 }\n", "have 4,000,000 points"),
    ("[axes]\nscheme = [1]\n", "a scheme must be a text, got 1"),
    ("[axes]\nscheme = { from = 1, to = 2 }\n", "a scheme is not a number"),
    ("[axes]\nseed = [1, 1]\n", "1 is there twice"),
    ("[axes]\nstatus = [1]\n", "name of a column"),
    ("[axes]\nseed = { values = [1], vlaues = 2 }\n", "did you mean `values`"),
    ("[axes.a.x]\nsheme = 'fifo'\n", "did you mean `scheme`"),
    ("[axes]\nx = [nan, 1]\n", "`x` cannot have the value nan\n --> (text):2:6"),
    ("[axes]\nx = [2024-01-01]\n", "`x` cannot have the value 2024-01-01 (a date)"),
    ("[axes]\nseed = 5\n", "`seed` must be a list of values, or a table, got 5"),
    ("[axes]\nseed = [1]\n[[points]]\nseed = nan\n", 'there is no "nan"'),
    ("[axes]\nseed = [1]\n[[points]]\nsede = 1\n", 'there is no axis "sede"'),
    ("[axes]\nseed = [1]\n[[points]]\nseed = 2\n", 'there is no "2"'),
    ("[axes]\nseed = [1]\n[[points]]\nseed = []\n", "`seed` has no choice in this point"),
    ("[axes]\nseed = [1]\n[draw]\nmethod = 'lhs'\ncount = 0\n", "a whole number from 1"),
    ("[axes]\nseed = [1]\n[draw]\nmethod = 'random'\ncount = 2\naxes = ['x']\n", "no axis"),
    ("[axes]\nseed = [1]\n[draw]\nmethod = 'random'\ncount = 2\n[[points]]\nseed = 1\n", "exclude"),
    ("name = '../x'\n[axes]\nseed = [1]\n", "`name` must be"),
    ("[base]\nconfig = 'oltp'\n", "`axes` is missing"),
])  # fmt: skip
def test_mistakes_have_a_place(text, words):
    with pytest.raises(flashgc.ConfigError) as error:
        read.load(text)
    assert words in str(error.value)


@pytest.mark.parametrize(("text", "what", "place"), [
    ("[axes\nseed = [1]\n", "not valid TOML: unclosed table", "1:6"),
    ("[axes]\nseed = [1, 2\n", "not valid TOML: unclosed array", "2:13"),
    ("[axes]\nscheme = [greedy]\n", "text needs quotes", "2:11"),
    ("[axes]\nseed = \n", "a value is missing here", "2:8"),
    ("[axes]\nx = [.5]\n", "a number cannot begin with a point", "2:6"),
    ("[axes]\nseed = [1]\nseed = [2]\n", "`seed` is given twice", "3:1"),
    # The engine reads it, as TOML 1.1, and Python does not.
    ("[axes]\nx = { from = 1,\nto = 2 }\n", "not valid TOML: invalid initial character", "2:16"),
])  # fmt: skip
@pytest.mark.parametrize("command", ["sweep", "tune"])
def test_errors_of_syntax_have_the_form_of_all_others(
    flashgc, tmp_path, monkeypatch, command, text, what, place
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.toml").write_text(text)
    error = flashgc(command, "wrong.toml", code=2).err
    assert what in error
    assert f" --> wrong.toml:{place}\n" in error
    assert "^" in error


@pytest.mark.parametrize(("axes", "parts"), [
    ({"device.exported": {"from": 0.7, "to": 0.8, "count": 100_000_000}},
     ["the range has 100,000,000 values", "at most 1,000,000"]),
    ({"write_amplification": {"key": "device.exported", "values": [0.7, 0.8]}},
     ["`write_amplification` is the name of a metric"]),
    ({"seed": {"key": "device.exported", "values": [0.7, 0.8]}},
     ["`seed` is the name of a metric"]),
    ({"": {"key": "device.exported", "values": [0.7, 0.8]}}, ["an axis needs a name"]),
])  # fmt: skip
def test_axes_without_bounds_or_a_name_of_their_own_are_refused(tmp_path, axes, parts):
    with pytest.raises(flashgc.ConfigError) as error:
        flashgc.sweep({"base": {"config": "oltp"}, "axes": axes}, store=tmp_path)
    for part in parts:
        assert part in str(error.value)


def test_a_range_over_all_numbers_has_finite_values(tmp_path):
    axes = {"own": {"key": "device.rated_cycles", "from": 1e-320, "to": 1e300, "count": 3,
                    "scale": "log"}}  # fmt: skip
    with pytest.raises(flashgc.ConfigError) as error:
        flashgc.sweep({"base": {"config": "oltp"}, "axes": axes}, store=tmp_path)
    assert "nan" not in str(error.value)


def test_a_job_file_is_no_sweep(tmp_path):
    (tmp_path / "a.fio").write_text("[a]\nrw=randwrite\n")
    with pytest.raises(flashgc.ConfigError, match="is a job file of fio, and not a sweep"):
        flashgc.sweep(tmp_path / "a.fio", store=tmp_path)


@pytest.mark.parametrize(
    ("file", "name"), [("my sweep.toml", "my-sweep"), ("-größe.toml", "gr--e"), ("é.toml", "sweep")]
)
def test_a_file_may_have_any_name(tmp_path, file, name):
    """It was refused for a key `name` that it does not have, at its first line."""
    (tmp_path / file).write_text('[base]\nconfig = "oltp"\n[axes]\nseed = [1]\n')
    assert read.load(tmp_path / file).name == name
