"""The order of the places of a job of fio: numbers behind `rw`, and strides."""

from __future__ import annotations

from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Key
from flashgc.conversion.fio_files import bytes_of
from flashgc.conversion.fio_job import Job
from flashgc.conversion.fio_values import WrongError
from flashgc.conversion.values import size as shown_size

SEQUENCERS = ("sequential", "identical")
ZONES = ("zonesize", "zonerange", "zoneskip")


class Walk(Job):
    """Holes, runs and strides."""

    _is_random = False

    def _walk(self, is_random: bool) -> None:
        self._is_random = is_random
        key = self.options.get("rw")
        if key is not None and ":" in key.text:
            try:
                self._number(key, key.text.partition(":")[2], is_random)
            except WrongError as why:
                self.wrong(key, f"the number behind the pattern is wrong: {why}")
        self.take("rw_sequencer", self._sequencer)
        self.take("zonemode", self._mode)
        if "zonemode" not in self.options:
            self._no_zones()
        several = "run" in self.job or "stride_range" in self.job
        if "files" in self.job and (several or (is_random and "trim_then_write" in self.job)):
            self.findings.problems.append(
                f"{self.section.place}: job `{self.section.name}` has several files, with which "
                "a number behind a random pattern, randtrimwrite and zones are not modelled"
            )

    def _number(self, key: Key, text: str, is_random: bool) -> None:
        is_back = text.startswith("-")
        count = values.whole(text.removeprefix("-"), self.kb_base)
        if is_random:
            if is_back:
                raise WrongError("it must be a whole number above 0")
            if count > 1 and "trim_then_write" in self.job:
                raise WrongError("runs of trims and writes are not modelled")
            if count > 1:
                self.job["run"] = count
                self.said(key, "run", count)
        elif count % 512:
            raise WrongError("it must be a multiple of 512 bytes")
        elif count and "trim_then_write" in self.job:
            raise WrongError("holes between trims and writes are not modelled; with some of them "
                             "fio never ends")  # fmt: skip
        elif count:
            offset = self.job.get("offset")
            if is_back and (offset not in {None, "0 B"} or "offset_step" in self.job):
                raise WrongError("requests backwards are modelled without `offset` only")
            self.job["skip"] = shown_size(count)
            self.said(key, "skip", shown_size(count))
            if is_back:
                self.job["skip_back"] = True

    def _sequencer(self, key: Key) -> None:
        if key.text not in SEQUENCERS:
            raise WrongError("it must be sequential or identical")
        if "run" not in self.job:
            self.drop(key, "ignored: it belongs to a number behind a random pattern")
        else:
            self.set(key, "run_stays", key.text == "identical")

    def _mode(self, key: Key) -> None:
        if key.text == "none":
            self.said(key, "", "always: no zones")
            return self._no_zones()
        if key.text != "strided":
            raise WrongError("only `none` and `strided` are modelled")
        size = self.options.get("zonesize")
        if size is None:
            raise WrongError("it needs `zonesize`, as in fio")
        zone_range = self.options.get("zonerange", size)
        for name, given in (("stride_range", zone_range), ("stride_amount", size),
                            ("stride_gap", self.options.get("zoneskip"))):  # fmt: skip
            if given is None:
                continue
            try:
                self.job[name] = shown_size(self._zone(given, may_be_0=name == "stride_gap"))
                self.said(given, name, self.job[name])
            except WrongError as why:
                self.wrong(given, str(why))
        uniform = not any(name.endswith("_address") for name in self.job)
        if not uniform or "trim_then_write" in self.job or "percentage_random" in self.options:
            raise WrongError("strides are modelled for uniform addresses, without "
                             "`percentage_random` and writes after trims")  # fmt: skip
        if self._is_random and any(self.kinds_smallest):
            raise WrongError("strides of random places are modelled for requests of one size")
        self._check_zone(zone_range)
        return self.said(key, "", "by the three keys of strides")

    def _check_zone(self, key: Key) -> None:
        """A zone of random places lies in the job's part; fio ends at a place behind the part."""
        zone, part, file = (bytes_of(self.job.get(name))
                            for name in ("stride_range", "span", "file_size"))  # fmt: skip
        if file is not None:
            rest = file - (bytes_of(self.job.get("offset")) or 0)
            part = min(rest, part or rest)
        if self._is_random and zone is not None and part is not None and zone > part:
            self.wrong(key, f"the zone is larger than the job's part of the file, {part} bytes, "
                            "and fio ends at the first random place behind it; give at most "
                            f"{key.name}={part}")  # fmt: skip

    def _zone(self, key: Key, *, may_be_0: bool) -> int:
        count = values.whole(key.text, self.kb_base)
        if count % 512 or (count == 0 and not may_be_0):
            least = "" if may_be_0 else ", and above 0"
            raise WrongError(f"it must be a multiple of 512 bytes{least}")
        return count

    def _no_zones(self) -> None:
        for name in ZONES:
            key = self.options.get(name)
            if key is None:
                continue
            if name == "zonesize":
                self.wrong(key, "fio refuses it without zonemode=strided or zonemode=zbd")
            else:
                self.drop(key, "ignored: there are no zones without `zonemode`")
