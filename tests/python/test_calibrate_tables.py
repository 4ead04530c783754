"""Calibration: tables and fio's output as rows, and the messages about wrong ones."""

import json

import pytest

import flashgc
from conftest import SHARED
from flashgc.calibrating import reading

TABLE = """\
name, pattern, range, bs, depth, reads, rate, iops, p50_us, p99.9_us, write_amplification
idle, uniform, 100%, 4k, 1, 1, , 15000, 65, 70,
full, uniform, , 4 KiB, 32x2, 0%, , 3900, 14300, >19998, 2.7
half, scattered:80/20:20/80, 50%, 4k, 64, 0, 2000, 2000, 12, 900, 1.2
"""


def refusal(tmp_path, table, change, parts):
    """The error of a table after this change, which has these parts."""
    assert change[0] in table
    with pytest.raises(flashgc.ConfigError) as error:
        read(tmp_path, table.replace(*change))
    for part in parts:
        assert part in str(error.value)
    return str(error.value)


def read(tmp_path, text, name="rows.csv", drive_=None):
    (tmp_path / name).write_text(text)
    return reading.read([tmp_path / name], drive_)


def test_a_table_is_read(tmp_path):
    found, notes = read(tmp_path, TABLE)
    assert [row.name for row in found] == ["idle", "full", "half"]
    idle, full, half = found
    assert (idle.read_share, idle.depth, idle.values["read_p50"].number) == (1.0, 1, 65_000)
    assert full.depth == 64
    assert full.values["write_p99_9"] == (19_998_000, True)
    assert full.values["write_amplification"].number == 2.7
    assert half.pattern.address()["scatter"] == 1
    assert (half.range, half.rate) == (0.5, 2000)
    assert notes == []


def test_a_row_without_a_pattern_adds_numbers_to_a_run_of_fio(tmp_path):
    job = {
        "jobname": "full", "groupid": 0, "error": 0,
        "job options": {"rw": "randwrite", "bs": "4k", "iodepth": "32", "numjobs": "2",
                        "ioengine": "libaio",
                        "random_distribution": "zipf:1.2"},
        "read": {"iops": 0.0},
        "write": {"iops": 3900.0, "clat_ns": {
            "N": 10, "mean": 16e6, "percentile": {"50.000000": 14_300_000, "99.900000": 41e6}}},
    }  # fmt: skip
    whole = {"fio version": "fio-3.36", "global options": {"size": "372g"}, "jobs": [job]}
    (tmp_path / "full.json").write_text(json.dumps(whole))
    (tmp_path / "smart.csv").write_text("name,write_amplification\nfull,2.71\n")
    [row], _ = reading.read([tmp_path / "full.json", tmp_path / "smart.csv"])
    assert str(row.pattern) == "fiozipf:1.2"
    assert (row.depth, row.range) == (64, 372 << 30)
    assert {name: one.number for name, one in row.values.items()} == {
        "iops": 3900, "write_mean": 16e6, "write_p50": 14_300_000, "write_p99_9": 41e6,
        "write_amplification": 2.71,
    }  # fmt: skip


def test_jobs_without_a_group_report_have_percentiles_by_their_bins(tmp_path):
    def job(bins):
        count = sum(bins.values())
        write = {"iops": 100.0, "clat_ns": {"N": count, "mean": 5.0, "percentile": {"x": 1},
                                            "bins": bins}}  # fmt: skip
        return {"jobname": "w", "groupid": 0, "read": {"iops": 0.0}, "write": write,
                "job options": {"rw": "randwrite", "numjobs": "2"}}  # fmt: skip

    whole = {"fio version": "fio-3.36", "jobs": [job({"1000": 98}), job({"1000": 1, "9000": 101})]}
    [row], _ = read(tmp_path, json.dumps(whole), "two.json")
    assert row.values["iops"].number == 200
    assert row.values["write_p50"].number == 9000
    assert row.values["write_p99"].number == 9000


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("uniform, 100%", "zpif:1, 100%"), ["line 2", "'zpif:1'", "zipf:THETA"]),
        (("50%, 4k", "150%, 4k"), ["line 4", "range", "'150%'", "up to 100 %"]),
        (("4 KiB", "4 KB of data"), ["line 3", "bs", "such as 4k"]),
        (("32x2", "-1"), ["line 3", "depth", "'-1'"]),
        ((", 0%,", ", 7,"), ["reads", "'7'", "from 0 to 1"]),
        ((", 2.7", ", 0.7"), ["write_amplification", "'0.7'", "1 or more"]),
        (("2000, 2000", "-2, 2000"), ["rate", "'-2'", "above 0"]),
        (("80/20:20/80", "80/20:10/80"), ["90 %", "add up to 100 %"]),
        (("p50_us", "p50us"), ["'p50us'", "did you mean 'p50_us'"]),
        (
            (
                "half, scattered:80/20:20/80, 50%, 4k, 64, 0, 2000, 2000, 12, 900, 1.2",
                "none, , , , , , , , , , 1.2",
            ),
            ["'none'", "which no file", "full"],
        ),
        ((", 1, , 15000, 65, 70,", ", 0.5, , 15000, 65, 70,"), ["read_p50_us", "write_p50_us"]),
    ],
)
def test_nonsense_says_what_is_wrong_and_what_is_allowed(tmp_path, change, parts):
    assert "= help" in refusal(tmp_path, TABLE, change, parts)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{}", "list `jobs`"),
        ("{", "not JSON"),
        ('{"fio version": "fio-2.21", "jobs": []}', "fio 3"),
        ("", "is empty"),
        ("pattern,iops\nuniform,\n", "no measured number"),
        ("pattern,iops\nuniform\n", "another number of cells"),
        ("pattern,iops,iops\nuniform,1,1\n", "twice"),
        ("drive,pattern,iops\na,uniform,1\nb,uniform,1\n", "--drive"),
    ],
)
def test_other_files_are_refused(tmp_path, text, part):
    with pytest.raises(flashgc.ConfigError) as error:
        read(tmp_path, text)
    assert part in str(error.value)


