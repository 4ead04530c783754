"""Job files of fio run as they are, and each option has an outcome."""

import shutil
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flashgc as package
from conftest import ROOT
from flashgc import ConfigError
from flashgc.conversion import fio_keys, fio_run, fio_values
from flashgc.results import conversion_notes

DATA = ROOT / "tests/python/fio"
FILES = sorted(path for path in DATA.glob("*.fio") if path.name != "common.fio")
SMALL = {"device.blocks_per_plane": 128, "precondition.overwrite": 0.5}


def jobs_of(text, tmp_path, name="job.fio"):
    """The tables that a job file becomes."""
    path = tmp_path / name
    path.write_text(text)
    return tomllib.loads(fio_run.layer(path)[1])["workload"]["jobs"]["job"]


def made_of(text, tmp_path):
    path = tmp_path / "job.fio"
    path.write_text(text)
    return package.convert(path)


def refused(text, tmp_path):
    with pytest.raises(ConfigError) as error:
        jobs_of(text, tmp_path)
    return str(error.value)


def rows_of(report):
    rows = report if isinstance(report, dict) else report.to_dict()
    return {job["name"]: job for job in rows["jobs"]}


def test_a_random_mix_has_its_shares_sizes_depth_and_time():
    report = package.run(DATA / "mixed.fio")
    (job,) = report["jobs"]
    assert (job["name"], job["clones"], job["depth"], job["in_flight_max"]) == ("mix", 2, 32, 16)
    reads, writes = job["requests"]["read"], job["requests"]["write"]
    assert reads / (reads + writes) == pytest.approx(0.7, abs=0.01)
    # 80 % of 4 KiB and 20 % of 16 KiB; all writes of 4 KiB.
    assert job["bytes"]["read"] / reads == pytest.approx(0.8 * 4096 + 0.2 * 16384, rel=0.01)
    assert job["bytes"]["write"] == writes * 4096
    assert 2e9 <= job["ended_ns"] < 2.05e9
    assert report.seed == 7
    assert report["result_hash"] == package.run(DATA / "mixed.fio")["result_hash"]


def test_sequential_and_random_jobs_run_side_by_side_and_the_third_after_them():
    rows = rows_of(package.run(DATA / "two-jobs.fio", verify=True, set=SMALL))
    writes, reads, back = rows["writes"], rows["reads"], rows["back"]
    assert writes["requests"] == {"read": 0, "write": 512, "trim": 0}
    assert reads["requests"]["read"] == 16384
    assert writes["begun_ns"] == reads["begun_ns"] == 0
    assert back["begun_ns"] == max(writes["ended_ns"], reads["ended_ns"])
    assert back["requests"]["read"] == 1024
    # 63 pauses of 500 us between 64 groups of 16 requests.
    assert back["ended_ns"] - back["begun_ns"] > 63 * 500_000
    assert [job["in_flight_max"] for job in (writes, reads, back)] == [4, 8, 2]


def test_paced_jobs_have_their_rates():
    rows = rows_of(package.run(DATA / "zoned-rates.fio"))
    zones, popular = rows["zones"], rows["popular"]
    assert zones["requests"]["write"] == 3 * 700
    assert popular["requests"]["read"] == 3 * 500
    assert zones["iops"]["write"] == pytest.approx(700, rel=0.001)
    assert zones["asked_iops"] == {"read": None, "write": 700, "trim": None}
    assert (popular["begun_ns"], popular["ended_ns"]) == (10**9, 4 * 10**9)


def test_a_configuration_names_a_job_file_and_settings_go_over_it(tmp_path):
    shutil.copy(DATA / "zoned-rates.fio", tmp_path / "own.fio")
    own = tmp_path / "own.toml"
    own.write_text('seed = 4\n[device]\npreset = "slc-msr"\nblocks_per_plane = 64\n'
                   '[workload]\nfio = "own.fio"\n')  # fmt: skip
    direct = package.run(tmp_path / "own.fio", seed=4)
    named = package.run(own)
    assert rows_of(named)["zones"]["requests"] == rows_of(direct)["zones"]["requests"]
    assert named.config["workload"] == direct.config["workload"]
    shrunk = package.run(own, set={"workload.jobs.scale": 0.5})
    assert shrunk.config["workload"]["jobs"]["scale"] == 0.5
    # A setting replaces the workload of a configuration, and is replaced by another workload.
    over = package.run("oltp", set={"workload.fio": str(tmp_path / "own.fio")})
    assert [job["name"] for job in over["jobs"]] == ["zones", "popular"]
    back = {"workload.synthetic.requests": 100, "workload.synthetic.queue_depth": 1}
    assert "jobs" not in package.run(own, set=back)
    again = package.run(own, unset=["workload.fio"], set=back)
    assert "jobs" not in again
    both = package.compare(tmp_path / "own.fio", ["greedy", "fifo"], set=SMALL)
    assert both.unequal == {}
    with pytest.raises(ConfigError, match="whose requests depend on the drive"):
        package.trace.generate(tmp_path / "own.fio", tmp_path / "out.load")


