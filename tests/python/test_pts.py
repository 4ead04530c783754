"""SNIA's Performance Test Specification: each of its definitions, and the report."""

import csv
import io
import json
import re
from types import SimpleNamespace

import pytest

import flashgc
import pages
from flashgc.snia import definitions, procedures, steady
from flashgc.snia.definitions import HOUR_NS, KIB, MINUTE_NS, SECOND_NS, Form
from test_schema import mistakes

TINY = {"device.blocks_per_plane": 64, "device.pages_per_block": 8, "device.channels": 2,
        "device.chips_per_channel": 1}  # fmt: skip
SPECIFIED = Form(MINUTE_NS, 25, 1.0, 0.65, 1)
SHORT = Form(5 * SECOND_NS, 25, 1.0, 0.65, 1)


@pytest.fixture(scope="module")
def tested():
    return flashgc.pts("enterprise-tlc", set=TINY, round="40 ms", rounds=6)


@pytest.fixture(scope="module")
def folder(tested, tmp_path_factory):
    found = tmp_path_factory.mktemp("pts")
    tested.save(found)
    return found


def rows(folder, name):
    with open(folder / name) as file:
        return list(csv.DictReader(file))


def part(tested, name, at=0):
    return next(test for test in tested.tests if test.test == name).parts[at]


# Steady state.


def test_a_window_has_five_rounds():
    assert steady.window([100, 100, 100, 100]) is None
    assert steady.window([900, 100, 100, 100, 100, 100]).average == 100
    assert not steady.reached([[100, 100, 100, 100]])
    assert steady.reached([[900, 100, 100, 100, 100, 100]])


@pytest.mark.parametrize(
    ("values", "is_steady"),
    [
        ([90, 100, 110, 100, 100], True),  # a range of exactly 20 % of the average of 100
        ([89.9, 100, 110.1, 100, 100], False),
        ([0.9, 1.0, 1.1, 1.0, 1.0], True),  # also where decimal fractions are not exact
        ([95, 97.5, 100, 102.5, 105], True),  # a fit that rises by exactly 10 % of 100
        ([94.9, 97.4, 100, 102.6, 105.1], False),
        ([105, 102.5, 100, 97.5, 95], True),  # and one that falls
        ([105.1, 102.6, 100, 97.4, 94.9], False),
        ([0, 0, 0, 0, 0], True),
        ([0, 0, 0, 0, 1], False),
    ],
)
def test_range_and_slope_decide(values, is_steady):
    assert steady.window(values).is_steady is is_steady
    assert steady.reached([values]) is is_steady


def test_the_best_linear_fit_by_hand():
    # Least squares over rounds -2 to 2: (-2*101 - 1*103 + 1*103 + 2*108) / 10 = 1.4 a round.
    found = steady.window([101, 103, 100, 103, 108])
    assert found.average == 103
    assert found.spread == 8
    assert found.slope == pytest.approx(1.4)
    assert found.first == pytest.approx(103 - 2 * 1.4)
    assert found.rise == pytest.approx(5.6)
    assert found.rise_share == pytest.approx(5.6 / 103)


def test_all_tracking_variables_must_be_steady():
    assert not steady.reached([[1, 1, 1, 1, 1], [1, 2, 1, 2, 1]])
    assert not steady.reached([])


def test_a_test_ends_with_the_first_steady_window_or_after_25_rounds():
    def rounds(values):
        series = procedures.Series("x", "IOPS", [])
        measured = iter([[value] for value in values])
        return procedures._tracked(measured, SPECIFIED, [(series, lambda one: one[0])])

    assert len(rounds([1, 50, 100, 100, 100, 100, 100, 100, 100])) == 7
    assert len(rounds([100] * 30)) == 5
    assert len(rounds([1, 2] * 30)) == steady.ROUNDS_MAX == 25


# The definitions of the tests.


def test_the_lengths_of_the_specification():
    form = SPECIFIED
    assert not form.is_short
    assert form.differences(list(definitions.TESTS)) == []
    assert form.round_ns == MINUTE_NS
    assert form.half_hour_ns == 30 * MINUTE_NS
    assert form.histogram_ns == 20 * MINUTE_NS
    assert form.second_ns == SECOND_NS
    assert form.hour_ns == HOUR_NS
    assert (form.accesses, form.round_gap, form.begin_times) == (360, 30, 0)
    assert definitions.WAITS_S == (5, 10, 15, 25, 50)
    assert definitions.CROSS_HOURS == (8, 6, 8)


