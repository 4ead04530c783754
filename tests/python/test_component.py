"""A component in Python gives the results of a run with the same requests, by each of its ways."""

import copy
import pickle
import re
import threading

import numpy as np
import pytest

import flashgc
import flashgc.simpy

SMALL = {"device.blocks_per_plane": 64, "precondition.overwrite": 1,
         "precondition.overwrite_with": "uniform"}  # fmt: skip
COUNT, FIRST_TICK = 3000, 128166372000000000
DRIVES = [
    ("slc-msr", "greedy", {}),
    ("slc-msr", "fpgc", {"device.suspend.suspend": "20 us"}),
    ("slc-msr", "idle-pgc", {"device.write_buffer.size": "128 KiB"}),
]


def requests():
    """Times in ns, operations, offsets and sizes of requests."""
    draw = np.random.default_rng(7)
    at_ns = np.cumsum(draw.choice([0, 1000, 20_000, 90_000], COUNT)) * 1
    at_ns -= at_ns[0]
    op = draw.choice([0, 1], COUNT, p=[0.3, 0.7])
    offset = draw.integers(0, 200_000, COUNT) * 512
    size = draw.integers(1, 17, COUNT) * 512
    return at_ns, op, offset, size


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    names = ["Read", "Write"]
    lines = [
        f"{FIRST_TICK + at // 100},usr,0,{names[op]},{offset},{size},0"
        for at, op, offset, size in zip(*requests(), strict=True)
    ]
    file = tmp_path_factory.mktemp("component") / "requests.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def expected(device, scheme, more, trace):
    replay = {"workload": {"trace": {"address": "reject"}}}
    return flashgc.run(replay, trace, device=device, scheme=scheme, set={**SMALL, **more},
                       format="msr")  # fmt: skip


def in_arrays(drive):
    accepted = drive.submit_all(*requests())
    assert accepted == COUNT
    done = drive.drain()
    assert len(done) == COUNT
    assert sorted(done.tag) == list(range(COUNT))
    assert np.all(np.diff(done.at_ns.astype(np.int64)) >= 0)
    at_ns = requests()[0].astype(np.uint64)
    assert np.all(at_ns[done.tag] + done.latency_ns == done.at_ns)
    assert np.all(sum(done.parts.values()) == done.latency_ns)


def one_by_one(drive):
    count = 0
    for tag, (at, op, offset, size) in enumerate(zip(*map(np.ndarray.tolist, requests()),
                                                     strict=True)):  # fmt: skip
        for done in drive.advance(at):
            count += 1
            assert sum(done.parts.values()) == done.latency_ns
        assert drive.submit(at, ["read", "write"][op], offset, size, tag)
    while (at := drive.next_event()) is not None:
        count += len(drive.advance(at))
    assert count == COUNT


@pytest.mark.parametrize("way", [in_arrays, one_by_one])
@pytest.mark.parametrize(("device", "scheme", "more"), DRIVES)
def test_the_result_is_that_of_a_run(device, scheme, more, way, trace):
    drive = flashgc.Component(device, scheme=scheme, set={**SMALL, **more})
    way(drive)
    report = drive.finish()
    assert report.result_hash == expected(device, scheme, more, trace).result_hash


@pytest.mark.parametrize(("device", "scheme", "more"), DRIVES)
def test_a_drive_in_simpy_has_the_result_of_a_run(device, scheme, more, trace):
    simpy = pytest.importorskip("simpy")
    env = simpy.Environment()
    drive = flashgc.simpy.Drive(env, device, scheme=scheme, set={**SMALL, **more}, ns=1)
    latencies = []

    def client():
        for at, op, offset, size in zip(*map(np.ndarray.tolist, requests()), strict=True):
            yield env.timeout(at - env.now)
            event = [drive.read, drive.write][op](offset, size)
            event.callbacks.append(lambda done: latencies.append(done.value.latency_ns))

    env.process(client())
    env.run()
    report = drive.finish()
    assert len(latencies) == COUNT
    assert report.result_hash == expected(device, scheme, more, trace).result_hash


