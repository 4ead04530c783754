"""The commands of traces, as a user runs them."""

import random
from xml.etree import ElementTree

import pytest

import pages


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
    assert f"{about['high']:,} priority marks lost" in done.err + done.out
    flashgc("trace", "cut", "marked.fgt", "cut.fgt", "--rows", 20)
    first = flashgc("trace", "convert", "cut.fgt", "all.csv", "--to", csv_format).err
    assert "lost" not in first
    rows = (tmp_path / "all.csv").read_text().splitlines()
    one = next(at for at, row in enumerate(rows) if row.endswith(",h"))
    done = flashgc("trace", "cut", "cut.fgt", "one.csv", "--to", "csv", "--first-row", one,
                   "--rows", 1)  # fmt: skip
    assert "1 row in csv; 1 priority mark lost" in done.err
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
        assert "`flashgc trace info` of the whole trace" in nothing.err
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


def test_trace_merge_without_a_name_for_the_result_replaces_no_trace(flashgc, spc, tmp_path):
    flashgc("trace", "cut", spc, "b.spc", "--rows", 3)
    before = (tmp_path / "b.spc").read_bytes()
    refused = flashgc("trace", "merge", spc, "b.spc", code=2)
    assert f"`flashgc trace merge {spc} b.spc DST`" in refused.err
    assert (tmp_path / "b.spc").read_bytes() == before
    flashgc("trace", "merge", spc, "new.spc", "--align")
    flashgc("trace", "merge", spc, spc, "new.spc")


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


def test_a_generated_trace_is_in_fgt_if_its_name_says_so(flashgc):
    few = ["--set", "workload.synthetic.requests=100", "--set", "device.blocks_per_plane=64"]
    for name, by_name in (("a.fgt", "fgt"), ("a.load", "blkreplay")):
        assert f"in {by_name}" in flashgc("trace", "generate", "oltp", name, *few).err
        assert flashgc("trace", "info", name, "--json").json["format"] == by_name
