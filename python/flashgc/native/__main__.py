"""`python -m flashgc.native` prints flags for compilers and linkers of C and C++."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable

from flashgc._engine import ConfigError
from flashgc.native.place import cflags, cmakedir, library, libs, pkgconfigdir


def main() -> int:
    """Prints one line for each option; 2 where there is nothing to print."""
    parser = argparse.ArgumentParser(
        prog="python -m flashgc.native",
        description="Flags for programs in C and C++ that have the drive as a component.",
        epilog="example: cc loop.c $(python -m flashgc.native --cflags --libs)",
    )
    parser.add_argument("--cflags", action="store_true", help="words for the compiler")
    parser.add_argument("--libs", action="store_true", help="words for the linker")
    parser.add_argument(
        "--static", action="store_true", help="with --libs: the library becomes part of the program"
    )
    parser.add_argument("--library", action="store_true", help="the file of the shared library")
    parser.add_argument("--cmakedir", action="store_true", help="the folder for -Dflashgc_DIR=")
    parser.add_argument(
        "--pkgconfigdir", action="store_true", help="the folder for PKG_CONFIG_PATH"
    )
    options = parser.parse_args()
    if options.static and not options.libs:
        parser.error("--static says how to link: type --libs --static")
    asked: list[tuple[bool, Callable[[], str]]] = [
        (options.cflags, lambda: shlex.join(cflags())),
        (options.libs, lambda: shlex.join(libs(static=options.static))),
        (options.library, lambda: str(library())),
        (options.cmakedir, lambda: str(cmakedir())),
        (options.pkgconfigdir, lambda: str(pkgconfigdir())),
    ]
    if not any(is_asked for is_asked, _ in asked):
        parser.print_help(sys.stderr)
        return 2
    try:
        lines = [text() for is_asked, text in asked if is_asked]
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