def test_requests_wait_in_front_of_a_full_drive():
    simpy = pytest.importorskip("simpy")
    env = simpy.Environment()
    drive = flashgc.simpy.Drive(env, "slc-msr", set=SMALL, depth=2)
    ends = []

    def client(number):
        yield drive.write(number * 4096, 4096)
        ends.append(env.now)

    for number in range(6):
        env.process(client(number))
    env.step()
    env.run(until=1e-9)
    assert (drive.component.under_way, drive.waiting) == (2, 4)
    env.run()
    assert len(ends) == 6
    assert ends[0] < ends[-1]


def test_flushes_and_trims_are_events_too():
    simpy = pytest.importorskip("simpy")
    env = simpy.Environment()
    buffered = {**SMALL, "device.write_buffer": {"size": "1 MiB", "power_loss_protection": False}}
    drive = flashgc.simpy.Drive(env, "slc-msr", set=buffered)

    def client():
        yield drive.write(0, 4096)
        written = env.now
        done = yield drive.flush()
        assert (done.op, env.now > written) == ("flush", True)
        yield drive.trim(0, 4096)

    env.process(client())
    env.run()
    assert drive.finish().requests["trim"] == 1


def test_a_detour_leaves_no_trace(trace):
    device, scheme, more = DRIVES[0]
    drive = flashgc.Component(device, scheme=scheme, set={**SMALL, **more})
    drive.submit_all(*requests())
    drive.advance(int(requests()[0][COUNT // 2]))
    before = drive.snapshot()
    drive.submit(drive.now_ns, "trim", 0, drive.bytes)
    drive.drain()
    drive.restore(before)
    drive.drain()
    assert drive.finish().result_hash == expected(device, scheme, more, trace).result_hash


def test_statistics_come_at_any_time():
    drive = flashgc.Component("slc-msr", set=SMALL)
    drive.submit_all(*requests())
    drive.advance(int(requests()[0][100]))
    first = drive.statistics().requests["write"]
    drive.drain()
    assert 0 < first < drive.statistics().requests["write"] == drive.finish().requests["write"]


def test_wrong_use_has_a_message():
    drive = flashgc.Component("slc-msr", set=SMALL)
    drive.advance(1000)
    for call, words in [
        (lambda: drive.submit(10, "read", 0, 512), "time runs backwards"),
        (lambda: drive.submit(2000, "read", drive.bytes, 512), "beyond the end"),
        (lambda: drive.submit(2000, "write", 0, 0), "a write of 0 B"),
        (lambda: drive.submit(2000, "erase", 0, 512), "no operation has the name 'erase'"),
        (lambda: drive.submit(2000, "write", 0, 512, hint=999), "a placement hint is"),
        (lambda: drive.submit_all([0.5], "read", 0, 512), "other than whole numbers"),
        (lambda: drive.submit_all([5.0], "read", 0, 512), r"round\(\).astype\(numpy.uint64\)"),
        (lambda: drive.submit_all([5], ["read"], 0, 512), r"are numbers in arrays: 0 \(read\)"),
        (lambda: drive.restore(5), r"`snapshot` must be one of snapshot\(\), got 5"),
        (lambda: copy.copy(drive), "a component cannot be copied or pickled"),
        (lambda: pickle.dumps(drive), "a component cannot be copied or pickled"),
        (lambda: copy.copy(drive.snapshot()), "a snapshot cannot be copied or pickled"),
        (lambda: pickle.dumps(drive.snapshot()), r"takes it any number of times with restore\(\)"),
        (lambda: drive.submit_all([[1], [1, 2]], "read", 0, 512), "rows of different lengths"),
        (lambda: drive.submit_all("x", "read", 0, 512), "give whole numbers from 0"),
        (lambda: drive.submit_all([2000, 2000], "read", [0], 512), "has 1 value, and"),
        (
            lambda: drive.submit_all(np.ma.array([2000, 2000], mask=[0, 1]), "read", 0, 512),
            "`at_ns` has masked values",
        ),
        (
            lambda: drive.submit_all([[2000, 2000]], "read", 0, 512),
            "`at_ns` has 2 dimensions, of .1, 2., in place of one",
        ),
        (lambda: drive.submit(2000, "flush", 512), "a flush of 0 B at byte 512"),
        (lambda: drive.submit(2000, "flush", 0, 512), "a flush of 512 B at byte 0"),
        (lambda: drive.advance(10), "time runs backwards"),
        (drive.advance_to_completion, "no request is under way"),
    ]:
        with pytest.raises(flashgc.RunError, match=words):
            call()
    other = flashgc.Component("slc-msr", set=SMALL)
    with pytest.raises(flashgc.RunError, match="another component"):
        drive.restore(other.snapshot())
    drive.finish()
    with pytest.raises(flashgc.RunError, match="has been finished"):
        drive.advance(5000)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"at_ns": -1}, "`at_ns` must be a whole number from 0 to 2^64 - 1, got -1"),
        ({"at_ns": "x"}, "`at_ns` must be a whole number from 0 to 2^64 - 1, got 'x'"),
        ({"offset": 1.5}, "`offset` must be a whole number from 0 to 2^64 - 1, got 1.5"),
        ({"bytes": 1 << 64}, "`bytes` must be a whole number from 0 to 2^64 - 1"),
        ({"tag": None}, "`tag` must be a whole number from 0 to 2^64 - 1, got None"),
        ({"hint": -1}, "`hint` must be a whole number from 0 to 255, got -1"),
        ({"fua": "yes"}, "`fua` must be True or False, got 'yes'"),
        ({"op": ["write"]}, "no operation has the name ['write']"),
        ({"tenant": 1.5}, "no tenant has the number 1.5"),
    ],
)
def test_an_argument_that_cannot_be_is_named(wrong, words):
    drive = flashgc.Component("slc-msr", set=SMALL)
    with pytest.raises(flashgc.RunError, match=re.escape(f"error: {words}")):
        drive.submit(**{"at_ns": 0, "op": "write", "offset": 0, "bytes": 512, **wrong})
    with pytest.raises(flashgc.RunError, match="`to_ns` must be a whole number from 0"):
        drive.advance(-1)
    with pytest.raises(flashgc.RunError, match="`limit_ns` must be a whole number from 0"):
        drive.advance_to_completion(-1)
    assert drive.submit(np.int64(0), "flush", hint=np.uint8(0))


