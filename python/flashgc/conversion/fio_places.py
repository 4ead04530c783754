"""The addresses of the requests of a job of fio: `random_distribution`."""

from __future__ import annotations

import re
from typing import Any

from flashgc.conversion.fio_values import (
    WrongError,
    entries,
    filled,
    number,
    whole,
    whole_percent,
)
from flashgc.conversion.values import size as shown_size

ZONES_MAX = 256
_ZONED = re.compile(r"(zoned_abs|zoned)[:=](.*)", re.DOTALL)
_FORMS = (
    "it must be random, zipf:THETA, pareto:H, normal:PERCENT, zoned:SHARE/SIZE:... with sizes in "
    "percent, or zoned_abs:SHARE/SIZE:... with sizes in bytes"
)

Address = str | dict[str, Any]


def read(text: str, kb_base: int) -> tuple[list[Address], list[str]]:
    """The distributions of reads, writes and trims, and the differences from fio's."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise WrongError("it must have at most three distributions, for reads, writes and trims")
    zoned = _ZONED.fullmatch(parts[0])
    found, differs = [], []
    for part in parts:
        # Further zones may come without the word before them.
        again = f"{zoned[1]}:{part}" if zoned and not _ZONED.fullmatch(part) else part
        address, how = _one(again, kb_base)
        found.append(address)
        differs += [how] if how and how not in differs else []
    while len(found) < 3:
        found.append(found[-1])
    return found, differs


def _one(text: str, kb_base: int) -> tuple[Address, str]:
    zoned = _ZONED.fullmatch(text)
    if zoned:
        return _zones(zoned[1], zoned[2], kb_base), ""
    name, *values = text.split(":")
    if name == "random" and not values:
        return "uniform", ""
    if name not in {"zipf", "pareto", "normal", "gauss"} or not 1 <= len(values) <= 2:
        raise WrongError(_FORMS)
    base = number(values[1], 0, 1) if len(values) == 2 else None
    if name == "zipf":
        return {"zipf": float(number(values[0], 0, 10))}, _scattered(base)
    if name == "pareto":
        power = float(number(values[0], 0, 1))
        if power in {0.0, 1.0}:
            raise WrongError("the value of pareto must be above 0 and below 1")
        how = (
            f"taken as self-similar: {100 * (1 - power):g} % of the requests go to "
            f"{100 * power:g} % of the blocks; fio's manual does not define its pareto power"
        )
        more = _scattered(base)
        return {"pareto": power}, f"{how}; {more}" if more else how
    center = 0.5 if base is None else float(base)
    stddev = float(number(values[0], 0, 100)) / 100
    how = (
        f"the standard deviation is {100 * stddev:g} % of the range, and draws beyond it are "
        "repeated; fio's manual does not define this further"
    )
    return {"normal": {"stddev": stddev, "center": center}}, how


def _scattered(base: object) -> str:
    if base is None:
        return ""
    return "the popular blocks are scattered over the range and do not begin at the given base"


def _zones(kind: str, text: str, kb_base: int) -> Address:
    pairs = entries(text, ZONES_MAX)
    shares = [_share(share) for share, _ in pairs]
    if sum(shares) != 100:
        raise WrongError("the shares of its zones, in whole percent, must add up to 100, not "
                         f"{sum(shares)}")  # fmt: skip
    if kind == "zoned_abs":
        return {"zones": [
            {"bytes": shown_size(_positive(whole(size, kb_base))), "requests": share / 100}
            for share, (_, size) in zip(shares, pairs, strict=True)
        ]}  # fmt: skip
    given = [whole_percent(size) for _, size in pairs]
    if sum(given) > 100:
        raise WrongError("the sizes of its zones must add up to at most 100 percent, not "
                         f"{sum(given)}")  # fmt: skip
    places = filled(given)
    if 0 in places:
        raise WrongError(
            f"its zones without a size have nothing left: the others have {sum(given)} percent, "
            "and each zone needs at least 1"
        )
    return {"groups": [
        {"places": place / 100, "requests": share / 100}
        for place, share in zip(places, shares, strict=True)
    ]}  # fmt: skip


def _share(text: str) -> int:
    """The share of the requests of a zone; fio takes none that is blank or ends in `%`."""
    if not text.strip() or text.strip().endswith("%"):
        raise WrongError("each of its zones needs a share of the requests, a number without %, "
                         "as in zoned:60/10:40/90")  # fmt: skip
    return whole_percent(text)


def _positive(count: int) -> int:
    if count == 0:
        raise WrongError("the size of a zone must be above 0")
    return count
