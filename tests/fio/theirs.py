"""The requests of Debian's fio: a job file, run with the null engine and a log of its requests."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 120
TRIES = 4
"""Runs of a job file whose logs are torn."""
CLOCKED_TRIES = 5
KINDS = {"read": "read", "write": "write", "trim": "trim", "sync": "flush", "datasync": "flush"}
ACTIONS = {"add", "open", "close"}


@dataclass(frozen=True)
class Request:
    """One request of a clone."""

    at_ms: float
    kind: str
    offset: int
    bytes: int
    order: int = 0
    """Its place among the requests of all files."""


@dataclass(frozen=True)
class Outcome:
    """The requests of each file, and the report of fio; or the reason why it does not run."""

    streams: dict[str, list[Request]]
    report: dict
    error: str
    is_torn: bool = False
    """Whether clones that logged at the same time have torn some lines."""

    @property
    def refused(self) -> bool:
        """Whether it ran nothing."""
        return bool(self.error)


def run(text: str, folder: Path, *, engine: str = "null") -> Outcome:
    """Runs a job file. Every section logs to its own file.

    The clones of a section share it, and write it in pieces of 8 KiB. On one processor most of them
    end before the next one begins; a job file whose clones have torn lines is run again.
    """
    for at in range(TRIES):
        part = folder / f"theirs-{at}"
        part.mkdir()
        found = _run(text, part, engine)
        if not found.is_torn:
            break
    return found


def _run(text: str, folder: Path, engine: str) -> Outcome:
    path = folder / "theirs.fio"
    path.write_text(logged(text, engine))
    processor = random.choice(sorted(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "--cpu-list", str(processor),
         "fio", "--output-format=json", "--output=theirs.json", path.name], cwd=folder,
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    output = folder / "theirs.json"
    shown = output.read_text() if output.exists() else ""
    # Warnings precede the object.
    warned, brace, rest = f"\n{shown}".partition("\n{")
    # A warning of fio, which then makes a few requests.
    is_wrong = "sizes exceed file size" in done.stderr + done.stdout + warned
    if done.returncode or not brace or is_wrong:
        return Outcome({}, {}, (done.stderr + done.stdout + warned).strip() or "no output")
    logs = sorted(folder.glob("theirs-*.log"), key=lambda path: int(path.stem.split("-")[1]))
    streams, is_torn = parse("".join(log.read_text() for log in logs))
    return Outcome(streams, json.loads(brace + rest), "", is_torn)


def clocked(path: Path) -> Iterator[list[dict[str, Any]]]:
    """The reports of fio on a job file, from several runs: a busy host delays its clock."""
    command = ["fio", path, "--output-format=json"]
    for _ in range(CLOCKED_TRIES):
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
        yield json.loads(done.stdout[done.stdout.index("{\n") :])["jobs"]


def logged(text: str, engine: str) -> str:
    """The job file with the engine and a log for each section."""
    lines, sections = [], 0
    for line in text.splitlines():
        if line.replace(" ", "").startswith("ioengine="):
            continue
        lines.append(line)
        if line.startswith("[") and line.strip() != "[global]":
            lines += [f"ioengine={engine}", f"write_iolog=theirs-{sections}.log"]
            sections += 1
    return "\n".join(lines) + "\n"


def parse(text: str) -> tuple[dict[str, list[Request]], bool]:
    """The requests of each file of logs of version 3, and whether any line is torn."""
    streams: dict[str, list[Request]] = defaultdict(list)
    is_torn = False
    for order, line in enumerate(text.splitlines()):
        words = line.split(" ")
        if len(words) == 5 and words[2] in KINDS and all(map(_is_number, (words[0], *words[3:]))):
            kind = KINDS[words[2]]
            offset, size = (0, 0) if kind == "flush" else (int(words[3]), int(words[4]))
            streams[words[1]].append(Request(float(words[0]), kind, offset, size, order))
        else:
            is_action = len(words) == 3 and _is_number(words[0]) and words[2] in ACTIONS
            is_torn |= not (is_action or line == "fio version 3 iolog")
    return dict(streams), is_torn


def _is_number(word: str) -> bool:
    return word.replace(".", "", 1).isdecimal()
