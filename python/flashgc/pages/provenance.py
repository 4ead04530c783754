"""The provenance of a page, at its head: scheme, device, and the command that makes it again."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

from flashgc.formatting import units
from flashgc.formatting.markup import table
from flashgc.results import metrics, run_facts, summary
from flashgc.results.metrics import RunResults

Facts = list[tuple[str, str]]

_COUNTS = (("channels", "channel"), ("chips_per_channel", "chip"), ("dies_per_chip", "die"),
           ("planes_per_die", "plane"))  # fmt: skip


def call(function: str, given: Sequence[object], named: Mapping[str, object]) -> str:
    """A Python call, without the arguments that say nothing.

    >>> from flashgc.pages import provenance
    >>> provenance.call("run", ["oltp"], {"scheme": None, "seed": 3, "verify": False, "set": []})
    "flashgc.run('oltp', seed=3)"
    """
    parts = [_text(one) for one in given]
    for name, one in named.items():
        value = _plain(one)
        if not (value is None or value is False or value == []):
            parts.append(f"{name}={_text(value)}")
    return f"flashgc.{function}({', '.join(parts)})"


def _plain(value: object) -> object:
    """Numbers and arrays of NumPy as those of Python."""
    return value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value


def _text(value: object) -> str:
    value = _plain(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    if is_dataclass(value):  # a scheme in Python, whose name is mostly that of a variable
        return str(value)
    return repr(os.fspath(value) if isinstance(value, os.PathLike) else value)


def facts(report: RunResults) -> Facts:
    """Requests, drive, preconditioning, seed and version."""
    known = report.config.get("device", {})
    shape = known.get("shape")
    geometry_ = [("geometry", geometry(shape))] if shape else []
    return [
        ("workload", workload(report)),
        ("scheme", summary.scheme(report)),
        ("device", f"{report.device}, {units.size(report.capacity.physical_bytes)}"),
        *geometry_,
        ("over-provisioning", over_provisioning(report.capacity)),
        ("preconditioning", preconditioning(report)),
        ("seed", _seeds(report)),
        ("version", f"flashgc {report.version}"),
    ]


def geometry(shape: Mapping[str, Any]) -> str:
    """Channels, chips, dies, planes, blocks and pages, each counted in the part before it.

    >>> from flashgc.pages import provenance
    >>> provenance.geometry({"channels": 8, "chips_per_channel": 1, "dies_per_chip": 1,
    ...     "planes_per_die": 4, "blocks_per_plane": 512, "pages_per_block": 64,
    ...     "page_bytes": 4096})
    '8 channels x 1 chip x 1 die x 4 planes x 512 blocks x 64 pages of 4 KiB'
    """
    parts = [units.counted(shape[key], one) for key, one in _COUNTS]
    parts += [units.counted(shape["blocks_per_plane"], "block"),
              units.counted(shape["pages_per_block"], "page")]  # fmt: skip
    page = units.size(shape["page_bytes"]).replace(".00 ", " ").replace(".0 ", " ")
    return f"{' x '.join(parts)} of {page}"


def over_provisioning(capacity: Mapping[str, Any]) -> str:
    """The space that the host does not see, in the terms that papers use.

    >>> from flashgc.pages import provenance
    >>> provenance.over_provisioning({"physical_bytes": 8 << 30, "exported_bytes": 6 << 30})
    '33.3 % ((physical - user) / user); the host sees 75.0 % of the drive, 6.00 GiB'
    """
    physical, user = capacity["physical_bytes"], capacity["exported_bytes"]
    share = units.share((physical - user) / user) if user else units.NOTHING
    seen = units.share(user / physical)
    return (
        f"{share} ((physical - user) / user); the host sees {seen} of the drive, {units.size(user)}"
    )


def preconditioning(report: Mapping[str, Any]) -> str:
    """The preparation of the drive's first state."""
    how, done = report["config"]["precondition"], report.get("precondition")
    if not done:
        return "none"
    filled, overwritten = run_facts.filled(how, done), run_facts.overwritten(done)
    told = f"filled {filled}; overwritten {overwritten}"
    drive = done.get("drive")
    if drive:
        told += f"; saved drive {drive['file']}, filled by {done['scheme']}, key {drive['key']}"
    return told


def workload(report: RunResults) -> str:
    """The trace, or the configuration that requests were drawn by."""
    origin, settings = metrics.origin(report), report.config["workload"]
    if "trace" in settings:
        named = origin.trace if origin else settings["trace"].get("file")
        return f"trace {named}" if named else "a trace"
    if "jobs" in settings:
        return f"jobs of {origin.config}" if origin else "jobs"
    return f"synthetic, by {origin.config}" if origin else "synthetic"


def _seeds(report: RunResults) -> str:
    found = report.get("seeds")
    return ", ".join(map(str, found["values"])) if found else str(report.seed)


def drawn(facts: Facts, again: str | None) -> str:
    """The head as HTML, the command as text that can be copied."""
    rows = table([["", ""], *map(list, facts)], "facts")
    return rows if again is None else f"{rows}\n{command(again)}"


def command(again: str) -> str:
    """The command that makes a page again, as HTML."""
    return f'<p class="again">Made by</p><pre class="again">{html.escape(again)}</pre>'


def by_command(reports: Iterable[RunResults], again: str) -> None:
    """Notes that a command made these reports, in place of the call within it."""
    for report in reports:
        origin = metrics.origin(report)
        if origin is not None:
            metrics.note(report, origin=replace(origin, again=again))
