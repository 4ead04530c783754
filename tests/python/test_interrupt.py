"""Ctrl-C is answered at once, and the interpreter is free while the engine works."""

import signal
import subprocess
import threading
import time

import pytest

import flashgc
from conftest import COMMAND, ENDLESS, SMALL


def started(child, folder):
    """The engine is at work as soon as its log lies there under its temporary name."""
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


@pytest.mark.parametrize(
    "call",
    [
        "flashgc.run(ENDLESS)",
        "flashgc.compare(ENDLESS, ['greedy', 'fifo'])",
        "flashgc.run_seeds(ENDLESS, 3)",
        "flashgc.trace.generate(ENDLESS, '/dev/null')",
    ],
)
def test_ctrl_c_ends_every_long_call(call):
    script = (
        "import flashgc, signal, threading, os\n"
        f"ENDLESS = {ENDLESS!r}\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        f"try:\n    {call}\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    import sys

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=30)
    assert done.stdout == b"interrupted\n", done.stderr.decode()


def test_ctrl_c_ends_the_reading_of_a_trace(tmp_path, spc):
    import sys

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
    # With the lock held, the thread would get nothing done between the two looks at the count.
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
