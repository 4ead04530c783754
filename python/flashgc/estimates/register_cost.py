"""The cost of data registers: the estimate of paper parallel-gc, section IV-C2."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Real
from typing import NamedTuple, SupportsIndex

from flashgc.files.arguments import shown
from flashgc.running import builtin_presets

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}


class RegisterCost(NamedTuple):
    """Additional registers of a die, and their cost."""

    registers: int
    """Data registers of each plane, and sets of registers of the die."""
    data_registers: int
    """Data registers to add: in each plane, and in each set of the die."""
    command_registers: int
    """Command registers to add, one for each further set."""
    address_registers: int
    """Address registers to add, one for each further set."""
    page_bytes: int
    """Bytes of a register; those for commands and addresses are taken to be as large."""
    area_mm2: float
    """Area of all added registers as SRAM, in mm²."""
    share_of_die: float
    """The area as a share of the die."""
    usd_at_most: float
    """Price of all data registers of the die as SRAM, in US dollars, those counted that it has."""


def register_cost(
    device: str | Mapping[str, object],
    registers: int,
    *,
    die_mm2: float = 128.0,
    sram_mb_per_mm2: float = 4.75,
    sram_usd_per_gb: float = 500.0,
) -> RegisterCost:
    """Area and cost of several data registers in each plane of a device, for one die.

    A die of N sets of registers (each one for commands, one for addresses, one for data) with N
    data registers in each plane moves N pages of a plane at once. It has one of each to begin with.
    Wiring is left out, as in the paper
    (paper parallel-gc, section IV-C2).

    Args:
        device: the name of a device, or a table with `planes_per_die` and `page_size`.
        registers: data registers of each plane, at least 1.
        die_mm2: area of a die; the paper's 64-layer TLC part has 128 mm².
        sram_mb_per_mm2: density of SRAM, in MB/mm²; the paper takes 4.75.
        sram_usd_per_gb: price of SRAM; the paper takes 500 dollars for a GB.

    Raises:
        ValueError: a device that is not known or lacks these keys, or a number out of its range.

    >>> cost = register_cost({"planes_per_die": 2, "page_size": "16 KiB"}, 4)
    >>> cost.data_registers, cost.command_registers, cost.address_registers
    (9, 3, 3)
    >>> f"{cost.area_mm2:.4f} mm2, {cost.share_of_die:.2%} of the die"
    '0.0517 mm2, 0.04% of the die'

    """
    if not isinstance(registers, SupportsIndex) or registers < 1:
        raise ValueError(f"registers must be a whole number from 1, got {shown(registers)}")
    if not isinstance(device, (str, Mapping)):
        raise ValueError(f"device must be a name or a table, got {shown(device)}")
    for name, number in (("die_mm2", die_mm2), ("sram_mb_per_mm2", sram_mb_per_mm2),
                         ("sram_usd_per_gb", sram_usd_per_gb)):  # fmt: skip
        if not isinstance(number, Real) or not 0 < number < math.inf:
            raise ValueError(f"{name} must be above zero and finite, got {shown(number)}")
    keys = _keys(device) if isinstance(device, str) else device
    planes, page_bytes = _planes(keys), _page_bytes(keys)
    added = registers - 1
    data = added * (planes + 1)
    area_mm2 = (data + 2 * added) * page_bytes / (sram_mb_per_mm2 * 1e6)
    return RegisterCost(
        registers=registers,
        data_registers=data,
        command_registers=added,
        address_registers=added,
        page_bytes=page_bytes,
        area_mm2=area_mm2,
        share_of_die=area_mm2 / die_mm2,
        usd_at_most=registers * (planes + 1) * page_bytes * sram_usd_per_gb / 1e9,
    )


def _keys(name: str) -> Mapping[str, object]:
    known = {entry["name"]: entry["keys"] for entry in builtin_presets.devices()}
    if name not in known:
        raise ValueError(f"there is no device `{name}`; valid names: {', '.join(known)}")
    keys: Mapping[str, object] = known[name]
    return keys


def _planes(keys: Mapping[str, object]) -> int:
    planes = keys.get("planes_per_die")
    if not isinstance(planes, int) or planes < 1:
        raise ValueError("the device needs `planes_per_die`, a whole number from 1")
    return planes


def _page_bytes(keys: Mapping[str, object]) -> int:
    found = re.fullmatch(r"(\d+) *(B|KiB|MiB)", str(keys.get("page_size", "")))
    if found is None or int(found[1]) == 0:
        raise ValueError('the device needs `page_size`, as in "4 KiB"')
    return int(found[1]) * _UNITS[found[2]]
