"""Turns errors into a message and an exit status."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import ParamSpec

import flashgc._start as start
from flashgc._engine import FlashgcError, InternalError, __version__

P = ParamSpec("P")

FAILED = 2
FAULT = 70
INTERRUPTED = 130


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Wraps a command: no error causes a traceback."""
    import typer

    from flashgc.files import output

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with output.noted():
                try:
                    with signals():
                        command(*args, **kwargs)
                        sys.stdout.flush()
                except KeyboardInterrupt as error:
                    say(f"{start.interrupted(error)}; {_what_was_saved()}")
                    raise typer.Exit(interrupted_status(error)) from None
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            raise typer.Exit(status_of(error)) from None

    return wrapped


def status_of(error: BaseException) -> int:
    """Prints the meaning of an exception, and returns the exit status."""
    if isinstance(error, KeyboardInterrupt):
        say(start.interrupted(error))
        return interrupted_status(error)
    if isinstance(error, BrokenPipeError):
        # The reader has closed the pipe, which is not an error.
        _silence(sys.stdout)
        return 0
    if isinstance(error, FlashgcError) and not isinstance(error, InternalError):
        message = str(error)
    elif isinstance(error, OSError):
        message = _os_error(error)
    elif isinstance(error, MemoryError):
        message = "error: not enough memory"
    else:
        say(_fault(error))
        return FAULT
    say(message if message.startswith("error") else f"error: {message}")
    return FAILED


def _os_error(error: OSError) -> str:
    from flashgc.files.reading import describe

    if error.filename is not None:
        return f"error: {describe(os.fsdecode(error.filename), error)}"
    _silence(sys.stdout)
    if error.errno == errno.EBADF:
        return "error: standard output is closed; the result cannot be written"
    return f"error: {(error.strerror or str(error)).lower()}: standard output"


def _fault(error: BaseException) -> str:
    """The message for a fault of flashgc, with the facts to report."""
    import shlex
    import traceback

    what = str(error)
    if not isinstance(error, InternalError):
        places = traceback.extract_tb(error.__traceback__)
        at = f" ({os.path.basename(places[-1].filename)}:{places[-1].lineno})" if places else ""
        what = f"error: flashgc itself has failed: {type(error).__name__}: {what}{at}"
    command = shlex.join(["flashgc", *sys.argv[1:]])
    return (
        f"{what}\n  = help: this is a bug in flashgc, not your mistake; please report it with this "
        f"message and\n      version        {__version__}\n      command        {command}\n"
        "      configuration  its file, if it is one of your own, and the trace if it can be shared"
        "\n      seed           if it is not in the command or the configuration, 1"
    )


def interrupted_status(error: KeyboardInterrupt) -> int:
    """128 and the number of the signal."""
    return error.status if isinstance(error, start.Interrupted) else INTERRUPTED


def _what_was_saved() -> str:
    from flashgc.files import output

    files = [str(path) for path in output.saved()]
    return f"saved before that: {', '.join(files)}" if files else "nothing was saved"


@contextlib.contextmanager
def signals() -> Iterator[None]:
    """Signals end the command in good order, with its temporary files removed."""
    try:
        start.raise_signals()
        yield
    finally:
        start.end_at_signals()


def flushed(status: str | int | None) -> str | int | None:
    """The status, after the rest of standard output was written."""
    try:
        sys.stdout.flush()
        if status == 1 and _is_silenced():
            # The libraries treat a pipe that its reader has closed as an error.
            return 0
    except BrokenPipeError:
        _silence(sys.stdout)
        return 0
    except OSError as error:
        said = status_of(error)
        return status or said
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    return status


def _is_silenced() -> bool:
    """Whether a library has replaced a broken pipe by the null device, or by a wrapper."""
    # Click wraps standard output where it could not write a help text.
    if type(sys.stdout).__name__ == "PacifyFlushWrapper":
        return True
    with contextlib.suppress(OSError):
        return not start.began_silent and start.is_null(1)
    return False


def fail(message: str) -> None:
    """Prints the error and ends with status 2."""
    import typer

    say(message if message.startswith("error") else f"error: {message}")
    raise typer.Exit(FAILED)


def say(message: str) -> None:
    """Prints a message on standard error, apart from the results."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _silence(stream: object) -> None:
    """Python writes the rest of the output when it ends, and would complain again."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        number = stream.fileno()  # type: ignore[attr-defined]
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
