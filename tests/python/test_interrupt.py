"""Ctrl-C is answered at once, and the interpreter is free while the engine works."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import flashgc
from conftest import COMMAND, ENDLESS, SMALL


def started(child, folder):
    """The engine is active as soon as its log exists under its temporary name."""
    for _ in range(1000):
        if list(folder.glob(".gc.csv*.part")):
            return
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.02)
    pytest.fail("the run did not start")


def test_ctrl_c_ends_a_run_within_a_second(tmp_path):
    (tmp_path / "endless.toml").write_text(ENDLESS)
    command = [COMMAND, "run", "endless.toml", "--gc-log", "gc.csv"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        try:
            started(child, tmp_path)
            child.send_signal(signal.SIGINT)
            sent = time.monotonic()
            out, err = child.communicate(timeout=20)
        finally:
            child.kill()
    assert time.monotonic() - sent < 1
    assert child.returncode == 130
    assert out == b""
    assert err == b"interrupted; nothing was saved\n"
    assert [path.name for path in tmp_path.iterdir()] == ["endless.toml"]


TIMELESS = ENDLESS.replace("read_share = 0.5", "read_share = 0.0\ntrim_share = 1.0")
"""Trims, which take no time on this device: the run stays at one instant."""


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_run_that_stays_at_one_instant(tmp_path, sent, status):
    (tmp_path / "timeless.toml").write_text(TIMELESS)
    command = [COMMAND, "run", "timeless.toml", "--gc-log", "gc.csv"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        try:
            started(child, tmp_path)
            time.sleep(0.3)
            child.send_signal(sent)
            _, err = child.communicate(timeout=20)
        finally:
            child.kill()
    assert child.returncode == status
    assert b"nothing was saved" in err
    assert [path.name for path in tmp_path.iterdir()] == ["timeless.toml"]


@pytest.mark.parametrize(
    "call",
    [
        "flashgc.run(ENDLESS)",
        "flashgc.compare(ENDLESS, ['greedy', 'fifo'])",
        "flashgc.run_seeds(ENDLESS, 3)",
        "flashgc.advise(FILLING, schemes=['fifo'])",
        "flashgc.pts('enterprise-tlc')",
        "flashgc.trace.generate(ENDLESS, '/dev/null')",
    ],
)
def test_ctrl_c_ends_every_long_call(call):
    script = (
        "import flashgc, signal, threading, os\n"
        f"ENDLESS = {ENDLESS!r}\n"
        "FILLING = ENDLESS.replace('overwrite = 1.0', 'overwrite = 10_000.0')\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        f"try:\n    {call}\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=30)
    assert done.stdout == b"interrupted\n", done.stderr.decode()


def test_ctrl_c_ends_the_reading_of_a_trace(tmp_path, spc):
    large = tmp_path / "large.csv"
    rows = "".join(f"{at},0,w,{4096 * (at % 1000)},4096\n" for at in range(100_000))
    with open(large, "w") as file:
        for _ in range(100):
            file.write(rows)
    script = (
        "import flashgc, signal, threading, os, sys\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    flashgc.trace.info(sys.argv[1], format='csv')\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", script, large], capture_output=True, timeout=30)
    assert done.stdout == b"interrupted\n", done.stderr.decode()


def test_other_threads_go_on_while_the_engine_works():
    # With the lock held, the thread would get nothing done between the two reads of the count.
    count, stop = 0, threading.Event()

    def work():
        nonlocal count
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=work)
    config = SMALL.replace("20_000", "3_000_000")
    thread.start()
    try:
        before = count
        flashgc.run(config)
        after = count
    finally:
        stop.set()
        thread.join()
    assert after - before > 20_000


def test_what_the_progress_raises_ends_the_run():
    class EnoughError(Exception):
        pass

    def enough(step):
        if step.phase == "run":
            raise EnoughError

    with pytest.raises(EnoughError):
        flashgc.run(ENDLESS, progress=enough)
    with pytest.raises(EnoughError):
        flashgc.compare(ENDLESS, ["greedy", "fifo"], progress=lambda _, step: enough(step))


def test_progress_is_told_in_order():
    seen = []
    flashgc.run(SMALL.replace("20_000", "2_000_000"), progress=seen.append)
    phases = [step.phase for step in seen]
    order = ["fill", "overwrite", "run", "done"]
    assert phases == sorted(phases, key=order.index)
    assert seen[-1].phase == "done"
    times = [step.now_ns for step in seen if step.phase == "run"]
    assert times == sorted(times)


def listening(child):
    """The command answers signals, which it does before it imports anything large."""
    caught = 0
    for _ in range(1000):
        lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
        caught = int(next(line for line in lines if line.startswith("SigCgt")).split()[1], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            break
        time.sleep(0.02)
    assert caught >> (signal.SIGTERM - 1) & 1, "the command does not answer signals"
    time.sleep(1)


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize(
    "args",
    [
        ["run", "endless.toml", "--gc-log", "gc.csv", "--series", "s.csv"],
        ["compare", "endless.toml", "--schemes", "greedy,fifo", "--out", "o"],
        ["drive", "save", "filling.toml", "gc.csv"],
        ["trace", "generate", "endless.toml", "gc.csv", "--format", "csv"],
        ["trace", "convert", "-", "gc.csv", "--to", "csv"],
    ],
    ids=lambda args: " ".join(args[:2]),
)
def test_a_signal_leaves_no_part_files(tmp_path, args, name, status):
    (tmp_path / "endless.toml").write_text(ENDLESS)
    (tmp_path / "filling.toml").write_text(SMALL.replace("overwrite = 1.0", "overwrite = 10_000.0"))
    with subprocess.Popen(
        [COMMAND, *args],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            if "gc.csv" in args and args[1] != "convert":
                started(child, tmp_path)
            else:
                listening(child)
            child.send_signal(getattr(signal, name))
            child.wait(timeout=20)
            err = child.stderr.read()
        finally:
            child.kill()
    assert child.returncode == status
    by = b"" if name == "SIGINT" else b" by " + name.encode()
    assert err == b"interrupted" + by + b"; nothing was saved\n"
    left = {path.name for path in tmp_path.rglob("*")}
    assert left == {"endless.toml", "filling.toml"}


def test_what_was_saved_before_a_signal_is_said(tmp_path, small):
    script = (
        "import os, signal, sys\n"
        "sys.argv = ['flashgc', 'run', 'small.toml', '--out', 'o', '--gc-log', 'gc.csv']\n"
        "from flashgc.files import output\n"
        "write = output.write\n"
        "def save(path, text):\n"
        "    write(path, text)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "output.write = save\n"
        "from flashgc.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
    assert done.returncode == 143, done.stderr.decode()
    said = done.stderr.decode()
    assert said == "interrupted by SIGTERM; saved before that: gc.csv, o/report.html\n"


@pytest.mark.parametrize("seconds", [0, 0.05, 0.1, 0.15, 0.2, 0.3])
@pytest.mark.parametrize(
    ("words", "name", "status", "by"),
    [
        (["run"], "SIGINT", 130, ""),
        (["explain"], "SIGTERM", 143, " by SIGTERM"),
        (["animate", "--out", "a.html"], "SIGTERM", 143, " by SIGTERM"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_signal_while_the_command_starts_is_answered(tmp_path, words, name, status, by, seconds):
    """Typer ended a command that had not begun with status 130, whatever the signal was."""
    (tmp_path / "endless.toml").write_text(ENDLESS)
    with subprocess.Popen(
        [COMMAND, *words, "endless.toml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            # Before this nothing of flashgc has been read.
            while "_engine" not in maps(child.pid) and child.poll() is None:
                time.sleep(0.001)
            time.sleep(seconds)
            child.send_signal(getattr(signal, name))
            child.wait(timeout=20)
            err = child.stderr.read().decode()
        finally:
            child.kill()
    assert (child.returncode, err) == (status, f"interrupted{by}; nothing was saved\n")


def maps(pid):
    with open(f"/proc/{pid}/maps") as file:
        return file.read()


def test_a_program_that_imports_the_package_keeps_its_signals_and_streams():
    script = (
        "import signal, sys\n"
        "before = [signal.getsignal(n) for n in (2, 15, 1)], sys.stdout.errors\n"
        "import flashgc, flashgc.cli\n"
        "flashgc.run('oltp', set={'workload.synthetic.requests': 100})\n"
        "assert before == ([signal.getsignal(n) for n in (2, 15, 1)], sys.stdout.errors)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_ctrl_c_while_a_worker_of_a_sweep_starts_leaves_it_alone(monkeypatch):
    """It printed a KeyboardInterrupt of its own until its modules were loaded."""
    from flashgc.sweeps import local

    begin, begun = subprocess.Popen, threading.Event()

    def interrupted(*args, **how):
        child = begin(*args, **how)

        def send():
            while not begun.wait(0.001):
                child.send_signal(signal.SIGINT)

        threading.Thread(target=send).start()
        return child

    monkeypatch.setattr(local.subprocess, "Popen", interrupted)
    try:
        worker = local.Worker()
    finally:
        begun.set()
    assert worker.pid > 0
    worker.close()
