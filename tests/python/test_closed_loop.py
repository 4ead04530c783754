"""The closed loop of a component: its requests, its end and its results."""

import pytest

import flashgc
from flashgc.snia.definitions import KIB
from test_pts import TINY


def test_a_closed_loop_is_that_of_a_program():
    drive, other = (flashgc.Component("enterprise-tlc", set=TINY) for _ in range(2))
    size, depth, count = 32 * KIB, 8, 500
    found = drive.closed_loop(depth=depth, bytes=size, requests=count, next_offset=0)
    place, issued, done = 0, 0, 0
    latencies = []
    while done < count:
        while issued < count and issued - done < depth:
            other.submit(other.now_ns, "write", place, size)
            place = 0 if place + 2 * size > other.bytes // size * size else place + size
            issued += 1
        for one in other.advance_to_completion():
            latencies.append(one.latency_ns)
            done += 1
    assert (found.requests, found.writes, found.sum_ns) == (count, count, sum(latencies))
    assert found.max_ns == max(latencies)
    assert int(found.buckets[2].sum()) == count
    assert drive.now_ns == other.now_ns
    assert drive.finish().result_hash == other.finish().result_hash


def test_a_closed_loop_ends_with_its_time_and_counts_parts():
    drive = flashgc.Component("enterprise-tlc", set=TINY)
    found = drive.closed_loop(depth=4, bytes=4 * KIB, length_ns=10_000_000, part_ns=1_000_000,
                              read_share=0.5, seed=3, stream="a")  # fmt: skip
    assert len(found.parts.reads) == 10
    inside = int(found.parts.reads.sum() + found.parts.writes.sum())
    assert found.requests - 4 <= inside <= found.requests
    assert found.end_ns >= 10_000_000
    assert drive.under_way == 0
    assert found.mean_ns == pytest.approx(found.sum_ns / found.requests)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "a closed loop needs an end"),
        ({"requests": 1, "depth": 0}, "depth must be a whole number from 1"),
        ({"requests": 1, "bytes": 0}, "bytes must be a whole number from 1"),
        ({"requests": 1, "next_offset": 1 << 60}, "end of the drive"),
    ],
)
def test_a_wrong_closed_loop_is_told(more, told):
    drive = flashgc.Component("enterprise-tlc", set=TINY)
    with pytest.raises(flashgc.FlashgcError) as error:
        drive.closed_loop(**{"depth": 1, "bytes": 4096, **more})
    assert told in str(error.value)
