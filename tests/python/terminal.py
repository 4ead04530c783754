"""A terminal of a given width, in which a command runs as it does before a person's eyes."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass

import in_process

QUIET = ("NO_COLOR", "COLUMNS", "LINES", "TERM", "FORCE_COLOR", "TTY_COMPATIBLE")


@dataclass
class Seen:
    code: int
    screen: str
    """All that was written to the terminal, with its control sequences."""
    piped: str
    """The output through a pipe in parallel."""


def run(command, cwd, columns=80, env=None, pipe_stdout=False, seconds=120):
    """Runs a command in a pseudo-terminal of this number of columns and 40 lines."""
    ours, theirs = _terminal(columns)
    child = subprocess.Popen(
        [*map(str, command)],
        cwd=cwd,
        stdin=theirs,
        stdout=subprocess.PIPE if pipe_stdout else theirs,
        stderr=theirs,
        env=_environment(env),
        start_new_session=True,
    )
    os.close(theirs)
    pipe = child.stdout.fileno() if pipe_stdout else None
    try:
        screen, piped = _collect(ours, pipe, seconds)
        child.wait()
    finally:
        child.kill()
        child.wait()
        os.close(ours)
        if pipe_stdout:
            child.stdout.close()
    return Seen(child.returncode, screen.decode(), piped.decode())


def flashgc(words, cwd, columns=80, env=None, pipe_stdout=False, seconds=120):
    """The same of `flashgc WORDS` in a child of this process: all but the start of Python."""
    if not in_process.CAN_FORK or in_process.has_drawn():
        from conftest import COMMAND

        return run([COMMAND, *words], cwd, columns, env, pipe_stdout, seconds)
    ours, theirs = _terminal(columns)
    pipe, end = os.pipe() if pipe_stdout else (None, theirs)
    streams = (theirs, end, theirs)
    child = in_process.start([str(word) for word in words], cwd, streams, _environment(env))
    for number in {theirs, end}:
        os.close(number)
    try:
        screen, piped = _collect(ours, pipe, seconds)
        code = in_process.end_of(child, seconds)
    finally:
        os.close(ours)
        if pipe_stdout:
            os.close(pipe)
    return Seen(code, screen.decode(), piped.decode())


def _terminal(columns):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    return ours, theirs


def _environment(more):
    clean = {name: value for name, value in os.environ.items() if name not in QUIET}
    return {**clean, "TERM": "xterm-256color", **(more or {})}


def _collect(terminal, pipe, seconds):
    """Reads the terminal and the pipe until both are closed."""
    texts = {terminal: b""}
    if pipe is not None:
        texts[pipe] = b""
    open_ends = set(texts)
    until = time.monotonic() + seconds
    while open_ends:
        ready, _, _ = select.select(list(open_ends), [], [], max(0, until - time.monotonic()))
        assert ready, f"no end after {seconds} s: {texts[terminal][-2000:]!r}"
        for end in ready:
            try:
                chunk = os.read(end, 65536)
            except OSError:  # the terminal of a process that is gone
                chunk = b""
            if not chunk:
                open_ends.discard(end)
            texts[end] += chunk
    screen = texts.pop(terminal)
    return screen, b"".join(texts.values())
