"""SNIA's Performance Test Specification: the measurements of a drive, and the report."""

import csv
import io
import json

import pytest

import flashgc
import pages
from flashgc.snia.definitions import KIB
from test_schema import mistakes

TINY = {"device.blocks_per_plane": 64, "device.pages_per_block": 8, "device.channels": 2,
        "device.chips_per_channel": 1}  # fmt: skip


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


# The report.


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


def test_the_folder_of_a_report_says_how_to_see_it(flashgc, folder):
    told = flashgc("report", folder, "--out", "page", code=2).err
    assert "is a result of `flashgc pts`" in told
    assert "index.html" in told


def test_csv_files_have_a_head_each(folder):
    for name in ("measurements.csv", "rounds.csv", "results.csv", "response-times.csv"):
        text = (folder / name).read_text()
        assert next(csv.reader(io.StringIO(text)))[0] == "test", name
