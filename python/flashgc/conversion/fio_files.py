"""The files of a job of fio: their names, sizes and number, and the job's part of them."""

from __future__ import annotations

from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Findings, Key
from flashgc.conversion.fio_job import Job
from flashgc.conversion.fio_text import JobFile
from flashgc.conversion.fio_values import WrongError
from flashgc.conversion.values import size as shown_size

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
ORDERS = {"roundrobin": "round-robin", "random": "random", "sequential": "sequential"}
FILES_MAX = 65_536


def names_of(text: str) -> list[str]:
    r"""The files that `filename` names; a backslash before a colon makes it part of a name.

    >>> from flashgc.conversion.fio_files import names_of
    >>> names_of("a:b"), names_of(r"c\:d")
    (['a', 'b'], ['c:d'])
    """
    return [name.replace("\0", ":") for name in text.replace("\\:", "\0").split(":") if name]


def check(findings: Findings, file: JobFile) -> None:
    """Jobs that share a file share all that they name."""
    lists: dict[str, list[str]] = {}
    for section in file.jobs:
        key = section.last().get("filename")
        names = names_of(key.text) if key is not None else []
        for name in names:
            if key is not None and lists.setdefault(name, names) != names:
                findings.wrong(key, f"another job has `{name}` among other files; give both the "
                                    "same list")  # fmt: skip
                break


class Files(Job):
    """The files of a job, and its part of them."""

    files = 1
    """The number of its files."""

    def _region(self) -> None:
        is_drive = False
        key = self.options.get("filename")
        if key is not None:
            is_drive = self._file(key)
        self.take("nrfiles", self._count)
        self.take("file_service_type", self._turns)
        self.take("openfiles", self._open)
        if self.files > 1:
            self.job["files"] = self.files
        self.take("size", lambda key: self._extent(key, "span"))
        self.take("filesize", self._file_size)
        if not {"span", "file_size"} & self.job.keys() and not is_drive:
            self.findings.problems.append(
                f"{self.section.place}: job `{self.section.name}` has no `size`, which it needs "
                "unless `filename` is a device such as /dev/nvme0n1"
            )
        self.take("offset", lambda key: self._extent(key, "offset"))
        self.take("offset_increment", lambda key: self._extent(key, "offset_step"))

    def _file(self, key: Key) -> bool:
        names = names_of(key.text)
        devices = [name for name in names if name.startswith(("/dev/", "\\\\.\\"))]
        if not names or names == ["-"]:
            self.wrong(key, "it must be the name of a file or of a device")
        elif len(devices) > 1 or (devices and len(names) > 1):
            self.wrong(key, "there is one drive: name one device")
        elif devices:
            self.set(key, "file", "drive")
            return True
        elif len(names) > FILES_MAX:
            self.wrong(key, f"it must name at most {FILES_MAX} files")
        else:
            self.files = len(names)
            # The word for the whole drive is not a file name here.
            self.set(key, "file", "./drive" if key.text == "drive" else key.text)
        return False

    def _count(self, key: Key) -> None:
        count = values.integer(key.text, 1, FILES_MAX)
        if "filename" in self.options:
            self.drop(key, "ignored: `filename` names the files")
        elif count == 1:
            self.said(key, "", "always: one file")
        else:
            self.files = count
            self.said(key, "files", count)

    def _turns(self, key: Key) -> None:
        if self.files == 1:
            return self.drop(key, "ignored: the job has one file")
        name, colon, number = key.text.partition(":")
        if name not in ORDERS:
            raise WrongError("it must be roundrobin, random or sequential: a choice of files by "
                             "another distribution is not modelled")  # fmt: skip
        if colon:
            self.job["file_turn"] = values.integer(number, 1, 2**32 - 1)
        return self.set(key, "file_order", ORDERS[name])

    def _open(self, key: Key) -> None:
        count = values.integer(key.text, 0, 10**9)
        if 0 < count < self.files:
            raise WrongError("a part of the files open at a time is not modelled; it must be at "
                             f"least the number of files, {self.files}")  # fmt: skip
        self.drop(key, "ignored: all files are open")

    def _extent(self, key: Key, ours: str) -> None:
        share = values.percent(key.text)
        if share is not None:
            self.set(key, ours, float(share))
            return
        count = values.whole(key.text, self.kb_base)
        if ours == "span":
            # The size of a job covers all its files.
            count //= self.files
            if count == 0:
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
        """Offsets in percent of a known size, and the size of a job whose file has its own size.

        The size of a job is then the amount that it transfers, and its requests go to all of the
        file; a percentage is one of the file, and they go to this part of it.
        """
        size, file_size = (bytes_of(self.job.get(name)) for name in ("span", "file_size"))
        share = self.job.get("span")
        if file_size is not None and isinstance(share, float):
            size = max(1, int(share * file_size))
            self.job["span"] = shown_size(size)
        offset = self.job.get("offset")
        # With an increment, the sum is rounded for each clone.
        if size is not None and isinstance(offset, float) and "offset_step" not in self.job:
            count = -(-round(offset * size) // self.smallest) * self.smallest
            self.job["offset"] = shown_size(count)
        if size is not None:
            self._check_amount(min(size, file_size or size))
        if file_size is None or size is None or isinstance(share, float):
            return
        del self.job["span"]
        amount = self.job.get("amount", 1.0)
        if isinstance(amount, float):
            rest = file_size - (bytes_of(self.job.get("offset")) or 0)
            # A percentage of what the files have, but no more than the size.
            most = size * self.files
            self.job["amount"] = shown_size(max(1, min(most, int(amount * rest * self.files))))

    def _check_amount(self, bytes_: int) -> None:
        """A percentage of this size must have a request, as in fio."""
        key = self.options.get("io_size")
        share = self.job.get("amount")
        if key is not None and isinstance(share, float):
            count = int(share * bytes_ * self.files)
            if count < self.smallest:
                self.wrong(key, f"that is {count} bytes, and requests have {self.smallest}")


def bytes_of(extent: object) -> int | None:
    """A size of a job in bytes; None for a share, or without any."""
    if not isinstance(extent, str):
        return None
    number, unit = extent.split()
    return int(number) * UNITS[unit]
