"""The sources of configurations, schemes and traces: files, names, dictionaries and pipes."""

from __future__ import annotations

import contextlib
import difflib
import json
import operator
import os
import re
import stat
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import SupportsIndex, TypeGuard

from flashgc._engine import ConfigError, TraceError
from flashgc.files import arguments, toml
from flashgc.files.reading import (
    JOB_FILES,
    Source,
    check_text,
    describe,
    printable,
    read_text,
    result_at,
)

_CHUNK_BYTES = 1 << 20
_OF_SEVERAL = re.compile(r"^\s*\[+\s*(axes|space|search)\b", re.MULTILINE)
"""Tables of files with many runs."""

type_error = "a configuration must be a path, a built-in name, TOML text or a dictionary"


def builtin_configs() -> dict[str, Path]:
    """The configurations that come with the package, by name; synthetic workloads are last."""
    return {**_folder("configs"), **_folder("workloads")}


def workload_configs() -> dict[str, Path]:
    """The synthetic workloads among them."""
    return dict(_folder("workloads"))


def captures() -> dict[str, Path]:
    """The traces of real programs that come with the package, by name."""
    return {name: path.with_suffix(".fgt") for name, path in _folder("captures").items()}


@cache  # the files of the package, which a sweep would list for each point
def _folder(name: str) -> dict[str, Path]:
    folder = Path(__file__).parents[1] / name
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


@cache
def _text(path: Path) -> str:
    """The text of a file of the package."""
    return path.read_text("utf-8")


def config(given: object) -> Source:
    """The text of a configuration, however it was given."""
    if isinstance(given, Source):
        return given
    if isinstance(given, Mapping):
        refuse_result(given)
        return Source("(dictionary)", toml.dumps(given))
    if is_text(given):
        check_text("the text of the configuration", given)
        return Source("(text)", given)
    if not isinstance(given, (str, os.PathLike)):
        raise ConfigError(f"error: {type_error}, not {type(given).__name__}")
    if not os.fspath(given):
        raise ConfigError(
            "error: the name of the configuration is empty\n"
            "  = help: give a file, or one of the built-in, such as oltp"
        )
    arguments.check_path("the configuration", given)
    path = Path(given)
    builtin = builtin_configs()
    if not path.is_file() and os.fspath(given) in builtin:
        return Source(f"{given} (built in)", _text(builtin[os.fspath(given)]))
    if not path.exists():
        near = difflib.get_close_matches(os.fspath(given), builtin, n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise ConfigError(
            f"error: {given}: there is no such file\n"
            f"  = help: {hint}give a file, or one of the built-in: "
            f"{', '.join(_folder('configs'))}, and what `flashgc workloads` lists"
        )
    result = result_at(path)
    if result is not None:
        raise ConfigError(_no_config(path, *result))
    if os.fspath(given).endswith(JOB_FILES):
        from flashgc.conversion import fio_run

        return fio_run.alone(path)
    text = read_text(path)
    if not os.fspath(given).endswith(".toml"):
        _refuse_jobs(printable(given), text)
    _refuse_several(printable(given), text)
    return Source(printable(given), text)


def refuse_result(given: Mapping[str, object]) -> None:
    """Raises an error for a report, or another result, which is a mapping as well."""
    from flashgc.results import metrics
    from flashgc.schema.section import Section

    if not isinstance(given, Section):
        return
    what, made = f"this {type(given).__name__} is a part of a result", ""
    if isinstance(given, metrics.RunResults):
        again = metrics.again(given)
        what = "a report is the result of a run"
        made = f"; it was made by: {again}" if again else ""
    raise ConfigError(
        f"error: {what}, and not a configuration\n"
        f'  = help: give the configuration of the run, such as "oltp"{made}'
    )


def _refuse_jobs(name: str, text: str) -> None:
    """Raises an error of its own for a job file of fio without a telling name, not one of TOML."""
    import tomllib

    from flashgc.conversion import recognise

    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        if recognise.is_job_file(text):
            raise ConfigError(
                f"error: {name} is a job file of fio, but its name does not end in "
                f"{' or '.join(JOB_FILES)}\n  = help: rename it, or run it as fio does: "
                f"`flashgc fio {name}`"
            ) from None


def _refuse_several(name: str, text: str) -> None:
    """Raises an error of its own for a file of a sweep or a search, which has many runs."""
    if not _OF_SEVERAL.search(text):
        return
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):  # the engine reports them
        found = [one for one in ("axes", "space", "search") if one in tomllib.loads(text)]
        if found:
            what, command = ("sweep", "sweep") if found[0] == "axes" else ("search", "tune")
            raise ConfigError(
                f"error: {name} describes a {what}, which has many runs, and not a configuration\n"
                f"  = help: `flashgc {command} {name}`"
            )


