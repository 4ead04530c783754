"""The requests of fio 3.33 and of flashgc for small job files; each value is fio's."""

import os
from collections import Counter
from functools import partial

import pytest

import ours

MIB = 1 << 20


@pytest.fixture
def stream(tmp_path):
    return partial(ours.only_stream, folder=tmp_path)


def kinds(requests):
    return dict(Counter(one.kind for one in requests))


def test_passes_repeat_the_first_unless_randrepeat_is_off(stream):
    job = "[a]\nioengine=libaio\nrw=randwrite\nbs=4k\nsize=16m\n"
    places = [one.offset for one in stream(f"{job}loops=4\n")]
    assert len(places) == 16384
    assert len(set(places[:4096])) == 4096
    assert [places[at : at + 4096] for at in (4096, 8192, 12288)] == [places[:4096]] * 3
    for more in ("loops=2\nrandrepeat=0", "loops=2\nallrandrepeat=0", "runtime=1\ntime_based"):
        places = [one.offset for one in stream(f"{job}{more}\n")]
        assert places[4096:8192] != places[:4096], more
        assert set(places[4096:8192]) == set(places[:4096]), more


def test_more_io_size_than_size_is_passes_too(stream):
    requests = stream("[a]\nrw=randwrite\nbs=4k\nsize=32k\nio_size=80k\n")
    places = [one.offset for one in requests]
    assert len(places) == 20
    assert places[8:16] == places[:8]
    assert places[16:] == places[:4]


def test_offsets_in_bytes_are_not_aligned(stream):
    requests = stream("[misaligned]\nioengine=libaio\nrw=randwrite\nbs=4k\noffset=512\nsize=64m\n"
                      "filename=f\n")  # fmt: skip
    assert {one.offset % 4096 for one in requests} == {512}
    assert max(one.offset + one.bytes for one in requests) == 64 * MIB + 512


def test_offsets_in_percent_are_rounded_up_to_blocks(stream):
    assert stream("[a]\nrw=write\nsize=32k\noffset=10%\n")[0].offset == 4096


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ("rwmixread=90\nrate_iops=500", (500, 500)),
        ("rwmixread=70\nrate_iops=1000", (1000, 1000)),
        ("rwmixread=90\nrate=4m,1m", (1024, 256)),
    ],
)
def test_kinds_have_rates_of_their_own(stream, rates, expected):
    requests = stream(f"[a]\nioengine=libaio\nrw=randrw\nsize=64m\nbs=4k\n{rates}\nruntime=1\n")
    found = kinds(requests)
    assert (found["read"], found["write"]) == pytest.approx(expected, abs=1)


def test_a_kind_without_a_rate_runs_free(stream):
    requests = stream("[a]\nrw=randrw\nsize=16m\nrwmixread=70\nrate_iops=,300\nruntime=1\n")
    # All is done long before the second is over.
    assert len(requests) == 4096
    assert kinds(requests)["write"] < 50


def test_comments_begin_anywhere_in_a_value(stream, tmp_path):
    requests = stream("[w] ; the head\nrw=write\nbs=64k\t; big blocks\nsize=1m\n"
                      "number_ios=5\t# five\n")  # fmt: skip
    assert [one.offset for one in requests] == [at << 16 for at in range(5)]
    job = "[w]\nrw=write\nbs=64k\nsize=1m\nfilename=data.tmp ; the file\n"
    both = ours.run(f"{job}[r]\nstonewall\nrw=read\nbs=64k\nsize=1m\nfilename=data.tmp\n", tmp_path)
    assert {name: kinds(requests) for name, requests in both.streams.items()} == {
        "data.tmp": {"write": 16, "read": 16}
    }


