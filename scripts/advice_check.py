"""Compares the advice with a full, long comparison of every scheme that the device can run.

    python scripts/advice_check.py CONFIG [TRACE] [KEY=VALUE ...]

Prints, for each objective, the best scheme of both, and the order of the schemes that the advice
ran for long, in both. The status is 1 where a best scheme differs beyond the interval.
"""

from __future__ import annotations

import resource
import sys
import time

import flashgc
from flashgc.advising import candidates, commands, made, objectives, ranking, rounds
from flashgc.advising.lengths import STEADY
from flashgc.running import building, inputs


def main(config: str, *words: str) -> int:
    sets = [word for word in words if "=" in word]
    trace = next((word for word in words if "=" not in word), None)
    began = time.monotonic(), user()
    advice = flashgc.advise(config, trace, set=sets)
    took = time.monotonic() - began[0], user() - began[1]
    print(f"advice: {took[0]:.0f} s, user time {took[1]:.0f} s")
    middle = user()
    full = compared(config, trace, sets, advice)
    print(f"comparison of {len(full)} schemes: user time {user() - middle:.0f} s")
    return judged(advice, full)


def user() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def compared(
    config: str, trace: str | None, sets: list[str], advice: flashgc.Advice
) -> dict[str, list[objectives.Values]]:
    """The values of every scheme, on the drive of the advice, in long runs."""
    names = [one.scheme for one in advice.schemes if one.outcome in ("long", "dropped")]
    names += [name for name in candidates.OMITTED if name not in names]
    with inputs.trace_file(trace) as file:

        def request(scheme: str | None) -> building.Request:
            return building.bare_request(config, file, scheme, None, sets, None)

        found = made.schemes_that_run(request, names, rounds.Rounds(2, None))
    at_most = advice.samples.at_most_drive_writes
    long = [STEADY] if advice.samples.kind == "seeds" else []
    long = [STEADY, f"workload.at_most={at_most}"] if at_most is not None else long
    able = list(found.requests)
    size = commands.size_settings(found, able)
    seeds = advice.samples["count"] if advice.samples.kind == "seeds" else 1
    values: dict[str, list[objectives.Values]] = {name: [] for name in able}
    for seed in range(advice.seed, advice.seed + seeds):
        several = flashgc.compare(
            config, able, trace, set=[*sets, *long, *size], seed=seed,
            fit="none" if size else None,
        )  # fmt: skip
        for name, report in zip(able, several, strict=True):
            values[name].append(objectives.values(report))
    return values


def judged(advice: flashgc.Advice, full: dict[str, list[objectives.Values]]) -> int:
    status = 0
    ran = [one.scheme for one in advice.schemes if one.outcome == "long"]
    for objective in objectives.OBJECTIVES:
        best = advice.best[objective.key]
        if best is None:
            continue
        order = ranking.order(full, objective.key, advice.scheme)
        own = {one.scheme: one.objectives[objective.key] for one in advice.schemes
               if one.outcome == "long"}  # fmt: skip
        mine = sorted(own, key=lambda name: own[name])
        equal = order[0] == best.scheme
        near = equal or not ranking.beaten(full, best.scheme, order[0], objective.key)
        status |= not near
        verdict = "same best" if equal else "within the interval" if near else "DIFFERS"
        print(f"{objective.label}: advice {best.scheme}, all {order[0]}: {verdict}")
        kept = [name for name in order if name in ran]
        print(f"  order: {'same' if kept == mine else 'differs'}: {' '.join(kept)}")
        lost = [name for name in order[: order.index(best.scheme)] if name not in ran]
        if lost:
            print(f"  better and dropped: {' '.join(lost)}")
    return status


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit((__doc__ or "").strip())
    sys.exit(main(*sys.argv[1:]))
