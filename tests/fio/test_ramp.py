"""Counts begin at the end of a ramp: by job at its own, for the drive at the latest."""

import csv
import json
import shutil
from pathlib import Path

import pytest

import flashgc
import ours
import theirs
from flashgc.fio import arguments, run

NS = 1_000_000_000
WRITES = "[a]\nrw=randwrite\nsize=48m\nioengine=libaio\niodepth=4\ntime_based\nrandrepeat=0\n"
needs_fio = pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")


@pytest.fixture
def report(tmp_path, monkeypatch):
    """The report of a job file on a small drive that is full and was never overwritten."""
    monkeypatch.chdir(tmp_path)

    def of(text, **options):
        Path("ours.fio").write_text(text)
        drive = ours.DRIVE.format(seed=1).replace('fill = "none"', 'fill = "sequential"')
        Path("drive.toml").write_text(drive.replace("blocks_per_plane = 256",
                                                    "blocks_per_plane = 64"))  # fmt: skip
        return flashgc.run("drive.toml", verify=True, **options)

    return of


def rows(name):
    with Path(name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_first_writes_do_not_count(report):
    """They find erased blocks, and the drive has less write amplification than later."""
    whole = report(f"{WRITES}runtime=1\n", series="series.csv", series_interval="1 ms",
                   request_log="log.csv")  # fmt: skip
    part = report(f"{WRITES}ramp_time=400ms\nruntime=600ms\n", blame=True)
    assert part["ramp_ns"] == part.jobs[0]["ramp_ns"] == 400_000_000
    assert part.result_hash == whole.result_hash
    assert part.write_amplification > whole.write_amplification + 0.5
    later = [row for row in rows("log.csv") if int(row["end_ns"]) > 400_000_000]
    assert part.requests.write == part.jobs[0].requests.write == len(later)
    assert part.jobs[0].bytes.write == 4096 * len(later)
    times = [int(row["end_ns"]) - int(row["arrival_ns"]) for row in later]
    for latency in (part.latency_ns.write, part.jobs[0].latency_ns.write):
        assert (latency.count, latency.max) == (len(times), max(times))
        assert latency.mean == pytest.approx(sum(times) / len(times))
    for blame in (part.blame, part.jobs[0].blame):
        mean = blame.write.mean
        assert (mean.requests, mean.latency_ns) == (len(times), part.latency_ns.write.mean)
    moved = sum(int(row["gc_moved"]) for row in rows("series.csv")
                if int(row["start_ns"]) >= 400_000_000)  # fmt: skip
    assert part.pages.gc_moved == moved < whole.pages.gc_moved
    assert part.erases < whole.erases
    assert part.wear.mean < whole.wear.mean
    assert part.throughput.iops == pytest.approx(
        len(later) * NS / (part.simulated_ns - 400_000_000)
    )
    use = part.utilisation.unit
    assert use.host + use.gc + use.idle == pytest.approx(1)


@pytest.mark.parametrize("scheme", ["greedy", "pgc", "pregc", "tokens", "parallel"])
def test_a_ramp_within_a_collection_counts_as_if_each_step_ran_alone(report, scheme):
    job = f"{WRITES}ramp_time=333333us\nruntime=600ms\n"
    both = [report(job, scheme=scheme, set=[f"engine.coalesce={way}"])
            for way in ("true", "false")]  # fmt: skip
    keys = ("requests", "pages", "erases", "gc", "latency_ns", "utilisation", "wear", "jobs",
            "result_hash", "write_amplification")  # fmt: skip
    assert [both[0][key] for key in keys] == [both[1][key] for key in keys]


def test_the_drive_counts_from_the_latest_ramp(report):
    report_ = report("[global]\nsize=8m\nrate_iops=100\ntime_based\nruntime=1\n"
                     "[a]\nrw=read\nramp_time=500ms\n[b]\nrw=write\nramp_time=1\nnumjobs=2\n"
                     "[c]\nrw=read\n")  # fmt: skip
    assert report_["ramp_ns"] == NS
    a, b, c = report_.jobs
    assert (a.requests.read, b.requests.write, c.requests.read) == (100, 200, 100)
    assert (a["ramp_ns"], b["ramp_ns"], "ramp_ns" in c) == (500_000_000, NS, False)
    assert [job.iops[kind] for job, kind in ((a, "read"), (b, "write"), (c, "read"))] == [
        pytest.approx(rate, rel=0.02) for rate in (100, 200, 100)
    ]
    assert report_.pages.host_written == 200
    assert report_.pages.host_read == pytest.approx(50, abs=1)


COUNTS = {
    "a runtime begins behind it": "size=4m\nruntime=1\nramp_time=500ms",
    "size counts from the start": "size=1m\nramp_time=500ms",
    "and so does io_size": "size=2m\nio_size=1m\nramp_time=500ms",
    "number_ios counts from its end": "size=4m\nramp_time=500ms\nnumber_ios=120",
    "all of a job counts that ends in it": "size=400k\nramp_time=2",
    "by number_ios": "size=4m\nramp_time=1\nnumber_ios=100",
    "and by its runtime": "size=4m\nramp_time=2\nruntime=1",
}


@needs_fio
@pytest.mark.parametrize("job", COUNTS.values(), ids=COUNTS)
def test_requests_are_counted_as_in_fio(report, job):
    text = f"[a]\nrw=read\nrate_iops=200\n{job}\n"
    own = report(text).jobs[0].requests.read
    Path("theirs.fio").write_text(f"{text}ioengine=null\n")
    for (job_of_fio,) in theirs.clocked(Path("theirs.fio")):
        # fio finds the end of a ramp when a request is done, which it does not count.
        due = pytest.approx(job_of_fio["read"]["total_ios"], abs=4)
        if own == due:
            break
    assert own == due


def test_flashgc_fio_has_the_figures_of_the_drive_behind_the_ramp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    both = []
    for more in ("runtime=1\n", "ramp_time=400ms\nruntime=600ms\n"):
        Path("ours.fio").write_text(WRITES.replace("48m", "24m") + more)
        own = run.run(arguments.read(["ours.fio", "--output-format=json"]),
                      sets=["device.channels=1", "device.chips_per_channel=1",
                            "device.blocks_per_plane=64", "precondition.overwrite=0"])  # fmt: skip
        both.append(json.loads(own))
    whole, part = (one["flashgc"] for one in both)
    assert part["result_hash"] == whole["result_hash"]
    assert part["write_amplification"] > whole["write_amplification"]
    assert both[1]["jobs"][0]["write"]["total_ios"] < both[0]["jobs"][0]["write"]["total_ios"]
