"""Sweeps: each point is computed once, whatever is killed, and with the same bytes everywhere."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import flashgc
from conftest import COMMAND, SMALL, SPC
from flashgc.sweeps import agenda, columns, plan, read, status, store
from in_process import apart

AXES = """
[axes]
scheme = ["greedy", "fifo"]
seed = { from = 1, to = 3 }
"""

TINY = SMALL.replace("20_000", "500")

SLOW = SMALL.replace("20_000", "1_000_000")

OF_RUN = ["worker", "ended_s", *columns.OF_MACHINE]


def six(folder):
    """A sweep of six points over a small configuration, in a file."""
    (folder / "small.toml").write_text(TINY)
    path = folder / "six.toml"
    path.write_text('[base]\nconfig = "small.toml"\n' + AXES)
    return path


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return six(tmp_path)


def result(done):
    """All that does not depend on the machine."""
    return done.to_arrow(reports=True).drop_columns(OF_RUN)


def rows_of(folder):
    import pyarrow.dataset as ds

    return ds.dataset(Path(folder) / "results", format="parquet").to_table().to_pylist()


def test_a_sweep_is_the_runs_of_its_points(sweep):
    done = flashgc.sweep(sweep, store="all", jobs=2)
    assert (len(done), done.computed, done.counts["done"], done.axes) == (
        6, 6, 6, ["scheme", "seed"])  # fmt: skip
    for row in done.to_arrow(reports=True).to_pylist():
        alone = flashgc.run("small.toml", scheme=row["scheme"], seed=row["seed"])
        assert row["result_hash"] == alone.result_hash
        assert row["latency_ns.all.p99"] == alone.latency_ns.all.p99
        own = alone.to_dict() | dict.fromkeys(columns.OF_MACHINE)
        assert json.loads(row["report"]) == own
    assert done.report(scheme="fifo", seed=2).seed == 2


def test_equal_points_are_computed_once_ever(sweep, tmp_path):
    first = flashgc.sweep(sweep, store="all", jobs=1)
    again = flashgc.sweep(sweep, store="all", jobs=1)
    assert again.computed == 0
    assert result(again).equals(result(first))
    # Under other names, in another sweep, and among new points.
    other = tmp_path / "other.toml"
    other.write_text(
        '[base]\nconfig = "small.toml"\n[axes.a.x]\nscheme = "greedy"\n[axes.a.y]\n'
        'set = { "gc.scheme" = "greedy" }\n[axes.s]\nkey = "seed"\nvalues = [2, 4]\n'
    )
    more = flashgc.sweep(other, store="all", jobs=1)
    assert (len(more), more.computed) == (4, 1)
    assert len(rows_of("all")) == 7


def test_results_do_not_depend_on_workers_or_shared_drives(sweep, tmp_path):
    """Points that differ in the measured part alone begin with one preconditioned drive."""
    text = sweep.read_text() + '"workload.synthetic.queue_depth" = [1, 8]\n'
    one = flashgc.sweep(text, store="one", jobs=1)
    two = flashgc.sweep(text, store="two", jobs=2)
    assert result(one).equals(result(two))
    planned = plan.plan(read.load(text), None, quick=False)
    assert len({each.run.drive_key for each in planned}) == 6
    for row in one.to_arrow(reports=True).to_pylist()[::5]:
        alone = flashgc.run("small.toml", scheme=row["scheme"], seed=row["seed"], set={
            "workload.synthetic.queue_depth": row["workload.synthetic.queue_depth"]})  # fmt: skip
        own = alone.to_dict() | dict.fromkeys(columns.OF_MACHINE)
        assert json.loads(row["report"]) == own
    assert not list((tmp_path / "one/drives").iterdir())


def test_a_shared_drive_is_made_once_and_removed_after_its_last_point(sweep, tmp_path):
    text = '[base]\nconfig = "small.toml"\n[axes]\n"workload.synthetic.queue_depth" = [1, 2, 3]\n'
    planned = plan.plan(read.load(text), None, quick=False)
    work = agenda.Agenda(planned, store.Store(tmp_path))
    first = work.next()
    assert first.is_drive
    assert work.next(wait=False) is None
    Path(first.drive).parent.mkdir()
    Path(first.drive).touch()
    work.done(first)
    points = [work.next(), work.next(), work.next()]
    assert {point.drive for point in points} == {first.drive}
    for point in points:
        assert Path(first.drive).exists()
        work.done(point)
    assert not Path(first.drive).exists()
    assert work.is_over


def test_points_run_without_a_drive_that_cannot_be_saved(sweep, tmp_path):
    text = '[base]\nconfig = "small.toml"\n[axes]\n"workload.synthetic.queue_depth" = [1, 2]\n'
    planned = plan.plan(read.load(text), None, quick=False)
    work = agenda.Agenda(planned, store.Store(tmp_path))
    for _ in range(agenda.DEATHS_MAX):
        drive = work.next()
        assert drive.is_drive
        work.died(drive)
    assert work.next().drive is None


def test_dependent_values_and_traces(sweep, tmp_path):
    """A trace of each choice, with its own format and size of the drive."""
    (tmp_path / "requests.spc").write_text(SPC)
    (tmp_path / "half.spc").write_text(SPC[: len(SPC) // 2].rpartition("\n")[0] + "\n")
    text = (
        '[base]\nconfig = "replay"\n[axes.load.whole]\ntrace = "requests.spc"\n'
        'set = { "workload.trace.format" = "spc", "workload.trace.fit" = "90%" }\n'
        '[axes.load.tight]\ntrace = "requests.spc"\nset = { "workload.trace.fit" = "50%" }\n'
        '[axes.load.half]\ntrace = "half.spc"\n'
    )
    done = flashgc.sweep(text, store="all", jobs=2)
    assert done.counts["done"] == 3
    for load, fit in (("whole", "90%"), ("tight", "50%")):
        alone = flashgc.run("replay", "requests.spc", fit=fit)
        assert done.report(load=load).capacity == alone.capacity
        assert done.report(load=load).result_hash == alone.result_hash
    assert done.report(load="whole").capacity != done.report(load="tight").capacity
    # The content of a trace counts, not its name or time.
    os.utime("requests.spc", (1, 1))
    assert flashgc.sweep(text, store="all", jobs=1).computed == 0
    (tmp_path / "half.spc").write_text(SPC)
    why = flashgc.explain_sweep(text, store="all")
    assert why == {"the content of the trace half.spc changed": ["load half"]}
    assert flashgc.sweep(text, store="all", jobs=1).computed == 1


def test_explain_says_why_points_have_to_run(sweep):
    assert list(flashgc.explain_sweep(sweep, store="all")) == ["new"]
    flashgc.sweep(sweep, store="all", jobs=1)
    assert flashgc.explain_sweep(sweep, store="all") == {}
    Path("small.toml").write_text(TINY.replace('"25 us"', '"30 us"'))
    [why] = flashgc.explain_sweep(sweep, store="all")
    assert why == "device.timing.read_ns changed from 25000 to 30000"


def test_points_that_fail_or_are_refused_end_no_other(sweep, flashgc):
    text = sweep.read_text() + '"device.exported" = [0.7, 0.99]\n'
    sweep.write_text(text)
    done = flashgc("sweep", sweep, "--json", code=1).json
    assert done["counts"] == {"done": 6, "failed": 0, "killed": 0, "refused": 6, "missing": 0}
    assert "spare pages" in next(row["error"] for row in done["points"] if row["error"])
    assert "and 5 more: a plane has" in flashgc("sweep", sweep, code=1).out.replace("\n", " ")
    sweep.write_text(text.replace("[0.7, 0.99]", "[0.98, 0.99]"))
    assert "spare pages" in flashgc("sweep", sweep, code=2).err


def started(command, folder, rows, **more):
    """A sweep that is under way, with this many rows or more."""
    child = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, **more)
    until = time.monotonic() + 60
    while len(written(folder / "all")) < rows:
        assert child.poll() is None, child.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.01)
    return child


def written(folder):
    """The keys of all rows so far, including killed points."""
    found = store.Store(folder)
    return found.rows(["key"])["key"].to_pylist() if (folder / "results").exists() else []


@pytest.fixture
def slow(sweep, tmp_path):
    (tmp_path / "small.toml").write_text(SLOW)
    return tmp_path


RUN = [COMMAND, "sweep", "six.toml", "--store", "all", "--jobs", "2"]


def test_a_killed_sweep_goes_on(slow):
    with started(RUN, slow, 2) as child:
        assert states(slow)[0].running == child.pid
        child.kill()
    had = written(slow / "all")
    assert 2 <= len(had) < 6
    done = flashgc.sweep("six.toml", store="all", jobs=2)
    assert (done.counts["done"], done.computed) == (6, 6 - len(had))
    keys = [row["key"] for row in rows_of("all")]
    assert len(keys) == len(set(keys)) == 6
    other = flashgc.sweep("six.toml", store="other", jobs=1)
    assert result(done).equals(result(other))


def states(folder):
    return status.every(folder / "all")


def test_the_point_of_a_killed_worker_runs_elsewhere(slow):
    with started(RUN, slow, 1) as child:
        workers = states(slow)[0].workers
        os.kill(int(workers[0]), signal.SIGKILL)
        assert child.wait(timeout=60) == 0, child.stderr.read()
    assert len({row["worker"] for row in rows_of("all")}) >= 2
    assert {row["status"] for row in rows_of("all")} == {"done"}
    assert len(rows_of("all")) == 6


POISON = """
import os, sys
if sys.orig_argv[-1] == "flashgc.sweeps.worker":
    from flashgc import _engine
    run = _engine.run
    def poisoned(request, *more, **named):
        if "seed=2" in request["sets"] and request["scheme"][0] == "fifo":
            os.kill(os.getpid(), 9)
        return run(request, *more, **named)
    _engine.run = poisoned