def test_the_rows_of_one_drive(tmp_path):
    text = "drive,pattern,iops\nold,uniform,1\nnew one,uniform,2\n"
    [row], _ = read(tmp_path, text, drive_="new one")
    assert row.values["iops"].number == 2
    with pytest.raises(flashgc.ConfigError, match="did you mean 'new one'"):
        read(tmp_path, text, drive_="new on")


def test_a_drive_that_no_file_names_is_refused(tmp_path):
    for text in ("pattern,iops\nuniform,1\n", "drive,pattern,iops\n,uniform,1\n"):
        with pytest.raises(flashgc.ConfigError, match="no file has a column `drive`") as error:
            read(tmp_path, text, drive_="new one")
        assert "omit --drive" in str(error.value)


@pytest.mark.parametrize("given", ["-1", "-0.5", "many", "nan", "inf"])
def test_overwrites_are_named_with_their_allowed_values(tmp_path, given):
    table = f"pattern,iops,overwrites\nuniform,1,{given}\n"
    said = refusal(tmp_path, table, ("pattern", "pattern"), ["line 2", "overwrites", repr(given)])
    assert "give a number from 0, without a unit" in said


@pytest.mark.skipif(not (SHARED / "real").is_dir(), reason="no measurements of real drives here")
def test_the_medians_of_another_benchmark_are_read():
    found, notes = reading.read([SHARED / "real/ssdiq/steady.csv"], "Micron 7450 MAX 800GB")
    known = {row.name: row for row in found}
    full = known["uniform 745 GiB"]
    assert (full.depth, full.block_bytes, full.rate) == (512, 4096, None)
    assert full.values["write_p50"].number == pytest.approx(3.22e6, rel=0.01)
    assert known["zipf:1 745 GiB"].values["write_p99"].is_bound
    slow = known["uniform 745 GiB 10000/s"]
    assert slow.read_share == pytest.approx(1 / 3, abs=0.01)
    assert "left out" in notes[0]
    on, more = reading.on_drive(found, 800 * 10**9)
    assert all(row.range <= 1 for row in on)
    assert len(on) + len(more) == len(found)


STEADY = (
    "experiment,file_suffix,drive,active_GiB,pattern,details,rate_iops,threads_max,duration_s,"
    "write_MiBs,write_iops,read_iops,r50_us,r99_us,r99.9_us,r99.99_us,"
    "w50_us,w99_us,w99.9_us,w99.99_us\n"
)


def test_a_limit_that_no_run_of_the_benchmark_kept_is_none(tmp_path):
    """On one drive of its data, runs exceed their limit by a twentieth to twenty times."""
    cells = [(5000, 9, 100_234, 3097), (20_000, 9, 21_598, 0), (40_000, 1, 45_463, 460),
             (0, 1, 103_000, 0)]  # fmt: skip
    text = STEADY + "".join(
        f"a,b,c,100,uniform-noshuffle,,{limit},{threads},960,{writes / 256},{writes},{reads},"
        "100,300,400,500,30,300,400,500\n"
        for limit, threads, writes, reads in cells
    )
    (near, one, free), [note] = read(tmp_path, text)
    assert "1 row was left out" in note
    assert (near.name, near.rate) == ("uniform 100 GiB 20000/s depth 256", 21_598)
    # A limit leaves requests under way when others end late: one in the median is not the most.
    assert one.rate == pytest.approx(45_923, rel=1e-4)
    assert (one.depth, free.depth) == (256, 4)


