"""The command in a child of this process: all of a process of its own but the start."""

import functools
import importlib
import os
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

CAN_FORK = hasattr(os, "fork")
_TASKS = Path("/proc/self/task")
_SLOW = ("flashgc.cli.app", "flashgc.cli.layout", "flashgc.cli.progress", "flashgc.cli.show",
         "flashgc.reports.saving", "pandas", "pyarrow", "rich.markdown",
         "typer.rich_utils")  # fmt: skip
"""Modules of commands that are imported once, before any of them is forked."""


def has_drawn():
    """Whether this process has drawn a figure: then it has threads that a copy of it has not."""
    if _TASKS.exists():
        return any(_name(task).startswith("V8") for task in _TASKS.iterdir())
    return "vl_convert" in sys.modules


def _name(task):
    try:
        return (task / "comm").read_text()
    except OSError:
        return ""  # the thread has ended


def apart(test):
    """Runs a test that draws, or has a data frame of Polars, in a child of this process: such a
    process has threads that a copy of it would wait for."""

    @functools.wraps(test)
    def run(**fixtures):
        if not CAN_FORK or has_drawn():
            test(**fixtures)
            return
        child = _forked()
        if child == 0:
            status = 1
            try:
                test(**fixtures)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                _leave(status)
        assert end_of(child, 300) == 0, "the child's standard error has the reason"

    return run


def _forked():
    with warnings.catch_warnings():
        # Python warns of threads; those of the test runner have nothing that the child needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def start(words, folder, streams, env):
    """Starts `flashgc WORDS` in a folder, in a session of its own, with these three streams."""
    for name in _SLOW:
        importlib.import_module(name)
    sys.stdout.flush()
    sys.stderr.flush()
    child = _forked()
    if child == 0:
        os.setsid()
        _be_the_command(words, folder, streams, env)
    return child


def run(words, folder, stdin, env, timeout_s=120):
    """Runs `flashgc WORDS` in a folder: its status, standard output and standard error."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:  # fmt: skip
        given.write(stdin or b"")
        given.seek(0)
        streams = [stream.fileno() for stream in (given, out, err)]
        child = start(words, folder, streams, env)
        status = end_of(child, timeout_s)
        return status, *(_all(stream) for stream in (out, err))


def _be_the_command(words, folder, streams, env):
    """Never returns."""
    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        # The streams live as long as the child.
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8")  # noqa: SIM115
            for number, mode in enumerate("rww")
        )
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["flashgc", *words]
        # Under `python -m pytest` its name would be another.
        sys.modules["__main__"].__package__ = None
        from flashgc import _start
        from flashgc.cli import main

        _start.prepare()
        main()
    except SystemExit as end:
        status = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        _leave(status)


def _leave(status):
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def end_of(child, timeout_s):
    until = time.monotonic() + timeout_s
    pause_s = 0.001
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(child, 9)
            os.waitpid(child, 0)
            raise TimeoutError(f"the command took more than {timeout_s} s")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.02)


def _all(stream):
    stream.seek(0)
    return stream.read().decode()
