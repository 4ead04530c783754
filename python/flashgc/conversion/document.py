"""The new configuration as TOML, with the outcomes in its head and in its [about] table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flashgc.conversion import listing
from flashgc.conversion.findings import Finding, Findings
from flashgc.files import toml

TABLES = (
    "device", "device.timing", "device.host_link", "device.write_buffer", "device.suspend",
    "device.summary", "gc", "workload.synthetic", "workload.trace", "precondition",
)  # fmt: skip
HEAD_WIDTH = 78
"""Columns of the comments, without the sign before them."""


def text(findings: Findings, files: list[str]) -> str:
    """The whole file."""
    head = [f"Made by flashgc convert from {' and '.join(files)} of {findings.program}.", ""]
    shown = [f"# {line}".rstrip() for line in (*map(listing.printable, head),
             *listing.lines(findings, HEAD_WIDTH))]  # fmt: skip
    shown += ["", *_settings(findings), "", *_about(findings, files)]
    return "\n".join(shown) + "\n"


def nested(settings: Mapping[str, object]) -> dict[str, Any]:
    """Dotted keys as tables in tables."""
    whole: dict[str, Any] = {}
    for key, value in settings.items():
        *tables, last = key.split(".")
        inner = whole
        for name in tables:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return whole


def _settings(findings: Findings) -> list[str]:
    """Each setting, with the keys that it comes from."""
    sources: dict[str, list[str]] = {}
    for one in (*findings.mapped, *findings.differs):
        for ours in one.ours.split(", "):
            sources.setdefault(ours, []).append(listing.printable(one.key.name))
    tables: dict[str, list[str]] = {"": []}
    lists: list[str] = []
    for key, value in findings.settings.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            lists += _tables(key, value)
            continue
        table = max((name for name in TABLES if key.startswith(f"{name}.")), key=len, default="")
        name = key.removeprefix(f"{table}.") if table else key
        line = f"{name} = {toml.value(value, key)}"
        listed = sources.get(key, [])
        said = ", ".join(listed[:2]) + (", ..." if len(listed) > 2 else "")
        tables.setdefault(table, []).append(f"{line:<36}  # {said}" if said else line)
    shown = tables.pop("")
    for table in TABLES:
        if table in tables:
            shown += ["", f"[{table}]", *tables[table]]
    return shown + lists


def _tables(key: str, items: list[Mapping[str, object]]) -> list[str]:
    """A list of tables, each below a head of its own."""
    shown = []
    for item in items:
        lines = (f"{name} = {toml.value(value, name)}" for name, value in item.items())
        shown += ["", f"[[{key}]]", *lines]
    return shown


def _about(findings: Findings, files: list[str]) -> list[str]:
    title = f"From {' and '.join(files)} of {findings.program}"
    shown = ["[about]", f"title = {toml.value(title, 'title')}", "", "[about.converted]"]
    shown.append(f"program = {toml.value(findings.program, 'program')}")
    shown.append(f"files = {toml.value(files, 'files')}")
    for name, found in (
        ("mapped", findings.mapped), ("differs", findings.differs),
        ("not_mapped", findings.not_mapped),
    ):  # fmt: skip
        shown += _list(name, listing.groups(found, findings))
    return shown


def _list(name: str, found: list[tuple[list[str], Finding]]) -> list[str]:
    items = [
        f"    {toml.value(f'{key}: {_said(one)}', name)}," for keys, one in found for key in keys
    ]
    return [f"{name} = [", *items, "]"] if items else [f"{name} = []"]


def _said(one: Finding) -> str:
    """The outcome for a key, on one line."""
    to = f"{one.ours} = {one.value}" if one.ours else one.value
    return listing.printable("; ".join(part for part in (to, one.why) if part))
