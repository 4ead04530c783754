"""A job file of fio as [workload.jobs].

Meanings of options were read in fio's manual (HOWTO.rst, version 3); its source was not read.
"""

from __future__ import annotations

import difflib
from typing import Any

from flashgc.conversion import fio_files, fio_keys
from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Choice, Finding, Findings, Key
from flashgc.conversion.fio_files import Files
from flashgc.conversion.fio_flow import Flow
from flashgc.conversion.fio_hints import Hints
from flashgc.conversion.fio_job import DIFFERS, JOBS, MAPPED, Said, note
from flashgc.conversion.fio_requests import Requests
from flashgc.conversion.fio_sprandom import Sprandom
from flashgc.conversion.fio_text import JobFile
from flashgc.conversion.fio_values import WrongError
from flashgc.conversion.fio_walk import Walk

PATTERNS: dict[str, tuple[tuple[int, ...], bool]] = {
    "read": ((0,), False), "write": ((1,), False), "trim": ((2,), False),
    "randread": ((0,), True), "randwrite": ((1,), True), "randtrim": ((2,), True),
    "rw": ((0, 1), False), "readwrite": ((0, 1), False), "randrw": ((0, 1), True),
    "trimwrite": ((1, 2), False), "randtrimwrite": ((1, 2), True),
}  # fmt: skip
"""Kinds of requests, by their number, and whether they are random."""

FORCED = {"0": False, "none": False, "1": True, "sync": True, "dsync": True}
"""Values of `sync` and `writefua`, and whether writes are forced."""


def convert(findings: Findings, file: JobFile) -> None:
    """All jobs, and the outcome for each option."""
    said: Said = {}
    jobs = [_Job(findings, section, said).read() for section in file.jobs]
    fio_files.check(findings, file)
    _check_flows(findings, file, jobs)
    seeds = _seeds(findings, file, said)
    findings.stop_at_problems()
    if seeds is not None:
        findings.settings["seed"] = seeds
    findings.settings[JOBS] = jobs
    if any("file" not in job for job in jobs):
        why = "as fio makes them; files lie one behind the other, from the start of the drive"
        findings.chosen.append(Choice(f"{JOBS}.file", "a file for each clone", why))
    for key in file.keys:
        if id(key) not in said:
            findings.drop(key, "ignored: a later line, or each job, has its own")


def _seeds(findings: Findings, file: JobFile, said: Said) -> int | None:
    """One seed for all jobs: the first that a job has."""
    seed: int | None = None
    keys = {id(key): key for section in file.jobs if (key := section.last().get("randseed"))}
    for key in keys.values():
        try:
            found = values.whole(key.text)
        except WrongError as why:
            findings.wrong(key, str(why))
            continue
        if seed is None:
            seed = found
        if found == seed:
            note(findings, said, MAPPED, Finding(key, "seed", str(seed)))
        else:
            why_not = "there is one seed for all jobs, the first"
            note(findings, said, DIFFERS, Finding(key, "seed", str(seed), why_not))
    return seed


def _check_flows(findings: Findings, file: JobFile, jobs: list[dict[str, Any]]) -> None:
    """Jobs of one flow run at the same time. In fio, jobs of two groups wait for ever."""
    group, groups = 0, dict[int, int]()
    for at, (job, section) in enumerate(zip(jobs, file.jobs, strict=True)):
        group += bool(at and job.get("after_others"))
        if "flow" in job and groups.setdefault(job.get("flow_id", 0), group) != group:
            findings.wrong(section.last()["flow"],
                           "jobs before its `stonewall` have the same flow and would wait for its "
                           "requests, as they do in fio without end; give it another flow_id"
                           )  # fmt: skip


