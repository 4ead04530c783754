"""The log of requests: its files against the report and each other, whole or not at all."""

import resource
import subprocess
import sys

import polars as pl
import pyarrow.parquet as pq
import pytest

import flashgc as package
from conftest import ENDLESS, SMALL, interrupted_while_writing
from in_process import apart

COLUMNS = ["request", "job", "arrival_ns", "kind", "offset_bytes", "size_bytes", "hint",
           "start_ns", "end_ns", "latency_ns"]  # fmt: skip
PARTS = ["service_ns", "host_ns", "copies_ns", "erase_ns", "bus_ns", "switch_ns", "blocked_ns",
         "space_ns", "buffer_ns"]  # fmt: skip
VARIANTS = {
    "greedy": {},
    "trims": {"workload.synthetic.trim_share": 0.1},
    "link-and-buffer": {
        "device.host_link.transfer": "1 ns/B", "device.write_buffer.size": "64 KiB",
        "workload.synthetic.size": "10 KiB",
    },
    "fpgc": {"gc.scheme": "fpgc", "device.suspend.suspend": "20 us"},
    "cost-benefit": {"gc.scheme": "cost-benefit", "workload.synthetic.trim_share": 0.1},
}  # fmt: skip


def read(path):
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    return pl.read_csv(path, infer_schema_length=None)


@pytest.mark.parametrize("variant", VARIANTS)
@apart
def test_the_rows_are_the_report_in_both_formats(tmp_path, variant):
    sets = VARIANTS[variant]
    plain = package.run(SMALL, set=sets, blame=True)
    logs = []
    for name in ("a.csv", "b.parquet"):
        report = package.run(SMALL, set=sets, blame=True, request_log=tmp_path / name)
        assert report.result_hash == plain.result_hash
        assert report.blame == plain.blame
        log = read(tmp_path / name)
        assert log.columns == [*COLUMNS, *PARTS]
        logs.append(log)
    assert logs[0].equals(logs[1].select(logs[0].columns))
    log = logs[0]
    assert log["request"].sort().to_list() == list(range(20_000))
    for kind in ("read", "write"):
        latencies = log.filter(kind=kind)["latency_ns"].sort()
        of = plain.latency_ns[kind]
        assert (len(latencies), latencies.min(), latencies.max()) == (of.count, of.min, of.max)
        assert latencies.mean() == pytest.approx(of.mean, rel=1e-12)
        for share, name in ((50, "p50"), (99, "p99")):
            exact = latencies[-(-len(latencies) * share // 100) - 1]
            assert exact == pytest.approx(of[name], rel=1e-3)
    trims = log.filter(kind="trim")
    assert len(trims) == plain.requests.trim
    assert trims.select(pl.col(PARTS).is_null().all()).row(0) == (True,) * len(PARTS)
    others = log.filter(pl.col("kind") != "trim")
    assert others.select((pl.sum_horizontal(PARTS) == pl.col("latency_ns")).all()).item()
    for kind in ("read", "write"):
        split = plain.blame[kind].mean
        means = log.filter(kind=kind).select(pl.col(PARTS).mean()).row(0, named=True)
        for name in ("service_ns", "host_ns", "space_ns", "buffer_ns"):
            assert means[name] == pytest.approx(split[name], rel=1e-9, abs=1e-9)


@apart
def test_without_blame_there_are_no_parts(flashgc, small, tmp_path):
    shown = flashgc("run", small, "--request-log", "a.csv")
    assert "saved a.csv" in shown.out + shown.err
    head, first, *_ = (tmp_path / "a.csv").read_text().splitlines()
    assert head == ",".join(COLUMNS)
    assert '"' not in first
    flashgc("run", small, "--request-log", "a.PARQUET", "--blame", "--verify", "--gc-log", "g.csv")
    schema = pq.read_schema(tmp_path / "a.PARQUET")
    assert schema.names == [*COLUMNS, *PARTS]
    assert {str(field.type) for field in schema if field.name != "kind"} == {"int64"}


@apart
def test_the_log_of_a_trace_has_its_requests(flashgc, replay, spc, tmp_path):
    report = flashgc("run", replay, "--trace", spc, "--request-log", "a.parquet", "--json").json
    log = pl.read_parquet(tmp_path / "a.parquet").sort("request")
    assert len(log) == 3000 == report["requests"]["read"] + report["requests"]["write"]
    assert log["offset_bytes"].to_list() == [4096 * (page % 500) for page in range(3000)]
    assert log["kind"].to_list() == ["read", "write"] * 1500
    assert log["arrival_ns"].to_list() == [page * 1_000_000 for page in range(3000)]


@apart
def test_rows_have_the_hints_of_their_writes(tmp_path):
    hints = {"workload.synthetic.hints.regions": [0.25, 0.75], "gc.scheme": "fdp",
             "gc.placement.fdp.by": "hint", "gc.placement.fdp.handles": 2}  # fmt: skip
    for name in ("a.csv", "b.parquet"):
        report = package.run(SMALL, set=hints, request_log=tmp_path / name)
        writes = read(tmp_path / name).filter(kind="write")
        by_hint = writes.group_by("hint").agg(pl.col("size_bytes").sum()).sort("hint")
        handles = [handle.host_bytes for handle in report.placement.handles]
        assert by_hint["hint"].to_list() == [0, 1]
        assert handles == by_hint["size_bytes"].to_list()
    package.run(SMALL, request_log=tmp_path / "none.csv")
    assert read(tmp_path / "none.csv")["hint"].max() == 0


@apart
def test_more_rows_than_a_batch(tmp_path):
    sets = {"workload.synthetic.requests": 150_000}
    report = package.run(SMALL, set=sets, request_log=tmp_path / "a.parquet", over_time=True)
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
    log = pl.read_parquet(tmp_path / "a.parquet")
    assert len(log) == 150_000
    assert log["end_ns"].is_sorted()
    assert log["latency_ns"].max() == report.latency_ns.all.max


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--request-log", "a.txt"], "end its name in .csv or .parquet"),
        (["--request-log", "a.csv.gz"], "`a.csv.gz` has no known format"),
        (["--request-log", ""], "the name is empty; give one"),
        (["--request-log", "no/a.csv"], "cannot be written: no/a.csv: there is no folder no"),
        (["--request-log", "folder.csv"], "folder.csv is a directory"),
        (["--request-log", "full.csv"], "log of requests cannot be written: full.csv: no space"),
        (["--request-log", "full.parquet"], "log of requests cannot be written"),
        (["--request-log", "a.csv", "--gc-log", "./a.csv"], "log of collections cannot be the"),
        (["--request-log", "a.csv", "--series", "a.csv"], "the series cannot be the same file"),
        (["--gc-log", "a.csv", "--series", "folder.csv/../a.csv"], "collections and the series"),
        (["--request-log", "a.csv", "--gc-log", "folder.csv/../a.csv"], "log of requests and the"),
        (["--gc-log", "a.parquet"], "log of collections is written as csv alone"),
        (["--gc-log", "a.json"], "log of collections is written as csv alone"),
        (
            ["--series", "b/a.Parquet"],
            "the series is written as csv alone\n  = help: name it b/a.csv",
        ),
        (["--request-log", "a.csv", "--seeds", "2"], "--request-log records one run"),
        (["--request-log", "a.csv", "--set", "gc.scheme=nothing"], "nothing"),
    ],
)
def test_a_log_that_cannot_be(flashgc, small, tmp_path, args, why):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "full.csv").symlink_to("/dev/full")
    (tmp_path / "full.parquet").symlink_to("/dev/full")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = flashgc("run", small, *args, code=2, env={"COLUMNS": "200"})
    assert why in done.err
    assert "Traceback" not in done.err
    assert "Exception" not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_disk_that_fills_up_leaves_the_old_file(flashgc, small, tmp_path, name):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    (tmp_path / name).write_text("of yesterday")
    done = flashgc("run", small, "--request-log", name, code=2, preexec_fn=little_room)
    assert "too large" in done.err
    assert "Exception" not in done.err
    assert (tmp_path / name).read_text() == "of yesterday"
    assert {path.name for path in tmp_path.iterdir()} == {small.name, name}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_ctrl_c_leaves_nothing(tmp_path, name):
    interrupted_while_writing(tmp_path, "--request-log", name)


