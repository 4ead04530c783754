"""Sweeps on Ray: the results of one core, bit for bit, whatever dies."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import flashgc
from conftest import COMMAND, ROOT, SMALL, SPC
from flashgc.sweeps import columns, status

pytest.importorskip("ray", reason="Ray is not installed: pip install 'flashgc[ray]'")

OF_RUN = ["worker", "ended_s", *columns.OF_MACHINE]
SWEEP = """
[base]
config = "small.toml"
[axes]
scheme = ["greedy", "fifo"]
seed = { from = 1, to = 4 }
"workload.synthetic.queue_depth" = [1, 8]
"""


def result(done):
    return done.to_arrow(reports=True).drop_columns(OF_RUN)


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "points.toml").write_text(SWEEP)
    return tmp_path / "points.toml"


@contextmanager
def cluster():
    """Two nodes: the port of clients, and the processes of the second node."""
    script = ROOT / "tests/python/ray_cluster.py"
    with subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as child:  # fmt: skip
        try:
            yield json.loads(child.stdout.readline())
        finally:
            child.stdin.close()
            child.wait(timeout=60)


def run(*args, code=0):
    done = subprocess.run([COMMAND, "sweep", *args], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_ray_on_this_machine_and_a_cluster_of_two_nodes_give_the_same_bits(sweep):
    one = flashgc.sweep(sweep, store="one", jobs=1)
    run(sweep, "--store", "two", "--on", "ray", "--jobs", "2")
    two = flashgc.sweep(sweep, store="two", jobs=1)
    assert (two.computed, two.counts["done"]) == (0, 16)
    assert result(two).equals(result(one))
    with cluster() as nodes:
        run(sweep, "--store", "three", "--on", f"ray://127.0.0.1:{nodes['port']}")
    three = flashgc.sweep(sweep, store="three", jobs=1)
    assert three.computed == 0
    assert result(three).equals(result(one))


def test_a_killed_node_loses_nothing(sweep):
    Path("small.toml").write_text(SMALL.replace("20_000", "2_000_000"))
    with cluster() as nodes:
        on = f"ray://127.0.0.1:{nodes['port']}"
        with subprocess.Popen([COMMAND, "sweep", sweep, "--store", "all", "--on", on],
                              stderr=subprocess.PIPE, text=True) as child:  # fmt: skip
            until = time.monotonic() + 120
            while sum(one.counts["done"] for one in status.every("all")) < 3:
                assert child.poll() is None, child.stderr.read()
                assert time.monotonic() < until
                time.sleep(0.05)
            for pid in nodes["second"]:
                os.kill(pid, signal.SIGKILL)
            assert child.wait(timeout=300) == 0, child.stderr.read()
    done = flashgc.sweep(sweep, store="all", jobs=2)
    assert (done.computed, done.counts["done"]) == (0, 16)


def test_traces_travel_to_the_nodes(sweep):
    Path("requests.spc").write_text(SPC)
    Path("traces.toml").write_text(
        '[base]\nconfig = "replay"\ntrace = "requests.spc"\n[axes]\nseed = [1, 2]\n'
        'scheme = ["greedy", "fifo"]\n'
    )
    run("traces.toml", "--store", "ray", "--on", "ray", "--jobs", "2")
    again = flashgc.sweep("traces.toml", store="ray", jobs=1)
    assert again.computed == 0
    assert result(again).equals(result(flashgc.sweep("traces.toml", store="one", jobs=1)))


def test_nothing_accepts_connections_from_other_machines(sweep):
    with subprocess.Popen([COMMAND, "sweep", sweep, "--store", "all", "--on", "ray", "--jobs", "1"],
                          stderr=subprocess.PIPE, text=True) as child:  # fmt: skip
        own = set()
        while child.poll() is None:
            own |= listening(child.pid)
            time.sleep(0.2)
        assert child.returncode == 0, child.stderr.read()
    assert own
    assert {address for address, _ in own} == {"127.0.0.1"}


def listening(root):
    """Addresses and ports that a process and those below it listen on."""
    inodes = {inode for pid in below(root) for inode in sockets(pid)}
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                address, _, port = words[1].partition(":")
                is_own = address.endswith("0100007F")
                found.add(("127.0.0.1" if is_own else address, int(port, 16)))
    return found


def below(root):
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def sockets(pid):
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            name = os.readlink(link)
        except OSError:
            continue
        if name.startswith("socket:["):
            yield name[8:-1]


@pytest.mark.parametrize("on", ["spark", "ray://", "ray:/x"])
def test_another_place_is_an_error(sweep, on):
    assert "a sweep cannot run on" in run(sweep, "--on", on, code=2).stderr


def test_a_cluster_that_is_not_there_is_an_error(sweep):
    error = run(sweep, "--on", "ray://127.0.0.1:1", code=2).stderr
    assert "Ray at ray://127.0.0.1:1 cannot be used" in error
    assert "Traceback" not in error