def _no_config(path: Path, by: str, see: str) -> str:
    """The message for results in place of a configuration, with the command that made them."""
    told = f"error: {printable(path)} is a result of `{by}`, not a configuration\n  = help: {see}"
    folder = path if path.is_dir() else path.parent
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        again = json.loads((folder / "curves.json").read_text("utf-8"))["runs"][0]["origin"][
            "again"
        ]
        told += f"; its command was: {again}"
    return told


def is_text(given: object) -> TypeGuard[str]:
    """Whether it is TOML text. The name of a file may have `=`, and then the file counts."""
    if not isinstance(given, str):
        return False
    if "\n" in given:
        return True
    return "=" in given and not given.endswith((".toml", *JOB_FILES)) and not os.path.exists(given)


def jobs(source: Source, sets: Iterable[str], unsets: Iterable[str]) -> tuple[str, str] | None:
    """The job file that `workload.fio` names, in a setting or else in the configuration.

    The file of a configuration is in its folder.
    """
    named = [text.partition("=") for text in sets]
    set_ = [value.strip().strip("\"'") for key, _, value in named if key.strip() == "workload.fio"]
    if set_:
        found = Path(set_[-1])
    elif "fio" in source.text and not {"workload", "workload.fio"} & {*unsets}:
        own = _own_jobs(source.text)
        if own is None:
            return None
        found = Path(source.name).parent / own
    else:
        return None
    from flashgc.conversion import fio_run

    return fio_run.layer(found)


def _own_jobs(text: str) -> str | None:
    import tomllib

    try:
        workload = tomllib.loads(text).get("workload")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None  # the engine reports the error
    found = workload.get("fio") if isinstance(workload, dict) else None
    return found if isinstance(found, str) else None


def preset(given: str | os.PathLike[str] | None) -> tuple[str, str | None] | None:
    """A scheme or a device as the engine takes it: a name, or the name and text of a file."""
    if given is None:
        return None
    name = os.fspath(given)
    if is_file(given):
        text = read_text(Path(name))
        if text.lstrip()[:1] == "{":
            raise ConfigError(_no_preset(Path(name)))
        return name, text
    return printable(name), None


def _no_preset(path: Path) -> str:
    """The message for JSON in place of a scheme or a device."""
    result = result_at(path)
    kind = "JSON" if result is None else f"a result of `{result[0]}`"
    return (
        f"error: {printable(path)} is {kind}, not a device or a scheme\n  = help: these files are "
        'TOML: a device has the keys of [device], as in `preset = "slc-msr"`, and a scheme those '
        'of [gc], as in `scheme = "greedy"`; `flashgc devices` and `flashgc schemes` list the '
        "built-in ones"
    )


def is_file(given: str | os.PathLike[str]) -> bool:
    """Whether a scheme or a device is a file and not the name of a preset."""
    name = os.fspath(given)
    return not isinstance(given, str) or name.endswith(".toml") or os.sep in name


def is_device_file(given: object) -> bool:
    """Whether this is a file with the keys of a device at its top, and no configuration."""
    if not isinstance(given, (str, os.PathLike)) or not os.fspath(given).endswith(".toml"):
        return False
    try:
        keys = tomllib.loads(read_text(Path(given)))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False  # the error is that of a configuration
    return not keys.keys().isdisjoint({"preset", "channels"})


def placed(given: str | None, folder: Path) -> str | None:
    """A scheme or a device that another file names: a file of it is in the same folder."""
    return os.fspath(folder / given) if given is not None and is_file(given) else given


def placed_trace(given: str, folder: Path) -> Path:
    """A trace that another file names: a file in the same folder, or a built-in one."""
    path = folder / given
    return path if path.exists() else captures().get(given, path)


