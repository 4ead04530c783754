"""Job files of fio in a run: as a layer of a configuration, or with a drive of their own."""

from __future__ import annotations

import os
from pathlib import Path

from flashgc.conversion import document, fio, fio_text, recognise
from flashgc.conversion.findings import Findings
from flashgc.files import reading

WHY_DRIVE = "a job file does not describe the drive; --device or --set choose another"
WHY_STATE = "a job file does not describe the state of the drive; --set chooses another"


def layer(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The name of a job file, and its jobs as TOML."""
    name, data = recognise.read(path)
    findings = _findings(name, recognise.plain(data))
    return name, document.text(findings, [os.path.basename(name)])


def with_drive(name: str, text: str) -> Findings:
    """The jobs, on the drive on which a job file runs that is named alone."""
    findings = _findings(name, text)
    findings.choose("device.preset", "slc-msr", WHY_DRIVE)
    findings.choose("device.blocks_per_plane", 512, WHY_DRIVE)
    findings.choose("gc.scheme", "greedy", WHY_DRIVE)
    findings.choose("precondition.fill", "sequential", WHY_STATE)
    findings.choose("precondition.overwrite", 2.0, WHY_STATE)
    return findings


def drive() -> reading.Source:
    """The configuration of that drive."""
    path = Path(__file__).parent / "fio.toml"
    return reading.Source("fio (built in)", path.read_text("utf-8"))


def _findings(name: str, text: str) -> Findings:
    file = fio_text.parse(name, text)
    findings = Findings("fio", file.keys)
    fio.convert(findings, file)
    return findings
