"""How well the fitted devices of paper ssd-iq predict the other runs.

    flashgc reproduce ssd-iq --json > ssd-iq.json
    python scripts/ssd_iq_score.py ssd-iq.json

For each drive: the runs whose values are fitted and those that are predicted, and of the predicted
values the share within the limits that the project has set itself. IOPS: within 5 % for 80 % of the
runs and within 10 % for 95 %. Of 80 %: median within 10 % and p99.9 within 15 % at full rate; at
fixed rates median within 20 % and p99 within a factor of 1.5. Bytes programmed: within 5 % at each
active range. The status is 1 where a limit is missed over all drives together.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Claim = dict[str, Any]
Holds = Callable[[float], bool]

FITTED = "the number that the workload was fitted to"


def within(share: float) -> Holds:
    """Whether a ratio to the measured value lies within a share of 1."""
    return lambda ratio: abs(ratio - 1) <= share


def within_factor(factor: float) -> Holds:
    """Whether a ratio lies within a factor."""
    return lambda ratio: 1 / factor <= ratio <= factor


AT_RATES = "a second"
# Name, the claim's subject, whether at fixed rates, the limit, and the share that must hold it.
MEASURES: list[tuple[str, str, bool | None, Holds, float]] = [
    ("IOPS within 5 %", "IOPS", False, within(0.05), 0.8),
    ("IOPS within 10 %", "IOPS", False, within(0.10), 0.95),
    ("median within 10 %", "median latency of writes", False, within(0.10), 0.8),
    ("p99.9 within 15 %", "p99.9 of writes", False, within(0.15), 0.8),
    ("fixed rates: median within 20 %", "median latency of writes", True, within(0.20), 0.8),
    ("fixed rates: p99 within x1.5", "p99 of writes", True, within_factor(1.5), 0.8),
    ("bytes programmed within 5 %", "bytes programmed for each byte written", None,
     within(0.05), 1.0),
    ("authors' simulator within 1 %", "write amplification", None, within(0.01), 1.0),
]  # fmt: skip


def ratio(claim: Claim) -> float:
    """Ours over measured."""
    return float(claim["measured"]) / float(claim["claimed"])


def of(claims: Iterable[Claim], what: str, at_rates: bool | None) -> list[Claim]:
    """The predicted values of a subject."""
    return [
        one
        for one in claims
        if one["what"] == what
        and isinstance(one["measured"], float | int)
        and FITTED not in one["note"]
        and at_rates in (None, AT_RATES in one["place"])
    ]


def shares(name: str, claims: list[Claim]) -> list[tuple[str, bool]]:
    """Prints the shares of some drives; the measures, and whether each is reached."""
    print(f"\n{name}")
    found = []
    for label, what, at_rates, holds, least in MEASURES:
        judged = of(claims, what, at_rates)
        if not judged:
            continue
        met = sum(holds(ratio(one)) for one in judged)
        reached = met >= least * len(judged)
        found.append((label, reached))
        print(f"  {label:<34}{met:>3} of {len(judged):<3} {100 * met / len(judged):>4.0f} %"
              f"  (asked: {100 * least:.0f} %){'' if reached else '  MISSED'}")  # fmt: skip
    return found


def main(path: str) -> int:
    """Prints all and returns the status."""
    claims = json.loads(Path(path).read_text("utf-8"))
    claims = [one for one in claims if one["source"] == "paper"]
    drives = dict.fromkeys(one["place"].split(",")[0] for one in claims)
    for drive in drives:
        own = [one for one in claims if one["place"].split(",")[0] == drive]
        fitted = [one for one in own if FITTED in one["note"]]
        runs = dict.fromkeys(one["place"].split(", ", 1)[1] for one in fitted)
        shares(drive, own)
        print(f"  fitted on: {'; '.join(runs) or 'nothing'}")
        for one in own:
            if one not in fitted and isinstance(one["measured"], float | int):
                print(f"    {one['place'].split(', ', 1)[1]:<28}{one['what']:<40}"
                      f"{100 * (ratio(one) - 1):>+8.1f} %")  # fmt: skip
    found = shares("all drives", claims)
    return int(not all(reached for _, reached in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
