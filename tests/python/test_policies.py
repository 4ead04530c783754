"""Policies in Python: equal to those of the engine where the rule is the same; no crash."""

import numpy as np
import pytest

import flashgc
from conftest import SMALL

FEW = {"workload.synthetic.requests": 4000}


@flashgc.victim
def fewest_valid(candidates):
    return candidates.block[candidates.valid.argmin()]


@flashgc.victim
def first_sealed(candidates):
    return candidates.block[candidates.age_ns.argmax()]


@flashgc.placement(classes=2)
def copies_apart(page):
    return page.is_copy


@pytest.mark.parametrize(
    ("own", "sets"),
    [
        (fewest_valid, {}),
        (first_sealed, {"gc.victim.use": "fifo"}),
        (copies_apart, {"gc.placement.use": "separate-gc"}),
    ],
)
def test_the_rule_of_a_preset_gives_its_results(own, sets):
    rust = flashgc.run(SMALL, set={**FEW, **sets}, verify=True)
    python = flashgc.run(SMALL, scheme=own, set=FEW, verify=True)
    assert python.gc.count > 100
    assert python.result_hash == rust.result_hash
    assert python.scheme == own.name


def test_a_pace_with_the_rule_of_the_setting():
    sets = {**FEW, "gc.pacing.time-slices.length": "700 us"}
    rust = flashgc.run(SMALL, scheme="gftl", set=sets, verify=True)

    @flashgc.pacing
    def until_then(step):
        return step.slice_ns + step.step_ns <= 700_000

    python = flashgc.run(SMALL, scheme=until_then, set=FEW, verify=True)
    assert python.result_hash == rust.result_hash
    never = flashgc.run(SMALL, scheme=flashgc.pacing(lambda step: False), set=FEW, verify=True)
    assert never.result_hash != rust.result_hash


def test_what_a_victim_sees():
    seen = []

    @flashgc.victim
    def look(candidates):
        seen.append(candidates)
        return candidates.block[candidates.valid.argmin()]

    report = flashgc.run(SMALL, scheme=look, set=FEW)
    assert len(seen) > report.gc.count  # preconditioning collects too
    for candidates in seen:
        assert (candidates.valid + candidates.invalid == candidates.pages_per_block).all()
        assert (candidates.block[1:] > candidates.block[:-1]).all()
        assert (candidates.age_ns >= 0).all()
        assert candidates.age_ns.max() <= candidates.now_ns
        assert 0 <= candidates.random < 2**63
        assert not candidates.valid.flags.writeable
    assert {candidates.plane for candidates in seen} == {0, 1, 2, 3}
    assert len({candidates.random for candidates in seen}) > 0.6 * len(
        seen
    )  # measuring begins anew
    assert max(candidates.erases.max() for candidates in seen) > 0


def test_what_a_placement_and_a_pace_see():
    pages, steps = [], []
    flashgc.run(
        SMALL, set=FEW,
        scheme=flashgc.scheme(
            placement=lambda page: pages.append(page) or 0, classes=1,
            pacing=lambda step: steps.append(step) or True,
        ),
    )  # fmt: skip
    assert {page.is_copy for page in pages} == {page.is_update for page in pages} == {True, False}
    assert {step.unit for step in steps} == {0, 1}
    assert all(step.step_ns > 0 and step.slice_ns >= 0 for step in steps)
    assert any(step.waiting for step in steps)


def test_a_class_has_an_instance_for_each_drive():
    made = []

    @flashgc.victim
    class Counting:
        def __init__(self):
            made.append(self)
            self.calls = 0

        def __call__(self, candidates):
            self.calls += 1
            return candidates.block[candidates.valid.argmin()]

    first, second = (flashgc.run(SMALL, scheme=Counting, set=FEW) for _ in range(2))
    assert first.result_hash == second.result_hash
    calls = [one.calls for one in made if one.calls]
    assert len(calls) == 2
    assert calls[0] == calls[1]


def test_chance_follows_the_seed():
    import numpy as np

    @flashgc.victim
    def any_of_them(candidates):
        useful = candidates.block[candidates.invalid > 0]
        return np.random.default_rng(candidates.random).choice(useful)

    runs = [flashgc.run(SMALL, scheme=any_of_them, set=FEW, seed=seed) for seed in (1, 1, 2)]
    assert runs[0].result_hash == runs[1].result_hash != runs[2].result_hash


