"""`flashgc run` and `flashgc compare`, as a user runs them."""

import csv
import json

import pytest

import pages


def test_run_tells_people_what_happened(flashgc, small):
    done = flashgc("run", small)
    for word in ("p99.99", "write amplification", "garbage collection", "wear", "units", "greedy"):
        assert word in done.out
    assert "\x1b[" not in done.out + done.err


def test_run_saves_a_report(flashgc, small, tmp_path):
    done = flashgc("run", small, "--out", "deep/folder", "--json")
    folder = tmp_path / "deep/folder"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["curves.json", "report.html", "report.json"]
    assert json.loads((folder / "report.json").read_text()) == done.json
    page = (folder / "report.html").read_text()
    assert "latency" in pages.charts(page)
    assert "write amplification" in page
    assert pages.addresses(page) == []


def test_the_same_seed_gives_the_same_bytes(flashgc, small):
    first, second, other = (
        flashgc("run", small, "--json", "--seed", seed).json for seed in (7, 7, 8)
    )
    assert first["result_hash"] == second["result_hash"] != other["result_hash"]
    assert first["seed"] == 7


def test_settings_scheme_and_device_come_over_the_file(flashgc, small):
    report = flashgc("run", small, "--json", "--scheme", "fifo").json
    assert report["scheme"] == "fifo"
    report = flashgc("run", small, "--json", "--set", "device.blocks_per_plane=128").json
    assert report["capacity"]["physical_pages"] == 2 * 2 * 128 * 32
    small_slc = ["--device", "slc-msr", "--set", "device.blocks_per_plane=64"]
    assert flashgc("run", small, "--json", *small_slc).json["device"] == "slc-msr"


def test_a_scheme_from_a_file(flashgc, small, tmp_path):
    text = flashgc("schemes", "greedy").out
    (tmp_path / "mine.toml").write_text(
        text.replace('victim.use = "greedy"', 'victim.use = "fifo"')
    )
    mine, fifo = (
        flashgc("run", small, "--json", "--scheme", name).json for name in ("mine.toml", "fifo")
    )
    assert mine["pages"] == fifo["pages"]
    assert mine["latency_ns"] == fifo["latency_ns"]


def test_several_seeds_give_mean_and_interval(flashgc, small):
    report = flashgc("run", small, "--json", "--seeds", 4, "--seed", 3).json
    assert report["seeds"]["values"] == [3, 4, 5, 6]
    single = flashgc("run", small, "--json", "--seed", 3).json
    assert report["result_hash"] == single["result_hash"]
    metric = report["seeds"]["metrics"]["latency_ns.all.mean"]
    assert metric["low"] < metric["mean"] < metric["high"]
    assert "95 % interval" in flashgc("run", small, "--seeds", 2).out


def test_verify_changes_nothing(flashgc, small):
    watched, plain = (flashgc("run", small, "--json", *more).json for more in (["--verify"], []))
    assert watched["result_hash"] == plain["result_hash"]