def test_the_command_runs_and_converts_job_files(flashgc, tmp_path, monkeypatch):
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    report = flashgc("run", "zoned-rates.fio", "--json", "--scheme", "fifo").json
    assert report["scheme"] == "fifo"
    assert report["converted"]["program"] == "fio"
    shown = flashgc("run", "zoned-rates.fio", "--out", "runs").out
    assert "job zones" in shown
    assert "700 per second" in shown
    page = (tmp_path / "runs/report.html").read_text()
    assert "jobs of zoned-rates.fio" in page
    assert "a file for each clone" in flashgc("convert", "zoned-rates.fio", "--out", "own.toml").out
    again = flashgc("run", "own.toml", "--json").json
    assert rows_of(again)["zones"]["requests"] == rows_of(report)["zones"]["requests"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_option_is_in_exactly_one_list(path):
    made = package.convert(path)
    keys = [one.key for one in (*made.mapped, *made.differs, *made.not_mapped)]
    texts = [path.read_text()]
    if "include" in texts[0]:
        texts.append((DATA / "common.fio").read_text())
    lines = [line for text in texts for line in text.splitlines()
             if line and line[0] not in ";#[" and not line.startswith("include")]  # fmt: skip
    assert len(keys) == len({id(key) for key in keys}) == len(lines)
    assert made.refusal() is None
    assert all(one.why for one in (*made.differs, *made.not_mapped, *made.chosen))


def test_outcomes_of_a_global_option_are_those_of_the_job_that_needs_most(tmp_path):
    made = made_of(
        "[global]\nsize=1m\niodepth=8\nrwmixread=30\n"
        "[a]\nrw=read\nioengine=libaio\n[b]\nrw=randrw\n[c]\nrw=write\nioengine=libaio\n", tmp_path
    )  # fmt: skip
    assert [(one.key.name, one.why) for one in made.differs if one.key.name == "iodepth"] == [
        ("iodepth", "psync, fio's default engine, is synchronous, and has one request in flight; "
                    "give ioengine=libaio")
    ]  # fmt: skip
    assert [one.value for one in made.mapped if one.key.name == "rwmixread"] == ["0.3"]
    jobs = made.config["workload"]["jobs"]["job"]
    assert [job["depth"] for job in jobs] == [8, 1, 8]
    assert [job["read_share"] for job in jobs] == [1.0, 0.3, 0.0]


def test_notes_tell_what_differs(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=randwrite\nsize=4m\niodepth=4\nsync_file_range=write:8\nnumjobs=2\n")
    report = package.run(path, set=SMALL)
    told = conversion_notes.told(report)
    assert any("`a.iodepth`" in one and "synchronous" in one for one in told)
    assert any("`a.sync_file_range`" in one and "flush" in one for one in told)
    assert not any("numjobs" in one for one in told)
    assert rows_of(report)["a"]["depth"] == 2


HEAD = "[a]\nioengine=libaio\nsize=64m\nrw=randrw\n"


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("bs=8k,32k", {"read_size": "8 KiB", "write_size": "32 KiB"}),
        ("bs=,8k", {"read_size": "4 KiB", "write_size": "8 KiB"}),
        ("bs=8kib\nkb_base=1000", {"read_size": "8 KiB"}),
        ("bs=8ki", {"read_size": "8 KiB"}), ("exitall=0", {"read_size": "4 KiB"}),
        ("create_only=0", {"read_size": "4 KiB"}),
        ("bssplit=4k/50:1k/:32k/", {"read_size": {"4 KiB": 0.5, "1 KiB": 0.25, "32 KiB": 0.25}}),
        ("bssplit=2k/50:4k/50,4k/90:8k/10", {"write_size": {"4 KiB": 0.9, "8 KiB": 0.1}}),
        ("bssplit=4k/60:8k/30.9", {"read_size": {"4 KiB": 0.7, "8 KiB": 0.3}}),
        ("bsrange=1k-4k", {"read_size": {"1 KiB": 1.0, "2 KiB": 1.0, "3 KiB": 1.0, "4 KiB": 1.0}}),
        ("rwmixwrite=20", {"read_share": 0.8}),
        ("rwmixread=70\nrwmixwrite=40", {"read_share": 0.6}),
        ("rwmixwrite=40\nrwmixread=70", {"read_share": 0.7}),
        ("rate_iops=500", {"read_iops": 500, "write_iops": 500, "overtake": True}),
        ("rate_iops=,500", {"write_iops": 500}),
        ("rate=1m,500k", {"read_rate": "1.048576 MB/s", "write_rate": "0.512 MB/s"}),
        ("rate_iops=100\nrate_process=poisson", {"poisson": True}),
        ("random_distribution=zipf:1.2", {"read_address": {"zipf": 1.2}}),
        ("random_distribution=pareto:0.3", {"write_address": {"pareto": 0.3}}),
        ("random_distribution=normal:10:0.25",
         {"read_address": {"normal": {"stddev": 0.1, "center": 0.25}}}),
        ("random_distribution=zoned:60/10:40/90,90/50:10/50",
         {"write_address": {"groups": [{"places": 0.5, "requests": 0.9},
                                       {"places": 0.5, "requests": 0.1}]}}),
        ("random_distribution=zoned_abs=60/20M:40/40m",
         {"read_address": {"zones": [{"bytes": "20 MiB", "requests": 0.6},
                                     {"bytes": "40 MiB", "requests": 0.4}]}}),
        ("percentage_random=50,80", {"read_random_share": 0.5, "write_random_share": 0.8}),
        ("io_size=1g", {"amount": "1 GiB"}),
        ("io_size=200%\nloops=3", {"amount": 2.0, "loops": 3}),
        ("loops=3", {"loops": 3, "passes": "same"}),
        ("randrepeat=0", {"passes": "new"}),
        ("runtime=1\ntime_based\nloops=3\nnumber_ios=9",
         {"passes": "new", "loops": None, "requests": None}),
        ("filesize=1g", {"file_size": "1 GiB", "amount": "64 MiB", "span": None}),
        ("filesize=1g\nsize=50%", {"file_size": "1 GiB", "span": "512 MiB"}),
        ("offset=16m\noffset_increment=25%", {"offset": "16 MiB", "offset_step": 0.25}),
        ("runtime=1m", {"runtime": "60 s"}),
        ("runtime=500ms\ntime_based", {"runtime": "500 ms", "time_based": True}),
        ("startdelay=2-4", {"start": "3 s"}),
        ("thinktime=50", {"think": "50 us"}),
        ("number_ios=10", {"requests": 10}),
        ("filename=/dev/sdb\nsize=50%", {"file": "drive", "span": 0.5}),
        ("filename=drive", {"file": "./drive"}),
        ("rw=randtrimwrite", {"trim_share": 1.0, "trim_then_write": True}),
        ("rw=randtrim", {"trim_share": 1.0}),
        ("rw=write", {"random_share": 0.0, "read_share": 0.0}),
        ("readwrite=randread\nblocksize=8K", {"read_share": 1.0, "read_size": "8 KiB"}),
        ("norandommap\nba=8k", {"align": "8 KiB"}),
        ("bs=0x1000", {"read_size": "4 KiB"}),
    ],
)  # fmt: skip
def test_options_become_keys(option, expected, tmp_path):
    (job,) = jobs_of(HEAD + option + "\n", tmp_path)
    assert {name: job.get(name) for name in expected} == expected
    assert package.convert(tmp_path / "job.fio").refusal() is None