def test_comparisons_and_seeds_take_them():
    both = flashgc.compare(SMALL, ["greedy", fewest_valid], set=FEW, seeds=2, cost=True)
    assert [report.scheme for report in both] == ["greedy", "fewest_valid"]
    assert both["greedy"].result_hash == both["fewest_valid"].result_hash
    alone = flashgc.run_seeds(SMALL, 2, scheme=fewest_valid, set=FEW)
    assert alone.seeds.count == 2
    [story] = flashgc.explain(SMALL, slowest=1, scheme=fewest_valid, set=FEW).stories
    assert story.latency_ns == both["greedy"].latency_ns.all.max


def test_the_report_names_the_function():
    report = flashgc.run(
        SMALL, scheme=flashgc.scheme("mine", base="fifo", victim=fewest_valid), set=FEW
    )
    assert report.scheme == "mine"
    settings = report.to_dict()["config"]["gc"]
    assert settings["victim"] == {"given": {"name": "fewest_valid"}}
    other = flashgc.run(SMALL, scheme=first_sealed, set=FEW).to_dict()
    assert other["config_hash"] != report.to_dict()["config_hash"]


class FaultError(Exception):
    pass


def raises(*_):
    raise FaultError("of the user")


@pytest.mark.parametrize(
    ("own", "error", "why"),
    [
        (flashgc.victim(raises), FaultError, "of the user"),
        (flashgc.placement(classes=2)(raises), FaultError, "of the user"),
        (flashgc.pacing(raises), FaultError, "of the user"),
        (flashgc.victim(type("Made", (), {"__init__": raises})), FaultError, "of the user"),
        (flashgc.victim(lambda c: 10**6), flashgc.ConfigError, "chose block 1000000 of plane"),
        (flashgc.victim(lambda c: -1), flashgc.ConfigError, "the victim function returned -1"),
        (flashgc.victim(lambda c: 2**40), flashgc.ConfigError, "the victim function returned"),
        (flashgc.victim(lambda c: "a"), flashgc.ConfigError, "the victim function returned 'a'"),
        (flashgc.victim(lambda c: True), flashgc.ConfigError, "the victim function returned True"),
        (flashgc.pacing(lambda s: None), flashgc.ConfigError, "the pacing function returned None"),
        (flashgc.pacing(lambda s: 5), flashgc.ConfigError, "the pacing function returned 5"),
        (flashgc.placement(classes=2)(lambda p: 2), flashgc.ConfigError, "chose class 2"),
        (flashgc.placement(classes=2)(lambda p: None), flashgc.ConfigError, "returned None"),
    ],
)
def test_a_wrong_answer_ends_the_run(own, error, why):
    with pytest.raises(error, match=why):
        flashgc.run(SMALL, scheme=own, set=FEW)


def test_a_pace_may_answer_with_a_truth_value_of_numpy():
    plain = flashgc.run(SMALL, scheme=flashgc.pacing(lambda s: s.waiting == 0), set=FEW)
    own = flashgc.pacing(lambda s: np.bool_(s.waiting == 0))
    assert flashgc.run(SMALL, scheme=own, set=FEW).result_hash == plain.result_hash


