"""Reads a job file of fio: sections, comments, included files, and the defaults of [global]."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from flashgc._engine import ConfigError
from flashgc.conversion import recognise
from flashgc.conversion.findings import Key
from flashgc.conversion.fio_keys import ALIASES
from flashgc.conversion.fio_values import WrongError

GLOBAL = "global"
INCLUDES_MAX = 16
LINES_MAX = 5_000

COMMENT = re.compile("[;#].*")
VARIABLE = re.compile(r"\$\{([^}]*)\}")
"""A variable of the environment; the text is empty where there is none."""
WITH_KEYWORDS = frozenset({"filename_format"})
"""Options whose values have keywords of their own behind a `$`."""

Reader = Callable[[str, str], tuple[str, bytes]]
"""Reads a file that another one includes, given the name of the other and its own."""


@dataclass
class Section:
    """A job: its own options after those of [global] above it, in their order."""

    name: str
    place: str
    options: list[Key] = field(default_factory=list)

    def last(self) -> dict[str, Key]:
        """The options by their first names; of a repeated one the last counts."""
        return {ALIASES.get(key.name, key.name): key for key in self.options}


@dataclass
class JobFile:
    """All options of a job file, and the jobs."""

    keys: list[Key]
    jobs: list[Section]


def value_of(option: str, text: str) -> str:
    """The value of an option, its variables replaced and without its comment, wherever it begins.

    >>> from flashgc.conversion.fio_text import value_of
    >>> value_of("bs", " 4k ; blocks"), value_of("filename", "data${NOT_THERE}.tmp#x")
    ('4k', 'data.tmp')
    """
    value = COMMENT.sub("", text).strip()
    value = VARIABLE.sub(lambda found: os.environ.get(found[1], ""), value).strip()
    if "$" in value and option.lower() not in WITH_KEYWORDS:
        raise WrongError(
            "only variables of the environment are replaced, such as ${SIZE}\n"
            "  = help: write the value in place of the keyword"
        )
    if value.startswith("("):
        raise WrongError(
            "expressions in parentheses are not evaluated\n"
            "  = help: write the value in place of the expression"
        )
    return value


def beside(name: str, included: str) -> tuple[str, bytes]:
    """A file that a job file includes is in its folder, or in the working directory."""
    near = Path(name).parent / included
    return recognise.read(near if near.is_file() or not os.path.exists(included) else included)


def parse(name: str, text: str, read: Reader = beside) -> JobFile:
    """The jobs of a file; errors name line and file."""
    parser = _Parser(read)
    parser.lines(name, text, 0)
    if not parser.jobs:
        raise ConfigError(
            f"error: {name}: there is no job\n"
            "  = help: a job is a section with a name of its own, such as `[reader]`, and options "
            "below it, such as `rw=randread`"
        )
    return JobFile(parser.keys, parser.jobs)


class _Parser:
    def __init__(self, read: Reader) -> None:
        self._read = read
        self._count = 0
        self._section: Section | None = None
        self._defaults: list[Key] = []
        self.keys: list[Key] = []
        self.jobs: list[Section] = []

    def lines(self, name: str, text: str, depth: int) -> None:
        """The lines of a file, those of included files in their place."""
        for number, whole in enumerate(text.splitlines(), 1):
            line = whole.strip()
            if not line or line[0] in ";#":
                continue
            self._count += 1
            if self._count > LINES_MAX:
                raise ConfigError(f"error: {name}:{number}: more than {LINES_MAX:,} options")
            if line[0] == "[":
                self._begin(name, number, line, depth)
            elif line.partition(" ")[0] == "include" and "=" not in line:
                self._include(name, number, line[len("include") :].strip(), depth)
            else:
                self._option(name, number, line)

    def _begin(self, name: str, number: int, line: str, depth: int) -> None:
        place = f"{name}:{number}"
        if depth:
            raise ConfigError(f"error: {place}: an included file must not have sections")
        title = line[1:].partition("]")[0].strip()
        if not title or "]" not in line:
            raise ConfigError(
                f"error: {place}: `{line[:60]}` is not the head of a section\n"
                "  = help: write the name of the job in brackets, as in `[reader]`"
            )
        self._section = Section(title, place)
        if title != GLOBAL:
            self._section.options = list(self._defaults)
            self.jobs.append(self._section)

    def _include(self, name: str, number: int, included: str, depth: int) -> None:
        place = f"{name}:{number}"
        if not included:
            raise ConfigError(f"error: {place}: `include` needs the name of a file")
        if depth >= INCLUDES_MAX:
            raise ConfigError(
                f"error: {place}: files include each other more than {INCLUDES_MAX} deep"
            )
        try:
            shown, data = self._read(name, included)
        except ConfigError as why:
            raise ConfigError(f"{why}\n  --> {place}, which includes it") from None
        self.lines(shown, recognise.plain(data), depth + 1)

    def _option(self, name: str, number: int, line: str) -> None:
        place = f"{name}:{number}"
        if self._section is None:
            raise ConfigError(
                f"error: {place}: `{line[:60]}` is not in a section\n"
                "  = help: options of all jobs belong below `[global]`, those of one job below a "
                "name of its own, such as `[reader]`"
            )
        option, _, value = line.partition("=")
        option = option.strip()
        try:
            value = value_of(option, value)
        except WrongError as why:
            raise ConfigError(
                f"error: {place}: `{option}` is `{value.strip()[:60]}`, but {why}"
            ) from None
        key = Key(name, number, self._section.name, option.lower(), value)
        self.keys.append(key)
        if self._section.name == GLOBAL:
            self._defaults.append(key)
        else:
            self._section.options.append(key)