@pytest.mark.parametrize(
    ("option", "once"),
    [("", True), ("norandommap", None), ("norandommap=0", True),
     ("random_distribution=zipf:1", None),
     ("bs=4k,8k", True), ("percentage_random=90", True), ("ba=8k", None), ("rw=read", None),
     ("random_distribution=random", True)],
)  # fmt: skip
def test_random_passes_are_those_of_fios_map(option, once, tmp_path):
    (job,) = jobs_of(f"{HEAD}{option}\n", tmp_path)
    assert job.get("once") is once


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("size=2*$pagesize", "only variables of the environment"),
        ("size=${NOT_THERE}", "must be a whole number"),
        ("filename_format=f.$jobnum.$filenum", "give `filename` to jobs that share a file"),
        ("size=(4*1024)", "expressions in parentheses"),
        ("bs=3k3", "must be a whole number"), ("bs=1000", "a multiple of 512"),
        ("bs=1,2,3,4", "at most three"), ("bssplit=4k/60:8k/60", "add up to 100, not 120"),
        ("rw=randread:x", "number behind the pattern"),
        ("rw=sideways", "must be one of"), ("random_distribution=zipf", "must be random, zipf"),
        ("random_distribution=pareto:1", "above 0 and below 1"),
        ("random_distribution=zoned:60/50:40/60", "at most 100 percent"),
        ("iodpeth=8", "did you mean `iodepth`?"), ("zonemode=zbd", "`none` and `strided`"),
        ("read_iolog=x", "a log is a trace"),
        ("ioengine=null", "no request to a drive"), ("rate_iops=x", "must be a whole number"),
        ("filename=/dev/sda:/dev/sdb", "there is one drive"),
        ("include missing.fio", "no such file"),
        ("numjobs=5000", "from 1 to 4096"), ("runtime=5x", "must be a time"),
        ("exitall", "not modelled"), ("create_only=1", "no files to create"),
        ("verify_only", "give rw=read"), ("size=0", "above 0"), ("rwmixread=101", "from 0 to 100"),
        ("rate_process=poisson", "rate_iops"), ("kb_base=1001", "1000 or 1024"),
    ],
)  # fmt: skip
def test_mistakes_name_line_value_and_what_is_allowed(option, why, tmp_path):
    said = refused(HEAD + option + "\n", tmp_path)
    assert why in said
    assert "job.fio:" in said
    assert "Traceback" not in said


