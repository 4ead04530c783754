"""The mutation score of the engine: the share of changes of its sources that tests notice.

A random sample of the mutants of cargo-mutants goes into one build (see `schemata`), so that a
mutant costs seconds and not a build. A mutant is caught when a test fails, or takes three times as
long as without it; it is missed when all tests pass that reach it.
"""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from build import Copy
from sample import drawn
from schemata import Mutant
from trial import Done, Programs, Test, long_trial, trial

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "target/mutants/report.json"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=300, metavar="NUMBER")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants with this in the name")
    parser.add_argument("--missed", action="store_true", help="those that the last run missed")
    parser.add_argument("--long", action="store_true", help="long forms for what is missed")
    return parser.parse_args()


def _missed_before(sample: list[Mutant]) -> list[Mutant]:
    """The mutants of the sample that the last run missed, with new numbers."""
    missed = {one["name"] for one in json.loads(REPORT.read_text()) if one["kind"] == "missed"}
    kept = [mutant for mutant in sample if mutant.name in missed]
    return [replace(mutant, number=number) for number, mutant in enumerate(kept)]


def _measured(programs: Programs) -> list[Test]:
    tests = programs.listed()
    for test in tests:
        programs.measure(test)
    cpu_s = sum(test.cpu_s for test in tests)
    print(f"{len(tests)} tests pass without a mutant, in {cpu_s:.0f} s", flush=True)
    return tests


def _tried(programs: Programs, mutant: Mutant, tests: list[Test], is_long: bool) -> dict[str, str]:
    reaching = sum(mutant.number in test.reached for test in tests)
    done = trial(programs, mutant.number, tests) if reaching else Done("passed", 0.0)
    kind = {"passed": "missed", "failed": "caught", "timeout": "timeout"}[done.status]
    if kind == "missed" and is_long:
        long = long_trial(programs, mutant.number, tests)
        kind, done = ("missed", done) if long.status == "passed" else ("caught, long", long)
    by = done.by if kind != "missed" else f"{reaching} tests reach it"
    print(f"{kind:8} {done.cpu_s:5.1f} s  {mutant.name}  ({by})", flush=True)
    return {"name": mutant.name, "kind": kind, "by": by}


def main() -> None:
    arguments = _arguments()
    began = time.monotonic()
    sample, count = drawn(ROOT, arguments.sample, arguments.seed, arguments.only)
    if arguments.missed:
        sample = _missed_before(sample)
    if not sample:
        chosen = "of those that the last run missed" if arguments.missed else "of the engine"
        sys.exit(f"error: no mutant {chosen} has {arguments.only!r} in its name")
    print(f"{len(sample)} of {count} mutants, seed {arguments.seed}", flush=True)
    copy = Copy(ROOT, sample)
    programs = Programs(copy.make(), copy.work)
    tests = _measured(programs)
    found = [{"name": mutant.name, "kind": copy.dropped[mutant.number].split(":")[0],
              "by": copy.dropped[mutant.number]}
             for mutant in sample if mutant.number in copy.dropped]  # fmt: skip
    found += [_tried(programs, mutant, tests, arguments.long)
              for mutant in sample if mutant.number not in copy.dropped]  # fmt: skip
    REPORT.write_text(json.dumps(found, indent=1) + "\n")
    kinds = Counter(one["kind"] for one in found)
    print("\nmissed")
    for one in found:
        if one["kind"] in {"missed", "not switchable"}:
            print(f"  {one['name']}  ({one['by']})")
    caught = sum(kinds[kind] for kind in ("caught", "timeout", "caught, long"))
    print("\n" + ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())))
    print(f"score {caught} of {caught + kinds['missed']}, "
          f"{caught / (caught + kinds['missed'] or 1):.1%}; "
          f"{(time.monotonic() - began) / 60:.0f} min, {REPORT.relative_to(ROOT)}")  # fmt: skip


if __name__ == "__main__":
    main()