"""


def test_a_point_that_always_kills_its_worker_takes_no_other_down(sweep, tmp_path, monkeypatch):
    (tmp_path / "poison").mkdir()
    (tmp_path / "poison/sitecustomize.py").write_text(POISON)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "poison"))
    done = flashgc.sweep(sweep, store="all", jobs=2)
    assert done.counts == {"done": 5, "failed": 0, "killed": 1, "refused": 0, "missing": 0}
    [(label, error)] = done.errors
    assert label == "scheme fifo, seed 2"
    assert "each of the 3 workers that ran this point died" in error
    assert "SIGKILL" in error
    monkeypatch.delenv("PYTHONPATH")
    assert list(flashgc.explain_sweep(sweep, store="all")) == [
        "its workers died, or its files could not be read"
    ]
    done = flashgc.sweep(sweep, store="all", jobs=2)
    assert (done.counts["done"], done.computed) == (6, 1)


def test_ctrl_c_keeps_the_results_and_leaves_no_worker(slow):
    with started(RUN, slow, 2) as child:
        workers = states(slow)[0].workers
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=10) == 130
        assert "the same command continues" in child.stderr.read()
    for pid in map(int, workers):
        assert not Path(f"/proc/{pid}/cmdline").exists() or not Path(
            f"/proc/{pid}/cmdline").read_bytes()  # fmt: skip
    assert 2 <= len(rows_of(slow / "all")) < 6
    assert not (slow / "all/journal.jsonl").exists()


def test_one_sweep_at_a_time_writes_into_a_folder(slow, flashgc):
    with started(RUN, slow, 1) as child:
        assert "another sweep writes into" in flashgc(*RUN[1:], code=2).err
        child.kill()


def test_a_line_that_a_crash_has_cut_is_no_result(sweep):
    flashgc.sweep(sweep, store="all", jobs=1)
    row = {"key": "k", "status": "done", "ended_s": 1.0}
    Path("all/journal.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row)[:20])
    keys = store.Store("all").rows(["key"])["key"].to_pylist()
    assert (len(keys), "k" in keys) == (7, True)
    assert flashgc.sweep(sweep, store="all", jobs=1).computed == 0
    assert len(rows_of("all")) == 7


def test_many_files_become_one(tmp_path):
    with store.Writer(tmp_path) as writer:
        for number in range(40):
            writer.add({"key": f"{number % 30}", "status": "done", "ended_s": float(number)})
            writer.fold()
    assert len(list((tmp_path / "results").iterdir())) < 35
    table = store.Store(tmp_path).rows(["key", "ended_s"])
    assert sorted(map(int, table["key"].to_pylist())) == list(range(30))
    newest = dict(zip(table["key"].to_pylist(), table["ended_s"].to_pylist(), strict=True))
    assert newest["5"] == 35.0


def test_a_result_counts_more_than_a_later_error(tmp_path):
    with store.Writer(tmp_path) as writer:
        writer.add({"key": "k", "status": "done", "ended_s": 1.0})
        writer.add({"key": "k", "status": "killed", "ended_s": 2.0})
    assert store.Store(tmp_path).rows(["status"])["status"].to_pylist() == ["done"]


@apart
def test_frames_and_files(sweep, tmp_path):
    done = flashgc.sweep(sweep, store="all", jobs=2)
    frame = done.to_pandas()
    assert list(frame["seed"]) == [1, 2, 3] * 2
    assert done.to_polars().shape == frame.shape == (6, len(done.to_arrow().column_names))
    for ending in ("parquet", "csv", "arrow"):
        assert done.save(tmp_path / f"table.{ending}").stat().st_size > 1000
    link = tmp_path / "link.csv"
    link.symlink_to("target.csv")
    done.save(link)
    assert link.is_symlink()
    assert (tmp_path / "target.csv").read_bytes() == (tmp_path / "table.csv").read_bytes()
    with pytest.raises(flashgc.OutputError, match="must end in"):
        done.save("table.xls")
    with pytest.raises(KeyError, match="single point"):
        done.report(seed=1)
    assert repr(done) == "SweepResults(six: 6 points, 6 done)"


def test_a_setting_without_effect_is_refused(sweep, flashgc):
    sweep.write_text(sweep.read_text() + '"gc.victim.d-choices.d" = [2]\n')
    assert "have no effect: gc.victim.d-choices.d" in flashgc("sweep", sweep, code=2).err


@pytest.mark.parametrize("more", [("--out", "t.csv"), ("--figures", "f"), ("--jobs", "2")])
def test_explain_refuses_what_only_a_sweep_that_runs_has(sweep, flashgc, more):
    said = " ".join(flashgc("sweep", sweep, "--explain", *more, code=2).err.split())
    assert f"--explain runs nothing and cannot be combined with {more[0]}" in said


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--out", "none/t.csv"), "none/t.csv: there is no folder none"),
        (("--figures", "six.toml"), "six.toml is a file, not a folder"),
    ],
)
def test_places_for_results_are_checked_before_the_first_run(sweep, flashgc, more, words):
    sweep = sweep.rename("six.toml")
    assert words in flashgc("sweep", sweep, *more, code=2).err
    assert not Path("runs").exists()


def test_the_command(sweep, flashgc):
    done = flashgc("sweep", sweep, "--out", "table.csv")
    assert "six: 6 points, 6 done" in done.out
    assert "write amplification" in done.out
    assert "6 points were computed now" in done.err
    assert Path("table.csv").read_text().count("\n") == 7
    assert "every point has a result" in flashgc("sweep", sweep, "--explain").out
    assert "6: 6 done" in flashgc("sweep", "status").out
    assert "has no sweep 'x'" in flashgc("sweep", "status", "x", code=2).err
    assert "no sweeps" in flashgc("sweep", "status", "--store", "none").out
    assert "there is no such file" in flashgc("sweep", "none.toml", code=2).err
    shown = flashgc("sweep", sweep, "--out", "page.html", "--figures", "drawn")
    assert "saved page.html" in shown.err
    assert "saved 9 files in drawn" in shown.err
    assert "flashgc sweep" in Path("page.html").read_text()
    assert "must end in .parquet" in flashgc("sweep", sweep, "--out", "x.xls", code=2).err


def test_nothing_listens(slow):
    """No socket of the sweep or its workers accepts connections."""
    if not Path("/proc/net/tcp").exists():
        pytest.skip("there is no /proc")
    with started(RUN, slow, 1) as child:
        pids = [child.pid, *map(int, states(slow)[0].workers)]
        sockets = [os.readlink(link) for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir()
                   if link.exists() or link.is_symlink()]  # fmt: skip
        child.kill()
    assert not [name for name in sockets if name.startswith("socket:")]


def test_axes_of_an_experiment_have_the_same_short_forms(paper, flashgc):
    text = (paper / "experiment.toml").read_text()
    a = text.index("[axes.scheme.greedy]")
    b = text.index("[measures.latency]")
    (paper / "experiment.toml").write_text(
        text[:a] + '[axes.scheme]\nvalues = ["greedy", "fifo"]\n\n' + text[b:]
    )
    assert "greedy  fifo" in flashgc("reproduce", paper, "--quick").out
    (paper / "experiment.toml").write_text(
        text[:a] + '[axes.scheme]\nkey = "device.exported"\nfrom = 0.5\nto = 0.9\n\n' + text[b:]
    )
    assert "only a sweep with [draw]" in flashgc("reproduce", paper, "--quick", code=2).err


def test_a_short_test_of_a_sweep_without_settings_for_it_is_refused(tmp_path):
    sweep = {"base": {"config": "oltp"}, "axes": {"seed": [1, 2]}}
    with pytest.raises(flashgc.ConfigError, match="nothing of this sweep has `quick`"):
        flashgc.sweep(sweep, store=tmp_path / "store", quick=True)
    short = {"config": "oltp", "quick": {"workload.synthetic.requests": 1000}}
    found = flashgc.explain_sweep({**sweep, "base": short}, store=tmp_path / "store", quick=True)
    assert found == {"new": ["seed 1", "seed 2"]}