@pytest.mark.parametrize(
    ("line", "column"),
    [("uniform,4k,1,1000,,,5000,,", "iops"),
     ("uniform,4k,1,1000,4,800,,,5000", "read_iops"),
     ("uniform,4k,1,1000,4,800,,5000,", "write_iops")],
)  # fmt: skip
def test_more_requests_than_come_are_refused(tmp_path, line, column):
    table = f"pattern,bs,depth,rate,read_depth,read_rate,iops,write_iops,read_iops\n{line}\n"
    said = refusal(tmp_path, table, ("pattern", "pattern"), ["line 2", f"{column} is '5000'"])
    assert "a second; leave it empty for a run at full rate" in said


def entry(name, group=0, **options):
    """An entry of fio with 100 requests a second."""
    way = {"iops": 100.0, "clat_ns": {"N": 9, "mean": 5e4, "percentile": {"50.000000": 5e4}}}
    return {"jobname": name, "groupid": group, "read": way, "write": way,
            "job options": {"rw": "randwrite", "bs": "4k", **options}}  # fmt: skip


def document(*jobs, **common):
    return json.dumps({"fio version": "fio-3.33", "global options": common, "jobs": list(jobs)},
                      indent=2)  # fmt: skip


def test_numbers_of_fio_are_in_its_own_notation(tmp_path):
    jobs = (
        entry("a", bs="4ki", size="8388608", rate_iops="2k"),
        entry("b", 1, bs="8k,8k", size="1g"),
    )
    (a, b), notes = read(tmp_path, document(*jobs, ioengine="libaio", iodepth="1k"), "o.json")
    assert (a.block_bytes, a.range, a.rate, a.depth) == (4096, 8 << 20, 2048, 1024)
    assert (b.block_bytes, b.range, b.rate, notes) == (8192, 1 << 30, None, [])


def test_a_limit_of_fio_in_bytes_is_a_rate(tmp_path):
    jobs = entry("a", rate="4m"), entry("b", 1, rate=",8m")
    (a, b), _ = read(tmp_path, document(*jobs), "o.json")
    assert (a.rate, b.rate) == (1024, 2048)


def test_a_synchronous_engine_has_one_request_in_flight(tmp_path):
    jobs = entry("a", iodepth="32", numjobs="4"), entry("b", 1, iodepth="32", ioengine="io_uring")
    (a, b), [note] = read(tmp_path, document(*jobs), "o.json")
    assert (a.depth, b.depth) == (4, 32)
    assert "job a: ioengine=psync is synchronous, and has one request in flight" in note


def test_jobs_that_no_row_can_say_are_left_out_with_the_reason(tmp_path):
    jobs = (entry("a", rw="randwrite:8"), entry("b", 1, thinktime="1ms"), entry("r", 2),
            entry("w", 2), entry("plain", 3, thinktime="0"))  # fmt: skip
    [row], notes = read(tmp_path, document(*jobs), "o.json")
    assert row.name == "plain"
    reasons = ("rw=randwrite:8", "thinktime=1ms", "same time as w", "same time as r")
    assert all(reason in note for reason, note in zip(reasons, notes, strict=True))
    with pytest.raises(flashgc.ConfigError, match=r"note: .*job a was left out"):
        read(tmp_path, document(jobs[0]), "o.json")


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        (["jobs", 0], 5, "entry 1 of `jobs`: it must have a table"),
        (["jobs", 0], {}, "`read` must have a table"),
        (["jobs", 0, "groupid"], [1], "a number and a text"),
        (["jobs", 0, "job options"], "x", "`job options` must have a table"),
        (["global options"], [], "`global options` must have a table"),
        (["jobs", 0, "write"], {}, "`write.iops` must have a number"),
        (["jobs", 0, "read", "iops"], "many", "`read.iops` must have a number"),
        (["jobs", 0, "read", "iops"], float("nan"), "`read.iops` must have a number"),
        (["jobs", 0, "read", "clat_ns", "mean"], None, "`read.clat_ns` must have numbers alone"),
        (["jobs", 0, "read", "clat_ns", "percentile"], [1], "a table in `percentile`"),
        (["jobs", 0, "read", "clat_ns", "bins"], {"x": 1}, "a time in ns for each"),
    ],
)
def test_json_of_another_form_than_fio_is_an_error_and_no_fault(tmp_path, path, value, part):
    whole = json.loads(document(entry("a")))
    place = whole
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(flashgc.ConfigError) as refused:
        read(tmp_path, json.dumps(whole), "o.json")
    assert str(refused.value).startswith(f"error: {tmp_path}/o.json")
    assert part in str(refused.value)
    assert "fio --output-format=json" in str(refused.value)