@pytest.mark.parametrize(
    ("job", "count", "low", "high"),
    [
        ("rw=write\nbs=64k\nfilename=ff\nfilesize=4m\noffset=1m", 48, MIB, 4 * MIB),
        ("rw=read\nfilename=x\nbs=4k\nfilesize=64k\nsize=100k", 16, 0, 65536),
        ("rw=write\nsize=64k\nfilesize=64k\noffset=16k", 12, 16384, 65536),
        ("rw=write\nsize=33%\nfilesize=100k", 8, 0, 32768),
    ],
)
def test_a_file_has_no_more_than_filesize(stream, job, count, low, high):
    requests = stream(f"[a]\nioengine=libaio\n{job}\n")
    assert len(requests) == count
    assert min(one.offset for one in requests) == low
    assert max(one.offset + one.bytes for one in requests) == high


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("filesize=64k\noffset=80k", "the file ends before that"),
        ("filesize=64k\noffset=64k", "the file ends before that"),
        ("filesize=40k\noffset=10%", "percentages of `size`"),
        ("size=4k\nbs=8k", "has requests of"),
        ("size=48k\nbs=16k\nio_size=30%", "requests have 16384"),
        ("size=64k\nzonesize=8k", "fio refuses it without zonemode"),
        ("size=64k\nfilename=x:y\n[b]\nsize=1m\nfilename=x", "give both the same list"),
        ("size=64k\nrw=trimwrite:4k", "fio never ends"),
        ("size=64k\nrw=randread\nbsrange=4k-8k\nzonemode=strided\nzonesize=16k", "of one size"),
        ("size=64k\nzonemode=strided\nzonesize=0", "a multiple of 512 bytes, and above 0"),
        ("size=64k\nrw=randread\nzonemode=strided\nzonesize=128k", "give at most zonesize=65536"),
        (
            "filesize=128k\noffset=32k\nrw=randread\nzonemode=strided\nzonesize=16k\nzonerange=128k",
            "give at most zonerange=98304",
        ),
        ("size=64k\nrw=randread\nrandom_distribution=zoned_abs:60/64k:40/8k", "the zones of job"),
    ],
)
def test_places_that_fio_refuses_are_refused(tmp_path, job, why):
    assert why in ours.run(f"[a]\nrw=write\n{job}\n", tmp_path).error


def test_trims_and_writes_have_their_own_sizes(stream):
    requests = stream("[a]\nioengine=libaio\nrw=trimwrite\nbs=4k,8k,16k\nsize=256k\n")
    assert Counter((one.kind, one.bytes) for one in requests) == {
        ("trim", 16384): 16, ("write", 8192): 31,
    }  # fmt: skip
    assert [(one.kind[0], one.offset >> 10) for one in requests[:8]] == [
        ("t", 0), ("w", 0), ("t", 16), ("w", 8), ("w", 16), ("t", 32), ("w", 24), ("w", 32),
    ]  # fmt: skip


def test_the_map_of_reads_stays_where_writes_are_sequential(stream):
    requests = stream("[a]\nioengine=libaio\nrw=randrw\npercentage_random=100,0\nrwmixread=70\n"
                      "bs=32k\nsize=64m\n")  # fmt: skip
    assert len(requests) == 2048
    reads = [one.offset for one in requests if one.kind == "read"]
    writes = [one.offset for one in requests if one.kind == "write"]
    assert len(set(reads)) == len(reads)
    assert writes == [at << 15 for at in range(len(writes))]


@pytest.mark.parametrize("pattern", ["write", "randwrite"])
def test_number_ios_counts_over_all_loops(stream, pattern):
    requests = stream(
        f"[a]\nioengine=libaio\nrw={pattern}\nbs=4k\nsize=1m\nnumber_ios=3\nloops=2\n"
    )
    assert len(requests) == 6
    assert len({one.offset for one in requests}) == 6


def test_time_based_jobs_do_not_end_after_number_ios(stream):
    requests = stream(
        "[a]\nrw=write\nsize=1m\nnumber_ios=3\nrate_iops=100\ntime_based\nruntime=1\n"
    )
    assert len(requests) == 100


@pytest.mark.parametrize(("more", "count"), [("loops=2", 32), ("loops=2\nruntime=0", 32),
                                             ("number_ios=5", 5)])  # fmt: skip
def test_time_alone_ends_no_job_without_a_runtime(stream, more, count):
    # fio 3.33: "time_based requires a runtime/timeout setting", and all requests of the section.
    places = [one.offset for one in stream(f"[a]\nrw=randread\nsize=64k\ntime_based\n{more}\n")]
    assert len(places) == count
    assert places[16:] == places[: count - 16] or count < 16