def settings(given: Mapping[str, object] | Iterable[str] | None) -> list[str]:
    """Settings as `key.path=value`, from such strings or from a dictionary, nested or dotted."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        refuse_result(given)
        toml.check_depth(given)
    else:
        return _texts("set", given, "write key=value, or give a dictionary: {'seed': 3}")
    return [f"{key}={toml.value(item, key)}" for key, item in _flat(given, "")]


def keys(given: Iterable[str] | None) -> list[str]:
    """Keys to unset, one or several."""
    if given is None:
        return []
    return _texts("unset", given, "write the names of keys: ['device.exported']")


def _texts(name: str, given: object, remedy: str) -> list[str]:
    if isinstance(given, str):
        return [given]
    no_list = isinstance(given, bytes) or arguments.is_table(given)
    if isinstance(given, Iterable) and not no_list:
        found = list(given)
        wrong = [one for one in found if not isinstance(one, str)]
        if not wrong:
            return found
        given = wrong[0]
    raise ConfigError(
        f"error: {name} must be a list of texts, got {arguments.shown(given)}\n  = help: {remedy}"
    )


def _flat(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, item in table.items():
        if isinstance(item, Mapping):
            yield from _flat(item, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", item


def whole(name: str, given: object, least: int, most: int | None = None) -> int:
    """A parameter that is a whole number; nothing is rounded to become one."""
    if isinstance(given, SupportsIndex) and not isinstance(given, bool):
        # An array has the method, and its index is an error.
        with contextlib.suppress(TypeError):
            number = operator.index(given)
            if number >= least and (most is None or number <= most):
                return number
    allowed = f"from {least}" if most is None else f"from {least} to {most}"
    raise ConfigError(
        f"error: {name} must be a whole number {allowed}, got {arguments.shown(given)}"
    )


def duration(name: str, given: object, example: str = "10 ms") -> str | None:
    """A parameter that is a duration, or a part of a run, as text with a unit."""
    if given is None or isinstance(given, str):
        return given
    raise ConfigError(
        f"error: {name} must be a text with a unit, such as {example!r}, "
        f"got {arguments.shown(given)}"
    )


def listed(given: str | Iterable[object] | None) -> list[str] | None:
    """A parameter that is a list of words; a single one is a list of it."""
    if given is None:
        return None
    if arguments.is_table(given):
        raise ConfigError(f"error: a list of words is needed, got {arguments.shown(given)}")
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    return [str(one) for one in several]


@contextmanager
def trace_file(given: str | os.PathLike[str] | None) -> Iterator[tuple[str, Path] | None]:
    """The name and the file of a trace.

    A trace is read more than once, so that standard input (`-`) and pipes are copied first.
    """
    if given is None:
        yield None
        return
    arguments.check_paths(trace=given)
    name = os.fspath(given)
    if not name:
        raise TraceError("error: the name of the trace is empty\n"
                         "  = help: give a file, - for standard input, or the name of a "
                         "built-in one")  # fmt: skip
    if name == "-":
        with _spooled("standard input", sys.stdin.fileno()) as path:
            yield "(standard input)", path
        return
    shown = printable(name)
    try:
        mode = os.stat(name).st_mode
    except OSError as reason:
        if name in captures():
            yield f"{name} (built in)", captures()[name]
            return
        near = difflib.get_close_matches(name, captures(), n=1)
        hint = f"\n  = help: did you mean the built-in trace `{near[0]}`?" if near else ""
        raise TraceError(f"error: {describe(name, reason)}{hint}") from None
    if stat.S_ISFIFO(mode):
        descriptor = os.open(name, os.O_RDONLY)
        try:
            with _spooled(shown, descriptor) as path:
                yield shown, path
        finally:
            os.close(descriptor)
        return
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "a device"
        raise TraceError(f"error: {name} is {kind}, not a file")
    yield shown, Path(name)


@contextmanager
def _spooled(name: str, descriptor: int) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile(prefix="flashgc-", suffix=".trace") as copy:
        try:
            while chunk := os.read(descriptor, _CHUNK_BYTES):
                copy.write(chunk)
            copy.flush()
        except OSError as reason:
            text = (reason.strerror or str(reason)).lower()
            raise TraceError(f"error: the copy of {name} in {copy.name}: {text}") from None
        yield Path(copy.name)
