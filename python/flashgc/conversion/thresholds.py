"""Thresholds of collection that a full drive can reach."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flashgc.conversion.findings import Findings, Key

OPEN_BLOCKS = 3
SOFT, HARD = "gc.trigger.watermark.soft", "gc.trigger.watermark.hard"


@dataclass(frozen=True)
class Room:
    """The blocks of a plane and the share of them that the host sees."""

    blocks: int
    exported: Fraction

    @property
    def spare(self) -> int:
        """The blocks that the host cannot fill."""
        return int(self.blocks * (1 - self.exported))

    @property
    def most(self) -> int:
        """The highest soft threshold, in blocks, that leaves room for blocks that are open."""
        return max(self.spare - OPEN_BLOCKS, 2)

    @property
    def half(self) -> int:
        """The replacement, in blocks, for a threshold that cannot be reached."""
        return max(self.spare // 2, 2)


def soft(findings: Findings, key: Key | None, asked: int, room: Room, least: str = "") -> int:
    """The soft threshold in blocks; lower than requested where a full drive could not reach it."""
    if asked <= room.most:
        text = _blocks(asked)
        if least:
            findings.differ(key, SOFT, text, f"counted in erased blocks{least}")
        else:
            findings.map(key, SOFT, text)
        return asked
    how = (
        f"{_blocks(asked)} asked for{least}; a plane has "
        f"{room.blocks} and the host fills up to {float(room.exported) * 100:.4g} % "
        "of them, so half of the rest is taken"
    )
    findings.differ(key, SOFT, _blocks(room.half), how)
    return room.half


def hard(findings: Findings, key: Key | None, asked: int, soft_blocks: int) -> None:
    """The hard threshold in blocks, between the reserve and the soft one."""
    blocks = min(max(asked, 1), soft_blocks)
    text = _blocks(blocks)
    if blocks == asked:
        findings.map(key, HARD, text)
    else:
        findings.differ(key, HARD, text, f"{_blocks(asked)} asked for, which is above the soft one")


def _blocks(count: int) -> str:
    """A count as the configuration has it."""
    return f"{count} block" if count == 1 else f"{count} blocks"
