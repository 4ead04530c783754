"""The measured values that are on record, so that a change of any of them is a failure.

1. A `measured.toml` has the measured value of each claim, by the traces that its runs were made of.
2. A value may differ by `WITHIN` from it; an order must hold and fail at the same places.
3. `flashgc reproduce FOLDER --pin` writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flashgc.files import toml
from flashgc.reproduction.claims import Check, Claim
from flashgc.reproduction.evidence import PAPER
from flashgc.reproduction.grid import cell
from flashgc.reproduction.results import Results

Pin = float | list[str]
"""A value; of an order the number of places where it holds, and the places where it fails."""

WITHIN = 0.02
"""The allowed difference of a value, as a share of the larger of the recorded and the claimed."""
QUICK = "quick"
NO_TRACE = "no trace"
UNDEFINED = "undefined"
_DIGITS = 6
_HEAD = """\
# The measured value of each claim, by the traces of its runs. Written by `flashgc reproduce FOLDER
# --pin`, and compared with every later reproduction: a record of past results, not of right ones.
"""


@dataclass(frozen=True)
class Pins:
    """The values on record of one paper."""

    sections: Mapping[str, Mapping[str, Pin]] = field(default_factory=dict)
    """By the traces, then by the claim."""

    @classmethod
    def of(cls, text: str, name: str) -> Pins:
        """The values of a file; an error describes its problem."""
        from flashgc.files.forms import File  # models take time to load

        return cls(File.of(text, name).table)

    def find(self, claim: Claim, results: Results) -> Pin | None:
        """The value of a claim with these traces; None where none is on record."""
        return self.sections.get(section(claim, results), {}).get(key(claim))

    def has(self, claim: Claim, quick: bool) -> bool:
        """Whether there is a value of a claim, whatever the traces."""
        return any(key(claim) in pins for name, pins in self.sections.items()
                   if name.startswith(QUICK) == quick)  # fmt: skip

    def merged(self, claims: Sequence[Claim], found: Mapping[str, Mapping[str, Pin]]) -> Pins:
        """With new values in place of old ones, and none of claims that are no longer made."""
        known = {key(claim) for claim in claims}
        made: dict[str, dict[str, Pin]] = {}
        for name in sorted({*self.sections, *found}):
            both = {**self.sections.get(name, {}), **found.get(name, {})}
            made[name] = {what: both[what] for what in sorted(both) if what in known}
        return Pins({name: pins for name, pins in made.items() if pins})

    def text(self) -> str:
        """The file's text."""
        tables: dict[str, Any] = dict(self.sections)
        return f"{_HEAD}\n{toml.dumps(tables)}"


def key(claim: Claim) -> str:
    """The name of a claim in the file."""
    source = "" if claim.source == PAPER else f" ({claim.source})"
    return f"{claim.place}: {claim.what}{source}"


def section(claim: Claim, results: Results) -> str:
    """The traces that the runs of a claim were made of."""
    used = sorted({results.files.get(run, "") for run in claim.runs(results.experiment)} - {""})
    return " ".join(filter(None, [QUICK if results.quick else "", ", ".join(used) or NO_TRACE]))


def pin(claim: Claim, measured: float | str | None, wrong: Sequence[str]) -> Pin | None:
    """The value of a claim to put on record; None for a check, which holds or fails."""
    if isinstance(claim.test, Check):
        return None
    if isinstance(measured, float | int):
        return float(f"{measured:.{_DIGITS}g}")
    return [UNDEFINED if measured is None else measured, *wrong]


def drift(claim: Claim, now: Pin, recorded: Pin) -> str:
    """The difference of a measured value from the one on record; empty without any."""
    if isinstance(now, float) and isinstance(recorded, float | int):
        claimed = claim.claimed if isinstance(claim.claimed, float) else 0.0
        allowed = WITHIN * max(abs(recorded), abs(claimed))
        if abs(now - recorded) <= allowed * (1 + 1e-9) + 10.0**-_DIGITS * abs(recorded):
            return ""
        return f"was {cell(recorded, claim.unit)}, is {cell(now, claim.unit)}"
    if now == recorded:
        return ""
    return f"was {_words(claim, recorded)}, is {_words(claim, now)}"


def _words(claim: Claim, one: Pin) -> str:
    if isinstance(one, list):
        return one[0] + (f" (not at {'; '.join(one[1:])})" if one[1:] else "")
    return cell(one, claim.unit)
