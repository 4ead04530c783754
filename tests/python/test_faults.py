"""A deliberate fault of the simulator makes the reproduction of each paper fail.

The short form of a reproduction, one figure on small drives, is compared with the values on record;
without a fault it has them (test_reproduce.py runs each paper whole). A fault changes the settings
of every run behind the back of the paper's files.
"""

import json

import pytest

import flashgc
from conftest import LONG, ROOT
from flashgc import _engine
from flashgc.axes import layers

pytestmark = pytest.mark.usefixtures("no_figures")

ITEMS = {
    "parallel-gc": ["5b"],
    "preemptible-gc": ["11a", "table-9"],
    "on-demand-gc": ["table-4"],
    "pre-gc": ["table-3", "table-4"],
    "speedup-gc": ["8", "relocated"],
}
"""A figure or two of each paper whose collections take time."""
UNTIMED = {
    "sepbit": ["skew"],
    "midas": ["waf", "groups"],
    "fdp-cache": ["waf"],
    "ssd-iq": ["sim-fill"],
    "warp": ["a2"],
}
"""Faults of papers that count copies alone."""
OWN_VICTIMS = {"warp"}
"""Their trigger takes the block with the fewest valid pages, whatever the victim policy is."""
COPIES = 1.1


def slower_copies(settings, checked):
    """A copy takes a tenth longer than the device's time."""
    timing = checked["device"]["timing"]
    slower = {f"device.timing.{key}": f"{round(COPIES * timing[f'{key}_ns'])} ns"
              for key in ("read", "program")}  # fmt: skip
    return {**settings, **slower}


def chosen(slot, choice, settings):
    """Another choice in a slot, without the settings of the one before."""
    kept = {key: value for key, value in settings.items() if not key.startswith(f"gc.{slot}.")}
    return {**kept, f"gc.{slot}.use": choice}


def other_victim(settings, checked):
    """The oldest block is collected, whatever is valid in it; sub-blocks have no such choice."""
    if checked["gc"]["slots"]["erase"] == "sub-blocks":
        return settings
    return chosen("victim", "fifo", settings)


def lost(slot, choice, instead):
    """The proposal of a paper has no effect."""

    def fault(settings, checked):
        if checked["gc"]["slots"][slot] != choice:
            return settings
        return chosen(slot, instead, settings)

    fault.__name__ = f"lost_{choice}"
    return fault


def neither_merged_nor_pipelined(settings, checked):
    """No request is merged with a copy of a collection, or pipelined with it."""
    if checked["gc"]["slots"]["preemption"] != "between-copies":
        return settings
    off = {f"gc.preemption.between-copies.{way}": False for way in ("merge", "pipeline")}
    return {**settings, **off}


FAULTS = [
    *((paper, slower_copies) for paper in ITEMS),
    *((paper, other_victim) for paper in (*ITEMS, *UNTIMED) if paper not in OWN_VICTIMS),
    ("warp", lost("placement", "fdp", "one-frontier")),
    ("preemptible-gc", neither_merged_nor_pipelined),
    ("parallel-gc", lost("copy", "parallel", "copyback")),
    ("on-demand-gc", lost("blocking", "blocks", "plane")),
    ("pre-gc", lost("background", "pre-migration", "nothing")),
    ("speedup-gc", lost("placement", "hotness-groups", "one-frontier")),
]


def run_faults():
    """All faults; in the short form each fault once, and each paper with one of its own where there
    is one."""
    if LONG:
        return FAULTS
    seen = {fault for _, fault in FAULTS if fault not in {slower_copies, other_victim}}
    own = [(paper, fault) for paper, fault in FAULTS if fault in seen]
    victims = [(paper, fault) for paper, fault in FAULTS
               if fault is other_victim and paper not in dict(own)]  # fmt: skip
    return [("parallel-gc", slower_copies), *victims, *own]


@pytest.fixture
def inject(monkeypatch):
    """Puts a fault into every run that is planned from now on."""
    made = layers.building.bare_request

    def into(fault):
        def faulty(config, trace, scheme, device, settings, seed):
            plain = made(config, trace, scheme, device, settings, seed)
            checked = json.loads(_engine.check(plain))["settings"]
            changed = fault(settings, checked)
            broken = made(config, trace, scheme, device, changed, seed)
            unused = json.loads(_engine.check(broken))["unused_keys"]
            kept = {key: value for key, value in changed.items() if key not in unused}
            return made(config, trace, scheme, device, kept, seed, None, unused)

        monkeypatch.setattr(layers.building, "bare_request", faulty)

    return into


def short(paper, tmp_path):
    items = (ITEMS | UNTIMED)[paper]
    return flashgc.reproduce(ROOT / "papers" / paper, items, out=tmp_path, quick=True)


def test_every_paper_and_every_fault_is_in_the_short_form():
    short_form = run_faults()
    assert {paper for paper, _ in short_form} == {*ITEMS, *UNTIMED}
    assert {fault for _, fault in short_form} == {fault for _, fault in FAULTS}
    assert {*short_form} <= {*FAULTS}


@pytest.mark.parametrize(("paper", "fault"), run_faults())
def test_a_fault_makes_a_reproduction_fail(paper, fault, inject, tmp_path):
    inject(fault)
    done = short(paper, tmp_path)
    assert done.failed
    assert any("differs from the value on record" in claim["note"] for claim in done.failed)
