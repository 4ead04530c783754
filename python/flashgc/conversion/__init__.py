"""Configurations of other simulators, and job files of fio, as configurations of flashgc.

The program's own words are in `mqsim_keys` and the like; `findings` has the outcome for each key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import of_text
from flashgc.files import arguments, output

# The readers are imported where they are needed, which keeps the start of everything else quick.
if TYPE_CHECKING:
    from flashgc.conversion.findings import Choice, Finding, Findings

__all__ = ["Conversion", "convert"]

PathLike = str | os.PathLike[str]


class Conversion:
    """A configuration that was made from that of another simulator.

    Each key of the source files is in exactly one of the lists `mapped`, `differs` and
    `not_mapped`; `chosen` has the settings that no key of the source requests.
    """

    def __init__(self, findings: Findings, files: list[str]) -> None:
        from flashgc.conversion import document

        self.program: str = findings.program
        self.files: list[str] = files
        self.mapped: list[Finding] = findings.mapped
        self.differs: list[Finding] = findings.differs
        self.not_mapped: list[Finding] = findings.not_mapped
        self.chosen: list[Choice] = findings.chosen
        self.config: dict[str, Any] = document.nested(findings.settings)
        self.text: str = document.text(findings, files)
        self._findings = findings

    def listing(self, width: int = 80) -> str:
        """The lists as text of at most this number of columns."""
        from flashgc.conversion import listing

        return "\n".join(listing.lines(self._findings, width))

    def refusal(self) -> str | None:
        """The reason why flashgc does not run the configuration as it is; None if it does."""
        try:
            engine.check(of_text("(text)", self.text))
        except ConfigError as error:
            return str(error)
        return None

    def to_dict(self) -> dict[str, Any]:
        """The lists and the configuration as plain dictionaries."""
        lists = {
            name: [_plain(one) for one in getattr(self, name)]
            for name in ("mapped", "differs", "not_mapped")
        }
        chosen = [{"key": one.ours, "value": one.value, "why": one.why} for one in self.chosen]
        return {"program": self.program, "files": self.files, **lists, "chosen": chosen,
                "config": self.config, "text": self.text}  # fmt: skip


def _plain(one: Finding) -> dict[str, Any]:
    source = {"source": one.key.full, "file": one.key.file, "line": one.key.line}
    return {**source, "written": one.key.text, "key": one.ours, "value": one.value, "why": one.why}


def convert(
    file: PathLike,
    workload: PathLike | None = None,
    *,
    program: str | None = None,
    scenario: int = 1,
    flow: int = 1,
    out: PathLike | None = None,
) -> Conversion:
    r"""Turns the configuration of another simulator into one of flashgc, as far as it maps.

    Args:
        file: a device file of MQSim, a parameter file of SSDSim, one of DiskSim with the MSR SSD
            extension, or a job file of fio; which of them is recognised by its content.
        workload: a workload file of MQSim.
        program: `mqsim`, `ssdsim`, `disksim` or `fio`, where the content is not to be examined.
        scenario: which I/O scenario of the workload file; the first is 1.
        flow: which flow of the scenario; the first is 1.
        out: a file for the configuration; paths in it are seen from its folder.

    Raises:
        ConfigError: with each wrong value, its file and its line.
        OutputError: a file that cannot be written.

    >>> import flashgc, pathlib, tempfile
    >>> lines = ["channel number=2", "chip number[0]=1", "chip number[1]=1", "die number=1",
    ...     "plane number=2", "block number=64", "page number=32", "subpage page=8", "t_R=20000",
    ...     "t_PROG=200000", "t_BERS=1500000", "overprovide=0.2", "gc hard threshold=0.1"]
    >>> file = pathlib.Path(tempfile.mkdtemp(), "page.parameters")
    >>> _ = file.write_text(";\n".join(lines))
    >>> made = flashgc.convert(file)
    >>> made.config["device"]["page_size"], len(made.not_mapped)
    ('4 KiB', 0)

    """
    from flashgc.conversion import recognise

    arguments.check_path("file", file)
    arguments.check_paths(workload=workload, out=out)
    name, data = recognise.read(file)
    kind = recognise.program(name, data, program)
    here = Path(out).absolute().parent if out is not None else Path().absolute()
    files = [os.path.basename(name)]
    if kind == "mqsim":
        findings = _mqsim(name, data, workload, scenario, flow, here)
        if workload is not None:
            files.append(os.path.basename(recognise.shown(workload)))
    elif workload is not None:
        raise ConfigError(
            f"error: a workload file goes with MQSim, and {name} is for {recognise.PROGRAMS[kind]}"
            "\n  = help: name a trace when the new configuration is run: `flashgc run --trace`"
        )
    elif kind == "fio":
        from flashgc.conversion import fio_run

        findings = fio_run.with_drive(name, recognise.plain(data))
    else:
        findings = (_ssdsim if kind == "ssdsim" else _disksim)(name, recognise.plain(data))
    made = Conversion(findings, files)
    if out is not None:
        for one in (file, workload):
            if one is not None and os.path.exists(out) and os.path.samefile(one, out):
                raise ConfigError(f"error: {out} is a file that is converted; name another")
        output.write(out, made.text)
    return made


def _mqsim(
    name: str, data: bytes, workload: PathLike | None, scenario: int, flow: int, here: Path
) -> Findings:
    from flashgc.conversion import (
        mqsim_device,
        mqsim_keys,
        mqsim_workload,
        recognise,
        xml_text,
    )
    from flashgc.conversion.findings import Findings

    root = xml_text.parse(name, data)
    mqsim_device.check_root(name, root)
    found = mqsim_device.keys(name, root)
    findings = Findings("MQSim", list(found))
    device = mqsim_device.convert(findings, found)
    known = [key for section in mqsim_keys.SECTIONS.values() for key in section]
    if workload is None:
        mqsim_workload.absent(findings, device)
    else:
        second, text = recognise.read(workload)
        tree = xml_text.parse(second, text)
        flows, chosen = mqsim_workload.keys(second, tree, scenario, flow)
        findings.keys += flows
        mqsim_workload.convert(findings, flows, chosen, device, here)
        known += mqsim_workload.KNOWN
    findings.close(known)
    return findings


def _ssdsim(name: str, text: str) -> Findings:
    from flashgc.conversion import ssdsim, ssdsim_keys
    from flashgc.conversion.findings import Findings

    found, wrong = ssdsim.keys(name, text)
    findings = Findings("SSDSim", found, problems=wrong)
    findings.stop_at_problems()
    if not found:
        raise ConfigError(f"error: {name} has no `key = value;`")
    ssdsim.convert(findings, found)
    findings.close(ssdsim_keys.KNOWN)
    return findings


def _disksim(name: str, text: str) -> Findings:
    from flashgc.conversion import disksim, disksim_text
    from flashgc.conversion.findings import Findings

    file = disksim_text.Parser(name, text).file()
    findings = Findings("DiskSim", disksim.keys(name, file))
    disksim.convert(findings, name, file)
    findings.close(disksim.KNOWN_SSD)
    return findings
