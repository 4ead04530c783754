"""The head of a result: failures, claims not met, and the verdicts by their evidence."""

from __future__ import annotations

from collections.abc import Sequence

from flashgc.formatting import units
from flashgc.reproduction import evidence
from flashgc.reproduction.grid import cell
from flashgc.reproduction.verdict import (
    MET,
    NOT_MET,
    NOT_PREDICTED,
    PREDICTED,
    VERDICTS,
    Verdict,
    counted,
)

_MISSED = (NOT_MET, NOT_PREDICTED)


def summary(verdicts: Sequence[Verdict]) -> str:
    """The number of claims that fail, and of claims by verdict, in one line."""
    counts = counted(verdicts)
    failing = sum(one.fails for one in verdicts)
    known = [one for one in verdicts if one.verdict == NOT_MET and one.known]
    backed = sum(one.backed for one in known)
    because = f" ({len(known)} with a known reason, {backed} of them shown by runs)"
    listed = [f"{counts[word]} {word}{because if word == NOT_MET and known else ''}"
              for word in VERDICTS if counts[word] or word == NOT_MET]  # fmt: skip
    fail = f"{failing} fail{'s' if failing == 1 else ''}"
    return f"{units.counted(len(verdicts), 'claim')}, {fail}: {', '.join(listed)}."


def solid(verdicts: Sequence[Verdict]) -> int:
    """The number of claims met or predicted on evidence better than an unfitted workload."""
    good = (evidence.OWN, evidence.FITTED)
    return sum(one.verdict in (MET, PREDICTED) and one.evidence in good for one in verdicts)


def rows(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """The number of claims with each verdict, by their evidence, below a head."""
    table = [["evidence", *VERDICTS]]
    for kind in evidence.KINDS:
        own = [one for one in verdicts if one.evidence == kind]
        if own:
            counts = counted(own)
            table.append([kind, *(str(counts[word] or units.NOTHING) for word in VERDICTS)])
    return table


def missed(verdicts: Sequence[Verdict]) -> list[str]:
    """A line for each claim that fails or was not met, those that fail first."""
    found = [one for one in verdicts if one.fails or one.verdict in _MISSED]
    return [_line(one) for one in sorted(found, key=lambda one: not one.fails)]


def _line(one: Verdict) -> str:
    claim = one.claim
    values = f"{cell(claim.claimed, claim.unit)}, measured {cell(one.measured, claim.unit)}"
    word = f"**fails**, {one.verdict}" if one.fails else one.verdict
    source = "" if claim.source == evidence.PAPER else f" ({claim.source})"
    return f"{word}, {one.evidence}: {claim.place}, {claim.what}{source}: {values}"