class _Job(Requests, Files, Walk, Flow, Hints, Sprandom):
    """One section: its options, and the job that they make."""

    def read(self) -> dict[str, Any]:
        """The job as a table of [[workload.jobs.job]]."""
        self._check_names()
        self.take("kb_base", self._base)
        self.take("name", self._name)
        kinds, is_random = self._pattern()
        self._mix(kinds)
        self._region()
        self._amounts()
        self._times()
        self._sizes(kinds)
        self._places()
        self._addresses(kinds, is_random)
        self._walk(is_random)
        self._passes()
        self._sprandom()
        self._depth()
        self._rates(kinds)
        self._hints()
        return self.job

    def _check_names(self) -> None:
        """Options that are not read here: ignored with a reason, or refused."""
        for name, key in self.options.items():
            if name in fio_keys.REFUSED and key.text.strip() == "0":
                self.drop(key, "ignored: it is off")
            elif name in fio_keys.REFUSED:
                self.wrong(key, f"this is not modelled: {fio_keys.REFUSED[name]}")
            elif name in fio_keys.LOUD:
                self.said(key, "", "", fio_keys.LOUD[name])
            elif name in fio_keys.IGNORED:
                self.drop(key, f"ignored: {fio_keys.IGNORED[name]}")
            elif name not in fio_keys.MAPPED:
                near = difflib.get_close_matches(name, fio_keys.KNOWN, n=1)
                hint = f"did you mean `{near[0]}`? " if near else ""
                self.wrong(key, f"flashgc knows no such option: {hint}remove it if it does not "
                                 "change the requests")  # fmt: skip

    # The groups of options.

    def _base(self, key: Key) -> None:
        base = values.integer(key.text, 1000, 1024)
        if base not in {1000, 1024}:
            raise WrongError("it must be 1000 or 1024")
        self.kb_base = base
        self.said(key, "", f"always: sizes with k, m and g are multiples of {base}")

    def _name(self, key: Key) -> None:
        self.set(key, "name", key.text)

    def _pattern(self) -> tuple[tuple[int, ...], bool]:
        key = self.options.get("rw")
        if key is None:
            return PATTERNS["read"]
        name = key.text.partition(":")[0]
        if name not in PATTERNS:
            self.wrong(key, f"it must be one of {', '.join(PATTERNS)}")
            return PATTERNS["read"]
        return PATTERNS[name]

    def _shares(self, kinds: tuple[int, ...]) -> tuple[float, float]:
        """The shares of reads and of trims."""
        return {(0,): (1.0, 0.0), (1,): (0.0, 0.0), (2,): (0.0, 1.0), (0, 1): (0.5, 0.0),
                (1, 2): (0.0, 1.0)}[kinds]  # fmt: skip

    def _mix(self, kinds: tuple[int, ...]) -> None:
        read, trim = self._shares(kinds)
        if kinds == (1, 2):
            self.job["trim_then_write"] = True
        given = [name for name in self._order() if name in {"rwmixread", "rwmixwrite"}]
        for name in given:
            key = self.options[name]
            try:
                share = values.number(key.text.removesuffix("%"), 0, 100) / 100
            except WrongError as why:
                self.wrong(key, str(why))
                continue
            own = float(share if name == "rwmixread" else 1 - share)
            if kinds != (0, 1):
                self.drop(key, "ignored: the job does not mix reads and writes")
            elif name == given[-1]:
                read = own
                self.said(key, "read_share", own)
            else:
                self.drop(key, f"ignored: `{given[-1]}` comes later")
        self.job["read_share"] = read
        if trim:
            self.job["trim_share"] = trim
        if "rw" in self.options:
            ours = "trim_share" if trim else "read_share"
            self.said(self.options["rw"], ours, self.job[ours])

    def _order(self) -> list[str]:
        """The names of options in the order of their last lines."""
        return [fio_keys.ALIASES.get(key.name, key.name) for key in self.section.options]

    def _amounts(self) -> None:
        if self.is_on("sprandom"):
            self.drop_option(
                "io_size", "ignored, as in fio: a pass of `sprandom` has its own amount"
            )
        else:
            self.take("io_size", lambda key: self._extent(key, "amount"))
        self.take("number_ios", self._requests)
        self.take("numjobs", lambda key: self.set(
            key, "clones", values.integer(key.text, 1, 4096)))  # fmt: skip
        self.take("loops", self._loops)
        for name in ("fsync", "fdatasync"):
            if self.job.get("trim_then_write"):
                self.drop_option(name, "ignored: fio makes no flushes where writes follow trims")
            else:
                self.take(name, self._flushes)
        for name in ("sync", "writefua"):
            self.take(name, self._forced)

    def _forced(self, key: Key) -> None:
        if key.text not in FORCED:
            return self.wrong(key, f"`{key.text}` is none of {', '.join(FORCED)}")
        if not FORCED[key.text]:
            return self.said(key, "", "no forced writes")
        return self.set(key, "fua_share", 1.0)

    def _flushes(self, key: Key) -> None:
        writes = values.integer(key.text, 0, 2**32 - 1)
        if writes == 0:
            return self.said(key, "", "no flushes")
        if "flush_after" in self.job and self.job["flush_after"] != writes:
            return self.wrong(key, "fsync and fdatasync differ, and one number is possible here")
        return self.set(key, "flush_after", writes)

    def _requests(self, key: Key) -> None:
        count = values.integer(key.text, 0, 10**12)
        if count == 0:
            self.drop(key, "ignored: 0 stands for no limit")
        elif self.is_time_based():
            self.drop(key, "ignored: with `time_based` only time ends the job")
        else:
            self.set(key, "requests", count)

    def _loops(self, key: Key) -> None:
        loops = values.integer(key.text, 1, 10**6)
        if self.is_time_based():
            self.drop(key, "ignored: with `time_based` only time ends the job")
        else:
            self.set(key, "loops", loops)

    def _passes(self) -> None:
        """Whether each pass over the part repeats the first."""
        key = self.options.get("randrepeat")
        try:
            repeats = key is None or values.flag(key.text)
        except WrongError as why:
            assert key is not None
            return self.wrong(key, str(why))
        # A seed of their own, and `time_based`, give each pass a new order.
        repeats = repeats and "randseed" not in self.options and not self.is_time_based()
        self.job["passes"] = "same" if repeats else "new"
        if key is not None:
            self.said(key, "passes", self.job["passes"])
        return None
