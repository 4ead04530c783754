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
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in QUIET}
    child = subprocess.Popen(
        [*map(str, command)],
        cwd=cwd,
        stdin=theirs,
        stdout=subprocess.PIPE if pipe_stdout else theirs,
        stderr=theirs,
        env={**clean, "TERM": "xterm-256color", **(env or {})},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        screen, piped = _collect(child, ours, seconds)
    finally:
        child.kill()
        child.wait()
        os.close(ours)
    return Seen(child.returncode, screen.decode(), piped.decode())


def _collect(child, terminal, seconds):
    """Reads the terminal and the pipe until both are closed."""
    texts = {terminal: b""}
    if child.stdout is not None:
        texts[child.stdout.fileno()] = b""
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
    child.wait()
    screen = texts.pop(terminal)
    piped = b"".join(texts.values())
    if child.stdout is not None:
        child.stdout.close()
    return screen, piped
