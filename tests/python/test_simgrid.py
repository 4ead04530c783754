"""The example of docs/simgrid.md, built and run as the page says, where SimGrid is installed."""

import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, script_of
from test_native import LIBRARY

PAGE = ROOT / "docs" / "simgrid.md"
SIMGRID = pytest.mark.skipif(
    not Path("/usr/include/simgrid/s4u.hpp").exists(),
    reason="SimGrid is not installed: make simulators-deps",
)
SHOWN = 3
"""Checkpoints that are run again; the page shows more."""


@pytest.fixture(scope="module")
def example():
    return script_of("simgrid_picture")


@pytest.fixture(scope="module")
def program(example, tmp_path_factory):
    return example.build(tmp_path_factory.mktemp("simgrid"))


def slowest(example, program, *kind):
    rows = example.checkpoints(example.run(program, SHOWN, *kind))
    assert [number for number, _, _ in rows] == [1, 2, 3]
    assert all(0 < first <= last for _, first, last in rows)
    return rows


@LIBRARY
@SIMGRID
def test_checkpoints_take_what_the_page_says(example, program):
    rows = slowest(example, program, *example.KINDS["7 % spare"])
    shown = example.checkpoints(PAGE.read_text())
    for own, on_the_page in zip(rows, shown[:SHOWN], strict=True):
        assert own == pytest.approx(on_the_page, rel=0.02)


@LIBRARY
@SIMGRID
def test_a_drive_that_does_not_collect_is_near_the_constant(example, program):
    constant = slowest(example, program, "constant")
    drive = slowest(example, program, "0.93", "gc.cost=none")
    for (_, _, own), (_, _, expected) in zip(drive, constant, strict=True):
        assert own == pytest.approx(expected, rel=0.1)


@LIBRARY
@SIMGRID
@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["0.93"], 2, "usage: checkpoints"),
        (["0.93", "many"], 2, "usage: checkpoints"),
        (["0.93", "1", "device.foo=1"], 1, "unknown key `foo` in [device]"),
        (["2", "1"], 1, "error: "),
    ],
)
def test_wrong_words_are_an_error(program, words, status, told):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    assert done.returncode == status
    assert told in done.stderr
