"""The story of a reproduction: about ten lines of the paper's folder, with numbers filled in.

A line names claims as measured.toml does. `{Table 3, SYN, 5 %: valid pages}` becomes the measured
and the claimed value, `{measured ...}` and `{paper ...}` one of them. Values are those of this
reproduction, or those on record where it has none that count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flashgc._engine import ConfigError
from flashgc.files.forms import near
from flashgc.formatting import units
from flashgc.reproduction import pins
from flashgc.reproduction.claims import Claim
from flashgc.reproduction.grid import cell
from flashgc.reproduction.pins import NO_TRACE, QUICK, Pin, Pins
from flashgc.reproduction.verdict import Verdict

_NAMED = re.compile(r"\{(?:(measured|paper) )?([^{}]+)\}")


def check(lines: Sequence[str], claims: Sequence[Claim], where: str) -> None:
    """An error if a line names a claim that there is not."""
    known = {pins.key(one) for one in claims}
    for at, line in enumerate(lines, start=1):
        for found in _NAMED.finditer(line):
            if found[2] not in known:
                hint = near(found[2], sorted(known), "claims")
                raise ConfigError(
                    f'error: {where}: line {at} of `story` names a claim "{found[2]}", '
                    f"and there is none\n{hint}"
                )


def told(
    lines: Sequence[str], claims: Sequence[Claim], verdicts: Sequence[Verdict], on_record: Pins
) -> list[str]:
    """The lines with their numbers; `verdicts` are those whose values count."""
    by_name = {pins.key(one): one for one in claims}
    now = {pins.key(one.claim): one.pin for one in verdicts if one.pin is not None}

    def filled(found: re.Match[str]) -> str:
        claim = by_name[found[2]]
        claimed = cell(claim.claimed, claim.unit)
        if found[1] == "paper":
            return claimed
        value = now.get(found[2], _recorded(on_record, found[2]))
        shown = _words(value, claim.unit)
        return shown if found[1] == "measured" else f"{shown} (paper {claimed})"

    return [_NAMED.sub(filled, line) for line in lines]


def _recorded(on_record: Pins, name: str) -> Pin | None:
    """The value on record: with traces where there is one, and never of a quick run."""
    found: Mapping[str, Pin] = {
        section: values[name] for section, values in on_record.sections.items()
        if not section.startswith(QUICK) and name in values
    }  # fmt: skip
    traced = [value for section, value in found.items() if section != NO_TRACE]
    return traced[0] if traced else found.get(NO_TRACE)


def _words(value: Pin | None, unit: str) -> str:
    if value is None:
        return units.NOTHING
    return value[0] if isinstance(value, list) else cell(value, unit)
