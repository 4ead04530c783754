"""Reads a source file and recognises its simulator by the content."""

from __future__ import annotations

import os
import re
from pathlib import Path

from flashgc._engine import ConfigError
from flashgc.conversion import ssdsim_keys
from flashgc.files import reading

PROGRAMS = {"mqsim": "MQSim", "ssdsim": "SSDSim", "disksim": "DiskSim", "fio": "fio"}
SSDSIM_KEYS_LEAST = 3

_FIO = re.compile(r"^\s*\[[^\]\n]+\]", re.MULTILINE)
_DISKSIM = re.compile(r"^\s*(?:disksim_\w+|ssdmodel_ssd)\s+\w*\s*\{", re.MULTILINE)


def read(path: str | os.PathLike[str]) -> tuple[str, bytes]:
    """Name and content of a file of at most 4 MiB."""
    name = reading.printable(path)
    try:
        with open(Path(path), "rb") as file:
            data = file.read(reading.CONFIG_BYTES_MAX + 1)
    except OSError as reason:
        raise ConfigError(f"error: {reading.describe(name, reason)}") from None
    except ValueError as reason:
        raise ConfigError(f"error: {name!r} cannot be the name of a file: {reason}") from None
    if len(data) > reading.CONFIG_BYTES_MAX:
        raise ConfigError(f"error: {name} is larger than 4 MiB, the limit for a configuration")
    if not data.strip():
        raise ConfigError(f"error: {name} is empty")
    return name, data


def shown(path: str | os.PathLike[str]) -> str:
    """The name of a file as it can be shown."""
    return reading.printable(path)


def program(name: str, data: bytes, given: str | None) -> str:
    """The simulator: the given one, or the one recognised by the content."""
    if given is not None:
        if given not in PROGRAMS:
            raise ConfigError(
                f"error: there is no converter for `{reading.printable(given)}`\n"
                f"  = help: the converters are {', '.join(PROGRAMS)}"
            )
        return given
    text = plain(data)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        return "mqsim"
    if _DISKSIM.search(text):
        return "disksim"
    if sum(_begins(line) in ssdsim_keys.KNOWN for line in text.splitlines()) >= SSDSIM_KEYS_LEAST:
        return "ssdsim"
    if name.endswith(reading.JOB_FILES) or is_job_file(text):
        return "fio"
    raise ConfigError(
        f"error: {name} cannot be converted: its format is not recognised\n"
        "  = help: an MQSim device file is XML, an SSDSim parameter file has lines such as "
        "`die number = 2;`, a DiskSim file has blocks such as `ssdmodel_ssd SSD {`, a "
        "job file of fio has sections such as `[reader]` with `rw=randread`; --from names the "
        "program"
    )


def is_job_file(text: str) -> bool:
    """Whether a text has sections, and options of fio in them."""
    return bool(_FIO.search(text)) and _has_fio(text)


def _has_fio(text: str) -> bool:
    """Whether a pattern of requests is named as in a job file."""
    names = (line.partition("=")[0].strip() for line in text.splitlines() if "=" in line)
    return any(name in {"rw", "readwrite", "ioengine"} for name in names)


def plain(data: bytes) -> str:
    """The text, with replacement characters for invalid UTF-8, as in comments of any language."""
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")


def _begins(line: str) -> str:
    return re.sub(r"\s+", " ", line.partition("=")[0].strip()) if "=" in line else ""
