"""A job of fio in the making: its options, its table, and the outcome for each option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Finding, Findings, Key
from flashgc.conversion.fio_text import Section
from flashgc.conversion.fio_values import WrongError
from flashgc.files import toml

JOBS = "workload.jobs.job"
KINDS = ("read", "write", "trim")

DROPPED, MAPPED, DIFFERS = range(3)
"""Outcomes; of several jobs that share an option of [global], the one with the highest counts."""

Said = dict[int, tuple[int, Finding]]
"""The outcome of each option, by its identity."""


def note(findings: Findings, said: Said, rank: int, finding: Finding) -> None:
    """Records an outcome, unless the option has one that counts more."""
    lists = (findings.not_mapped, findings.mapped, findings.differs)
    before = said.get(id(finding.key))
    if before is not None:
        if before[0] >= rank:
            return
        lists[before[0]].remove(before[1])
    said[id(finding.key)] = (rank, finding)
    lists[rank].append(finding)


class Job:
    """One section: its options, and the job that they make."""

    def __init__(self, findings: Findings, section: Section, said: Said) -> None:
        self.findings = findings
        self.section = section
        self.options = section.last()
        self.job: dict[str, Any] = {"name": section.name}
        self.kb_base = 1024
        self.smallest = 512
        """The smallest request of any kind, in bytes."""
        self.kinds_smallest: list[int | None] = [None] * 3
        """The smallest request of each kind that has several sizes, in bytes."""
        self._said = said

    def said(self, key: Key, ours: str, value: object, how: str = "") -> None:
        """The option has a counterpart, or names the fixed behaviour of flashgc."""
        name = f"{JOBS}.{ours}" if ours else ""
        text = toml.value(value, ours) if ours else str(value)
        rank = DIFFERS if how else MAPPED
        note(self.findings, self._said, rank, Finding(key, name, text, how))

    def drop(self, key: Key, why: str) -> None:
        """The option has no counterpart."""
        note(self.findings, self._said, DROPPED, Finding(key, "", "", why))

    def drop_option(self, name: str, why: str) -> None:
        """The option has no counterpart, if the job has it."""
        if name in self.options:
            self.drop(self.options[name], why)

    def wrong(self, key: Key, why: str) -> None:
        """The option has a value that is not allowed; several jobs may share it."""
        problems = self.findings.problems
        self.findings.wrong(key, why)
        if problems[-1] in problems[:-1]:
            problems.pop()

    def take(self, name: str, read: Callable[[Key], None]) -> None:
        """Reads an option, if the job has it, and notes a wrong value."""
        key = self.options.get(name)
        if key is None:
            return
        try:
            read(key)
        except WrongError as why:
            self.wrong(key, str(why))

    def is_on(self, name: str) -> bool:
        """Whether the job has a switch, and it is not off."""
        key = self.options.get(name)
        return key is not None and key.text != "0"

    def is_time_based(self) -> bool:
        """Whether time alone ends the job: it must have a runtime for that."""
        key = self.options.get("runtime")
        try:
            return self.is_on("time_based") and key is not None and values.time_ns(key.text) > 0
        except WrongError:
            return True

    def set(self, key: Key, ours: str, value: object, how: str = "") -> None:
        """The option gives a key of the job."""
        self.job[ours] = value
        self.said(key, ours, value, how)
