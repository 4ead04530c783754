"""The parts of the server of docs/llm-serving.md; test_docs.py runs it as a whole."""

import pytest
import simpy

from conftest import script_of


@pytest.fixture(scope="module")
def script():
    return script_of("llm_picture")


@pytest.fixture(scope="module")
def model(script):
    return script.server()


class Slow:
    """A drive whose requests take a second each, all at once."""

    def __init__(self, env):
        self.env, self.asked = env, []

    def _ask(self, op, offset, hint=0):
        self.asked.append((op, offset, hint))
        return self.env.timeout(1.0)

    def read(self, offset, bytes):
        return self._ask("read", offset)

    def write(self, offset, bytes, hint=0):
        return self._ask("write", offset, hint)


def blocks(kind, count):
    return [(kind, 0, number) for number in range(count)]


def test_requests_are_the_same_for_each_drive_and_come_at_their_rate(model):
    found = model.requests(1, 100.0)
    assert found == model.requests(1, 100.0) == sorted(found)
    assert found != model.requests(2, 100.0)
    begun = [one for one in found if one[3] == model.TURN]
    assert len(begun) / 100 == pytest.approx(model.RATE, rel=0.2)
    assert 2 <= len(found) / len(begun) <= 3.2
    assert max(one[0] for one in found) <= 100


def test_a_constant_drive_has_one_bandwidth_for_each_direction(model):
    env = simpy.Environment()
    drive = model.Constant(env, latency=0.5, read=10.0, write=1.0)
    times = []

    def wait(event):
        yield event
        times.append(env.now)

    for event in (drive.read(0, 10), drive.read(0, 10), drive.write(0, 2)):
        env.process(wait(event))
    env.run()
    assert times == [1.5, 2.5, 2.5]


def test_blocks_go_down_the_tiers_and_come_back(model):
    env = simpy.Environment()
    drive = Slow(env)
    tiers = model.Tiers(env, drive, {"prefix": 1, "turn": 2})
    first, others = blocks("prefix", 4), blocks("turn", model.HOST)
    tiers.keep(first)
    assert tiers.cached(first) == first
    tiers.keep(others)
    env.run()
    assert [(op, hint) for op, _, hint in drive.asked] == [("write", 1)] * 4
    assert list(tiers.stored) == first
    assert tiers.cached([*first, ("prefix", 1, 0), others[-1]]) == first

    before, done = env.now, env.process(tiers.load(first))
    env.run(done)
    assert env.now - before == pytest.approx(1.0 + 4 * model.BLOCK / model.PCIE)
    assert [op for op, _, _ in drive.asked[4:8]] == ["read"] * 4
    assert all(key in tiers.gpu and key in tiers.host for key in first)


def test_blocks_are_lost_where_too_many_are_on_their_way(model):
    env = simpy.Environment()
    tiers = model.Tiers(env, Slow(env), model.NO_HINTS)
    tiers.keep(blocks("turn", model.HOST + model.WRITES + 7))
    env.run(0.5)
    assert (len(tiers.leaving), tiers.lost) == (model.WRITES, 7)
    assert len(tiers.cached(blocks("turn", model.WRITES + 1))) == model.WRITES
    env.run()
    assert (len(tiers.leaving), len(tiers.stored)) == (0, model.WRITES)


def test_the_least_recently_used_block_leaves_the_drive(model, monkeypatch):
    env = simpy.Environment()
    tiers = model.Tiers(env, Slow(env), model.NO_HINTS)
    tiers.free = [0, 1]
    tiers.keep(blocks("turn", 2))
    tiers.keep(blocks("prefix", model.HOST))
    env.run()
    env.run(env.process(tiers.load(blocks("turn", 1))))
    env.run()
    assert ("turn", 0, 0) in tiers.stored
    assert ("turn", 0, 1) not in tiers.stored


def test_the_picture_has_all_drives_and_a_falling_tail(script, model):
    assert list(script.kinds(model)) == ["constant", "28 % spare", "28 % spare, handles",
                                         "7 % spare", "7 % spare, handles"]  # fmt: skip
    found = script.points("a", [number / 1e3 for number in range(1, 1001)])
    shares = [one["share"] for one in found]
    assert shares == sorted(shares, reverse=True)
    assert found[0] == {"drive": "a", "ms": 1.0, "share": 1.0}
    assert found[-1]["share"] == pytest.approx(0.001)
