"""`make mutants`: one build that holds all mutants of a sample."""

from dataclasses import replace

import pytest

from conftest import script_of

TEXT = """\
fn room(free: u32, spare: u32) -> bool {
    match free {
        0 => false,
        1 if spare > 2 => !(free + spare < 9),
        _ => true,
    }
}
"""


@pytest.fixture(scope="module")
def schemata():
    return script_of("mutants/schemata")


def mutant(schemata, genre, old, new="", within=None):
    """The mutant that replaces a part of the text, at its place in another part."""
    at = TEXT.index(within or old) + (within or old).index(old)
    before = TEXT[:at].split("\n")
    lines = old.count("\n")
    start = len(before), len(before[-1]) + 1
    end = (start[0] + lines, len(old.rpartition("\n")[2]) + 1 + (0 if lines else start[1] - 1))
    return schemata.Mutant(7, "a mutant", "room.rs", genre, new, start, end)


@pytest.mark.parametrize(
    ("genre", "old", "new", "within", "shown"),
    [
        ("BinaryOperator", "<", "==", "spare < 9",
         "!((if crate::mutant(7) { (free + spare) == (9) } else { free + spare < 9 }))"),
        ("BinaryOperator", "+", "*", None, "!((if crate::mutant(7) { (free) * (spare) } else"),
        ("UnaryOperator", "!", "", None, "=> (if crate::mutant(7) { (free + spare < 9) } else"),
        ("MatchArmGuard", "spare > 2", "true", None,
         "1 if (if crate::mutant(7) { true } else { spare > 2 }) =>"),
        ("MatchArm", "0 => false,", "", None, "0 if !crate::mutant(7) => false,"),
        ("MatchArm", "1 if spare > 2 => !(free + spare < 9),", "", None,
         "1 if (if crate::mutant(7) { false } else { spare > 2 }) =>"),
        ("FnValue", TEXT[TEXT.index("match") : -3], "true", None,
         "-> bool { if crate::mutant(7) { return true; }\n"),
    ],
)  # fmt: skip
def test_a_mutant_is_a_branch(schemata, genre, old, new, within, shown):
    source = schemata.Source(TEXT.encode())
    source.add(mutant(schemata, genre, old, new, within))
    assert shown in source.rendered()


def test_mutants_of_one_place_and_around_each_other_are_in_one_text(schemata):
    source = schemata.Source(TEXT.encode())
    inner = mutant(schemata, "BinaryOperator", "+", "-")
    outer = [mutant(schemata, "BinaryOperator", "<", new, "spare < 9") for new in ("==", ">")]
    for number, one in enumerate([inner, *outer]):
        source.add(replace(one, number=number))
    assert (
        "(if crate::mutant(1) { (free + spare) == (9) } "
        "else if crate::mutant(2) { (free + spare) > (9) } "
        "else { (if crate::mutant(0) { (free) - (spare) } else { free + spare }) < 9 })"
    ) in source.rendered()


def test_a_place_of_another_form_is_an_error(schemata):
    with pytest.raises(schemata.UnknownPlaceError):
        schemata.Source(TEXT.encode()).add(mutant(schemata, "BinaryOperator", "fn", "-"))


def test_the_mutant_in_whose_branch_an_error_lies_is_blamed(schemata):
    text = "(if crate::mutant(3) { a } else if crate::mutant(12) { b } else { c })"
    at = text.index("b }")
    assert schemata.blamed(text, [(at, at + 1)]) == {12}
    assert schemata.blamed(text, [(0, len(text))]) == {3, 12}
    assert schemata.blamed(text, [(text.index("c }"), text.index("c }") + 1)]) == set()


def test_a_value_of_another_type_is_blamed_where_the_compiler_names_the_last_line(schemata):
    text = (
        "fn a() { if crate::mutant(3) { return 0; } (if crate::mutant(4) { x } else { y }) }\n"
        "fn b() -> impl Iterator { if crate::mutant(5) { return once(0); } if c { d } e.map(f) }"
    )
    at = text.index("e.map")
    assert schemata.blamed(text, [(at, at + 8)]) == {5}
