"""The place of each key of a TOML file, for messages."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import PAPERS, ROOT
from flashgc.files import toml
from flashgc.files.key_places import Places

TEXT = """\
# [not.a.table]
title = "x = 1 # no comment" # one
[a]
b.c = 1
b."d.e" = '''
f = 2
'''

[a.g] # comment
h = [ # a list
  1,
  { i = "]" }, # with a table
  [ 2, { j = [ ] , k = 3 } ],
]
[[l]]
m = "\\"n = 1"
[l.o]
p = 1.5
[[l]]
[[l.q]]
r = {s.t = true, u = {v = 1}}
  [[ l . "q" ]]
  w = \"\"\"a
b""\"\"\"
"x y" = 1979-05-27T07:32:00Z"""
LINES = [
    ("title", 2), ("a", 3), ("a b", 4), ("a b c", 4), ("a b d.e", 5), ("a g", 9), ("a g h", 10),
    ("a g h 0", 11), ("a g h 1", 12), ("a g h 1 i", 12), ("a g h 2 1 j", 13), ("a g h 2 1 k", 13),
    ("l 0", 15), ("l 0 m", 16), ("l 0 o", 17), ("l 0 o p", 18), ("l 1", 19), ("l 1 q 0", 20),
    ("l 1 q 0 r s t", 21), ("l 1 q 0 r u v", 21), ("l 1 q 1", 22), ("l 1 q 1 w", 23),
    ("l 1 q 1 x_y", 25),
]  # fmt: skip


def path_of(words):
    parts = words.replace(" ", "\n").replace("_", " ").split("\n")
    return tuple(int(part) if part.isdigit() else part for part in parts)


def paths(value, path=()):
    """The paths of all keys and elements."""
    named = value.items() if isinstance(value, dict) else enumerate(value)
    for name, one in named:
        yield (*path, name)
        if isinstance(one, dict | list):
            yield from paths(one, (*path, name))


@pytest.mark.parametrize(("words", "line"), LINES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_key_has_its_line(words, line, end):
    assert Places(TEXT.replace("\n", end)).of(path_of(words)).line == line


def test_every_key_is_found_and_no_other():
    places = Places(TEXT)
    assert all(path in places for path in paths(tomllib.loads(TEXT)))
    for absent in ("f", "n", "not", "a f", "l 2", "l 0 q"):
        assert path_of(absent) not in places


def test_a_key_that_is_missing_has_the_place_of_its_table():
    places = Places(TEXT)
    assert places.of(("l", 1, "q", 1, "z")).line == 22
    assert places.of(("l", 1, "q", 0, "r", "u", "z")).line == 21
    assert places.of(("z",)).line == 1


def test_the_columns_are_those_of_the_key():
    place = Places(TEXT).of(("l", 1, "q", 0, "r", "u"))
    assert place.text[place.column - 1 :][: place.width] == "u"
    place = Places(TEXT).of(("a", "b", "d.e"))
    assert place.text[place.column - 1 :][: place.width] == '"d.e"'


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("file", ["experiment.toml", "claims.toml"])
def test_every_key_of_a_paper_is_on_its_line(paper, file):
    text = (ROOT / "papers" / paper / file).read_text()
    places = Places(text)
    for path in paths(tomllib.loads(text)):
        assert path in places
        if isinstance(path[-1], str):
            assert path[-1] in places.of(path).text


KEYS = st.text(st.sampled_from("ab.\"'# =[]{}é\\"), max_size=4)
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(0, 9), st.text(st.sampled_from("a\"'#=[]{},\\\n"))),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(KEYS, inner)),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES))
def test_every_key_that_tomllib_reads_is_found(table):
    text = toml.dumps(table)
    places = Places(text)
    assert all(path in places for path in paths(tomllib.loads(text)))


@given(st.text(st.sampled_from("ab.\"'# =[]{},1\n")))
def test_every_key_of_any_text_is_found(text):
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    places = Places(text)
    assert all(path in places for path in paths(table))