def test_every_request_counts_where_a_component_is_shown():
    drive = flashgc.Component("slc-msr", set=SMALL)
    drive.submit(0, "trim", 0, 4096)
    with pytest.raises(flashgc.RunError, match="error: 1 request is under way"):
        drive.closed_loop(depth=1, bytes=4096, requests=1)
    drive.drain()
    assert "seed 1, 1 request" in repr(drive.statistics())


def test_options_beside_a_component_in_simpy_are_refused():
    env = pytest.importorskip("simpy").Environment()
    drive = flashgc.Component("slc-msr", set=SMALL)
    with pytest.raises(flashgc.ConfigError, match="scheme, set cannot be set"):
        flashgc.simpy.Drive(env, drive, scheme="nosuch", set={"a": 1})


@pytest.mark.parametrize("ns", [0, -1, float("nan"), float("inf"), "1"])
def test_a_unit_of_time_in_simpy_that_is_not_above_0_is_refused(ns):
    env = pytest.importorskip("simpy").Environment()
    with pytest.raises(flashgc.ConfigError, match="`ns` must be a finite number above 0, got"):
        flashgc.simpy.Drive(env, "slc-msr", set=SMALL, ns=ns)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bytes": [512, 512, 0, 0]}, "index 2: a write of 0 B\n  = help: give at least one byte"),
        (
            {"op": [1, 9, 1, 1]},
            "index 1: no operation has the number 9\n  = help: give one of 0 (re",
        ),
        ({"at_ns": [2000, 2000, 2000, 10]}, "index 3: time runs backwards"),
        ({"hint": [0, 0, 999, 0]}, "index 2: a placement hint is"),
        ({"op": [1, 3, 3, 1]}, "index 1: a flush of 512 B at byte "),
    ],
)
def test_an_error_of_many_requests_has_the_index_of_the_first_wrong_one(changed, words):
    drive = flashgc.Component("slc-msr", set=SMALL)
    drive.advance(1000)
    drive.submit(1000, "read", 0, 512)
    given = {"at_ns": [2000] * 4, "op": [1] * 4, "offset": [0] * 4, "bytes": [512] * 4}
    with pytest.raises(flashgc.RunError, match=re.escape(f"error: the request at {words}")):
        drive.submit_all(**{**given, **changed})
    assert drive.under_way == 1 + int(words[6])


