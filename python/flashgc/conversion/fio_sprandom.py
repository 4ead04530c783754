"""A job of fio that preconditions: `sprandom` and its options.

Meanings were read in fio's manual (HOWTO.rst, version 3.42) and in the comments of its example
(examples/sprandom.fio); nothing was taken from its source.
"""

from __future__ import annotations

from typing import Any

from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Key
from flashgc.conversion.fio_job import Job
from flashgc.conversion.fio_values import WrongError
from flashgc.conversion.values import size as shown_size

REGIONS_MAX = 100_000
OPTIONS = ("spr_op", "spr_num_regions", "spr_cs")

ALONE = {
    "bsrange": "give `bs`: blocks have one size",
    "bssplit": "give `bs`: blocks have one size",
    "percentage_random": "remove it: all its places are random",
    "zonemode": "remove it: it writes all of its part",
    "nrfiles": "remove it: it writes one file",
    "loops": "remove it: it writes the physical capacity once",
    "time_based": "remove it: it writes the physical capacity once",
}
"""Options that do not go with it, each with the remedy."""


class Sprandom(Job):
    """The pass of a job, in place of its random requests."""

    def _sprandom(self) -> None:
        key = self.options.get("sprandom")
        try:
            is_on = key is not None and values.flag(key.text)
        except WrongError as why:
            assert key is not None
            return self.wrong(key, str(why))
        if key is None or not is_on:
            for name in OPTIONS:
                self.drop_option(name, "ignored: the job has no `sprandom`")
            if key is not None:
                self.drop(key, "ignored: it is off")
            return None
        self._check(key)
        found: dict[str, Any] = {"over_provisioning": 0.15}

        def over_provisioning(key: Key) -> None:
            share = values.number(key.text, 0, 1)
            if share in {0, 1}:
                raise WrongError("it must be above 0 and below 1: (physical - user) / user")
            found["over_provisioning"] = float(share)
            self.said(key, "sprandom.over_provisioning", float(share))

        def regions(key: Key) -> None:
            found["regions"] = values.integer(key.text, 2, REGIONS_MAX)
            self.said(key, "sprandom.regions", found["regions"])

        def cache(key: Key) -> None:
            found["cache"] = shown_size(values.whole(key.text, self.kb_base))
            self.said(key, "sprandom.cache", found["cache"])

        for name, read in zip(OPTIONS, (over_provisioning, regions, cache), strict=True):
            self.take(name, read)
        self.job.pop("once", None)
        self.set(key, "sprandom", found)
        return None

    def _check(self, key: Key) -> None:
        """The requirements of fio: one job that writes one file, in blocks of one size."""
        pattern = self.options.get("rw")
        if pattern is None or pattern.text != "randwrite":
            self.wrong(key if pattern is None else pattern,
                       "a job with `sprandom` writes alone and at random: give rw=randwrite"
                       )  # fmt: skip
        for name, remedy in ALONE.items():
            self._refuse(name, remedy, {"", "0", "1"} if name in {"nrfiles", "loops"} else {"0"})
        self._refuse("numjobs", "remove it: it is one job", {"1"})
        self._refuse("random_generator", "it must be lfsr, or be left out", {"lfsr"})
        self._refuse("norandommap", "it must be 1, or be left out: blocks are written again", {
            "", "1"})  # fmt: skip
        self._refuse("random_distribution", "it must be random, or be left out", {"random"})
        align = self.job.get("align")
        if align is not None and align != self.job.get("write_size"):
            self.wrong(self.options["ba"], "the job has `sprandom`: it must be the block size")
        files = self.options.get("filename")
        if files is not None and ":" in files.text.replace("\\:", ""):
            self.wrong(files, "a job with `sprandom` writes one file")

    def _refuse(self, name: str, remedy: str, allowed: set[str]) -> None:
        key = self.options.get(name)
        if key is not None and key.text not in allowed:
            self.wrong(key, f"the job has `sprandom`: {remedy}")
