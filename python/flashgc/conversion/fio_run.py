"""Job files of fio in a run: as a layer of a configuration, or with a drive of their own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from flashgc.conversion import document, fio, fio_text, recognise
from flashgc.conversion.findings import Findings
from flashgc.conversion.fio_job import JOBS
from flashgc.files import reading

WHY_DRIVE = "a job file does not describe the drive; --device or --set choose another"
WHY_STATE = "a job file does not describe the state of the drive; --set chooses another"
WHY_ERASED = "a job with sprandom is for an erased drive"

ERASED = '[precondition]\nfill = "none"\n'


def layer(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The name of a job file, and its jobs as TOML."""
    name, data = recognise.read(path)
    findings = _findings(name, recognise.plain(data))
    return name, document.text(findings, [os.path.basename(name)])


def alone(path: str | os.PathLike[str]) -> reading.Source:
    """A job file, on the drive on which it runs where it is named alone."""
    name, data = recognise.read(path)
    return on_drive(_findings(name, recognise.plain(data)), name, os.path.basename(name))


def on_drive(findings: Findings, name: str, file: str) -> reading.Source:
    """The jobs that were found, on that drive."""
    return replace(_drive(findings), jobs=(name, document.text(findings, [file])))


def with_drive(name: str, text: str) -> Findings:
    """The jobs, on the drive on which a job file runs that is named alone."""
    findings = _findings(name, text)
    findings.choose("device.preset", "slc-msr", WHY_DRIVE)
    findings.choose("device.blocks_per_plane", 512, WHY_DRIVE)
    findings.choose("gc.scheme", "greedy", WHY_DRIVE)
    if _preconditions(findings):
        findings.choose("precondition.fill", "none", WHY_ERASED)
    else:
        findings.choose("precondition.fill", "sequential", WHY_STATE)
        findings.choose("precondition.overwrite", 2.0, WHY_STATE)
    return findings


def _drive(findings: Findings) -> reading.Source:
    """The configuration of that drive. Jobs that precondition it find it erased."""
    path = Path(__file__).parent / "fio.toml"
    text = path.read_text("utf-8")
    if _preconditions(findings):
        text = text.partition("[precondition]")[0] + ERASED
    return reading.Source("fio (built in)", text)


def _preconditions(findings: Findings) -> bool:
    jobs = findings.settings[JOBS]
    assert isinstance(jobs, list)
    return any("sprandom" in job for job in jobs)


def _findings(name: str, text: str) -> Findings:
    file = fio_text.parse(name, text)
    findings = Findings("fio", file.keys)
    fio.convert(findings, file)
    return findings
