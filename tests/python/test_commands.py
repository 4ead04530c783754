"""Every command, as a user runs it."""

import csv
import json
import random
from xml.etree import ElementTree

import pytest

import pages

COMMANDS = [
    [], ["run"], ["compare"], ["advise"], ["tune"], ["calibrate"], ["explain"], ["animate"],
    ["pts"], ["report"], ["serve"], ["drive"], ["drive", "save"],
    ["drive", "info"],
    ["trace"],    ["trace", "info"], ["trace", "convert"], ["trace", "cut"], ["trace", "merge"],
    ["trace", "generate"], ["schema"], ["sweep"], ["schemes"], ["devices"], ["workloads"],
    ["convert"], ["sweep", "status"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_shows_an_example(flashgc, command):
    text = flashgc(*command, "--help").out
    assert "Example:" in text
    assert "flashgc " + " ".join(command) in text


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
        (["--series-interval", "10 ms"], "no series is written"),
        (["--series", "a.csv", "--series-interval", "0 ms"], "it must be above 0"),
        (["--series", "a.csv", "--series-interval", "soon"], "`soon`"),
        (["--series", "a.csv", "--gc-log", "a.csv"], "its own name"),
        (["--series", "a.csv", "--seeds", "2"], "--series records one run"),
        (["--series", "/dev/full"], "the series cannot be written"),
    ],
)
def test_a_series_that_cannot_be(flashgc, small, tmp_path, args, why):
    assert why in flashgc("run", small, *args, code=2).err
    assert not (tmp_path / "a.csv").exists()


def test_marks_of_high_priority_are_counted_kept_and_lost(flashgc, small, tmp_path):
    marked = ["--set", "workload.synthetic.high_share=0.25"]
    csv_format = "csv:time:ns, op, offset, size, priority"
    flashgc("trace", "generate", small, "marked.csv", "--format", csv_format, *marked)
    about = flashgc("trace", "info", "marked.csv", "--format", csv_format, "--json").json
    assert 0.2 < about["high"] / about["rows"] < 0.3
    flashgc("trace", "convert", "marked.csv", "marked.fgt", "--format", csv_format)
    assert flashgc("trace", "info", "marked.fgt", "--json").json["high"] == about["high"]
    assert "high priority" in flashgc("trace", "info", "marked.fgt").out
    done = flashgc("trace", "convert", "marked.fgt", "plain.csv", "--to", "csv")
    assert f"{about['high']} priority marks lost" in done.err + done.out
    done = flashgc("trace", "generate", small, "marked.load", *marked)
    assert "priority marks lost" in done.err + done.out
    assert "high" not in flashgc("trace", "info", "marked.load", "--json").json
    statistics = _statistics(small, 0.25)
    assert statistics["high"] == about["high"]
    assert "high" not in _statistics(small, 0.0)


def _statistics(config, share):
    import flashgc

    settings = {"workload.synthetic.high_share": share}
    return flashgc.workload(config, set=settings)["statistics"]


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


def test_trace_info_tells_people(flashgc, spc):
    done = flashgc("trace", "info", spc)
    for word in ("spc", "3,000", "1,500 reads", "footprint", "duration"):
        assert word in done.out


def test_trace_info_says_how_values_are_spread(flashgc, spc):
    about = flashgc("trace", "info", spc, "--json").json
    assert about["read_share"] == 0.5
    assert about["interarrival_ns"]["write"]["p50"] <= 2_000_000 <= 1.016 * 2_000_000
    assert about["interarrival_ns"]["all"]["below_1_5_ms_share"] == 1.0
    assert about["size_bytes"]["write"]["common"] == [[4096, 1.0]]
    assert about["sequential"]["write_share"] > 0.9
    # 1,500 writes of 250 pages, always in the same order.
    assert about["updates"]["distance_bytes"]["min"] == 250 * 4096
    assert about["hotness"]["writes_per_page"]["max"] == 6
    shown = flashgc("trace", "info", spc).out
    for part in ("from write to write", "written before an update", "windows of", "4 KiB 100.0 %"):
        assert part in shown


