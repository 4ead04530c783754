#!/usr/bin/env python3
"""Real programs on a served drive, under several schemes: their latencies beside the drive's.

    python scripts/programs [--programs sqlite,postgresql] [--schemes greedy,fpgc,sepbit]
                            [--seconds 60] [--time real] [--save FILE.json] [--captures FOLDER]
                            [--ship]

Each program runs on an ext4 filesystem on a new drive, checks its own data at the end, and its
requests are run once more by the simulator alone, which must find the same result. Needs root, and
the programs: make programs-deps.
"""

import argparse
import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from types import FrameType

import dbench
import mariadb
import mounted
import postgresql
import rocksdb
import running
import shipping
import sqlite
from measured import Load

PROGRAMS = {
    module.PROGRAM.name: module.PROGRAM for module in (sqlite, postgresql, rocksdb, mariadb, dbench)
}


def _leave(number: int, _: FrameType | None) -> None:
    """SIGTERM takes everything down, as Ctrl-C does."""
    sys.exit(128 + number)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/programs", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--programs", default=",".join(PROGRAMS))
    add("--schemes", default="greedy,fpgc,sepbit")
    add("--seconds", type=float, default=60.0, help="length of the main part of a program, as the "
        "clock of the machine has it")  # fmt: skip
    add("--time", default="real", help="real, scaled=K or off, as of flashgc serve")
    add("--config", default=running.CONFIG, help="the drive")
    add("--short", action="store_true", help="small data, to see that it works")
    add("--save", type=Path, metavar="FILE.json", help="keep everything found")
    add("--captures", type=Path, metavar="FOLDER", help="keep the requests: PROGRAM-SCHEME.fgt")
    add("--ship", action="store_true", help="capture the traces that come with the package, "
        "under the scheme ideal")  # fmt: skip
    return parser.parse_args()


def main() -> None:
    """Runs what was chosen, and prints the table."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _leave)
    reason = mounted.why_not()
    if reason is not None:
        sys.exit(f"error: no filesystem can be mounted: {reason}")
    chosen = arguments.programs.split(",")
    unknown = [name for name in chosen if name not in PROGRAMS]
    if unknown:
        sys.exit(f"error: no program {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    load = Load(arguments.seconds, arguments.short)
    if arguments.captures is not None:
        arguments.captures.mkdir(parents=True, exist_ok=True)
    if arguments.ship:
        arguments.schemes, arguments.config = shipping.SCHEME, shipping.CONFIG
        arguments.captures = shipping.FOLDER
    found = []
    for name in chosen:
        program = PROGRAMS[name]
        if program.missing():
            print(f"{name} skipped: {', '.join(program.missing())} missing", file=sys.stderr)
            continue
        for scheme in arguments.schemes.split(","):
            file = f"{name}.fgt" if arguments.ship else f"{name}-{scheme}.fgt"
            kept = arguments.captures and arguments.captures / file
            one = running.ran(program, scheme, load, arguments.time, kept, arguments.config)
            found.append(one)
            told = "" if one.is_repeated else "; NOT repeated by flashgc run"
            print(f"{name} under {scheme}: data whole{told}", file=sys.stderr)
            if arguments.ship:
                shipping.ship(program, arguments.seconds, arguments.time)
            for note in one.lateness:
                print(f"  {note}", file=sys.stderr)
            if arguments.save is not None:
                arguments.save.write_text(json.dumps([asdict(each) for each in found], indent=1))
    titles = {name: program.title for name, program in PROGRAMS.items()}
    print(running.table(found, titles))
    if not all(one.is_repeated for one in found):
        sys.exit("error: a run of captured requests has another result than the served drive")


main()