@pytest.mark.parametrize(
    ("job", "count"),
    [("size=9120", 2), ("size=10k\nloops=2", 4), ("size=10k\nio_size=15k", 4),
     ("size=18k\nio_size=80k", 20), ("size=30k\nbs=8k\nio_size=100k", 12)],
)  # fmt: skip
def test_no_request_wraps_at_the_end_of_a_size_that_is_no_multiple(stream, job, count):
    assert len(stream(f"[a]\nioengine=libaio\nrw=write\nfilename=f\n{job}\n")) == count


def test_the_last_block_of_a_split_fits(stream):
    requests = stream("[a]\nrw=write\nsize=64k\nbssplit=4k/20:12k/80\n")
    assert sum(one.bytes for one in requests) == 65536
    assert requests[-1].offset + requests[-1].bytes == 65536


def test_sizes_of_a_split_are_multiples_of_the_smallest(stream):
    requests = stream("[a]\nrw=write\nsize=600k\nbssplit=6k/50:16k/50\n")
    assert {one.bytes for one in requests} == {6144, 12288}


def test_several_sizes_with_a_random_map_cover_all_once(stream):
    requests = stream("[a]\nrw=randwrite\nsize=64m\nbsrange=4k-16k\n")
    assert sum(one.bytes for one in requests) == 64 * MIB
    # fio 3.33: 7,914 requests, as those that meet visited blocks are shortened.
    assert len(requests) == pytest.approx(7914, rel=0.03)


def test_a_whole_device_ends_at_its_end(tmp_path):
    outcome = ours.run("[a]\nioengine=libaio\nrw=write\nbs=64k\nfilename=/dev/sdb\nsize=100%\n"
                       "offset=10%\n", tmp_path)  # fmt: skip
    (requests,) = outcome.streams.values()
    pages = 2 * 2 * 256 * 64
    user_bytes = int(pages * 0.9) * 4096
    first, last = requests[0], requests[-1]
    assert first.offset % 65536 == 0
    assert 0.1 <= first.offset / user_bytes < 0.102
    assert last.offset + last.bytes <= user_bytes < last.offset + last.bytes + 65536


def test_a_blank_zone_is_the_rest(stream):
    requests = stream("[z]\nrw=randread\nbs=4k\nsize=64m\nnorandommap\nnumber_ios=4000\n"
                      "random_distribution=zoned:50/5:30/15:20/\n")  # fmt: skip
    shares = Counter(0 if one.offset < 0.05 * 64 * MIB else 1 if one.offset < 0.2 * 64 * MIB else 2
                     for one in requests)  # fmt: skip
    assert [shares[at] / 4000 for at in range(3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)


def test_variables_of_the_environment_are_replaced(stream, monkeypatch):
    monkeypatch.setenv("FLASHGC_TEST_BS", "8")
    assert "FLASHGC_TEST_NONE" not in os.environ
    requests = stream("[a]\nrw=write\nbs=${FLASHGC_TEST_BS}k\nsize=${FLASHGC_TEST_NONE}64k\n")
    assert [one.bytes for one in requests] == [8192] * 8


def test_second_names_of_options(stream):
    requests = stream("[a]\nioengine=libaio\nrw=write\nsize=1m\nbs=4k\nratemin=100\nratecycle=500\n"
                      "threads=1\nfileoffset=4k\n")  # fmt: skip
    assert (len(requests), requests[0].offset) == (256, 4096)


# The order of places. Kinds with the place in KiB, as fio 3.33 logs them.

ZONES = "zonemode=strided\nzonesize=8k\nzoneskip="


def places(requests):
    return " ".join(f"{one.kind[0]}{one.offset / 1024:g}" for one in requests)


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("rw=read:4k\nsize=64k", "r0 r8 r16 r24 r32 r40 r48 r56 " * 2),
        ("rw=read:5k\nsize=64k\nloops=2", "r0 r9 r18 r27 r36 r45 r54 " * 2),
        ("rw=write:6k\nsize=64k", "w0 w10 w20 w30 w40 w50 w60"),
        ("rw=read:4k\nsize=64k\noffset=16k", "r16 r24 r32 r40 r48 r56 r64 r72"),
        ("rw=read:-8k\nsize=32k\nloops=2",
         "r0 r24 r20 r16 r12 r8 r4 r0 r24 r20 r16 r12 r8 r4 r0 r24"),
        ("rw=read:-12k\nsize=64k", "r0 r52 r44 r36 r28 r20 r12 r4 r52 r44 r36 r28 r20 r12 r4 r52"),
        ("rw=read:60k\nsize=16k", "r0 r0 r0 r0"),
        (f"rw=read\nsize=60k\n{ZONES}8k",
         "r0 r4 r16 r20 r32 r36 r48 r52 r0 r4 r16 r20 r32 r36 r48"),
        (f"rw=read\nsize=52k\n{ZONES}8k", "r0 r4 r16 r20 r32 r36 r48"),
        (f"rw=read\nsize=52k\nio_size=90%\n{ZONES}8k", "r0 r4 r16 r20 r32 r36 r48"),
        (f"rw=read\nsize=52k\nio_size=48k\n{ZONES}8k",
         "r0 r4 r16 r20 r32 r36 r48 r0 r4 r16 r20 r32"),
        (f"rw=read\nsize=32k\nfilesize=1m\n{ZONES}0\nzonerange=16k",
         "r0 r4 r16 r20 r32 r36 r48 r52"),
        ("rw=read\nbs=12k\nsize=96k\nzonemode=strided\nzonesize=32k\nzonerange=16k\nzoneskip=16k",
         "r0 r12 r0 r32 r44 r32 r64 r76"),
    ],
)  # fmt: skip
def test_holes_and_strides(stream, job, expected):
    assert places(stream(f"[a]\n{job}\n")) == expected.strip()


