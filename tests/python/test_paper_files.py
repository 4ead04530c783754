"""Mistakes in experiment.toml and claims.toml: file, line, key, value, and the allowed values."""

import re

import pytest

import flashgc
from flashgc.reproduction import read_claims, read_experiment
from own_paper import CLAIMS, EXPERIMENT, experiment

REMARKS = """
[[claims.remarks]]
at = { load = "low" }
note = "a"
[[claims.remarks]]
at = { load = "high" }
note = "b"
"""


def line_of(text, part, number=1):
    """The line of a part of a text, the first from 1."""
    found = [at for at, line in enumerate(text.splitlines(), 1) if part in line]
    return found[number - 1]


def told(text, kind):
    """The messages for a file, each with the line that it names and shows."""
    others = () if kind == "experiment" else (experiment(),)
    load = read_experiment.load if kind == "experiment" else read_claims.load
    with pytest.raises(flashgc.ConfigError) as caught:
        load(text, f"x/{kind}.toml", *others)
    found = []
    for message in str(caught.value).split("\n\n"):
        file, line = re.search(r"--> (\S+):(\d+):\d+$", message, re.MULTILINE).groups()
        assert file == f"x/{kind}.toml"
        assert f"\n{line} | {text.splitlines()[int(line) - 1]}\n" in message
        found.append((message, int(line)))
    return found


def changed(text, old, new, number=1):
    """The text with one of the places of a part changed."""
    parts = text.split(old)
    assert len(parts) > number
    return old.join(parts[:number]) + new + old.join(parts[number:])


WRONG = [
    # A wrong type.
    ("experiment", "mean = true", 'mean = "yes"', 1, '`mean` must be true or false, got "yes"'),
    ("experiment", 'id = "table-1"', "id = 1", 1, "`id` must be a text, got 1"),
    ("experiment", 'files = ["requests.spc"]', 'files = ["a", 2]', 1,
     "element 2 of `files` must be a text, got 2"),
    ("experiment", 'measures = ["latency", "waf"]', "measures = []", 1,
     "`measures` must be a list of one element or more, got []"),
    ("experiment", 'load = ["low", "high"]', "load = [1]", 2,
     "`load` must be a text or a list of texts, got [1]"),
    ("experiment", 'label = "low load"', "value = true", 1, "`value` must be a number, got true"),
    ("experiment", 'what = "the trace"', "what = 1979-05-27", 1,
     "`what` must be a text, got 1979-05-27"),
    ("experiment", 'as = "ratio"', 'as = "half"', 1,
     '`as` must be one of value, ratio, reduction, factor, got "half"'),
    ("claims", 'near = "10 %"', "near = -1", 1,
     '`near` must be a share such as "5 %", or a number in the unit of the claim, not below 0'),
    ("claims", 'kind = "order"', 'kind = "ordre"', 1,
     '`kind` must be one of value, order, check, got "ordre"'),
    ("claims", "low = 1.5", 'low = "1.5"', 1, '`values.low` must be a number, got "1.5"'),
    ("claims", 'note = "b"', "note = 3", 1, "`note` must be a text, got 3"),
    ("experiment", "[measures.latency]", "[axes.none]\n[measures.latency]", 1,
     "`none` must be a table with one key or more"),
    # An unknown key.
    ("experiment", "mean = true", "means = true", 1,
     "`means` is not a valid key here", "did you mean `mean`? valid keys: id, title"),
    ("experiment", 'differs = "no trace"', 'difers = "no trace"', 1,
     "`difers` is not a valid key here", "did you mean `differs`?"),
    ("experiment", 'formula = "write', 'unot = "write"\nformula = "write', 1,
     "`unot` is not a valid key here", "did you mean `unit`?"),
    ("experiment", 'form = "bars"', 'form = "bars"\nx = "load"', 1,
     "`x` is not a valid key here"),
    ("experiment", "[base]", "[bass]", 1, "`bass` is not a valid key here", "`base`"),
    ("claims", 'note = "b"', 'notes = "b"', 1, "`notes` is not", "did you mean `note`?"),
    ("claims", 'by = ["load"]', 'by = ["load"]\nbound = 3', 1, "`bound` is not a valid key here"),
    # A name that is known nowhere.
    ("experiment", 'columns = "scheme"', 'columns = "schema"', 2,
     'there is no axis "schema"', "did you mean `scheme`? valid axes: load, scheme"),
    ("experiment", '"waf"]', '"wuf"]', 1, 'there is no measure "wuf"', "did you mean `waf`?"),
    ("experiment", "against = {", 'against = { load = ["low", "high"],', 1,
     "`against.load` must be one choice, got 2"),
    ("experiment", '"write_amplification"', '"a +"', 1, "`a +` is not a formula"),
    ("experiment", '"write_amplification"', '"True"', 1, "`True` is not a formula"),
    ("experiment", '"write_amplification"', r'"a\u0000"', 1, "is not a formula"),
    ("claims", 'at = { load = "high" }', 'at = { load = "hihg" }', 1,
     '`at.load`: there is no "hihg"', "did you mean `high`?"),
    ("claims", 'in = ["table-1"]', 'in = ["tabel-1"]', 1, "`in`: there", "did you mean `table-1`?"),
    ("claims", 'place = "Table 1, {load}"', 'place = "{load.x}"', 1, "`place` may name the axes"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "old", "new", "number", "what", "help"),
                         [(*row, "")[:6] for row in WRONG])  # fmt: skip
