"""The chosen configuration as a file that `flashgc run` takes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request, of_text
from flashgc.files import toml

_GAPS = ("interarrival", "read_interarrival", "write_interarrival")
_KINDS = ("synthetic", "fitted", "jobs", "fio", "trace")
_REPLACED: dict[str, tuple[str, ...]] = {
    "workload.synthetic.queue_depth": (*_GAPS, "rate"),
    "workload.synthetic.interarrival": ("queue_depth", *_GAPS[1:]),
    "workload.synthetic.read_interarrival": ("queue_depth", _GAPS[0]),
    "workload.synthetic.write_interarrival": ("queue_depth", _GAPS[0]),
    "device.exported": ("over_provisioning",),
    "device.over_provisioning": ("exported",),
    "precondition.overwrite": ("until", "at_most"),
    "precondition.until": ("overwrite",),
    **{f"workload.{kind}": _KINDS for kind in _KINDS},
}
"""The keys of the same table that a setting replaces."""
_ONE_OF = ("interarrival", "address", "size")
"""Tables whose keys are alternatives."""


def text(request: Request, head: Sequence[str], workload: Sequence[str] = ()) -> str | None:
    """The configuration of a request as TOML under a head of comments.

    None where it is not a single file: then a setting excludes a key of the file in a way that
    only the command line resolves, or the workload is a job file.
    """
    if request["jobs"] is not None:
        return None
    table: dict[str, Any] = tomllib.loads(request["text"])
    _with_device(table, request["device"])
    _with_scheme(table, request["scheme"])
    for key in request["unsets"]:
        _remove(table, key.split("."))
    for setting in request["sets"]:
        key, _, value = setting.partition("=")
        put(table, key.strip(), parsed(value))
    body = "".join(f"# {line}\n" for line in head) + toml.dumps(table)
    return body if _is_same(body, request) else None


def _with_device(table: dict[str, Any], device: tuple[str, str | None] | None) -> None:
    """The option of a device replaces the table."""
    if device is None:
        return
    name, own = device
    given: dict[str, Any] = {"preset": name} if own is None else tomllib.loads(own)
    keys: dict[str, Any] = given.get("device", given)
    table["device"] = {key: value for key, value in keys.items() if key != "about"}


def _with_scheme(table: dict[str, Any], scheme: tuple[str, str | None] | None) -> None:
    """The option of a scheme replaces the name in the file, and leaves its other keys."""
    if scheme is None:
        return
    gc = table.setdefault("gc", {})
    name, own = scheme
    if own is None:
        gc["scheme"] = name
    else:
        keys = tomllib.loads(own)
        keys.pop("about", None)
        _merge(gc, keys)


def _merge(table: dict[str, Any], below: Mapping[str, Any]) -> None:
    for key, value in below.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), dict):
            _merge(table[key], value)
        else:
            table.setdefault(key, value)


def parsed(value: str) -> Any:  # noqa: ANN401 - of any type
    """The value of a setting: TOML, or a bare text."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value.strip()


def put(table: dict[str, Any], key: str, value: Any) -> None:  # noqa: ANN401 - of any type
    """Writes a value under a dotted key, in place of keys that the key excludes."""
    path = key.split(".")
    at = table
    for depth, part in enumerate(path):
        for other in _REPLACED.get(".".join(path[: depth + 1]), ()):
            if other != part:
                at.pop(other, None)
        if depth > 0 and path[depth - 1] in _ONE_OF:
            for other in [one for one in at if one != part]:
                del at[other]
        if depth == len(path) - 1:
            at[part] = value
            return
        if not isinstance(at.get(part), dict):
            at[part] = {}
        at = at[part]


def _remove(table: dict[str, Any], path: list[str]) -> None:
    at: Any = table
    for part in path[:-1]:
        at = at.get(part, {}) if isinstance(at, dict) else {}
    if isinstance(at, dict):
        at.pop(path[-1], None)


def _is_same(body: str, request: Request) -> bool:
    """Whether the file is the configuration of the request, to the last key."""
    try:
        file: Request = {**of_text(request["name"], body), "trace_name": request["trace_name"],
                         "trace_path": request["trace_path"]}  # fmt: skip
        return bool(json.loads(engine.check(file))["config_hash"]
                    == json.loads(engine.check(request))["config_hash"])  # fmt: skip
    except ConfigError:
        return False
