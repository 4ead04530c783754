"""No result takes the name of a file that is read for it, wherever that file is named."""

import pytest

import flashgc
from conftest import REPLAY, SMALL

JOB = "[a]\nrw=randwrite\nbs=4k\nsize=1m\n"
READ = "is read, and would be replaced by the result"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a trace, a job file, and configurations that name them."""
    monkeypatch.chdir(tmp_path)
    flashgc.trace.generate(SMALL, "t.fgt", set={"workload.synthetic.requests": 200})
    (tmp_path / "a.fio").write_text(JOB)
    workload = '[workload.trace]\nfile = "t.fgt"\n'
    base = SMALL[: SMALL.index("[workload.synthetic]")]
    filled = '[precondition]\nfill = "sequential"\n'
    (tmp_path / "trace.toml").write_text(base + workload + filled)
    (tmp_path / "jobs.toml").write_text(base + '[workload]\nfio = "a.fio"\n' + filled)
    kept = {name: (tmp_path / name).read_bytes() for name in ("t.fgt", "a.fio", "trace.toml")}
    yield tmp_path
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept


@pytest.mark.parametrize("option", ["series", "gc_log", "timeline"])
@pytest.mark.parametrize(("config", "named"), [("trace.toml", "t.fgt"), ("jobs.toml", "a.fio")])
def test_no_log_replaces_what_a_configuration_names(here, config, named, option):
    with pytest.raises(flashgc.OutputError, match=READ):
        flashgc.run(config, **{option: named})


def test_no_log_of_requests_replaces_what_a_configuration_names(here):
    flashgc.trace.convert("t.fgt", "t.csv", to="csv")
    kept = (here / "t.csv").read_bytes()
    (here / "csv.toml").write_text((here / "trace.toml").read_text().replace("t.fgt", "t.csv"))
    with pytest.raises(flashgc.OutputError, match=READ):
        flashgc.run("csv.toml", request_log="t.csv")
    assert (here / "t.csv").read_bytes() == kept


def test_no_log_replaces_a_job_file_of_a_setting(here):
    with pytest.raises(flashgc.OutputError, match=READ):
        flashgc.run(SMALL, set={"workload.fio": "a.fio"}, gc_log="a.fio")


@pytest.mark.parametrize(("config", "named"), [("trace.toml", "t.fgt"), ("jobs.toml", "a.fio")])
def test_no_saved_drive_and_no_generated_trace_does(here, config, named):
    with pytest.raises(flashgc.OutputError, match=READ):
        flashgc.drive.save(config, named)
    with pytest.raises((flashgc.OutputError, flashgc.ConfigError)):
        flashgc.trace.generate(config, named)


def test_no_table_of_a_sweep_replaces_its_traces(here):
    flashgc.trace.convert("t.fgt", "t.csv", to="csv")
    kept = (here / "t.csv").read_bytes()
    (here / "replay.toml").write_text(REPLAY)
    axes = {"load": {"key": "trace", "values": ["t.csv"]}, "seed": [1, 2]}
    done = flashgc.sweep({"base": {"config": "replay.toml"}, "axes": axes}, store="all", jobs=1)
    with pytest.raises(flashgc.OutputError, match=READ):
        done.save("t.csv")
    assert (here / "t.csv").read_bytes() == kept
    assert done.save("table.csv").is_file()


def test_output_of_fio_is_no_job_file(here, request):
    command = request.getfixturevalue("flashgc")
    told = command("fio", "a.fio", "--output=a.fio", "--set", "device.blocks_per_plane=64", code=2)
    assert READ in " ".join(told.err.split())
