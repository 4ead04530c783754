"""The command line of fio: jobs from options, and the options of fio itself.

What they mean was read in fio's manual (HOWTO.rst, version 3); its source was not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashgc._engine import ConfigError
from flashgc.conversion import fio_text, recognise
from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Key
from flashgc.conversion.fio_text import JobFile, Section
from flashgc.conversion.fio_values import WrongError
from flashgc.files import reading

FORMATS = ("normal", "json", "json+")
COMMAND_LINE = "command line"

OWN = frozenset({"output", "output-format", "section", "runtime", "status-interval", "parse-only"})
"""Options of fio itself that are honoured."""

WITHOUT_EFFECT = frozenset({
    "eta", "eta-interval", "eta-newline", "bandwidth-log", "max-jobs", "alloc-size",
    "warnings-fatal", "aux-path", "readonly", "append-terse", "idle-prof", "debug", "trigger-file",
    "trigger-timeout", "trigger", "inflate-log",
})  # fmt: skip
"""Options of fio itself that change no request, and nothing of the output here."""

REFUSED = {
    "minimal": "the terse output is not written; give --output-format=json",
    "terse-version": "the terse output is not written; give --output-format=json",
    "client": "there is no server of fio; run the job file here",
    "server": "there is no server of fio; run the job file here",
    "remote-config": "there is no server of fio; run the job file here",
    "showcmd": "job files are not turned into command lines",
    "cmdhelp": "the options are in the manual, docs/fio.md",
    "enghelp": "all requests go to the simulated drive",
    "crctest": "there is nothing to measure on a simulated drive",
    "cpuclock-test": "there is nothing to measure on a simulated drive",
    "merge-blktrace-only": "traces are run with `flashgc run replay`",
}

FLAGS = frozenset({"parse-only", "minimal", "append-terse", "readonly", "warnings-fatal", "showcmd",
                   "bandwidth-log", "cpuclock-test", "server", "merge-blktrace-only",
                   "time_based", "norandommap", "group_reporting", "stonewall",
                   "wait_for_previous", "new_group", "thread", "threads"})  # fmt: skip
"""Options that take no value."""


@dataclass
class Command:
    """The jobs and options of a command line."""

    file: JobFile
    name: str
    """The name of the job file, or of the command line."""
    formats: tuple[str, ...] = ("normal",)
    output: Path | None = None
    status_interval_ns: int = 0
    """0 without statuses on the way."""
    parse_only: bool = False


def read(words: Sequence[str]) -> Command:
    """The jobs and the options of a command line; errors name the option."""
    names: list[str] = []
    own: list[tuple[str, str]] = []
    jobs: list[tuple[str, str]] = []
    for name, value in _options(words):
        if name is None:
            names.append(value)
        elif name in OWN and name != "runtime":
            own.append((name, value))
        elif name in REFUSED:
            raise ConfigError(f"error: --{name} is not possible here: {REFUSED[name]}")
        elif name not in WITHOUT_EFFECT:
            jobs.append((name, value))
    other = [name for name, _ in jobs if name != "runtime"]
    if names and other:
        raise ConfigError(
            f"error: --{other[0]} is an option of a job, and the jobs are those of {names[0]}\n"
            "  = help: give either a job file or --name=JOB with options"
        )
    if len(names) > 1:
        raise ConfigError("error: one job file can be run at a time, and there are several: "
                          + ", ".join(names))  # fmt: skip
    if names:
        name, data = recognise.read(names[0])
        command = Command(fio_text.parse(name, recognise.plain(data)), name)
        for _, value in jobs:
            _limit(command.file, value)
    else:
        command = Command(_jobs(jobs), COMMAND_LINE)
    sections = [value for option, value in own if option == "section"]
    if sections:
        _choose(command.file, sections)
    for option, value in own:
        _take(command, option, value)
    return command


def _limit(file: JobFile, runtime: str) -> None:
    """The runtime of jobs that have none of their own."""
    try:
        values.time_ns(runtime)
    except WrongError as why:  # found here, as jobs with a runtime of their own ignore it
        raise ConfigError(f"error: --runtime is `{reading.printable(runtime[:60])}`, "
                          f"but {why}") from None  # fmt: skip
    key = Key(COMMAND_LINE, 1, fio_text.GLOBAL, "runtime", runtime)
    file.keys.append(key)
    for job in file.jobs:
        job.options.insert(0, key)


def _choose(file: JobFile, names: Sequence[str]) -> None:
    """Keeps the sections of these names."""
    known = [job.name for job in file.jobs]
    for name in names:
        if name not in known:
            raise ConfigError(f"error: there is no section `{reading.printable(name)}`\n"
                              f"  = help: the sections are {', '.join(known)}")  # fmt: skip
    file.jobs[:] = [job for job in file.jobs if job.name in names]
    kept = {id(key) for job in file.jobs for key in job.options}
    file.keys[:] = [key for key in file.keys if id(key) in kept]


def _options(words: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """Names with values, `--a=b` or `--a b`; None with each word that is not an option."""
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("--"):
            yield None, reading.printable(word)
            continue
        name, equals, value = word[2:].partition("=")
        takes_word = not equals and name not in FLAGS and at < len(words)
        if takes_word and not words[at].startswith("--"):
            value = words[at]
            at += 1
        yield name, value


def _jobs(options: list[tuple[str, str]]) -> JobFile:
    """Jobs from options: --name begins one, and `global` is the section of this name."""
    if not options:
        raise ConfigError(
            "error: there is no job\n  = help: name a job file, or a job: `flashgc fio "
            "--name=a --rw=randwrite --bs=4k --size=64m`"
        )
    sections: list[Section] = []
    defaults: list[Key] = []
    keys: list[Key] = []
    for at, (name, value) in enumerate(options, 1):
        if name == "name":
            if value != fio_text.GLOBAL:
                sections.append(Section(value, f"{COMMAND_LINE}:{at}", list(defaults)))
            continue
        # Options before the first name apply to all jobs.
        part = sections[-1].name if sections else fio_text.GLOBAL
        try:
            text = fio_text.value_of(name.replace("-", "_"), value)
        except WrongError as why:
            raise ConfigError(f"error: --{name} is `{value[:60]}`, but {why}") from None
        key = Key(COMMAND_LINE, at, part, name.replace("-", "_"), text)
        keys.append(key)
        (sections[-1].options if sections else defaults).append(key)
    if not sections:
        raise ConfigError("error: there is no job\n  = help: give it a name, as in --name=a")
    return JobFile(keys, sections)


def _take(command: Command, name: str, value: str) -> None:
    """One option of fio itself."""
    if name == "output":
        command.output = Path(value)
    elif name == "output-format":
        formats = tuple(value.split(","))
        for one in formats:
            if one not in FORMATS:
                raise ConfigError(f"error: --output-format is `{reading.printable(one)}`, but must "
                                  f"be of {', '.join(FORMATS)}")  # fmt: skip
        command.formats = formats
    elif name == "status-interval":
        try:
            command.status_interval_ns = values.time_ns(value)
        except WrongError as why:
            raise ConfigError(f"error: --status-interval is `{reading.printable(value[:60])}`, "
                              f"but {why}") from None  # fmt: skip
        if command.status_interval_ns == 0:
            raise ConfigError("error: --status-interval must be above 0")
    elif name == "parse-only":
        command.parse_only = True
