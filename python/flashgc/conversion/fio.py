"""A job file of fio as [workload.jobs].

Meanings of options were read in fio's manual (HOWTO.rst, version 3); its source was not read.
"""

from __future__ import annotations

import difflib
from typing import Any

from flashgc.conversion import fio_keys
from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Choice, Finding, Findings, Key
from flashgc.conversion.fio_flow import Flow
from flashgc.conversion.fio_hints import Hints
from flashgc.conversion.fio_job import DIFFERS, JOBS, MAPPED, Said, note
from flashgc.conversion.fio_requests import Requests
from flashgc.conversion.fio_text import JobFile
from flashgc.conversion.fio_values import WrongError
from flashgc.conversion.values import size as shown_size

PATTERNS: dict[str, tuple[tuple[int, ...], bool]] = {
    "read": ((0,), False), "write": ((1,), False), "trim": ((2,), False),
    "randread": ((0,), True), "randwrite": ((1,), True), "randtrim": ((2,), True),
    "rw": ((0, 1), False), "readwrite": ((0, 1), False), "randrw": ((0, 1), True),
    "trimwrite": ((1, 2), False), "randtrimwrite": ((1, 2), True),
}  # fmt: skip
"""Kinds of requests, by their number, and whether they are random."""

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

FORCED = {"0": False, "none": False, "1": True, "sync": True, "dsync": True}
"""Values of `sync` and `writefua`, and whether writes are forced."""


def convert(findings: Findings, file: JobFile) -> None:
    """All jobs, and the outcome for each option."""
    said: Said = {}
    jobs = [_Job(findings, section, said).read() for section in file.jobs]
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


class _Job(Requests, Flow, Hints):
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
        self._passes()
        self._depth()
        self._rates(kinds)
        self._hints()
        return self.job

    def _check_names(self) -> None:
        """Options that are not read here: ignored with a reason, or refused."""
        for name, key in self.options.items():
            if name in fio_keys.REFUSED:
                self.wrong(key, f"this is not modelled: {fio_keys.REFUSED[name]}")
            elif name in fio_keys.LOUD:
                self.said(key, "", "", fio_keys.LOUD[name])
            elif name in fio_keys.IGNORED:
                self.drop(key, f"ignored: {fio_keys.IGNORED[name]}")
            elif name == "zonemode":
                if key.text != "none":
                    self.wrong(key, "only `none` is modelled")
                else:
                    self.said(key, "", "always: no zones")
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
        name, colon, _ = key.text.partition(":")
        if colon:
            self.wrong(key, "a number behind the pattern, which makes holes or repeats, is not "
                             "modelled")  # fmt: skip
        if name not in PATTERNS:
            self.wrong(key, f"it must be one of {', '.join(PATTERNS)}")
            return PATTERNS["read"]
        return PATTERNS[name]

    def _shares(self, kinds: tuple[int, ...]) -> tuple[float, float]:
        """Of reads and of trims."""
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

    def _region(self) -> None:
        is_drive = False
        key = self.options.get("filename")
        if key is not None:
            is_drive = self._file(key)
        self.take("nrfiles", self._files)
        self.take("size", lambda key: self.extent(key, "span"))
        self.take("filesize", self._file_size)
        if not {"span", "file_size"} & self.job.keys() and not is_drive:
            self.findings.problems.append(
                f"{self.section.place}: job `{self.section.name}` has no `size`, which it needs "
                "unless `filename` is a device such as /dev/nvme0n1"
            )
        self.take("offset", lambda key: self.extent(key, "offset"))
        self.take("offset_increment", lambda key: self.extent(key, "offset_step"))

    def _file(self, key: Key) -> bool:
        names = [name for name in key.text.replace("\\:", "\0").split(":") if name]
        devices = [name for name in names if name.startswith(("/dev/", "\\\\.\\"))]
        if not names or names == ["-"]:
            self.wrong(key, "it must be the name of a file or of a device")
        elif len(devices) > 1 or (devices and len(names) > 1):
            self.wrong(key, "there is one drive: name one device")
        elif devices:
            self.set(key, "file", "drive")
            return True
        elif len(names) > 1:
            self.set(key, "file", key.text, "one file with the size of all takes their place")
        else:
            # The word for the whole drive is no file here.
            self.set(key, "file", "./drive" if key.text == "drive" else key.text)
        return False

    def _files(self, key: Key) -> None:
        count = values.integer(key.text, 1, 10**9)
        if "filename" in self.options:
            self.drop(key, "ignored: `filename` names the file")
        elif count == 1:
            self.said(key, "", "always: one file")
        else:
            self.said(key, "", "", "one file with the size of all takes their place")

    def extent(self, key: Key, ours: str) -> None:
        share = values.percent(key.text)
        if share is not None:
            self.set(key, ours, float(share))
            return
        count = values.whole(key.text, self.kb_base)
        if ours == "span" and count == 0:
            raise WrongError("it must be above 0")
        self.set(key, ours, shown_size(count))

    def _file_size(self, key: Key) -> None:
        if "-" in key.text:
            raise WrongError("a range of sizes of files is not modelled; give one size")
        count = values.whole(key.text, self.kb_base)
        if count == 0:
            raise WrongError("it must be above 0")
        self.set(key, "file_size", shown_size(count))
        share = self.job.get("span")
        offset = self.options.get("offset")
        if offset is None:
            return
        if values.percent(offset.text) is not None and share is None:
            self.wrong(offset, "fio takes percentages of `size`, which the job does not have")
        elif (
            values.percent(offset.text) is None and values.whole(offset.text, self.kb_base) >= count
        ):
            self.wrong(offset, f"the file ends before that: `filesize` is {key.text}")

    def _places(self) -> None:
        """Offsets in percent of a known size, and what a file's own size makes of that of the job.

        The size of a job is then what it transfers, and its requests go to all of the file; a
        percentage is one of the file, and they go to this part of it.
        """
        size, file_size = (_bytes(self.job.get(name)) for name in ("span", "file_size"))
        share = self.job.get("span")
        if file_size is not None and isinstance(share, float):
            size = max(1, int(share * file_size))
            self.job["span"] = shown_size(size)
        offset = self.job.get("offset")
        # With an increment, the sum is rounded for each clone.
        if size is not None and isinstance(offset, float) and "offset_step" not in self.job:
            count = -(-round(offset * size) // self.smallest) * self.smallest
            self.job["offset"] = shown_size(count)
        if file_size is None or size is None or isinstance(share, float):
            return
        del self.job["span"]
        amount = self.job.get("amount", 1.0)
        if isinstance(amount, float):
            rest = file_size - (_bytes(self.job.get("offset")) or 0)
            # A percentage of what the file has, but no more than the size.
            self.job["amount"] = shown_size(max(1, min(size, int(amount * rest))))

    def _amounts(self) -> None:
        self.take("io_size", lambda key: self.extent(key, "amount"))
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
        elif self.is_on("time_based"):
            self.drop(key, "ignored: with `time_based` only time ends the job")
        else:
            self.set(key, "requests", count)

    def _loops(self, key: Key) -> None:
        loops = values.integer(key.text, 1, 10**6)
        if self.is_on("time_based"):
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
        repeats = repeats and "randseed" not in self.options and not self.is_on("time_based")
        self.job["passes"] = "same" if repeats else "new"
        if key is not None:
            self.said(key, "passes", self.job["passes"])
        return None


def _bytes(extent: object) -> int | None:
    """A size of a job in bytes; None for a share, or without any."""
    if not isinstance(extent, str):
        return None
    number, unit = extent.split()
    return int(number) * UNITS[unit]