def test_runs_from_random_places(stream):
    for more, behind in (("", [0, 4, 8, 12]), ("rw_sequencer=identical\n", [0, 0, 0, 0])):
        requests = stream(f"[a]\nrw=randread:4\nsize=1m\nio_size=256k\n{more}")
        found = [one.offset >> 10 for one in requests]
        assert len(found) == 64
        runs = [[place - run[0] for place in run]
                for run in (found[at : at + 4] for at in range(0, 64, 4))]  # fmt: skip
        # A run that meets the end continues at a random place.
        assert runs.count(behind) >= 15
        assert len({found[at] for at in range(0, 64, 4)}) == 16


def test_random_requests_keep_within_their_zone(stream):
    requests = stream("[a]\nrw=randread\nsize=64k\nzonemode=strided\nzonesize=16k\nzoneskip=16k\n")
    found = [one.offset >> 10 for one in requests]
    for at, first in ((0, 0), (4, 32), (8, 0), (12, 32)):
        assert sorted(found[at : at + 4]) == list(range(first, first + 16, 4))


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("size=64k\nnrfiles=3", "012" * 5),
        ("size=64k\nnrfiles=4\nfile_service_type=roundrobin:3", "0001112223330123"),
        ("size=64k\nfilename=x:y\nfile_service_type=sequential", "0" * 8 + "1" * 8),
        ("size=64k\nnrfiles=2\nio_size=96k", "01" * 12),
        ("nrfiles=4\nfilesize=16k", "0123" * 4),
        ("size=64k\nnrfiles=2\nfilesize=16k", "01" * 4),
        ("size=64k\nnrfiles=2\nnumber_ios=3", "010"),
    ],
)
def test_files_have_their_turns(tmp_path, job, expected):
    outcome = ours.run(f"[a]\nrw=read\n{job}\n", tmp_path)
    assert not outcome.error, outcome.error
    requests = sorted((one.order, str(at)) for at, stream in enumerate(outcome.streams.values())
                      for one in stream)  # fmt: skip
    assert "".join(file for _, file in requests) == expected


def test_of_a_range_of_pauses_the_first_counts(stream):
    requests = stream("[a]\nrw=read\nsize=40k\nthinktime=100ms-300ms\n")
    assert requests[-1].at_ms / 1000 == pytest.approx(900, rel=0.01)


def test_rates_begin_again_after_a_pause_where_it_is_ignored(stream):
    job = "[a]\nrw=read\nsize=48k\nrate_iops=100\nthinktime=35ms\nthinktime_blocks=4\n"

    def times(text):
        return [round(one.at_ms / 1000) for one in stream(text)]

    assert times(job) == [0, 10, 20, 30, *[65] * 3, 70, *[105] * 3, 110]
    assert times(f"{job}rate_ignore_thinktime=1\n") == [
        0, 10, 20, 30, 65, 75, 85, 95, 130, 140, 150, 160,
    ]  # fmt: skip