def test_configurations_that_cannot_be_live_are_refused():
    with pytest.raises(flashgc.ConfigError, match=r"requests from outside, but engine\.timing"):
        flashgc.Component("slc-msr", set={"engine.timing": "none"})
    with pytest.raises(flashgc.ConfigError, match=r"device\.channels"):
        flashgc.Component("slc-msr", set={"device.channels": 0})


def test_a_policy_in_python_works_and_is_not_copied():
    @flashgc.victim
    def fewest(blocks):
        return int(blocks.block[np.argmin(blocks.valid)])

    drive = flashgc.Component("slc-msr", scheme=fewest, set=SMALL)
    drive.submit_all(*requests())
    assert len(drive.drain()) == COUNT
    with pytest.raises(flashgc.RunError, match='victim policy, "fewest"'):
        drive.snapshot()


@pytest.mark.parametrize("parts", [True, False])
def test_completions_can_be_pickled(parts):
    drive = flashgc.Component("slc-msr", set=SMALL, parts=parts)
    drive.submit_all(*requests())
    done = drive.drain()
    again = pickle.loads(pickle.dumps(done))
    assert (len(again), list(again)) == (len(done), list(done))
    assert (again.latency_ns == done.latency_ns).all()
    if parts:
        assert all((again.parts[name] == done.parts[name]).all() for name in done.parts)
    else:
        with pytest.raises(flashgc.RunError, match="parts=True"):
            _ = again.parts


def test_a_saved_drive_is_a_beginning(tmp_path):
    file = tmp_path / "own.drive"
    flashgc.drive.save("oltp", file, device="slc-msr", set=SMALL)
    drive = flashgc.Component("slc-msr", set=SMALL, drive=file)
    drive.submit_all(*requests())
    drive.drain()
    assert drive.finish().precondition["drive"]["file"] == str(file)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"bytes": 0}, "bytes must be a whole number from 1, got 0"),
        ({"bytes": 1 << 60}, "give `bytes` at most `span`"),
        ({"span": 1 << 60}, "`span` at most the drive"),
        ({"depth": 0}, "depth must be a whole number from 1"),
        ({"depth": 1 << 70}, "give a depth up to 1,000,000"),
        ({"seed": 1 << 70}, "give at most 18446744073709551615"),
        ({"stream": 5}, 'stream is 5\n  = help: give a text, such as "reader"'),
        ({"stream": "\ud800"}, "stream is '\\ud800'"),
        ({"requests": None}, "a closed loop needs an end"),
        ({"requests": -1}, "requests must be a whole number from 1"),
        ({"length_ns": 10**18, "part_ns": 1}, "at most 1,048,576 parts are counted"),
        ({"part_ns": 0}, "part_ns must be a whole number from 1"),
        ({"read_share": float("nan")}, "give a share from 0 to 1"),
        ({"next_offset": 1 << 60}, "beyond the end of the drive"),
    ],
)
def test_a_closed_loop_says_what_is_wrong(wrong, told):
    drive = flashgc.Component("slc-msr", set=SMALL, depth=8)
    with pytest.raises(flashgc.FlashgcError, match=re.escape(told)):
        drive.closed_loop(**{"depth": 4, "bytes": 4096, "requests": 10, **wrong})
    assert drive.closed_loop(depth=4, bytes=4096, requests=10).requests == 10


