"""Jobs of one flow keep their requests in proportion, as in fio."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

import draw
import ours
import theirs

HEAD = "[global]\nrw=read\nsize=16m\n"
SECOND = "time_based\nruntime=1\n"
JOBS = {
    "3:1": f"[a]\nflow=3\nrate_iops=300\n{SECOND}[b]\nflow=1\nrate_iops=300\n{SECOND}",
    "5:2": f"[a]\nflow=5\nrate_iops=300\n{SECOND}[b]\nflow=2\nrate_iops=300\n{SECOND}",
    "clones": f"[a]\nflow=1\nnumjobs=2\nrate_iops=300\n{SECOND}"
              f"[b]\nflow=1\nrate_iops=100\n{SECOND}",
    "a flush is a request": f"[a]\nrw=write\nfsync=1\nflow=1\nrate_iops=1000\n{SECOND}"
                            f"[b]\nflow=1\nrate_iops=100\n{SECOND}",
    "an ended job leaves": f"[a]\nflow=2\nrate_iops=200\nnumber_ios=100\n"
                           f"[b]\nflow=1\nrate_iops=100\n{SECOND}"
                           f"[c]\nflow=3\nrate_iops=1000\n{SECOND}",
    "flows of their own": f"[a]\nflow=1\nflow_id=7\nrate_iops=100\n{SECOND}"
                          f"[b]\nflow=2\nflow_id=7\nrate_iops=1000\n{SECOND}"
                          f"[c]\nflow=1\nrate_iops=500\n{SECOND}"
                          f"[d]\nrate_iops=400\n{SECOND}",
    "a job that begins later": "[a]\nflow=1\nrate_iops=200\nnumber_ios=100\n"
                               "[b]\nflow=1\nrate_iops=200\nnumber_ios=100\nstartdelay=1\n",
}  # fmt: skip
# Each clone of fio begins some ms before the next, and has more requests by then.
ROOM = 12


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
@pytest.mark.parametrize("name", JOBS)
def test_jobs_of_a_flow_have_the_proportions_of_fio(name, tmp_path):
    text = HEAD + JOBS[name]
    outcome = ours.run(text, tmp_path)
    assert not outcome.error, outcome.error
    own = Counter()
    for stream, requests in outcome.streams.items():
        own[stream.split(".")[0]] += sum(one.kind != "flush" for one in requests)
    path = Path(tmp_path, "theirs.fio")
    path.write_text(text.replace("[global]\n", "[global]\nioengine=null\n"))
    for jobs in theirs.clocked(path):
        counts = Counter()
        for job in jobs:
            counts[job["jobname"]] += job["read"]["total_ios"] + job["write"]["total_ios"]
        due = {job: pytest.approx(count, abs=ROOM) for job, count in counts.items()}
        if own == due:
            break
    assert own == due


@pytest.mark.parametrize("first", range(1, 60, 20))
def test_a_flow_delays_requests_and_changes_none(first, tmp_path):
    """For random job files, with several requests in flight and pauses."""
    for seed in range(first, first + 20):
        sections = draw.job_file(seed)
        if any(one.is_paced for one in sections):
            continue
        choices, both, group = random.Random(f"flow {seed}"), [], 0
        for has_flows in (False, True):
            for at, one in enumerate(sections if has_flows else []):
                group += bool(at and "stonewall" in one.options)
                one.options |= {"flow": str(choices.randint(1, 9)), "flow_id": str(group),
                                "ioengine": "libaio", "iodepth": str(choices.randint(1, 8)),
                                "thinktime": "50", "thinktime_blocks": "3"}  # fmt: skip
            streams = ours.run(draw.text(sections, seed), tmp_path, seed).streams
            both.append({name: [(one.kind, one.offset, one.bytes) for one in stream]
                         for name, stream in streams.items() if not name.startswith("shared")}
                        )  # fmt: skip
        assert both[0] == both[1], seed


def test_a_job_waits_for_one_of_its_flow_that_begins_later(tmp_path):
    streams = ours.run(HEAD + JOBS["a job that begins later"], tmp_path).streams
    # fio 3.33: 1,497 ms, where it takes 500 ms without the flow.
    assert streams["a.0.0"][-1].at_ms / 1000 == pytest.approx(1490, abs=10)


def test_a_job_that_waits_ends_with_its_runtime(tmp_path):
    jobs = (
        f"[a]\nflow=1\nrate_iops=1000\n{SECOND}[b]\nflow=1\nrate_iops=10\ntime_based\nruntime=3\n"
    )
    streams = ours.run(HEAD + jobs, tmp_path).streams
    assert streams["a.0.0"][-1].at_ms / 1000 < 1000
    assert len(streams["a.0.0"]) == 11
    assert len(streams["b.0.0"]) == 30


def test_jobs_of_a_flow_in_two_groups_are_refused(tmp_path):
    """fio 3.33 does not end: the first waits for requests of the second."""
    jobs = f"{HEAD}[a]\nflow=1\n[b]\nflow=1\nstonewall\n"
    assert "in fio without end; give it another flow_id" in ours.run(jobs, tmp_path).error
    assert not ours.run(f"{jobs}flow_id=2\n", tmp_path).error


def test_weights_out_of_range_are_refused(tmp_path):
    assert "from 0 to 1000" in ours.run(f"{HEAD}[a]\nflow=1001\n", tmp_path).error
    assert not ours.run(f"{HEAD}[a]\nflow=0\nflow_id=3\n", tmp_path).error