def test_jobs_that_share_a_file_have_popular_places_of_their_own(tmp_path):
    job = ("rw=randread\nsize=4m\nnorandommap\nloops=4\nrandom_distribution=zipf:1.2\n"
           "filename=x\nstonewall\n")  # fmt: skip
    (requests,) = ours.run(f"[a]\n{job}[b]\n{job}", tmp_path).streams.values()
    most = [Counter(one.offset for one in part).most_common(1)[0]
            for part in (requests[:4096], requests[4096:])]  # fmt: skip
    # fio 3.33: 934 requests to one block, and 946 to another.
    assert [count for _, count in most] == pytest.approx([940, 940], rel=0.1)
    assert most[0][0] != most[1][0]


def test_popular_places_are_anywhere_in_a_file_above_the_size(stream):
    requests = stream("[a]\nrw=randread\nbs=8k\nsize=3216k\nfilesize=6432k\nloops=40\n"
                      "norandommap\nrandom_distribution=zipf:0.8\n")  # fmt: skip
    counts = Counter(one.offset >> 13 for one in requests)
    # fio 3.33: 7.1 % of 16,080 requests to one of 804 blocks, and 47 % to the first 402.
    assert len(requests) == 16080
    assert max(counts) > 790
    assert counts.most_common(1)[0][1] / 16080 == pytest.approx(0.071, abs=0.008)
    below = sum(count for block, count in counts.items() if block < 402) / 16080
    assert below == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("job", "trims", "writes"),
    [
        ("bs=4k,4k,512\nsize=32k", 2, 8),
        ("bs=4k,4k,512\nsize=32k\nio_size=50%\nloops=2", 2, 8),
        ("bs=4k,4k,8k\nsize=32k\nio_size=50%", 3, 4),
        ("bs=4k,4k,8k\nsize=32k\nio_size=50%\nloops=2", 5, 8),
        ("bs=4k,4k,8k\nsize=32k\nio_size=48k", 4, 7),
        ("bs=4k,4k,512\nsize=32k\nio_size=48k", 4, 12),
        ("bs=512,512,4k\nsize=32k\nnumber_ios=9", 3, 15),
    ],
)
def test_writes_count_where_they_follow_trims(stream, job, trims, writes):
    found = kinds(stream(f"[a]\nrw=trimwrite\n{job}\n"))
    assert found == {"trim": trims, "write": writes}


def test_random_writes_after_trims_have_their_size(stream):
    requests = stream("[a]\nrw=randtrimwrite\nbs=12k,12k,16k\nsize=320k\n")
    assert {one.bytes for one in requests} == {16384}


def test_rates_have_no_more_digits_than_they_need(tmp_path):
    from flashgc.conversion import fio_run

    path = tmp_path / "rates.fio"
    path.write_text("[a]\nrw=randrw\nsize=1m\nrate=1234567,10m\n[b]\nrw=read\nsize=1m\n"
                    "bsrange=4k-8k\nrate_iops=333\n")  # fmt: skip
    text = fio_run.layer(path)[1]
    for rate in ("1.234567", "10.48576", "1.363968"):
        assert f'_rate = "{rate} MB/s"' in text


# Found by the random job files.


def test_a_seed_of_its_own_gives_each_pass_a_new_order(stream):
    places = [one.offset for one in stream("[a]\nrw=randwrite\nsize=1m\nloops=2\nrandseed=5\n")]
    assert sorted(places[:256]) == sorted(places[256:])
    assert places[:256] != places[256:]


def test_the_places_of_a_mix_repeat_with_the_passes(stream):
    places = [one.offset for one in stream("[a]\nrw=randrw\nsize=256k\nloops=2\n")]
    assert len(set(places)) == 64
    assert places[:64] == places[64:]


def test_rates_in_requests_count_the_smallest_of_several_sizes(stream):
    requests = stream("[a]\nrw=trim\nbsrange=512-2048\nsize=800k\ntime_based\nruntime=1\n"
                      "rate_iops=400\n")  # fmt: skip
    # fio 3.33: 166 requests.
    assert sum(one.bytes for one in requests) == pytest.approx(400 * 512, abs=4096)


def test_no_flush_ends_a_job_and_none_is_made_for_trims(stream):
    job = "[a]\nrw={}\nsize=48k\nfsync=4\n"
    assert kinds(stream(job.format("write"))) == {"write": 12, "flush": 2}
    assert kinds(stream(job.format("trimwrite"))) == {"write": 12, "trim": 12}