def test_a_shortened_form_says_so():
    told = SHORT.differences(list(definitions.TESTS))
    assert "a measurement of one size and mix lasts 5 s, in place of 1 min" in told
    assert len(told) == 8
    other = Form(MINUTE_NS, 10, 0.75, 0.65, 1).differences(["iops"])
    assert other == ["a test ends after 10 rounds, in place of 25",
                     "the active range is 75% of the user capacity"]  # fmt: skip


class Scripted:
    """A drive whose IOPS are given, and which counts the requests."""

    def __init__(self, form, iops, writes=0.05):
        self.form, self._iops, self._writes = form, iops, writes
        self.written, self.now_ns, self.points, self.waits = 0.0, 0, [], []

    def measure(self, phase, round_, load, length_ns):
        iops = self._iops(len(self.points))
        self.now_ns += length_ns
        self.written += self._writes
        self.points.append(SimpleNamespace(phase=phase, round=round_, iops=iops, load=load,
                                           length_ns=length_ns, written=self.written))  # fmt: skip
        return self.points[-1]

    def histogram(self, phase, load, length_ns):
        return self.measure(phase, 0, load, length_ns)

    def wait(self, length_ns):
        self.waits.append(length_ns)


def saturated(form, iops, **more):
    drive = Scripted(form, iops, **more)
    [found] = procedures.saturation(lambda name: drive, procedures.Outstanding(2, 16))
    return drive, found


def test_write_saturation_takes_each_31st_minute():
    drive, found = saturated(SPECIFIED, lambda at: 100 if at % 31 == 0 else 10 * at,
                             writes=0.001)  # fmt: skip
    assert found.tracked[0].values == [100] * 5
    assert found.is_steady
    assert found.precondition is None
    *minutes, last = drive.points
    assert len(minutes) == 4 * 31 + 1
    assert [point.round for point in minutes if point.round] == [1, 2, 3, 4, 5]
    assert {point.length_ns for point in minutes} == {MINUTE_NS}
    assert minutes[0].load == procedures.Load(4 * KIB, 0.0, 2, 16)
    assert last.phase == "histogram"
    assert last.length_ns == 20 * MINUTE_NS


def test_write_saturation_ends_after_four_capacities_or_six_hours():
    falling = lambda at: 1000 / (at + 1)  # noqa: E731
    drive, found = saturated(SPECIFIED, falling, writes=0.125)
    assert not found.is_steady
    assert len(drive.points) - 1 == 32
    drive, found = saturated(SPECIFIED, falling, writes=0.001)
    assert not found.is_steady
    assert len(drive.points) - 1 == 6 * 60


def test_the_rounds_of_a_shortened_form_begin_after_two_capacities():
    drive, found = saturated(SHORT, lambda at: 100, writes=0.25)
    assert [point.round for point in drive.points[:-1]] == [0] * 8 + [1, 2, 3, 4, 5]
    assert found.is_steady


def test_host_idle_recovery_has_five_waits_with_a_baseline_after_each():
    drive = Scripted(SPECIFIED, lambda at: 100)
    [found] = procedures.idle_recovery(lambda name: drive, procedures.Outstanding(1, 32))
    assert found.is_steady
    phases = [point.phase for point in drive.points]
    assert phases[:5] == ["writes"] * 5
    assert phases[5:366] == ["wait 5 s"] * 360 + ["after wait 5 s"]
    assert {point.length_ns for point in drive.points[:5]} == {30 * MINUTE_NS}
    assert drive.points[5].length_ns == 5 * SECOND_NS
    assert drive.points[365].length_ns == 30 * MINUTE_NS
    assert drive.waits == [wait * SECOND_NS for wait in (5, 10, 15, 25, 50) for _ in range(360)]


# Measurements of a drive.


def test_a_purged_drive_has_no_page_written(tested):
    about = tested.about
    assert about.precondition.programmed_pages == about.precondition.drive_writes == 0
    assert about.pages.host_written == 0


