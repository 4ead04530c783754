"""The command in a child of this process: all of a process of its own but the start."""

import os
import sys
import tempfile
import time
import traceback
import warnings

CAN_FORK = hasattr(os, "fork")
DRAWS = True
"""Whether commands draw figures as files, with threads that a forked process has not."""


def run(words, folder, stdin, env, timeout_s=120):
    """Runs `flashgc WORDS` in a folder: its status, standard output and standard error."""
    # Slow modules are imported once, here.
    import flashgc.cli.app  # noqa: F401

    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:  # fmt: skip
        given.write(stdin or b"")
        given.seek(0)
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # Python warns of threads; those of the test runner have nothing that the child needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            _be_the_command(words, folder, (given, out, err), env)
        status = _end_of(child, timeout_s)
        return status, *(_all(stream) for stream in (out, err))


def _be_the_command(words, folder, streams, env):
    """Never returns."""
    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        # The streams live as long as the child.
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8")  # noqa: SIM115
            for number, mode in enumerate("rww")
        )
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["flashgc", *words]
        from flashgc import _start
        from flashgc.cli import main

        _start.prepare()
        main()
    except SystemExit as end:
        status = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


def _end_of(child, timeout_s):
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