def test_lines_around_the_json_of_fio_are_passed_over(tmp_path):
    text = f"note: both iodepth >= 1 and synchronous\n{document(entry('a'))}\nRun status group 0\n"
    [row], _ = read(tmp_path, text, "o.json")
    assert row.name == "a"


def test_measurements_may_be_larger_than_a_configuration(tmp_path):
    [row], _ = read(tmp_path, document(entry("a", comm="x" * (5 << 20))), "o.json")
    assert row.name == "a"


def test_errors_name_the_line_behind_blank_ones(tmp_path):
    text = "name,pattern,iops\r\n\r\n\r\nidle,uniform,x\r\n"
    refusal(tmp_path, text, ("x", "x"), ["rows.csv, line 4: iops is 'x'"])


FULL = "name,pattern,reads,iops,p50_us,p99_us\nfull,uniform,0,3900,14300,25000\n"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("14300,25000", "25000,14300"), ["write p99 of the run 'full' is 14.3 ms",
                                          "below its write p50, 25.0 ms"]),
        (("reads,iops,p50_us", "reads,iops,p99_ms"), ["line 2", "p99_ms and p99_us are the same"]),
        (("reads,iops,p50_us", "reads,iops,write_p99_us"), ["write_p99_us and p99_us"]),
        (("p50_us", "read_p50_us"), ["is writes alone", "read p50", "share of reads"]),
        (("uniform,0,3900,14300", "uniform,1,3900,14300"), None),
        (("uniform,0,3900,14300,25000\n", "uniform,1,3900,,\nfull,,,,,\n"), None),
        (("25000\n", "25000\nfull,,,4100,,\n"), ["line 3: IOPS of the run 'full' is 4,100",
                                                 "3,900 in another line"]),
    ],
)  # fmt: skip
def test_numbers_that_contradict_each_other_or_their_load_are_refused(tmp_path, change, parts):
    if parts is None:
        assert change[0] in FULL
        assert read(tmp_path, FULL.replace(*change))[0]
    else:
        refusal(tmp_path, FULL, change, parts)


def test_reads_alone_have_no_write_amplification(tmp_path):
    table = "name,pattern,reads,iops,write_amplification\nidle,uniform,1,15000,2\n"
    refusal(tmp_path, table, ("idle", "idle"), ["'idle' is reads alone", "write amplification"])
    (tmp_path / "smart.csv").write_text("name,write_amplification\nidle,2\nidle,2\nidle,3\n")
    (tmp_path / "rows.csv").write_text(table.replace("15000,2", "15000,"))
    with pytest.raises(flashgc.ConfigError, match=r"smart.csv, line 4: .* 3.00, and 2.00 in"):
        reading.read([tmp_path / "rows.csv", tmp_path / "smart.csv"])


def test_each_row_of_several_files_has_a_name_of_its_own(tmp_path):
    """Results of rows are kept by name: of two with one name, one had the runs of the other."""
    for name, rows_ in (("a", 2), ("b", 1)):
        (tmp_path / f"{name}.csv").write_text("name,pattern,iops\n" + "full,uniform,1\n" * rows_)
    (tmp_path / "c.csv").write_text("name,pattern,iops\nfull (3),uniform,1\n")
    found, _ = reading.read([tmp_path / f"{name}.csv" for name in "abc"])
    assert [row.name for row in found] == ["full", "full (2)", "full (4)", "full (3)"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("pattern;iops\nuniform;3900\n", "separated by ';'"),
        ("pattern\tiops\nuniform\t3900\n", r"separated by '\t'"),
        ("\npattern,iops\nuniform,3900\n", "the first line of"),
        ('pattern,name,iops\nuniform,"' + "x" * 140_000 + "\n", "is not a table (CSV)"),
        ("pattern,bs,iops\nuniform,0.1,3900\n", "give a size of 1 B or more"),
        ("experiment,active_GiB,threads_max,w50_us,w99.9_us\na,1,1,1,1\n",
         "no column 'write_iops'"),
        ("{}{}".format(*['{"fio version": "fio-3.36", "jobs": []}\n'] * 2), "several runs of fio"),
    ],
)  # fmt: skip
def test_files_of_another_form_say_which(tmp_path, text, part):
    with pytest.raises(flashgc.ConfigError) as error:
        read(tmp_path, text)
    assert part in str(error.value)


def test_lines_may_end_as_on_any_system(tmp_path):
    (found, _), (other, _) = read(tmp_path, FULL), read(tmp_path, FULL.replace("\n", "\r"))
    assert found == other


def test_a_limit_of_zero_is_none_in_fio(tmp_path):
    jobs = entry("a", rate_iops="0"), entry("b", 1, rate=",")
    (a, b), _ = read(tmp_path, document(*jobs), "o.json")
    assert (a.rate, b.rate) == (None, None)