def test_preconditioning_writes_twice_the_capacity_in_sequence(tested, folder):
    measured = rows(folder, "measurements.csv")
    for test, size in (("iops", 128), ("lat", 128)):
        found = part(tested, test).preconditioning
        assert (found.bytes, found.times) == (size * KIB, 2)
        first = next(row for row in measured if row["test"] == test)
        assert float(first["user_capacities_written"]) == pytest.approx(2, rel=0.02)
        assert float(first["begin_s"]) == pytest.approx(found.took_ns / 1e9)
    assert [part(tested, "tp", at).preconditioning.bytes // KIB for at in (0, 1)] == [1024, 128]
    for test in ("wsat", "hir", "xsr"):
        assert part(tested, test).preconditioning is None
        assert next(row for row in measured if row["test"] == test)["begin_s"] == "0"


def test_the_matrix_of_iops_is_measured_in_its_order(folder):
    first = [row for row in rows(folder, "measurements.csv")
             if row["test"] == "iops" and row["round"] == "1"]  # fmt: skip
    mixes = ["1", "0.95", "0.65", "0.5", "0.35", "0.05", "0"]
    sizes = [1024, 128, 64, 32, 16, 8, 4, 0.5]
    assert [(row["read_share"], int(row["bytes"]) / KIB) for row in first] == [
        (mix, size) for mix in mixes for size in sizes
    ]
    assert {row["sequential"] for row in first} == {"false"}
    assert {row["length_s"] for row in first} == {"0.04"}


def test_the_requests_of_throughput_latency_and_cross_stimuli(folder):
    measured = rows(folder, "measurements.csv")

    def kinds(test, **more):
        found = [(row["part"], int(row["bytes"]) / KIB, row["read_share"], row["sequential"],
                  row["threads"], row["depth"])
                 for row in measured if row["test"] == test
                 and all(row[key] == value for key, value in more.items())]  # fmt: skip
        return list(dict.fromkeys(found))

    assert kinds("tp") == [
        (f"{size} KiB", size, share, "true", "1", "32") for size in (1024, 128) for share in "10"
    ]
    assert kinds("lat", round="1") == [
        ("", size, share, "false", "1", "1") for share in ("1", "0.65", "0") for size in (8, 4, 0.5)
    ]
    assert kinds("xsr") == [
        ("", 1024, "0", "true", "1", "32"), ("", 8, "0", "false", "1", "32"),
    ]  # fmt: skip
    groups = [row["phase"] for row in measured if row["test"] == "xsr"]
    assert [groups.count(f"group {number}") for number in (1, 2, 3)] == [480, 360, 480]


def test_the_tracking_variables(tested):
    tracked = {test.test: [[(one.name, one.unit) for one in found.tracked] for found in test.parts]
               for test in tested.tests}  # fmt: skip
    assert tracked == {
        "wsat": [[("4 KiB 0/100", "IOPS")]],
        "iops": [[("4 KiB 0/100", "IOPS"), ("64 KiB 65/35", "IOPS"), ("1024 KiB 100/0", "IOPS")]],
        "tp": [[("1024 KiB 0/100", "MB/s")], [("128 KiB 0/100", "MB/s")]],
        "lat": [[("4 KiB 0/100 mean", "us")]],
        "hir": [[("4 KiB 0/100", "IOPS")]],
        "xsr": [[]],
        "dirth": [
            [("4 KiB 0/100, 32 x 32", "IOPS")],
            [("4 KiB 65/35, 32 x 32", "IOPS")],
            [],
            [],
            [],
        ],
    }


def test_results_are_averages_over_the_window(tested, folder):
    measured = [row for row in rows(folder, "measurements.csv") if row["test"] == "iops"]
    last = part(tested, "iops").rounds
    window = [row for row in measured if row["round"] and int(row["round"]) > last - 5]
    found = [one for one in part(tested, "iops").results if one.phase == "window"]
    assert len(found) == 56
    for one in found:
        kind = (one.bytes, one.read_share)
        own = [row for row in window if (int(row["bytes"]), float(row["read_share"])) == kind]
        assert len(own) == 5
        assert one.iops == pytest.approx(sum(float(row["iops"]) for row in own) / 5)
        assert one.max_ns / 1e3 == pytest.approx(max(float(row["max_us"]) for row in own))
    [series, *_] = part(tested, "iops").tracked
    own = next(one for one in found if (one.bytes, one.read_share) == (4 * KIB, 0.0))
    assert series.average == pytest.approx(own.iops)
    assert series.rounds[-5:] == pytest.approx(
        [float(row["iops"]) for row in window if (row["bytes"], row["read_share"]) == ("4096", "0")]
    )


def test_demand_intensity_has_all_threads_and_depths_after_writes(tested, folder):
    measured = [row for row in rows(folder, "measurements.csv") if row["test"] == "dirth"]
    counts = [str(count) for count in (32, 16, 8, 6, 4, 2, 1)]
    first = [row for row in measured if row["phase"] == "round 1"]
    assert [(row["threads"], row["depth"]) for row in first] == [
        (threads, depth) for threads in counts for depth in counts
    ]
    assert {(row["bytes"], row["read_share"]) for row in first} == {("4096", "0.65")}
    before = measured[measured.index(first[0]) - 1]
    assert (before["phase"], before["read_share"]) == ("writes before the round", "0")
    assert part(tested, "dirth").preconditioning.bytes == 128 * KIB
    assert [part(tested, "dirth", at).continues for at in range(5)] == [False, *[True] * 4]


def test_the_histograms_of_demand_intensity(tested):
    loads = {(one.threads, one.depth): one for one in part(tested, "dirth", 1).results}
    fast = [one for one in loads.values() if one.mean_ns < 5e6]
    most, least = max(fast, key=lambda one: one.iops), loads[1, 1]
    half = (most.iops + least.iops) / 2
    middle = min(loads.values(), key=lambda one: abs(one.iops - half))
    names = [part(tested, "dirth", at).name for at in (2, 3, 4)]
    assert names == [f"{name} ({one.threads} x {one.depth})" for name, one in
                     (("MaxIOPS", most), ("MidIOPS", middle), ("MinIOPS", least))]  # fmt: skip
    assert all(part(tested, "dirth", at).response_times.requests > 0 for at in (2, 3, 4))


def test_a_histogram_has_all_requests(tested, folder):
    buckets = [row for row in rows(folder, "response-times.csv") if row["test"] == "wsat"]
    found = part(tested, "wsat").response_times
    assert sum(int(row["requests"]) for row in buckets) == found.requests > 100
    assert found.p50_ns <= found.p99_ns <= found.max_ns


def test_the_cross_stimuli_recover(tested):
    found = part(tested, "xsr").recovery
    assert [one.group for one in found] == [2, 3]
    assert all(one.settled_mb_per_s > 0 for one in found)


def test_the_active_range_is_kept():
    found = flashgc.pts("enterprise-tlc", tests=["lat"], set=TINY, round="5 ms", rounds=5,
                        active_range=0.5)  # fmt: skip
    told = "the active range is 50% of the user capacity"
    assert told in found.form.differences


# The command, the report and the errors.


def test_the_schema_has_every_key(tested):
    schema = flashgc.pts_schema()
    assert mistakes(tested.to_dict(), schema, defined=schema["$defs"]) == []
    assert json.loads(tested.to_json()) == tested.to_dict()


def test_the_report_has_the_form_at_its_top_and_all_charts(tested, folder):
    text = (folder / "index.html").read_text()
    assert pages.addresses(text) == []
    top = text[: text.index("Made by")]
    assert "Shortened form" in top
    for told in tested.form.differences:
        assert told in top
    names = pages.charts(text)
    assert {"wsat-1-fills", "wsat-1-window-1", "wsat-1-responses", "iops-1-matrix",
            "iops-1-window-3", "tp-2-rounds", "lat-1-responses", "hir-1-time", "dirth-2-intensity",
            "xsr-1-times"} <= {*names}  # fmt: skip


def test_one_seed_gives_the_same_bytes_with_any_number_of_jobs(tmp_path):
    made = []
    for jobs in (1, 2):
        found = flashgc.pts("enterprise-tlc", tests=["tp", "wsat"], set=TINY, round="20 ms",
                            rounds=5, jobs=jobs)  # fmt: skip
        files = found.save(tmp_path / str(jobs))
        made.append([file.read_bytes() for file in files])
    assert made[0] == made[1]


def test_a_drive_that_is_not_steady_is_told(flashgc):
    sets = [f"--set={key}={value}" for key, value in TINY.items()]
    done = flashgc("pts", "enterprise-tlc", "--tests", "iops", "--round", "2ms", "--rounds", 5,
                   "--depth", 4, "--out", "deep/pts", *sets, env={"COLUMNS": "80"})  # fmt: skip
    assert "IOPS (iops): NOT steady" in done.out
    assert "steady state was not reached in 5 rounds" in done.out.replace("\n", " ")
    assert "shortened form, not that of the specification" in done.out
    shown = done.out.partition("saved")[0].splitlines()
    assert [line for line in shown if len(line) > 80] == []


def test_the_command_prints_json(flashgc):
    done = flashgc("pts", "enterprise-tlc", "--tests", "tp", "--round", "20 ms", "--json",
                   "--active-range", "50%",
                   *(f"--set={key}={value}" for key, value in TINY.items()))  # fmt: skip
    assert done.json["form"]["active_range"] == 0.5
    assert [test["test"] for test in done.json["tests"]] == ["tp"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"tests": ["cbw"]}, "there is no test 'cbw' here"),
        ({"tests": []}, "tests must be a list with one name or more"),
        ({"round": "2 min"}, "a round cannot last '2 min'"),
        ({"round": "soon"}, "give a time from 1 ms to 1 min"),
        ({"round": "5 s", "short": True}, "omit one of them"),
        ({"rounds": 4}, "4 rounds are not possible"),
        ({"rounds": 26}, "give a number from 5 to 25"),
        ({"active_range": 0}, "an active range of 0 is not possible"),
        ({"demand_mix": 65}, "a share of reads of 65 is not possible"),
        ({"demand_mix": 0.5, "tests": ["wsat"]}, "the demand mix 50/50 has no effect: only dirth"),
        ({"threads": 0}, "threads must be a whole number from 1"),
        ({"set": {"precondition.overwrite": 2}}, "each test begins with a drive as new"),
        ({"set": {"workload.synthetic.requests": 2}}, "has requests of its own"),
        ({"set": {"device.no_such": 2}}, "no_such"),
    ],
)
def test_errors_tell_what_is_allowed(more, told):
    with pytest.raises(flashgc.ConfigError) as error:
        flashgc.pts("enterprise-tlc", **{"set": TINY, **more})
    assert told in str(error.value)


