"""The first steps of the command, before slow imports.

Nothing of this touches a program that imports the package: signals and streams are its own.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

SIGNALS = [number for name in ("SIGINT", "SIGTERM", "SIGHUP")
           if (number := getattr(signal, name, None)) is not None]  # fmt: skip
_STREAMS = (("stdin", os.O_RDWR, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_RDWR, "w"))


class Interrupted(KeyboardInterrupt):
    """A signal that ends the command, with its exit status."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number
        self.name = signal.Signals(number).name


def interrupted(error: KeyboardInterrupt) -> str:
    """What a signal did, in words."""
    name = error.name if isinstance(error, Interrupted) else "SIGINT"
    return "interrupted" if name == "SIGINT" else f"interrupted by {name}"


def is_command() -> bool:
    """Whether this process is the command `flashgc`, or `python -m flashgc`."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    if name == "-m":
        return "flashgc" in sys.orig_argv[1:4]
    return name in {"flashgc", "flashgc.exe"}


began_silent = False
"""Whether standard output was the null device from the beginning."""


def prepare() -> None:
    """The command: streams that can be used, and an answer to signals while it starts."""
    global began_silent  # noqa: PLW0603
    _open_closed_streams()
    began_silent = is_null(1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Characters that the terminal cannot show must not end a run.
            stream.reconfigure(errors="replace")
    for number in SIGNALS:
        # An ignored signal (by nohup, or in the background) stays ignored.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end_with_nothing)


def is_null(number: int) -> bool:
    """Whether a stream is the null device."""
    return os.fstat(number).st_rdev == os.stat(os.devnull).st_rdev


def raise_signals() -> None:
    """From now on a signal raises :class:`Interrupted`, so that files are cleaned up.

    A program that is not the command keeps its own answers.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is _end_with_nothing:
            signal.signal(number, _raise)


def end_at_signals() -> None:
    """From now on there is nothing to clean up."""
    for number in SIGNALS:
        if signal.getsignal(number) is _raise:
            signal.signal(number, _end_at_once)


def _raise(number: int, _: FrameType | None) -> None:
    raise Interrupted(number)


def _end_with_nothing(number: int, _: FrameType | None) -> None:
    # An exception would be lost in an import, or end in Typer, which has another status for it.
    try:
        os.write(2, f"{interrupted(Interrupted(number))}; nothing was saved\n".encode())
    finally:
        os._exit(128 + number)


def _end_at_once(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)


def _open_closed_streams() -> None:
    """A file must not get the number of a stream that was closed, or it would get its text.

    Standard output is then one to which nothing can be written, so that a result that is lost is
    an error.
    """
    for number, (name, flags, mode) in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, flags)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


if is_command():
    prepare()