def test_files_without_jobs_or_sections_are_refused(tmp_path):
    assert "there is no job" in refused("[global]\nrw=read\n", tmp_path)
    assert "is not in a section" in refused("rw=read\n", tmp_path)
    assert "not the head of a section" in refused("[a\nrw=read\n", tmp_path)
    assert "has no `size`" in refused("[a]\nrw=read\n", tmp_path)
    (tmp_path / "loop.fio").write_text("include loop.fio\n")
    assert "more than 16 deep" in refused(HEAD + "include loop.fio\n", tmp_path)
    (tmp_path / "head.fio").write_text("[b]\nrw=read\n")
    assert "must not have sections" in refused(HEAD + "include head.fio\n", tmp_path)
    with pytest.raises(ConfigError, match="no such file"):
        package.run(tmp_path / "none.fio")
    path = tmp_path / "job.fio"
    path.write_text("[a]\nsize=900g\n")
    with pytest.raises(ConfigError, match=r"workload\.jobs\.scale = 0\.00"):
        package.run(path)


def test_global_sections_count_for_the_jobs_below_them(tmp_path):
    jobs = jobs_of(
        "; first\n[global]\nsize=1m\nrw=write\n[a]\n# own\nbs=8k\n[global]\nbs=16k\n[b]\n", tmp_path
    )
    assert [(job["name"], job["write_size"]) for job in jobs] == [("a", "8 KiB"), ("b", "16 KiB")]


def test_no_option_has_two_outcomes():
    lists = [fio_keys.MAPPED, fio_keys.IGNORED, fio_keys.LOUD, fio_keys.REFUSED]
    names = [name for one in lists for name in one]
    assert len(names) == len(set(names))
    assert not set(fio_keys.ALIASES) & set(names)
    assert set(fio_keys.ALIASES.values()) <= set(names)


OPTIONS = st.sampled_from(sorted(fio_keys.KNOWN))
VALUES = st.one_of(
    st.text(alphabet="0123456789kmg%:/,.-=zipfand\n", max_size=12),
    st.sampled_from(
        ["randrw", "4k/50:8k/50", "zipf:1.1", "50%", "1", "", "9" * 30, "zoned:1/", "::"]
    ),
)


