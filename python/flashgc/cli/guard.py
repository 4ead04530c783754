"""Turns what can go wrong into a message and an exit status."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

from flashgc._engine import FlashgcError

P = ParamSpec("P")

FAILED = 2
INTERRUPTED = 130


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Wraps a command: no traceback for what a user can do wrong, and none for Ctrl-C."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except FlashgcError as error:
            fail(str(error))
        except KeyboardInterrupt:
            say("interrupted; nothing was saved")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever reads has had enough, which is no error.
            _silence_stdout()
            raise typer.Exit(0) from None
        except OSError as error:
            _silence_stdout()
            fail(f"error: {(error.strerror or str(error)).lower()}: standard output")

    return wrapped


def fail(message: str) -> None:
    """Says what is wrong and ends with status 2."""
    say(message if message.startswith("error") else f"error: {message}")
    raise typer.Exit(FAILED)


def say(message: str) -> None:
    """To people, beside the results."""
    with contextlib.suppress(OSError):
        print(message, file=sys.stderr, flush=True)


def _silence_stdout() -> None:
    """Python writes what is left when it ends, and would complain again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