def test_a_mistake_is_told_with_its_line(kind, old, new, number, what, help):
    text = changed(EXPERIMENT if kind == "experiment" else CLAIMS + REMARKS, old, new, number)
    first = next(line for line in new.splitlines()[::-1] if line not in old)
    first = next((line for line in new.splitlines() if line not in old), first)
    lines = [at for at, line in enumerate(text.splitlines(), 1) if first in line]
    ((message, line),) = told(text, kind)
    assert message.startswith("error: ")
    assert what in message.splitlines()[0]
    assert help in message.splitlines()[-1]
    assert line in lines


MISSING = [
    ("experiment", 'title = "A paper"\n', "`title` is missing; a text is needed", "[paper]", 1),
    ("experiment", 'title = "Both"\n', "`title` is missing; a text is needed", "[[items]]", 2),
    ("experiment", 'label = "write amplification"\n', "`label` is missing", "[measures.waf]", 1),
    ("experiment", 'measures = ["latency"]\n', "`measures` is missing; a list of texts is needed",
     "[[items]]", 1),
    ("claims", 'measure = "waf"\n', "`measure` is missing; a text is needed", "[[claims]]", 2),
    ("claims", 'claimed = "always"\n', "`claimed` is missing; a text", "[[claims]]", 1),
    ("claims", 'met = "5 %"\n', '`met` is missing; a share such as "5 %"', "[tolerance]", 1),
    ("claims", "[claims.values]\nlow = 1.5\nhigh = 1.5\n", "`values` is missing", "[[claims]]", 2),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "old", "what", "head", "number"), MISSING)
def test_a_missing_key_is_told_with_the_line_of_its_table(kind, old, what, head, number):
    text = changed(EXPERIMENT if kind == "experiment" else CLAIMS, old, "")
    ((message, line),) = told(text, kind)
    assert message.startswith(f"error: {what}")
    assert line == line_of(text, head, number)


def test_a_mistake_in_the_second_of_nested_tables_has_its_own_line():
    text = changed(CLAIMS + REMARKS, 'note = "b"', "why = 1")
    ((message, line),) = told(text, "claims")
    assert "`why` is not a valid key here" in message
    assert line == line_of(text, "why = 1")
    text = changed(CLAIMS + REMARKS, 'at = { load = "high" }', 'at = { load = ["high", 2] }')
    ((message, line),) = told(text, "claims")
    assert line == line_of(text, '["high", 2]')


def test_all_mistakes_are_told_in_the_order_of_their_lines():
    text = changed(EXPERIMENT, 'title = "A paper"\n', "")
    text = changed(text, 'id = "1"', "id = 1")
    text = changed(text, 'unit = "ns"', "unti = 3")
    found = told(text, "experiment")
    assert [line for _, line in found] == [
        line_of(text, "[paper]"), line_of(text, "unti"), line_of(text, "id = 1"),
    ]  # fmt: skip


def test_a_wrong_kind_is_one_mistake():
    ((message, _),) = told(changed(CLAIMS, '"order"', '"ordr"'), "claims")
    assert "`kind` must be one of" in message


@pytest.mark.parametrize("text", ["", "items = 3", "a = [", "x = " + "[" * 5000, "items = [1]"])
def test_what_is_no_experiment_is_an_error(text):
    with pytest.raises(flashgc.ConfigError, match=r"experiment\.toml"):
        read_experiment.load(text, "x/experiment.toml")