@settings(max_examples=200)
@given(st.lists(st.tuples(OPTIONS, VALUES), max_size=12))
def test_any_text_is_converted_or_refused_with_its_place(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("any") / "job.fio"
    path.write_text(HEAD + "".join(f"{name}={value}\n" for name, value in lines), newline="\n")
    refusal = outcome(path)
    assert refusal is None or "job" in refusal


def outcome(path):
    """The reason why a file cannot be converted or run; None if it can."""
    try:
        return package.convert(path).refusal()
    except ConfigError as error:
        return str(error)


def test_percentages_left_blank_divide_the_rest():
    assert fio_values.filled([10, 0, 0]) == [10, 45, 45]
    assert fio_values.filled([100, 0]) == [100, 0]


def test_forced_writes(tmp_path):
    path = tmp_path / "job.fio"
    unprotected = {
        "device.write_buffer.size": "256 KiB",
        "device.write_buffer.power_loss_protection": False,
    }
    flushed = {}
    for sync in ("none", "dsync"):
        path.write_text(f"[a]\nrw=randwrite\nsize=4m\nnumber_ios=100\nsync={sync}\n")
        report = package.run(path, set={**SMALL, **unprotected})
        flushed[sync] = report.pages.flushed
    # The buffer has 64 pages.
    assert flushed == {"none": 100 - 64, "dsync": 100}
    path.write_text("[a]\nrw=randwrite\nsize=4m\nsync=perhaps\n")
    with pytest.raises(package.ConfigError, match="none, 1, sync, dsync"):
        package.run(path, set=SMALL)


def test_a_flush_after_writes(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=randwrite\nsize=4m\nfsync=4\n[b]\nrw=randwrite\nsize=4m\nfsync=0\n")
    report = package.run(path, set=SMALL)
    rows = rows_of(report)
    writes = rows["a"]["requests"]["write"]
    # The last writes have none behind them, as in fio.
    assert rows["a"]["flush"]["requests"] == writes // 4 - 1
    assert "flush" not in rows["b"]
    path.write_text("[a]\nrw=randwrite\nsize=4m\nfsync=4\nfdatasync=8\n")
    with pytest.raises(package.ConfigError, match="fsync and fdatasync differ"):
        package.run(path, set=SMALL)


HINTED = "[a]\nrw=write\nsize=1m\nioengine=io_uring_cmd\n"


def test_a_log_of_requests_has_the_flushes_of_fsync(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text("[a]\nioengine=libaio\nrw=randwrite\nsize=4m\nbs=4k\nfsync=8\n")
    report = package.run(path, set=SMALL, request_log=tmp_path / "log.csv")
    kinds = [line.split(",")[3] for line in (tmp_path / "log.csv").read_text().splitlines()[1:]]
    assert (kinds.count("write"), kinds.count("flush"), len(kinds)) == (1024, 127, 1151)
    assert report.flush.requests == 127


def test_trims_with_a_runtime_need_commands_that_take_time(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text("[a]\nioengine=libaio\nrw=trim\nbs=4k\nsize=1m\ntime_based\nruntime=1ms\n")
    with pytest.raises(package.RunError, match='job "a" issued 1010000 requests at 0 ns'):
        package.run(path, set=SMALL)
    report = package.run(path, set={**SMALL, "device.firmware.command": "5 us"})
    assert (report.requests.trim, report.simulated_ns) == (200, 1_000_000)


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        ("fdp=1\nfdp_pli=0,2,5-7", {"hints": [0, 2, 5, 6, 7]}),
        ("dataplacement=fdp\nplids=3", {"hints": [3]}),
        ("dataplacement=streams\nplids=1,2\nplid_select=random",
         {"hints": [1, 2], "hint_select": "random"}),
        ("fdp=1\nplids=1,2\nfdp_pli_select=roundrobin",
         {"hints": [1, 2], "hint_select": "round-robin"}),
        ("write_hint=short", {"hints": [2]}),
        ("write_hint=none", {}),
        ("fdp=0\nplids=1", {}),
        ("dataplacement=none\nplids=1\nwrite_hint=extreme", {"hints": [5]}),
        ("fdp=1\nplids=1\nwrite_hint=extreme", {"hints": [1]}),
    ],
)  # fmt: skip
def test_placement_hints(tmp_path, lines, keys):
    (job,) = jobs_of(f"{HINTED}{lines}\n", tmp_path)
    assert {key: job[key] for key in ("hints", "hint_select") if key in job} == keys


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("fdp=1", "list them, as in plids=0,1,2"),
        ("fdp=1\nplids=256", "255"),
        ("fdp=1\nplids=5-2", "ends before it begins"),
        ("fdp=maybe\nplids=1", "fdp"),
        ("dataplacement=streams\nplids=0", "a stream has a number above 0"),
        ("dataplacement=zones\nplids=1", "one of none, fdp, streams"),
        ("fdp=1\nplids=1\nplid_select=scheme", "a file of regions is not modelled"),
        ("fdp=1\nplids=1\ndp_scheme=file", "gc.placement.fdp.shares"),
        ("stream_id=4", "dataplacement=streams"),
        ("write_hint=brief", "none, short, medium, long, extreme"),
    ],
)
def test_placement_hints_that_are_refused(tmp_path, lines, why):
    assert why in refused(f"{HINTED}{lines}\n", tmp_path)


def test_hints_of_jobs_are_handles(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text(
        "[global]\nrw=randwrite\nsize=4m\nfdp=1\n[a]\nfdp_pli=1\n[b]\nfdp_pli=0,2\n[c]\nfdp=0\n"
    )
    by_hint = {"gc.placement.fdp.by": "hint", "gc.placement.fdp.handles": 3, **SMALL}
    report = package.run(path, scheme="fdp", set=by_hint)
    written = [handle["host_bytes"] >> 20 for handle in report["placement"]["handles"]]
    assert written == [2 + 4, 4, 2]