def test_the_log_has_a_row_for_each_collection(flashgc, small, tmp_path):
    report = flashgc("run", small, "--json", "--gc-log", "gc.csv").json
    with open(tmp_path / "gc.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == report["gc"]["count"] > 0
    assert sum(int(row["moved"]) for row in rows) <= report["pages"]["gc_moved"]
    assert all(int(row["end_ns"]) > int(row["selected_ns"]) for row in rows)


def test_a_log_without_collections_has_the_names_of_its_columns(flashgc, small, tmp_path):
    only_reads = "workload.synthetic.read_share=1.0"
    flashgc("run", small, "--json", "--gc-log", "gc.csv", "--set", only_reads)
    lines = (tmp_path / "gc.csv").read_text().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("unit,plane,victim,blocks,selected_ns")


def _series(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def test_the_series_adds_up_to_the_report(flashgc, small, tmp_path):
    plain = flashgc("run", small, "--json").json
    for more in ([], ["--series-interval", "20ms", "--verify", "--gc-log", "gc.csv"]):
        report = flashgc("run", small, "--json", "--series", "over-time.csv", *more).json
        assert report["result_hash"] == plain["result_hash"]
        rows = _series(tmp_path / "over-time.csv")
        assert 10 < len(rows) <= 4096
        totals = {
            "requests_read": report["requests"]["read"],
            "requests_write": report["requests"]["write"],
            "gc_count": report["gc"]["count"],
            "gc_moved": report["pages"]["gc_moved"],
            "gc_busy_ns": report["gc"]["total_busy_ns"],
        }
        for column, total in totals.items():
            assert sum(int(row[column]) for row in rows) == total, column
        longest = max(int(row["latency_write_max_ns"] or 0) for row in rows)
        assert longest == report["latency_ns"]["write"]["max"]
        starts = [int(row["start_ns"]) for row in rows]
        assert starts == sorted(set(starts))
    assert all(start % 20_000_000 == 0 for start in starts)


def test_a_series_without_writes_leaves_their_latency_empty(flashgc, small, tmp_path):
    only_reads = "workload.synthetic.read_share=1.0"
    done = flashgc("run", small, "--series", "over-time.csv", "--set", only_reads)
    assert "saved over-time.csv" in done.err + done.out
    rows = _series(tmp_path / "over-time.csv")
    assert {row["latency_write_mean_ns"] for row in rows} == {""}
    assert all(float(row["latency_read_mean_ns"] or 1) > 0 for row in rows)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (
            ["--series-interval", "10 ms"],
            "the series interval `10 ms` has no effect without a series",
        ),
        (["--series", "a.csv", "--series-interval", "0 ms"], "it must be above 0"),
        (["--series", "a.csv", "--series-interval", "soon"], "`soon`"),
        (["--series", "a.csv", "--gc-log", "a.csv"], "its own name"),
        (["--series", "a.csv", "--seeds", "2"], "--series records one run"),
        (["--series", "/dev/full"], "the series cannot be written: /dev/full: no space"),
    ],
)
def test_a_series_that_cannot_be(flashgc, small, tmp_path, args, why):
    assert why in flashgc("run", small, *args, code=2).err
    assert not (tmp_path / "a.csv").exists()


def test_compare_sets_schemes_side_by_side(flashgc, small, tmp_path):
    done = flashgc("compare", small, "--schemes", "greedy,fifo,random", "--out", "three")
    for word in ("greedy", "fifo", "random", "p99.99", "GC busy", "erases"):
        assert word in done.out
    assert "differ in" not in done.out
    assert "<svg" in (tmp_path / "three/report.html").read_text()
    reports = json.loads((tmp_path / "three/report.json").read_text())
    assert len({json.dumps(report["requests"]) for report in reports}) == 1


def test_compare_gives_the_same_on_one_and_on_several_threads(flashgc, small):
    command = ["compare", small, "--schemes", "greedy,fifo,random", "--json", "--jobs"]
    one, three = ([r["result_hash"] for r in flashgc(*command, n).json] for n in (1, 3))
    assert one == three


def test_replay_of_a_file_and_of_standard_input(flashgc, replay, spc):
    file = flashgc("run", replay, "--trace", spc, "--json").json
    pipe = flashgc("run", replay, "--trace", "-", "--json", stdin=spc.read_bytes()).json
    assert file["result_hash"] == pipe["result_hash"]
    assert file["requests"] == {"read": 1500, "write": 1500, "trim": 0}
    # A check before the run reads nothing of a pipe.
    refused = flashgc("run", replay, "--trace", "-", "--check-wait", "--scheme", "greedy",
                      stdin=spc.read_bytes(), code=2)  # fmt: skip
    assert "no state S1 to check" in refused.err
    checked = ["--check-wait", "--scheme", "pgc-both", "--json"]
    file = flashgc("run", replay, "--trace", spc, *checked).json
    pipe = flashgc("run", replay, "--trace", "-", *checked, stdin=spc.read_bytes()).json
    assert file["result_hash"] == pipe["result_hash"]


def test_a_configuration_may_name_its_trace(flashgc, replay, spc, tmp_path):
    (tmp_path / "sub").mkdir()
    text = replay.read_text().replace("[workload.trace]", '[workload.trace]\nfile = "t.spc"')
    (tmp_path / "sub/own.toml").write_text(text)
    (tmp_path / "sub/t.spc").write_text(spc.read_text())
    assert flashgc("run", "sub/own.toml", "--json").json["requests"]["read"] == 1500


def test_the_built_in_workload_runs(flashgc):
    report = flashgc("run", "oltp", "--json", "--set", "workload.synthetic.requests=50000").json
    assert report["saturated"] is False
    assert 0.6 < report["requests"]["read"] / 50_000 < 0.74