@pytest.mark.parametrize(
    ("job", "count"),
    [
        ("bs=16k\nsize=1671168\nfilesize=835584\nio_size=30%", 16),
        ("size=128k\nfilesize=1m\nio_size=10%", 26),
        ("size=128k\nfilesize=1m\nio_size=10%\nloops=2", 52),
        ("size=128k\nfilesize=1m\noffset=256k\nio_size=5%", 10),
        ("size=128k\nfilesize=1m\nio_size=50%", 32),
        ("size=50%\nfilesize=256k\nio_size=10%", 4),
    ],
)
def test_io_size_in_percent_is_of_what_the_file_has(stream, job, count):
    assert len(stream(f"[a]\nrw=write\n{job}\n")) == count


def test_the_size_of_a_job_goes_on_in_its_file(stream):
    places = [
        one.offset >> 10 for one in stream("[a]\nrw=write\nsize=32k\nfilesize=64k\nloops=3\n")
    ]
    assert places == [*range(0, 64, 4), *range(0, 32, 4)]


def test_the_files_of_a_job_share_the_sequence_of_sizes(tmp_path):
    outcome = ours.run("[a]\nrw=trimwrite\nbsrange=4k-32k\nsize=1m\nnrfiles=2\n"
                       "file_service_type=roundrobin:3\n", tmp_path)  # fmt: skip
    requests = sorted((one for stream in outcome.streams.values() for one in stream),
                      key=lambda one: one.order)  # fmt: skip
    sizes = {kind: [one.bytes for one in requests if one.kind == kind]
             for kind in ("trim", "write")}  # fmt: skip
    # fio 3.33: the trim and the write with the same number have the same size, in other files too,
    # so that writes overtake trims and stay due (200,704 bytes of seed 3956, and not 262,144).
    assert len(sizes["trim"]) < len(sizes["write"])
    assert sizes["write"][: len(sizes["trim"])] == sizes["trim"]
    assert sum(sizes["write"]) <= MIB
    by_file = [[one.bytes for one in stream if one.kind == "write"]
               for stream in outcome.streams.values()]  # fmt: skip
    assert by_file[0] != by_file[1]


def test_a_flush_of_a_mix_comes_again_until_the_next_write(stream):
    requests = stream("[a]\nrw=rw\nsize=1m\nfsync=9\nrwmixread=60\n")
    writes, last, again = 0, "", 0
    for one in requests:
        if one.kind == "flush":
            assert writes % 9 == 0
            assert last != "flush"
            again += last == "read"
        elif one.kind == "read" and writes and writes % 9 == 0:
            # fio 3.33: `w24 f r19 f r20.5 f r21.5 f w25.5`, with places in KiB.
            assert last == "flush"
        writes += one.kind == "write"
        last = one.kind
    assert again > 3


@pytest.mark.parametrize("share", [20, 50, 90])
def test_with_some_random_places_the_end_of_the_part_ends_nothing(stream, share):
    job = f"[a]\nrw=randread\nsize=800k\npercentage_random={share}\n"
    # fio 3.33: 200 requests with each of 60 seeds. Behind the last block a random place follows.
    places = [one.offset >> 12 for one in stream(job)]
    assert len(places) == 200
    assert len(stream(f"{job}loops=3\n")) == 600


def test_zones_begin_and_end_with_blocks(stream):
    def shares(blocks):
        requests = stream(f"[a]\nrw=randread\nsize={4 * blocks}k\nnorandommap\nio_size=32m\n"
                          "random_distribution=zoned:60/10:30/20:10/70\n")  # fmt: skip
        counts = Counter(one.offset >> 12 for one in requests)
        return [counts[at] / len(requests) for at in range(blocks)]

    # fio 3.33, 8,000 requests each.
    assert shares(2) == [1.0, 0.0]
    assert shares(5) == pytest.approx([0.9, 0.033, 0.034, 0.033, 0.0], abs=0.015)
    assert shares(7) == pytest.approx([0.9, 0.0, 0.026, 0.022, 0.025, 0.025, 0.0], abs=0.015)
    assert shares(7)[1] == shares(7)[6] == 0.0
