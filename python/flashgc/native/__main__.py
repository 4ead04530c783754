"""`python -m flashgc.native` prints flags for compilers and linkers of C and C++."""

from __future__ import annotations

import argparse
import shlex
import sys

from flashgc._engine import ConfigError
from flashgc.native.place import cflags, cmakedir, libs, pkgconfigdir


def main() -> int:
    """Prints what was asked for, one line each; 2 where there is nothing to print."""
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
    parser.add_argument("--cmakedir", action="store_true", help="the folder for -Dflashgc_DIR=")
    parser.add_argument(
        "--pkgconfigdir", action="store_true", help="the folder for PKG_CONFIG_PATH"
    )
    options = parser.parse_args()
    if options.static and not options.libs:
        parser.error("--static says how to link: type --libs --static")
    if not (options.cflags or options.libs or options.cmakedir or options.pkgconfigdir):
        parser.print_help(sys.stderr)
        return 2
    lines = []
    try:
        if options.cflags:
            lines.append(shlex.join(cflags()))
        if options.libs:
            lines.append(shlex.join(libs(static=options.static)))
        if options.cmakedir:
            lines.append(str(cmakedir()))
        if options.pkgconfigdir:
            lines.append(str(pkgconfigdir()))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
