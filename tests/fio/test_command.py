"""`flashgc fio` has fio's command line, and output of fio's form: keys, units, logs."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import draw
from flashgc import ConfigError
from flashgc.fio import arguments, figures, run

SMALL = ["device.blocks_per_plane=64", "precondition.overwrite=0.1"]
COMMAND = Path(sysconfig.get_path("scripts")) / "flashgc"
HAS_FIO = bool(shutil.which("fio"))
needs_fio = pytest.mark.skipif(not HAS_FIO, reason="fio is not installed")

JOBS = {
    "mixed": "[global]\nsize=2m\niodepth=4\n[a]\nrw=randrw\nfsync=8\n[b]\nrw=write\nbs=64k\n",
    "groups": "[global]\nsize=1m\ngroup_reporting\n[a]\nrw=read\nnumjobs=2\n[b]\nrw=read\n"
              "[c]\nrw=trim\nstonewall\n",
    "percentiles": "[a]\nrw=randread\nsize=1m\npercentile_list=50:99:99.9\nlat_percentiles=1\n",
    "only-lat": "[a]\nrw=randread\nsize=1m\nclat_percentiles=0\nlat_percentiles=1\n",
    "unified": "[a]\nrw=randrw\nsize=1m\nunified_rw_reporting=mixed\n",
    "both": "[a]\nrw=randrw\nsize=1m\nunified_rw_reporting=both\n",
    "ramp": "[a]\nrw=randread\nsize=1m\nrate_iops=200\nramp_time=1\nruntime=1\ntime_based\n",
    "threads": "[a]\nrw=randtrimwrite\nsize=256k\n[b]\nnew_group\nrw=randwrite\nsize=256k\n",
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output(*words):
    return run.run(arguments.read(words), sets=SMALL)


def written(text):
    Path("job.fio").write_text(text)
    return json.loads(output("job.fio", "--output-format=json+"))


def keys(tree, path=""):
    """The paths of all keys, with the type of their values; those of bins and shares as one."""
    found = set()
    for name, value in tree.items():
        if name in {"disk_util", "flashgc", "bins", "job options", "global options"}:
            continue
        if isinstance(value, dict):
            found |= keys(value, f"{path}.{name}")
        elif isinstance(value, list):
            found |= {key for one in value for key in keys(one, f"{path}.{name}")}
        else:
            found.add((f"{path}.{name}", isinstance(value, str)))
    return found


def files():
    drawn = {f"seed {seed}": draw.text(draw.job_file(seed), seed) for seed in range(1, 13)}
    return {**JOBS, **drawn}


@needs_fio
@pytest.mark.parametrize("name", files())
def test_the_keys_are_those_of_fio(name, here):
    text = files()[name]
    own = written(text)
    null = "".join(f"{line}\nioengine=null\n" if line.startswith("[") else f"{line}\n"
                   for line in text.splitlines())  # fmt: skip
    Path("theirs.fio").write_text(null)
    done = subprocess.run(["fio", "theirs.fio", "--output-format=json+"],
                          capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    fio = json.loads(done.stdout[done.stdout.index("{\n") :])
    assert keys(own) == keys(fio)
    assert [(job["jobname"], job["groupid"]) for job in own["jobs"]] == [
        (job["jobname"], job["groupid"]) for job in fio["jobs"]
    ]


def test_figures_have_fios_units(here):
    own = written("[a]\nrw=randwrite\nsize=2m\nbs=8k\nioengine=libaio\niodepth=4\n")
    (job,) = own["jobs"]
    write = job["write"]
    assert (write["io_bytes"], write["io_kbytes"], write["total_ios"]) == (2 << 20, 2048, 256)
    per_s = 1000 / write["runtime"]
    assert write["iops"] == pytest.approx(256 * per_s, rel=1e-6)
    assert write["bw_bytes"] == pytest.approx((2 << 20) * per_s, abs=1)
    assert write["bw"] == write["bw_bytes"] >> 10
    clat = write["clat_ns"]
    assert clat["min"] <= clat["mean"] <= clat["max"]
    assert clat["N"] == sum(clat["bins"].values()) == 256
    assert list(clat["percentile"].values()) == sorted(clat["percentile"].values())
    assert sum(job["iodepth_level"].values()) == pytest.approx(100, abs=0.001)
    assert "disk_util" not in own
    assert own["flashgc"]["write_amplification"] >= 1
    shares = own["flashgc"]["jobs"][0]["collection_share_beyond"]["write"]
    assert all(0 <= share <= 1 for share in shares.values())


def test_nothing_of_the_ramp_is_counted(here):
    own = written(JOBS["ramp"])
    assert own["jobs"][0]["read"]["total_ios"] == 200
    assert own["jobs"][0]["read"]["runtime"] in {996, 1000, 997, 998, 999}


def test_bins_are_those_of_fios_histogram():
    # Read off fio 3.33: the extreme of a sample and the bin that holds it.
    for ns, bin_ns in ((3346, 3344), (20_025_746, 20_054_016), (23_577_692, 23_461_888 + 0)):
        found = figures.middle(figures.bin_of(ns))
        assert abs(found - bin_ns) <= ns >> 6
    assert figures.middle(figures.bin_of(3346)) == 3344


@needs_fio
def test_fios_own_converter_reads_the_bins(here):
    own = written("[a]\nrw=randread\nsize=2m\n")
    Path("own.json").write_text(json.dumps(own))
    done = subprocess.run(["fio_jsonplus_clat2csv", "own.json", "own.csv"],
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (rows,) = Path().glob("own_job0.csv")
    assert len(rows.read_text().splitlines()) > 1


def test_logs_have_fios_names_and_columns(here):
    written("[a]\nrw=randrw\nsize=1m\nnumjobs=2\nwrite_bw_log=x\nwrite_lat_log\nlog_offset=1\n"
            "[b]\nrw=write\nsize=1m\nwrite_iops_log=i\nlog_avg_msec=5\nwrite_hist_log=h\n"
            "log_hist_msec=10\n")  # fmt: skip
    assert {path.name for path in Path().glob("*.log")} == {
        *(f"x_bw.{at}.log" for at in (1, 2)),
        *(f"a_{kind}.{at}.log" for at in (1, 2) for kind in ("lat", "clat", "slat")),
        "i_iops.3.log", "h_clat_hist.3.log",
    }  # fmt: skip
    rows = [line.split(", ") for line in Path("a_lat.1.log").read_text().splitlines()]
    assert len(rows) == 256
    assert {len(row) for row in rows} == {6}
    assert {row[2] for row in rows} == {"0", "1"}
    averages = [line.split(", ") for line in Path("i_iops.3.log").read_text().splitlines()]
    assert {len(row) for row in averages} == {5}
    # Rates of the last window, which is not whole, are not logged.
    count = sum(int(row[1]) for row in averages) * 5 / 1000
    assert 256 - int(averages[-1][1]) * 5 / 1000 - 2 < count < 256
    bins = [line.split(", ") for line in Path("h_clat_hist.3.log").read_text().splitlines()]
    assert {len(row) for row in bins} == {3 + 1856}
    assert sum(int(count) for row in bins for count in row[3:]) == 256


def test_the_last_window_of_a_log_is_that_of_fio(here):
    written("[a]\nrw=read\nsize=1m\nrate_iops=200\nnumber_ios=51\nlog_avg_msec=100\n"
            "write_iops_log=a\nwrite_bw_log=a\nwrite_lat_log=a\n")  # fmt: skip
    lines = {kind: Path(f"a_{kind}.1.log").read_text().splitlines()
             for kind in ("iops", "bw", "lat")}  # fmt: skip
    times = {kind: [int(line.split(",")[0]) for line in rows] for kind, rows in lines.items()}
    # fio 3.33: 148 and 248 of the rates, since its windows begin with the first request that ends
    # in them, and 100, 204 and 252 of the latencies.
    assert times == {"iops": [100, 200], "bw": [100, 200], "lat": [100, 200, 251]}


def test_jobs_come_from_the_command_line(here):
    words = ["--bs=8k", "--size", "1m", "--name=a", "--rw=write", "--name=b", "--rw=randread",
             "--output-format=json"]  # fmt: skip
    own = json.loads(output(*words))
    assert own["global options"] == {"bs": "8k", "size": "1m"}
    assert [(job["jobname"], job["write"]["total_ios"], job["read"]["total_ios"])
            for job in own["jobs"]] == [("a", 128, 0), ("b", 0, 128)]  # fmt: skip


def test_sections_runtime_and_parse_only(here):
    Path("job.fio").write_text("[a]\nrw=read\nsize=1m\n[b]\nrw=write\nsize=1m\nrate_iops=100\n"
                               "[c]\nrw=write\nsize=1m\nruntime=1\nrate_iops=10\n")  # fmt: skip
    own = json.loads(output("job.fio", "--section=b", "--section=c", "--runtime=2",
                            "--output-format=json"))  # fmt: skip
    assert [(job["jobname"], job["write"]["total_ios"]) for job in own["jobs"]] == [
        ("b", 200), ("c", 10),
    ]  # fmt: skip
    done = subprocess.run([COMMAND, "fio", "job.fio", "--parse-only"], capture_output=True,
                          text=True, timeout=60, check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_status_comes_at_each_interval_and_at_the_end(here):
    words = ["--name=a", "--rw=read", "--size=4m", "--rate_iops=400", "--status-interval=1",
             "--output-format=json"]  # fmt: skip
    decoder, text, counts = json.JSONDecoder(), output(*words), []
    while text.strip():
        whole, end = decoder.raw_decode(text.strip())
        text = text.strip()[end:]
        counts.append(whole["jobs"][0]["read"]["total_ios"])
    assert counts == [pytest.approx(400, abs=1), pytest.approx(800, abs=1), 1024]


def test_the_command_writes_a_file(here):
    words = ["fio", "--name=a", "--rw=randwrite", "--bs=4k", "--size=1m", "--output=out.json",
             "--output-format=json", "--scheme", "fifo", "--set", SMALL[0],
             "--set", SMALL[1]]  # fmt: skip
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, "COLUMNS": "80"})  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert json.loads(Path("out.json").read_text())["flashgc"]["scheme"] == "fifo"
    assert sys.executable


@pytest.mark.parametrize("word", ["--version", "-v"])
def test_the_version_is_that_of_the_output(word):
    """Scripts ask for it before they run fio."""
    done = subprocess.run([COMMAND, "fio", word], capture_output=True, text=True, timeout=60,
                          check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, f"{run.VERSION}\n")


def test_the_normal_output_reads_as_fios(here):
    Path("job.fio").write_text(JOBS["mixed"])
    text = output("job.fio")
    for part in ("a: (groupid=0, jobs=1): err= 0", "  read: IOPS=", "clat percentiles (usec):",
                 "fsync/fdatasync/sync_file_range:", "  IO depths    : 1=",
                 "Run status group 0 (all jobs):", "   READ: bw=", "  WRITE: bw="):  # fmt: skip
        assert part in text, part


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "there is no job"),
        (["--rw=read", "--size=1m"], "give it a name"),
        (["job.fio", "--bs=4k"], "either a job file or"),
        (["job.fio", "job.fio"], "one job file"),
        (["job.fio", "--section=z"], "the sections are a"),
        (["job.fio", "--output-format=terse"], "normal, json, json+"),
        (["job.fio", "--minimal"], "--output-format=json"),
        (["job.fio", "--client=host"], "no server of fio"),
        (["timed.fio", "--runtime=abc"], "--runtime is `abc`, but it must be a time"),
        (["none.fio"], "no such file"),
        (["--name=a", "--rw=sideways", "--size=1m"], "must be one of"),
        (["--name=a", "--rw=read", "--size=1m", "--percentile_list=x"], "from 0 to 100"),
        (["--name=a", "--rw=read", "--size=1m", "--log_avg_msec=x"], "whole number"),
        (["--name=a", "--rw=read", "--size=1m", "--unified_rw_reporting=x"], "none, mixed or both"),
    ],
)
def test_mistakes_of_the_command_line(words, why, here):
    Path("job.fio").write_text("[a]\nrw=read\nsize=1m\n")
    Path("timed.fio").write_text("[a]\nrw=read\nsize=1m\nruntime=1\n")
    with pytest.raises(ConfigError, match=None) as error:
        output(*words)
    assert why in str(error.value)


@pytest.mark.parametrize("name", ["job.ini", "job.cfg", "job.txt", "job"])
def test_a_job_file_by_another_name_gets_a_hint(name, here):
    Path(name).write_text("; for the database\n[global]\nbs=4k\n[a]\nrw=randread\nsize=1m\n")
    done = subprocess.run([COMMAND, "run", name], capture_output=True, text=True, timeout=60,
                          check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"error: {name} is a job file of fio, but its name does not end in .fio or .job",
        f"  = help: rename it, or run it as fio does: `flashgc fio {name}`",
    ]
    # fio's own command line takes any name.
    assert json.loads(output(name, "--output-format=json"))["jobs"][0]["read"]["total_ios"] == 256


@pytest.mark.parametrize("value", ["0.5", "nan", "-1", "1ns", "0"])
def test_an_interval_of_status_that_is_none_is_refused_before_the_run(here, value):
    Path("job.fio").write_text("[a]\nrw=randwrite\nbs=4k\nsize=1m\nwrite_bw_log=a\n")
    with pytest.raises(ConfigError, match="--status-interval"):
        output("job.fio", f"--status-interval={value}")
    assert os.listdir() == ["job.fio"]


def test_an_interval_of_status_has_a_bound(here):
    Path("job.fio").write_text("[a]\nrw=randwrite\nbs=4k\nsize=1m\n")
    with pytest.raises(ConfigError, match="at most 1,000 are allowed"):
        output("job.fio", "--status-interval=1us")