def test_a_write_buffer_is_told_of_where_there_is_one(flashgc, small):
    buffer = ["--set", 'device.write_buffer.size="64 KiB"']
    report = flashgc("run", small, "--json", *buffer).json
    told = flashgc("run", small, *buffer).out
    assert "write buffer" in told
    assert "waited for space" in told
    assert set(report["buffer"]) == {"hits_read", "hits_write", "stalls", "dirty_at_end"}
    assert report["pages"]["flushed"] > 0
    plain = flashgc("run", small, "--json").json
    assert "buffer" not in plain
    assert "flushed" not in plain["pages"]
    assert "write buffer" not in flashgc("run", small).out


def test_collections_of_an_idle_drive_are_told_apart(flashgc, replay, spc):
    command = ["run", replay, "--trace", spc, "--scheme", "idle"]
    wait = ["--set", 'gc.trigger.idle.wait="100 us"']
    report = flashgc(*command, *wait, "--json").json
    assert 0 < report["gc"]["idle_collections"] <= report["gc"]["count"]
    assert "while the drive was idle" in flashgc(*command, *wait).out
    schemes = flashgc("schemes").out
    assert "trigger watermark + idle" in " ".join(schemes.split())


def test_a_run_is_checked_against_the_worst_case(flashgc):
    run = ["run", "cello-like", "--device", "preemptible-gc-slc", "--check-wait", "--json"]
    run += ["--set", "workload.synthetic.requests=20000", "--set", "device.blocks_per_plane=64"]
    assert json.loads(flashgc(*run, "--scheme", "pgc-both").out)["gc"]["preempted"] > 100
    # Refused before the run, which would take days.
    endless = ["--set", "workload.synthetic.requests=1000000000000", "--scheme", "greedy"]
    assert "no state S1 to check" in flashgc(*run, *endless, code=2).err


@pytest.mark.parametrize(
    ("command", "page"),
    [
        (["run"], "report.html"),
        (["compare", "--schemes", "greedy,fifo"], "report.html"),
        (["explain"], "explanation.html"),
        (["advise", "--schemes", "fifo"], "advice.html"),
        (["tune", "--trials", "1"], "tune.html"),
    ],
)
def test_a_result_that_cannot_be_saved_is_shown(flashgc, small, tmp_path, command, page):
    (tmp_path / "out" / page).mkdir(parents=True)
    in_words = flashgc(command[0], small, *command[1:], "--out", "out", code=2)
    assert "is a directory" in in_words.err
    assert "greedy" in in_words.out
    as_json = flashgc(command[0], small, *command[1:], "--out", "out", "--json", code=2)
    assert json.loads(as_json.out)


def test_a_trace_that_sized_its_drive_is_not_told_to_size_it(flashgc, tmp_path):
    (tmp_path / "one.csv").write_text("0,W,0,4096\n")
    given = ["run", "replay", "--trace", "one.csv", "--format", "csv:time:us,op,offset,size"]
    sized = flashgc(*given, "--json").json["steady"]["nothing_moved"]
    assert "workload.trace.fit" not in sized
    assert "to see collection, repeat it (workload.trace.loops" in sized
    whole = ["--fit", "none", "--set", "device.blocks_per_plane=64"]
    plain = flashgc(*given, *whole, "--json").json["steady"]["nothing_moved"]
    assert "size the drive to the trace (workload.trace.fit" in plain


@pytest.mark.parametrize(
    "typed",
    [
        ["run", "SMALL", "--gc-log", "-"],
        ["run", "SMALL", "--series", "-"],
        ["run", "SMALL", "--timeline", "-"],
        ["run", "SMALL", "--out", "-"],
        ["compare", "SMALL", "--schemes", "greedy,fifo", "--out", "-"],
        ["drive", "save", "SMALL", "-"],
    ],
)
def test_a_result_that_is_never_on_standard_output_is_not_called_minus(
    flashgc, small, tmp_path, typed
):
    before = sorted(tmp_path.iterdir())
    said = flashgc(*(small if word == "SMALL" else word for word in typed), code=2).err
    assert "cannot be called -" in said
    assert "one called - is ./-" in said
    assert sorted(tmp_path.iterdir()) == before


def test_standard_input_is_one_trace_of_a_merge(flashgc, tmp_path):
    said = flashgc("trace", "merge", "-", "-", "o.fgt", code=2).err
    assert "error: standard input (-) is given twice, and can be read once" in said
    assert not (tmp_path / "o.fgt").exists()