def test_a_component_ends_with_the_exception_of_a_function():
    """The engine continues with other answers to its next pause: its report would be of those."""
    calls = []

    def tired(candidates):
        calls.append(candidates.plane)
        return raises() if len(calls) > made else candidates.block[candidates.valid.argmin()]

    made = 10**9
    sets = {"device.blocks_per_plane": 64, "precondition.overwrite": 1}
    drive = flashgc.Component("slc-msr", scheme=flashgc.victim(tired), set=sets)
    made, count = len(calls), 3000
    places = np.random.default_rng(1).integers(0, drive.bytes // 4096, count) * 4096
    drive.submit_all(np.arange(count) * 200_000, 1, places, 4096, np.arange(count))
    with pytest.raises(FaultError, match="of the user"):
        drive.drain()
    for later in (drive.drain, drive.statistics, drive.finish, drive.finish):
        with pytest.raises(flashgc.RunError, match="with the exception of an earlier call"):
            later()


@pytest.mark.parametrize("untimed", [False, True])
def test_a_victim_that_frees_nothing_is_named(untimed):
    """Block after block without an invalid page is moved, and no write ever gets a page."""
    last = []

    def fullest(candidates):
        last[:] = [candidates.block[candidates.valid.argmax()], candidates.plane]
        last.append(candidates.invalid[candidates.valid.argmax()])
        return last[0]

    full = {**FEW, "workload.synthetic.read_share": 0.0}
    with pytest.raises(flashgc.ConfigError) as why:
        flashgc.run(SMALL, scheme=flashgc.victim(fullest), set=full, untimed=untimed)
    block, plane, invalid = last
    assert f"chose block {block} of plane {plane}, which has {invalid} invalid pages" in str(
        why.value
    )
    assert f"as with the {64 * 64} blocks that it chose before" in str(why.value)
    assert "return a block with invalid pages" in str(why.value)


def test_a_victim_that_does_not_look_at_pages_may_free_nothing():
    """The oldest block may hold valid pages alone, and the next one will not."""
    cold = {**FEW, "workload.synthetic.read_share": 0.0, "workload.synthetic.requests": 5000,
            "workload.synthetic.address": {"hot_cold": {"f": 0.05, "r": 0.99}}}  # fmt: skip
    in_vain = []

    def oldest(candidates):
        at = candidates.age_ns.argmax()
        in_vain.append(candidates.invalid[at] == 0)
        return candidates.block[at]

    own = flashgc.run(SMALL, scheme=flashgc.victim(oldest), set=cold)
    assert sum(in_vain) > 10
    assert own.gc.count == flashgc.run(SMALL, scheme="fifo", set=cold).gc.count


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: flashgc.scheme("mine"), "needs a function"),
        (lambda: flashgc.victim(7), "victim must be a function, got 7"),
        (lambda: flashgc.scheme(placement=copies_apart.placement), "needs its number of classes"),
        (lambda: flashgc.placement(classes=0)(min), "classes must be a whole number from 1"),
        (lambda: flashgc.placement(classes=65)(min), "classes must be at most 64, got 65"),
    ],
)
def test_a_scheme_that_cannot_be(make, why):
    with pytest.raises(flashgc.ConfigError, match=why):
        make()


def test_a_base_that_does_not_fit():
    own = flashgc.scheme(base="greedy", pacing=bool)
    with pytest.raises(flashgc.ConfigError, match="needs time slices, but this scheme has none"):
        flashgc.run(SMALL, scheme=own, set=FEW)
    own = flashgc.scheme(base="gredy", victim=fewest_valid)
    with pytest.raises(flashgc.ConfigError, match=r"gredy[\s\S]*greedy"):
        flashgc.run(SMALL, scheme=own, set=FEW)


@pytest.mark.parametrize(
    ("own", "sets"),
    [
        (fewest_valid, {"gc.victim.use": "fifo"}),
        (copies_apart, {"gc.placement.use": "separate-gc"}),
        (copies_apart, {"gc.placement.use": "one-frontier"}),
    ],
)
def test_a_setting_does_not_replace_a_function_in_silence(own, sets):
    [slot] = [key.split(".")[1] for key in sets]
    with pytest.raises(flashgc.ConfigError) as why:
        flashgc.run(SMALL, scheme=own, set={**FEW, **sets})
    assert f"a function for the {slot} was given, and another {slot} is set" in str(why.value)
    assert f"remove the settings of gc.{slot}, or the function" in str(why.value)
    assert "--> --set:" in str(why.value)


@pytest.mark.parametrize("slot", ["victim", "placement"])
def test_a_configuration_alone_has_no_function(flashgc, small, slot):
    done = flashgc("run", small, "--set", f"gc.{slot}.use=given", code=2)
    assert f'gc.{slot}.use = "given" takes a function, and none was given' in done.err
    assert f"flashgc.scheme({slot}=...)" in done.err


def test_a_placement_sees_the_hint_of_a_write():
    pages = []
    own = flashgc.scheme(
        "hints", base="greedy", placement=lambda page: pages.append(page) or 0, classes=1
    )
    flashgc.run(SMALL, scheme=own, set={**FEW, "workload.synthetic.hints.regions": [0.25, 0.75]})
    end = max(page.lpn for page in pages) + 1
    for page in pages:
        assert page.hint == (0 if page.is_copy else int(page.lpn >= end / 4))


@pytest.mark.parametrize("sets", [{}, {"engine.timing": "none"}])
def test_a_victim_that_chooses_no_block_is_the_cause_of_a_full_drive(sets):
    """The error asked for a smaller capacity, with hundreds of invalid pages to collect."""

    @flashgc.victim
    def never(candidates):
        return None

    told = (
        r"^error: the drive is full .* [1-9]\d* invalid ones to collect, but the victim function "
        r"`never` chose no block: it returned None\n  = help: return one of `candidates.block`; "
    )
    with pytest.raises(flashgc.RunError, match=told):
        flashgc.run(SMALL, scheme=never, set=sets)
    if not sets:
        with pytest.raises(flashgc.RunError, match=told):
            flashgc.Component(SMALL, scheme=never)
