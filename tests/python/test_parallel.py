"""Several pieces of work at a time: nothing is left behind, whenever the interrupt comes."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from flashgc.running import parallel

IN_THREADS = """
import threading, flashgc
small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
done = []
for _ in range(4):
    thread = threading.Thread(target=lambda: done.append(flashgc.run("oltp", set=small)))
    thread.start()
    thread.join()
assert len({report.result_hash for report in done}) == 1 and len(done) == 4
"""


def test_the_engine_may_be_loaded_first_in_a_thread_that_ends():
    """The allocator crashed in later threads: its first heap was that of the ended one."""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", IN_THREADS], check=True, timeout=100)


def endless(_, going):
    while True:
        going()
        time.sleep(0.001)


@pytest.mark.parametrize("nth", [1, 2])
def test_ctrl_c_while_a_thread_starts_leaves_no_thread(monkeypatch, nth):
    """The thread runs, and `start` has not returned: a pool waited for it, or for its work."""
    start, started = threading.Thread.start, []

    def interrupted(thread):
        start(thread)
        started.append(thread)
        if len(started) == nth:
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parallel.each(4, 2, endless)
    for thread in started:
        thread.join(timeout=10)
        assert not thread.is_alive()


def test_a_signal_while_it_waits_leaves_no_work():
    """`Thread.join` that a signal interrupts takes an active thread for one that has ended.

    The process then ended while the engine was running in it, with SIGSEGV at times.
    """
    begun, ended = threading.Event(), threading.Event()

    def slow(_, __):
        begun.set()
        time.sleep(1)
        ended.set()

    def raised(number, _):
        raise InterruptedError(number)

    before = signal.signal(signal.SIGHUP, raised)

    def send():
        begun.wait()
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGHUP)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(InterruptedError):
            parallel.each(1, 1, slow)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended.is_set()
    sender.join()


def test_the_first_error_ends_the_others_and_is_the_one_that_is_raised():
    def one(number, going):
        if number == 1:
            raise ValueError(number)
        endless(number, going)

    with pytest.raises(ValueError, match="1"):
        parallel.each(3, 2, one)


def test_results_stand_in_the_order_of_their_numbers():
    def one(number, _):
        time.sleep(0.01 * (3 - number))
        return number

    assert parallel.each(3, 3, one) == [0, 1, 2]
    assert parallel.each(0, 2, one) == []
