"""The presets that come with the package: schemes, their slots, and devices."""

from __future__ import annotations

import json
import math
from typing import Any

import flashgc._engine as engine
from flashgc.running import building

_PAGES = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die",
          "blocks_per_plane", "pages_per_block")  # fmt: skip


def schemes() -> list[dict[str, Any]]:
    """The schemes that come with the package: `name`, `title`, `source`, `slots`, `keys`, `text`.

    >>> import flashgc
    >>> next(s for s in flashgc.schemes() if s["name"] == "greedy")["slots"]["victim"]
    'greedy'
    >>> next(s for s in flashgc.schemes() if s["name"] == "idle")["slots"]["trigger"]
    'watermark + idle'
    """
    return [_preset(entry) for entry in json.loads(engine.schemes())["schemes"]]


def slots() -> list[dict[str, Any]]:
    """The nine slots of a scheme, with the choices of each and their parameters.

    >>> import flashgc
    >>> victim = next(slot for slot in flashgc.slots() if slot["name"] == "victim")
    >>> "greedy" in [choice["name"] for choice in victim["choices"]]
    True
    """
    listed: list[dict[str, Any]] = json.loads(engine.schemes())["slots"]
    return listed


def devices() -> list[dict[str, Any]]:
    """The devices that come with the package.

    Each has `name`, `title`, `source`, `keys`, `text` and `capacity_bytes` (physical).

    >>> import flashgc
    >>> [d["keys"]["channels"] for d in flashgc.devices() if d["name"] == "slc-msr"]
    [8]
    """
    return [_with_capacity(_preset(entry)) for entry in json.loads(engine.devices())]


def _with_capacity(device: dict[str, Any]) -> dict[str, Any]:
    keys = device["keys"]
    if "user_capacity" in keys:
        return {**device, "capacity_bytes": _sized_bytes(device["name"])}
    pages = math.prod(keys[name] for name in _PAGES)
    number, unit = keys["page_size"].split()
    page_bytes = int(number) * {"B": 1, "KiB": 1024}[unit]
    return {**device, "capacity_bytes": pages * page_bytes}


def _sized_bytes(name: str) -> int:
    """The physical capacity of a device whose blocks follow from its user capacity."""
    one = {"device": {"preset": name}, "workload": {"synthetic": {"requests": 1, "queue_depth": 1}}}
    checked = json.loads(engine.check(building.bare_request(one, None, None, None, None, None)))
    return int(checked["capacity"]["physical_bytes"])


def _preset(entry: dict[str, Any]) -> dict[str, Any]:
    keys = entry["keys"]
    about = keys.pop("about", {})
    named = {"name": entry["name"], "title": about.get("title", "")}
    chosen = {slot: _used(table["use"]) for slot, table in keys.items() if _is_choice(table)}
    more = {"slots": chosen} if chosen else {}
    about = {"source": about.get("source", ""), "notes": about.get("notes", "").strip()}
    return {**named, **about, **more, "keys": keys, "text": entry["text"]}


def _used(choice: str | list[str]) -> str:
    """A slot may join several choices."""
    return choice if isinstance(choice, str) else " + ".join(choice)


def _is_choice(table: object) -> bool:
    return isinstance(table, dict) and "use" in table
