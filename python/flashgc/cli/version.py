"""The version: the one answer that needs no commands, which take most of the start to import."""

from __future__ import annotations

OPTIONS = ("--version", "-V")


def is_all(arguments: list[str]) -> bool:
    """Whether the version is the only request."""
    return len(arguments) == 1 and arguments[0] in OPTIONS


def say() -> None:
    """Prints it."""
    from flashgc._engine import __version__

    print(f"flashgc {__version__}")