@pytest.mark.parametrize("share", ["x", "0.5", 2, -0.1, float("nan"), None])
def test_a_share_is_from_0_to_1(share):
    drive = flashgc.Component("slc-msr", set=SMALL)
    with pytest.raises(flashgc.RunError, match=r"read_share is .*\n  = help: give a share from 0"):
        drive.closed_loop(depth=1, bytes=4096, requests=10, read_share=share)
    loop = drive.closed_loop(depth=1, bytes=4096, requests=10)
    with pytest.raises(flashgc.RunError, match=r"error: share is .*\n  = help: give a share from"):
        loop.percentile_ns(share)


def test_parts_that_are_not_split_are_no_zeros():
    drive = flashgc.Component("slc-msr", set=SMALL, parts=False)
    drive.submit(0, "read", 0, 4096)
    done = drive.drain()
    assert [one.parts for one in done] == [None]
    with pytest.raises(flashgc.RunError, match=r"not split into parts here\n.*parts=True"):
        _ = done.parts


def test_what_a_component_gives_is_shown_in_words():
    simpy = pytest.importorskip("simpy")
    drive = flashgc.Component("slc-msr", set=SMALL)
    drive.submit(0, "read", 0, 4096)
    assert repr(drive) == "Component(870 MiB, at 0 ns, 1 request under way)"
    assert repr(drive.drain()) == "Completions(1 request)"
    assert repr(drive.closed_loop(depth=1, bytes=4096, requests=3)).startswith("Loop(0 reads, 3 wr")
    shown = repr(flashgc.simpy.Drive(simpy.Environment(), drive))
    assert shown.startswith("Drive(Component(870 MiB, at ")
    with pytest.raises(flashgc.ConfigError, match=r"`env` must be a simpy.Environment, got None"):
        flashgc.simpy.Drive(None, drive)


def test_a_component_is_shown_while_another_thread_uses_it():
    drive = flashgc.Component("slc-msr", set=SMALL)
    seen = set()
    loop = threading.Thread(
        target=drive.closed_loop, kwargs={"depth": 1, "bytes": 4096, "requests": 200_000}
    )
    loop.start()
    while loop.is_alive():
        seen.add(repr(drive))
    assert "Component(...)" in seen


def test_a_wrong_request_that_waited_fails_alone():
    simpy = pytest.importorskip("simpy")
    env = simpy.Environment()
    drive = flashgc.simpy.Drive(env, "slc-msr", set=SMALL, depth=1)
    with pytest.raises(flashgc.RunError, match="a read of 0 B"):
        drive.read(0, 0)
    ended = []

    def client(offset, size):
        try:
            done = yield drive.read(offset, size)
            ended.append(done.op)
        except flashgc.RunError as error:
            ended.append(str(error).splitlines()[0])

    for offset, size in [(0, 4096), (0, 0), (4096, 4096)]:
        env.process(client(offset, size))
    env.run()
    assert sorted(ended) == ["error: a read of 0 B", "read", "read"]
    assert drive.waiting == 0


def test_requests_under_way_have_their_ends_after_the_report_in_simpy():
    """The alarm of a finished component ended the whole simulation."""
    simpy = pytest.importorskip("simpy")
    env = simpy.Environment()
    drive = flashgc.simpy.Drive(env, "slc-msr", set=SMALL, depth=2)
    ends, reports = [], []

    def client(at):
        done = yield drive.write(4096 * at, 4096)
        ends.append((env.now, done.at_ns))

    def other():
        yield env.timeout(1e-4)
        assert drive.waiting == 3
        reports.append(drive.finish())
        yield env.timeout(1)
        assert env.now == pytest.approx(1.0001)

    for at in range(5):
        env.process(client(at))
    env.process(other())
    env.run()
    assert reports[0].requests["write"] == len(ends) == 5
    for now, at_ns in ends:
        assert now == pytest.approx(at_ns / 1e9)