def test_what_the_progress_raises_is_passed_on(tmp_path):
    def enough(step):
        if step.phase == "run":
            raise OSError("enough")

    with pytest.raises(OSError, match="enough"):
        package.run(ENDLESS, progress=enough, request_log=tmp_path / "a.parquet")
    assert not list(tmp_path.iterdir())


MEMORY = """
import resource, sys, flashgc
requests, path = int(sys.argv[1]), sys.argv[2]
flashgc.run(sys.argv[3], set={"workload.synthetic.requests": requests}, request_log=path)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_memory_does_not_grow_with_the_requests(tmp_path, name):
    peaks = []
    for requests in (300_000, 1_500_000):
        command = [sys.executable, "-c", MEMORY, str(requests), str(tmp_path / name), SMALL]
        done = subprocess.run(command, capture_output=True, check=True, timeout=120)
        peaks.append(int(done.stdout))
    # All rows of the second run together are 84 MB.
    assert peaks[1] - peaks[0] < 20_000, peaks


JOBS = (
    SMALL[: SMALL.index("[workload.synthetic]")]
    + """
[[workload.jobs.job]]
name = "readers"
clones = 2
file = "drive"
read_share = 1.0
size = "4 KiB"
depth = 4
requests = 3000
[[workload.jobs.job]]
name = "writer"
file = "drive"
size = "4 KiB"
depth = 4
requests = 3000
[precondition]
fill = "sequential"
overwrite = 1.0
"""
)


@apart
def test_the_sequence_of_each_job_does_not_depend_on_the_scheme(tmp_path):
    logs = {}
    for scheme in ("greedy", "fifo"):
        path = tmp_path / f"{scheme}.parquet"
        report = package.run(JOBS, scheme=scheme, request_log=path)
        logs[scheme] = pl.read_parquet(path).sort("request")
        counts = logs[scheme].group_by("job").len().sort("job").rows()
        assert counts == [(0, 3000), (1, 3000), (2, 3000)]
        assert report.jobs[1].requests.write == 3000
    own = [log.sort("job", "request")["job", "kind", "offset_bytes"] for log in logs.values()]
    assert own[0].equals(own[1])
    assert not logs["greedy"]["offset_bytes"].equals(logs["fifo"]["offset_bytes"])
