"""What fitted devices have for the measured runs of real drives, and how far they are off.

    python scripts/validation [DRIVE ...]

runs the loads of each folder of `validation/`, writes its `results.csv`, and then the tables of
docs/validation.md and its pictures. `--check` compares with the results on record instead, and
writes nothing; `--every 5` takes each fifth run, and `--only TEXT` the runs of sets with this name.
`--set KEY=VALUE` changes the devices. Then the errors are printed, and nothing is written.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from typing import Any

import tables
from drives import Drive, Point, load, names, record, recorded
from loads import simulate

import picture


def main() -> int:
    """The status: 1 where `--check` finds a difference."""
    options = _arguments()
    changes = {key: _value(text) for key, text in (one.split("=", 1) for one in options.set)}
    whole = options.every == 1 and not options.only and not changes
    differ = 0
    for name in options.drives or names():
        drive = load(name)
        if drive.paper:
            print(f"{name}: on record in papers/{drive.paper['name']}; {drive.about['command']}")
            continue
        runs = [run for run in drive.runs if options.only in ("", run.set)][:: options.every]
        points = [one for run in runs for one in simulate(drive, run, changes)]
        if options.check:
            differ += _differences(drive, points)
            continue
        for line in tables.sets(drive, points):
            print(line, flush=True)
        if whole:
            record(drive.folder / "results.csv", points)
    if not options.check and whole:
        tables.write()
        picture.write()
    return int(differ > 0)


def _differences(drive: Drive, points: list[Point]) -> int:
    """Prints each point that is not on record as it is."""
    known = {(one.run, one.metric): one for one in recorded(drive.folder / "results.csv")}
    wrong = 0
    for one in points:
        before = known[one.run, one.metric].simulated
        if f"{before:.7g}" != f"{one.simulated:.7g}":
            wrong += 1
            print(f"{drive.name}: {one.run}: {one.metric}: {one.simulated:.7g}, "
                  f"{before:.7g} on record")  # fmt: skip
    print(f"{drive.name}: {len(points)} points, {wrong} differ from the record")
    return wrong


def _value(text: str) -> Any:  # noqa: ANN401 - any value of TOML
    """As on the command line of flashgc: a value of TOML, or a string without quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/validation", description=__doc__)
    parser.add_argument("drives", nargs="*", metavar="DRIVE", help="folders of validation/; all")
    parser.add_argument("--check", action="store_true", help="compare with the results on record")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth run alone")
    parser.add_argument("--only", default="", metavar="SET", help="the runs of one set alone")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    unknown = [name for name in options.drives if name not in names()]
    if unknown:
        parser.error(f"unknown drive {unknown[0]}; there are {', '.join(names())}")
    if wrong := [one for one in options.set if "=" not in one]:
        parser.error(f"--set {wrong[0]}: KEY=VALUE is needed, as device.dies_per_chip=16")
    sets = {own for name in options.drives or names() for own in load(name).about.get("sets", {})}
    if options.only and options.only not in sets:
        parser.error(f"--only {options.only}: the sets are {', '.join(sorted(sets))}")
    if options.every < 1:
        parser.error(f"--every {options.every}: a number from 1 is needed")
    return options


if __name__ == "__main__":
    sys.exit(main())
