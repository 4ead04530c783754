"""The picture of the engine's rooms is that of the code."""

import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "site"))
import house


def test_the_picture_in_the_repository_is_that_of_the_code():
    assert house.PICTURE.read_text() == house.svg(), "run python3 scripts/site/house.py"


def test_every_room_of_the_table_is_drawn():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for room in ("flash", "ftl", "gc", "host", "store", "collect", "arbiter", "background"):
        assert f"| `{room}` |" in text
        assert room in house.rooms()


def test_uses_that_a_path_replaces_are_left_out():
    uses = {"top": {"middle", "low"}, "middle": {"low"}, "low": set()}
    assert house.heights(uses) == {"low": 0, "middle": 1, "top": 2}
    assert house.direct(uses) == {"top": {"middle"}, "middle": {"low"}, "low": set()}


def test_rooms_that_use_each_other_are_refused():
    with pytest.raises(ValueError, match="rooms use each other: a, b"):
        house.heights({"a": {"b"}, "b": {"a"}})


def test_code_in_comments_and_tests_does_not_count(tmp_path):
    (tmp_path / "a.rs").write_text(
        "use crate::b; // crate::c\n//! crate::d\n#[cfg(test)]\nmod tests { use crate::e; }\n"
    )
    for name in "bcde":
        (tmp_path / f"{name}.rs").write_text("")
    assert house.rooms({tmp_path: ""})["a"] == {"b"}
    assert house.rooms({tmp_path: "whole"}) == {"whole": set()}