@pytest.mark.parametrize("rows", [1, 2, 3000])
def test_trace_info_draws_a_page_and_a_picture(flashgc, spc, tmp_path, rows):
    for name in ("a.html", "a.svg"):
        done = flashgc("trace", "info", spc, "--rows", rows, "--plot", name)
        assert f"saved {name}" in done.out + done.err
    page = (tmp_path / "a.html").read_text()
    assert page.count("<svg") == (8 if rows == 3000 else page.count("<figure>"))
    assert "NaN" not in page
    assert pages.addresses(page.replace("http://www.w3.org", "")) == []
    tree = ElementTree.fromstring((tmp_path / "a.svg").read_text())
    titles = [found.text for found in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert "Sizes" in titles


def test_trace_info_draws_no_other_kind(flashgc, spc):
    done = flashgc("trace", "info", spc, "--plot", "a.png", code=2)
    assert ".svg" in done.err


def test_trace_convert_keeps_every_row(flashgc, spc, tmp_path):
    for target, to in (("a.csv.zst", "csv"), ("a.csv.gz", "msr"), ("a.trace", "ssdsim")):
        flashgc("trace", "convert", spc, target, "--to", to)
        about = flashgc("trace", "info", target, "--format", to, "--json").json
        assert (about["rows"], about["reads"], about["footprint_bytes"]) == (3000, 1500, 500 * 4096)
    assert (tmp_path / "a.csv.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    printed = flashgc("trace", "convert", spc, "-", "--to", "csv", "--rows", 2, "--start", "1 s")
    assert printed.out.splitlines()[1].split(",")[0] == "1000000000"
    assert len(printed.out.splitlines()) == 3


def test_our_own_format_keeps_all_and_says_where_it_comes_from(flashgc, spc, replay):
    flashgc("trace", "convert", spc, "a.fgt")
    first, second = (flashgc("trace", "info", name, "--json").json for name in (spc, "a.fgt"))
    assert second.pop("format") == "fgt"
    assert second.pop("origin") == f"{spc.name} (spc)"
    assert second == {key: first[key] for key in second}
    assert "made from" in flashgc("trace", "info", "a.fgt").out
    told = ["--format", "auto", "--json"]
    runs = [flashgc("run", replay, "--trace", name, *told).json for name in (spc, "a.fgt")]
    assert runs[0]["result_hash"] == runs[1]["result_hash"]


def test_names_and_formats_have_no_part_in_the_result_hash(flashgc, spc, replay, tmp_path):
    flashgc("trace", "convert", spc, "a.fgt")
    text = flashgc("run", replay, "--trace", spc, "--json").json
    packed = flashgc("run", replay, "--trace", "a.fgt", "--format", "fgt", "--json").json
    assert text["config_hash"] != packed["config_hash"]
    assert text["result_hash"] == packed["result_hash"]
    (tmp_path / "mine.toml").write_text(flashgc("schemes", "greedy").out)
    mine = flashgc("run", replay, "--trace", spc, "--scheme", "mine.toml", "--json").json
    assert mine["config_hash"] != text["config_hash"]
    assert mine["result_hash"] == text["result_hash"]
    fewer = flashgc("run", replay, "--trace", spc, "--set", "workload.trace.rows=2999", "--json")
    assert fewer.json["result_hash"] != text["result_hash"]


def test_trace_cut_takes_parts_by_time_device_and_row(flashgc, spc):
    flashgc("trace", "convert", spc, "a.fgt")
    for source in (spc, "a.fgt"):
        flashgc("trace", "cut", source, "rows.csv", "--to", "csv", "--first-row", 10, "--rows", 5)
        rows = flashgc("trace", "info", "rows.csv", "--format", "csv", "--json").json
        assert rows["rows"] == 5
        cut = flashgc("trace", "cut", source, "time.fgt", "--start", "1 s", "--length", "1 s")
        assert "in fgt" in cut.err
        part = flashgc("trace", "info", "time.fgt", "--json").json
        assert part["first_ns"] >= 1_000_000_000
        assert part["last_ns"] < 2_000_000_000
        hour = flashgc("trace", "cut", source, "hour.fgt", "--length", "1 h")  # as in its help
        assert "in fgt" in hour.err
        nothing = flashgc("trace", "cut", source, "x.fgt", "--only-device", 77, code=2)
        assert "leaves none" in nothing.err
    kept = flashgc("trace", "cut", spc, "kept.spc", "--rows", 3)
    assert "3 rows in spc" in kept.err


def test_trace_merge_joins_in_order_of_time(flashgc, spc, tmp_path):
    flashgc("trace", "merge", spc, spc, "two.spc")
    assert flashgc("trace", "info", "two.spc", "--json").json["rows"] == 6000
    flashgc("trace", "merge", spc, spc, "two.fgt", "--renumber", "--align")
    about = flashgc("trace", "info", "two.fgt", "--json").json
    assert (about["rows"], len(about["devices"]), about["out_of_order"]) == (6000, 2, 0)
    late = tmp_path / "late.spc"
    late.write_text("0,8,512,R,1.0\n0,8,512,R,0.5\n")
    refused = flashgc("trace", "merge", late, spc, "x.spc", code=2)
    assert "--sort-window" in refused.err
    assert not (tmp_path / "x.spc").exists()
    flashgc("trace", "merge", late, spc, "x.spc", "--sort-window", "500 ms")
    assert "SRC" in flashgc("trace", "merge", "alone.spc", code=2).err


def test_rows_out_of_order_are_told_or_sorted(flashgc, tmp_path):
    late = tmp_path / "late.spc"
    late.write_text("0,8,512,R,1.0\n0,8,512,R,0.5\n0,8,512,R,2.0\n")
    assert "1 out of order" in flashgc("trace", "convert", late, "a.fgt").err
    assert "out of" not in flashgc("trace", "convert", late, "b.fgt", "--sort-window", "1 s").err
    assert flashgc("trace", "info", "b.fgt", "--json").json["out_of_order"] == 0


def test_trace_generate_makes_what_run_runs(flashgc, small, replay):
    gaps = 'workload.synthetic.interarrival={ exponential = "1 ms" }'
    config = small.with_name("open.toml")
    config.write_text(small.read_text().replace("queue_depth = 8", ""))
    open_loop = ["--set", gaps, "--set", "workload.synthetic.requests=500"]
    flashgc("trace", "generate", config, "made.load", *open_loop)
    direct = flashgc("run", config, "--json", *open_loop).json
    nothing = ["--set", "precondition.overwrite=1.0", "--set", "workload.trace.format=auto"]
    made = flashgc("run", replay, "--trace", "made.load", "--json", *nothing).json
    assert made["requests"] == direct["requests"]
    assert made["pages"]["host_written"] == direct["pages"]["host_written"]


@pytest.mark.parametrize("kind", ["schemes", "devices"])
def test_presets_are_listed_and_printed(flashgc, kind):
    listed = flashgc(kind, "--json").json
    table = flashgc(kind).out
    for entry in listed:
        assert entry["name"] in table
        assert entry["source"]
    name = listed[0]["name"]
    assert flashgc(kind, name).out.strip() == listed[0]["text"].strip()
    assert flashgc(kind, name, "--json").json == listed[0]


def test_the_choices_of_every_slot_are_listed(flashgc):
    slots = flashgc("schemes", "--slots", "--json").json
    assert [slot["name"] for slot in slots] == [
        "trigger", "erase", "victim", "copy", "placement", "blocking", "preemption", "pacing",
        "background",
    ]  # fmt: skip
    text = " ".join(flashgc("schemes", "--slots").out.split())
    for slot in slots:
        assert slot["question"] in text
        assert all(choice["about"] in text for choice in slot["choices"])


def test_the_built_in_workload_runs(flashgc):
    report = flashgc("run", "oltp", "--json", "--set", "workload.synthetic.requests=50000").json
    assert report["saturated"] is False
    assert 0.6 < report["requests"]["read"] / 50_000 < 0.74


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("flashgc run ol", "oltp"),
        ("flashgc run oltp --scheme wear-a", "wear-aware"),
        ("flashgc run oltp --device slc-m", "slc-msr"),
        ("flashgc compare oltp --schemes greedy,fi", "greedy,fifo"),
        ("flashgc trace convert a b --to blkr", "blkreplay"),
        ("flashgc trace convert a b --to di", "disksim"),
        ("flashgc schemes cost", "cost-benefit"),
        ("flashgc reproduce par", "parallel-gc"),
        ("flashgc reproduce parallel-gc/table-3,5a,table-5", "parallel-gc/table-3,5a,table-5"),
    ],
)
def test_the_shell_completes_names(flashgc, words, expected):
    asked = {
        "_FLASHGC_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    assert flashgc(env=asked).out.split() == [expected]


def test_completion_can_be_shown(flashgc):
    # The shell is named: a test runner may have none among its parents.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = flashgc("--show-completion", "bash", env=named).out
    assert "_FLASHGC_COMPLETE=complete_bash" in shown


def test_trace_fit_makes_a_fitted_workload_that_runs(flashgc, spc, tmp_path):
    flashgc("trace", "fit", spc, "--out", "like.toml")
    text = (tmp_path / "like.toml").read_text()
    assert "[[workload.fitted.course]]" in text
    report = flashgc("run", "like.toml", "--json").json
    assert report["requests"]["read"] + report["requests"]["write"] == 3000
    assert abs(report["requests"]["read"] - 1500) < 150
    # Once more with equal bytes, on standard output.
    assert flashgc("trace", "fit", "-", stdin=spc.read_bytes()).out == text
    made = flashgc("trace", "generate", "like.toml", "like.load").err
    assert "3,000 rows" in made


def test_trace_fit_checks_against_the_trace(flashgc, tmp_path):
    drawn = random.Random(1)
    rows = [
        f"0,{8 * drawn.randrange(2000)},4096,{drawn.choice('rw')},{at / 500}" for at in range(9000)
    ]
    spc = tmp_path / "drawn.spc"
    spc.write_text("\n".join(rows) + "\n")
    rows = flashgc("trace", "fit", spc, "--check", "--seeds", 2, "--json").json
    figures = {row["metric"]: row for row in rows}
    assert abs(figures["write amplification"]["difference"]) < 0.1
    assert abs(figures["mean latency"]["difference"]) < 0.1
    assert abs(figures["pages written"]["difference"]) < 0.05
    shown = flashgc("trace", "fit", spc, "--check", "--set", "device.unit=plane").out
    assert "fitted" in shown
    assert "mean read latency" in shown
    refused = flashgc("trace", "fit", spc, "--set", "device.unit=plane", code=2)
    assert "--check" in refused.err


def test_trace_fit_checks_a_part_beside_late_rows(flashgc, tmp_path):
    rows = [f"0,{8 * (at * 13 % 640)},4096,w,{1000 + at / 100}" for at in range(3000)]
    rows[0], rows[1500] = "0,0,4096,w,0", "0,0,4096,w,1"
    spc = tmp_path / "jumps.spc"
    spc.write_text("\n".join(rows) + "\n")
    rows = flashgc("trace", "fit", spc, "--check", "--start", "500 s", "--seeds", 1, "--json").json
    figures = {row["metric"]: row for row in rows}
    assert figures["pages written"]["original"] == 2998


def test_trace_fit_needs_requests(flashgc, tmp_path):
    (tmp_path / "trims.csv").write_text("time:ns,device,op,offset,size\n0,0,t,0,4096\n")
    refused = flashgc("trace", "fit", "trims.csv", "--format",
                      "csv:time:ns, device, op, offset, size; header=yes", code=2)  # fmt: skip
    assert "no reads or writes" in refused.err
    one = "time:ns,device,op,offset,size\n5,0,w,512,4096\n"
    (tmp_path / "one.csv").write_text(one)
    flashgc("trace", "fit", "one.csv", "--format",
            "csv:time:ns, device, op, offset, size; header=yes", "--out", "one.toml")  # fmt: skip
    assert flashgc("run", "one.toml", "--json").json["requests"]["write"] == 1


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


@pytest.mark.parametrize("area", ["inf", "nan", "0"])
def test_the_area_of_a_die_is_above_zero_and_finite(flashgc, area):
    refused = flashgc("devices", "client-tlc", "--registers", "4", "--die-mm2", area, code=2)
    assert "die" in refused.err


@pytest.mark.parametrize("more", ["--worst-case", "--facts"])
def test_options_that_print_another_table_each_exclude_each_other(flashgc, more):
    refused = flashgc("devices", "slc-msr", "--registers", "4", more, code=2).err
    assert "--registers" in refused
    assert more in refused
    assert "exclude each other" in refused


@pytest.mark.parametrize("command", [[], ["drive"], ["sweep"], ["trace"]], ids=" ".join)
def test_a_group_without_arguments_prints_its_help(flashgc, command):
    found = flashgc(*command, code=2).out
    assert " ".join(["flashgc", *command, "[OPTIONS] COMMAND"]) in found
    assert "Example:" in found


@pytest.mark.parametrize("command", [["run"], ["drive"], ["compare"]], ids=" ".join)
def test_the_help_of_a_flag_names_no_type(flashgc, command):
    assert "bool" not in flashgc(*command, "--help").out


def test_a_generated_trace_is_in_fgt_if_its_name_says_so(flashgc):
    few = ["--set", "workload.synthetic.requests=100", "--set", "device.blocks_per_plane=64"]
    for name, by_name in (("a.fgt", "fgt"), ("a.load", "blkreplay")):
        assert f"in {by_name}" in flashgc("trace", "generate", "oltp", name, *few).err
        assert flashgc("trace", "info", name, "--json").json["format"] == by_name
