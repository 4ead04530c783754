"""Runs the jobs of a command line of fio, and writes what fio would write."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from flashgc._engine import ConfigError, __version__
from flashgc.conversion import fio, fio_run
from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Findings
from flashgc.conversion.fio_job import JOBS
from flashgc.conversion.fio_keys import ALIASES
from flashgc.conversion.fio_text import GLOBAL, Section
from flashgc.files import output
from flashgc.fio import logs, plain, results, samples
from flashgc.fio.arguments import Command
from flashgc.fio.figures import PERCENTILES
from flashgc.fio.results import UNIFIED, Entry
from flashgc.formatting import units
from flashgc.reports.report import Report
from flashgc.running import building, executing, runs

VERSION = f"fio-3.33 (flashgc {__version__})"
"""The program whose form the output has, and the program that wrote it."""
PERCENTILES_MOST = 20
STATUSES_MOST = 1000
"""Outputs of status at most: each of them has all jobs."""


def findings(command: Command) -> Findings:
    """The jobs as settings."""
    found = Findings("fio", command.file.keys)
    fio.convert(found, command.file)
    for section in command.file.jobs:
        _Options(section)
    return found


def run(
    command: Command,
    *,
    device: building.PathLike | None = None,
    scheme: str | None = None,
    sets: Iterable[str] = (),
    seed: int | None = None,
    progress: Callable[[executing.Progress], object] | None = None,
) -> str:
    """Runs the jobs, writes their logs, and returns the output."""
    made = findings(command)
    output.check_apart(command.output, command.name)
    source: Any = fio_run.on_drive(made, command.name, Path(command.name).name)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "requests.csv"
        report = runs.run(
            source, device=device, scheme=scheme, set=list(sets), seed=seed, blame=True,
            request_log=log, progress=progress,
        )  # fmt: skip
        jobs: Any = made.settings[JOBS]
        starts = [int(row["begun_ns"]) for row in report["jobs"]]
        clones = samples.read(log, jobs, starts)
    entries, files = _entries(command, clones)
    for name, text in files:
        output.write(name, text)
    own = _own(report, entries)
    every_ns = command.status_interval_ns
    shown: list[str] = []
    last_ns = max((one.ended_ns for clone in clones for one in clone.samples), default=0)
    if every_ns and last_ns > STATUSES_MOST * every_ns:
        raise ConfigError(
            f"error: --status-interval: {last_ns // every_ns:,} outputs of status in "
            f"{units.time(last_ns)}; at most {STATUSES_MOST:,} are allowed\n"
            f"  = help: give {units.time(-(-last_ns // STATUSES_MOST))} or more"
        )
    for until_ns in range(every_ns, last_ns, every_ns) if every_ns else ():
        until = [samples.until(clone, until_ns) for clone in clones]
        shown += _shown(command, _entries(command, until)[0], own)
    return "".join([*shown, *_shown(command, entries, own)])


def _shown(command: Command, entries: list[Entry], own: dict[str, Any]) -> list[str]:
    """The output in each of its forms."""
    common = {_first(key.name): key.text for key in command.file.keys if key.part == GLOBAL}
    shown = []
    for form in command.formats:
        if form == "normal":
            shown.append(plain.text(entries, VERSION, own))
        else:
            whole = results.document(entries, common, own, VERSION, bins=form == "json+")
            shown.append(json.dumps(whole, indent=2) + "\n")
    return shown


def _first(name: str) -> str:
    return ALIASES.get(name, name)


def _ramp_ns(section: Section) -> int:
    key = section.last().get("ramp_time")
    return values.time_ns(key.text) if key is not None else 0


class _Options:
    """The options of a section that change the output alone."""

    def __init__(self, section: Section) -> None:
        self.named = {name: key.text for name, key in section.last().items()}
        self.section = section
        self.percents = self._percents()
        self.clat = self._flag("clat_percentiles", default=True)
        self.lat = self._flag("lat_percentiles", default=False)
        self.groups = self._flag("group_reporting", default=False)
        self.begins_group = self._flag("stonewall", default=False) or self._flag(
            "new_group", default=False
        )
        self.ramp_ns = _ramp_ns(section)
        word = self.named.get("unified_rw_reporting", "none") or "mixed"
        if word not in UNIFIED:
            self._wrong("unified_rw_reporting", "it must be none, mixed or both")
        self.unified = UNIFIED[word]
        self.window_ms = self._whole("bwavgtime", 500, 1)
        for name in ("log_avg_msec", "log_hist_msec"):
            self._whole(name, 0, 0)
        if self._whole("log_hist_coarseness", 0, 0) > 6:
            self._wrong("log_hist_coarseness", "it must be a whole number from 0 to 6")
        # Options that [global] has are reported there.
        self.own = {_first(key.name): key.text for key in section.options if key.part != GLOBAL}

    def _wrong(self, name: str, why: str) -> None:
        key = self.section.last()[name]
        raise ConfigError(f"error: {key.place}: `{key.full}` is `{key.text[:60]}`, but {why}")

    def _flag(self, name: str, *, default: bool) -> bool:
        text = self.named.get(name)
        if text not in {None, "", "0", "1"}:
            self._wrong(name, "it must be 0 or 1")
        return default if text is None else text != "0"

    def _whole(self, name: str, default: int, least: int) -> int:
        text = self.named.get(name)
        if text is None:
            return default
        if not text.isdecimal() or not least <= int(text) <= 10**9:
            self._wrong(name, f"it must be a whole number from {least} to 10^9")
        return int(text)

    def _percents(self) -> tuple[float, ...]:
        text = self.named.get("percentile_list")
        if text is None:
            return PERCENTILES
        try:
            found = sorted(float(values.number(one, 0, 100)) for one in text.split(":"))
        except values.WrongError as why:
            self._wrong("percentile_list", str(why))
        if len(found) > PERCENTILES_MOST:
            self._wrong("percentile_list", f"it must have at most {PERCENTILES_MOST} numbers")
        return tuple(found)


def _entries(
    command: Command, clones: list[samples.Clone]
) -> tuple[list[Entry], list[tuple[str, str]]]:
    """The entries of the output, with clones grouped as fio groups them, and the logs."""
    entries: list[Entry] = []
    files: list[tuple[str, str]] = []
    rest, group = list(clones), 0
    for at, section in enumerate(command.file.jobs):
        options = _Options(section)
        group += bool(at and options.begins_group)
        count = int(rest[0].job.get("clones", 1))
        for clone in rest[:count]:
            measured = samples.after_ramp(clone, options.ramp_ns) if options.ramp_ns else clone
            files += logs.of(measured, options.named, section.name)
            if entries and options.groups and entries[-1].group == group:
                entries[-1].clones.append(measured)
                continue
            entries.append(Entry(
                section.name, group, options.own, [measured], options.percents, options.clat,
                options.lat, options.unified, options.window_ms,
            ))  # fmt: skip
        rest = rest[count:]
    return entries, files


def _own(report: Report, entries: list[Entry]) -> dict[str, Any]:
    """Metrics that only a simulated drive has, since the end of the latest ramp."""
    gc, pages = report["gc"], report["pages"]
    return {
        "version": __version__,
        "device": report["device"],
        "scheme": report["scheme"],
        "seed": report["seed"],
        "result_hash": report["result_hash"],
        "write_amplification": report["write_amplification"],
        "collections": gc["count"],
        "pages_moved": pages["gc_moved"],
        "erases": report["erases"],
        "jobs": [
            {"jobname": entry.name, "groupid": entry.group,
             "collection_share_beyond": results.collection_part(entry)}
            for entry in entries
        ],
    }  # fmt: skip