def test_the_folder_of_a_report_says_how_to_see_it(flashgc, folder):
    told = flashgc("report", folder, "--out", "page", code=2).err
    assert "is a result of `flashgc pts`" in told
    assert "index.html" in told


def test_an_unknown_device_is_told(flashgc):
    assert "`flashgc devices` lists the devices" in flashgc("pts", "no-such", code=2).err


def test_a_wrong_share_is_told(flashgc):
    assert 'such as "75%"' in flashgc("pts", "enterprise-tlc", "--active-range", "0.5", code=2).err
    assert 'such as "65/35"' in flashgc("pts", "enterprise-tlc", "--demand-mix", "65", code=2).err


# The closed loop of a component.


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


def test_csv_files_have_a_head_each(folder):
    for name in ("measurements.csv", "rounds.csv", "results.csv", "response-times.csv"):
        text = (folder / name).read_text()
        assert next(csv.reader(io.StringIO(text)))[0] == "test", name


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"depth": 10**9}, "give a depth up to 1,000,000"),
        ({"threads": 10**5, "depth": 10**5}, "10,000,000,000 at a time"),
        ({"device": "slc-msr"}, "two devices: enterprise-tlc and slc-msr"),
    ],
)
def test_too_many_requests_and_two_devices_are_refused(wrong, told):
    """Requests by the thousand million took all memory of the machine."""
    with pytest.raises(flashgc.FlashgcError, match=re.escape(told)):
        flashgc.pts("enterprise-tlc", tests=["wsat"], round="1 ms", **wrong)
