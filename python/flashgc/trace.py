"""Block traces: their statistics, conversion between formats, and traces made from a workload.

Files may be plain, gzip or zstd; the format is recognised by the content, or named.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine_types import Reading
from flashgc.files import arguments, output
from flashgc.running import building, executing, inputs

PathLike = str | os.PathLike[str]


def captures() -> list[dict[str, Any]]:
    """The traces of real programs that come with the package, each used by its name.

    `title`, `program` and `command` describe the captured program and how to capture it again,
    `counts` the content, and `result_hash` the result of `flashgc run real-programs --trace NAME`.

    >>> import flashgc
    >>> [known["name"] for known in flashgc.trace.captures()][-1]
    'sqlite'
    """
    known = []
    for name, path in inputs.captures().items():
        about = tomllib.loads(path.with_suffix(".toml").read_text("utf-8"))
        known.append({"name": name, **about, "file_bytes": path.stat().st_size})
    return known


def info(
    file: PathLike,
    *,
    format: str | None = None,
    on_bad_line: str = "stop",
    devices: Sequence[str] | None = None,
    start: str | None = None,
    length: str | None = None,
    first_row: int | None = None,
    rows: int | None = None,
    sort_window: str | None = None,
) -> dict[str, Any]:
    r"""Reads a whole trace and returns its statistics, as `trace info --json`.

    Sizes are in bytes (`_bytes`), times in seconds (`_s`) or nanoseconds (`_ns`). `start` and
    `length` are times as `"10 s"`, counted from the first record. A TraceError has the problem
    and its line; with `on_bad_line="skip"` such lines are counted in `bad_rows`.

    >>> import flashgc, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "small.spc"
    >>> _ = file.write_text("0,20941264,8192,W,0.551706\n0,20939840,4096,R,0.554041\n")
    >>> about = flashgc.trace.info(file)
    >>> about["format"], about["rows"], about["written_bytes"]
    ('spc', 2, 8192)
    """
    with inputs.trace_file(file) as found:
        reading = _reading(
            found, format, on_bad_line, devices, start, length, first_row, rows, sort_window
        )
        about: dict[str, Any] = json.loads(engine.trace_info(reading))
    return about


def convert(
    source: PathLike,
    target: PathLike,
    to: str | None = None,
    *,
    format: str | None = None,
    on_bad_line: str = "stop",
    devices: Sequence[str] | None = None,
    start: str | None = None,
    length: str | None = None,
    first_row: int | None = None,
    rows: int | None = None,
    sort_window: str | None = None,
) -> dict[str, Any]:
    r"""Writes a trace in the format `to`, packed if `target` ends in `.gz` or `.zst`.

    `-` is standard output. `to` may be omitted for a target that ends in `.fgt`. Rows stay in their
    order; with a `sort_window` such as `"10 ms"`, rows that arrive out of order by at most this
    time are sorted.
    Returns the formats and the numbers of rows, and `marks_lost`, `hints_lost` or `flushes_lost`
    where the format has no place for marks of high priority, placement hints, or flushes and
    forced unit access (FUA); see :func:`info` for the rest.
    A TraceError names a record that the format cannot hold; an OutputError says why the file
    cannot be written, as where it is the trace itself. The file appears whole or not at all.

    >>> import flashgc, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.spc").write_text("0,8,8192,W,0.5\n0,32,4096,R,0.6\n")
    >>> flashgc.trace.convert(folder / "a.spc", folder / "a.csv.gz", "csv")["rows"]
    2
    """
    output.check_apart(target, source)
    with inputs.trace_file(source) as found:
        return _rewrite(
            _reading(
                found, format, on_bad_line, devices, start, length, first_row, rows, sort_window
            ),
            target, to, keep_format=False,
        )  # fmt: skip


def cut(
    source: PathLike,
    target: PathLike,
    to: str | None = None,
    *,
    format: str | None = None,
    on_bad_line: str = "stop",
    devices: Sequence[str] | None = None,
    start: str | None = None,
    length: str | None = None,
    first_row: int | None = None,
    rows: int | None = None,
    sort_window: str | None = None,
) -> dict[str, Any]:
    r"""Writes a part of a trace: as :func:`convert`, in the format of the trace itself.

    Of a file in our own format, the part before `start` or `first_row` is not read.

    >>> import flashgc, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.spc").write_text("0,8,8192,W,0.5\n0,32,4096,R,0.6\n")
    >>> flashgc.trace.cut(folder / "a.spc", folder / "b.spc", first_row=1)["rows"]
    1
    """
    output.check_apart(target, source)
    with inputs.trace_file(source) as found:
        return _rewrite(
            _reading(
                found, format, on_bad_line, devices, start, length, first_row, rows, sort_window
            ),
            target, to, keep_format=True,
        )  # fmt: skip


def merge(
    sources: Sequence[PathLike],
    target: PathLike,
    to: str | None = None,
    *,
    renumber: bool = False,
    align: bool = False,
    format: str | None = None,
    on_bad_line: str = "stop",
    sort_window: str | None = None,
) -> dict[str, Any]:
    r"""Writes several traces as one, in order of time; rows of one time in order of the traces.

    With `renumber` every device of every trace gets a number of its own; otherwise devices of one
    number are one device. With `align` each trace begins at time 0; otherwise times are those of
    the traces. `to` may be omitted where all traces are of one format, or `target` ends in
    `.fgt`. A TraceError names a row that goes back in time, unless a `sort_window` sorts it; an
    OutputError is raised where `target` is one of the traces.

    >>> import flashgc, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.spc").write_text("0,8,8192,W,0.5\n0,32,4096,R,0.6\n")
    >>> parts = [folder / "a.spc", folder / "a.spc"]
    >>> flashgc.trace.merge(parts, folder / "two.spc", renumber=True)["rows"]
    4
    """
    renumber, align = arguments.switch("renumber", renumber), arguments.switch("align", align)
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if arguments.is_table(sources):
        arguments.check_path("trace", sources)
    if not isinstance(sources, Iterable):
        arguments.check_path("a trace", sources)
    sources = list(sources)
    if not sources:
        raise engine.TraceError("error: there is no trace to merge\n  = help: give two or more")
    if sources.count("-") > 1:
        raise engine.TraceError("error: standard input (-) is given twice, and can be read once\n"
                                "  = help: save one of the traces as a file")  # fmt: skip
    output.check_apart(target, *sources)
    with ExitStack() as open_files:
        found = [open_files.enter_context(inputs.trace_file(source)) for source in sources]
        readings = [
            _reading(one, format, on_bad_line, None, None, None, None, None, sort_window)
            for one in found
        ]
        arguments.check_texts(to=to)
        written = engine.trace_merge(readings, _target(target), to, renumber, align)
        output.note(_target(target))
    done: dict[str, Any] = json.loads(written)
    return done


def generate(
    config: building.Config,
    target: PathLike,
    format: str | None = None,
    *,
    device: str | os.PathLike[str] | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    progress: executing.ProgressCallback | None = None,
) -> dict[str, Any]:
    """Writes the requests of a synthetic workload as a trace; arguments as :func:`flashgc.run`.

    Requests of a closed loop have no times of their own: all are written at time 0. The format is
    by default blkreplay, or fgt if the name ends in .fgt; a name that ends as another format needs
    `format`.

    >>> import flashgc, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "made.load"
    >>> flashgc.trace.generate("oltp", file, set={"workload.synthetic.requests": 100})["rows"]
    100
    """
    arguments.check_path("target", target)
    arguments.check_texts(format=format)
    request = building.request(config, None, None, device, set, seed, unset=unset)
    output.check_apart(target, config, device, *building.files_of(request))
    told = executing.callback(progress)
    to = _by_name(target) if format is None else format
    made = engine.trace_generate(request, _target(target), to, told)
    output.note(_target(target))
    done: dict[str, Any] = json.loads(made)
    return done


def fit(
    file: PathLike,
    target: PathLike | None = None,
    *,
    format: str | None = None,
    on_bad_line: str = "stop",
    devices: Sequence[str] | None = None,
    start: str | None = None,
    length: str | None = None,
    rows: int | None = None,
) -> Fit:
    r"""A fitted workload of a trace: a workload of distributions, without an address of the trace.

    `target` is a TOML file to write, which :func:`flashgc.run` runs. Arguments are those of
    :func:`info`. The whole trace is kept in memory, some 100 bytes for each row.

    >>> import flashgc, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "small.spc"
    >>> rows = (f"0,{page * 13 % 640 * 8},4096,W,{page / 1000}\n" for page in range(2000))
    >>> _ = file.write_text("".join(rows))
    >>> fitted = flashgc.trace.fit(file)
    >>> flashgc.run(fitted.config).requests.write
    2000
    """
    from flashgc.fitting import config, requests
    from flashgc.fitting.check import drive, overwrite

    arguments.check_paths(target=target)
    output.check_apart(target, file)
    with inputs.trace_file(file) as found:
        reading = _reading(found, format, on_bad_line, devices, start, length, None, rows, None)
        read = requests.read(reading)
        # A replay meets every row in the order of the file, also those that `start` leaves out.
        about = json.loads(engine.trace_info(reading))
    pages = read.footprint_pages()
    before = overwrite(read.written_pages(), pages)
    result = Fit(config.workload(read), drive(pages), before, int(about["late_ns_max"]),
                 int(about["trims"]))  # fmt: skip
    if target is not None:
        output.write(target, result.text)
    return result


@dataclass(frozen=True)
class Fit:
    """A fitted workload of a trace."""

    workload: dict[str, Any]
    """The table `[workload.fitted]`."""
    device: dict[str, Any]
    """The table `[device]` of a small drive, as large as the trace's footprint."""
    overwrite: float
    """Drive writes of preconditioning."""
    late_ns: int
    """The largest delay of a row of the trace behind one before it."""
    trims: int = 0
    """Trims of the trace: a fitted workload has reads and writes alone."""

    @property
    def config(self) -> dict[str, Any]:
        """A whole configuration."""
        from flashgc.fitting import check

        return {
            "seed": 1,
            **check.shared(self.device, self.overwrite),
            "workload": {"fitted": self.workload},
        }

    @property
    def text(self) -> str:
        """The workload as TOML."""
        from flashgc.fitting import config

        return config.text(self.workload, self.device, self.overwrite)


def check_fit(
    file: PathLike,
    fitted: Fit,
    *,
    format: str | None = None,
    on_bad_line: str = "stop",
    devices: Sequence[str] | None = None,
    start: str | None = None,
    length: str | None = None,
    rows: int | None = None,
    device: str | os.PathLike[str] | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seeds: int = 3,
) -> list[dict[str, Any]]:
    """Runs a trace and its fitted workload on the same drive: a row for each metric.

    The drive is `fitted.device`, unless `device` names another; both are preconditioned with
    `fitted.overwrite` drive writes of their own. Rows have `metric`, `original`, `fitted` (the
    mean of `seeds` runs), `low`, `high`, and `difference` (fitted workload / original - 1).
    """
    from flashgc.fitting import check

    inputs.whole("seeds", seeds, 1, arguments.SEEDS_MAX)
    if not isinstance(fitted, Fit):
        raise engine.ConfigError(
            f"error: fitted must be a result of flashgc.trace.fit, got {arguments.shown(fitted)}"
        )
    reading = {"format": format, "on_bad_line": on_bad_line, "start": start, "length": length,
               "rows": rows, "devices": inputs.listed(devices),
               "sort_window": f"{fitted.late_ns} ns" if fitted.late_ns else None}  # fmt: skip
    known = {key: value for key, value in reading.items() if value is not None}
    return check.compare(
        file, fitted.workload, fitted.device, fitted.overwrite,
        reading=known, name=device, set=set, unset=unset, seeds=seeds,
    )  # fmt: skip


def formats() -> list[dict[str, Any]]:
    """The known formats: names, columns, units, and the information lost in writing.

    >>> import flashgc
    >>> "msr" in [known["name"] for known in flashgc.trace.formats()]
    True
    """
    known: list[dict[str, Any]] = json.loads(engine.trace_formats())
    return known


def _rewrite(
    reading: Reading, target: PathLike, to: str | None, *, keep_format: bool
) -> dict[str, Any]:
    """Writes the records read; with `keep_format` in their own format where `to` names none."""
    arguments.check_texts(to=to)
    written = engine.trace_convert(reading, _target(target), to, keep_format)
    output.note(_target(target))
    done: dict[str, Any] = json.loads(written)
    return done


def _by_name(target: PathLike) -> str:
    """The format of a generated trace where none is named; an OutputError if the name has one."""
    plain = Path(target)
    plain = plain.with_suffix("") if plain.suffix in _PACKED else plain
    ending = plain.suffix.removeprefix(".")
    if ending == "fgt":
        return "fgt"
    if ending != _GENERATED and any(ending in known["names"] for known in formats()):
        raise engine.OutputError(
            f"error: {os.fspath(target)} ends in .{ending}, and the format to write is "
            f"{_GENERATED} by default\n"
            f"  = help: name the format, {ending}, or another file, such as "
            f"{plain.with_suffix('.load')}"
        )
    return _GENERATED


_GENERATED = "blkreplay"
"""The format of a generated trace without a name of its own."""
_PACKED = (".gz", ".zst")


def _target(target: PathLike) -> PathLike | None:
    arguments.check_path("target", target)
    if os.fspath(target) != "-":
        output.check_ending(target, "trace", _PACKED)
        return target
    try:
        os.write(sys.__stdout__.fileno() if sys.__stdout__ else 1, b"")
    except OSError as reason:
        # Other failures are reported when output is written.
        if reason.errno == errno.EBADF:
            raise engine.OutputError("error: standard output is closed") from None
    return None


def _reading(
    found: tuple[str, PathLike] | None,
    format: str | None,
    on_bad_line: str,
    devices: Sequence[str] | None,
    start: str | None,
    length: str | None,
    first_row: int | None,
    rows: int | None,
    sort_window: str | None,
) -> Reading:
    if found is None:
        raise engine.TraceError("error: no trace was given")
    arguments.check_texts(format=format, on_bad_line=on_bad_line)
    return {
        "name": found[0],
        "path": found[1],
        "format": format,
        "on_bad_line": on_bad_line,
        "devices": inputs.listed(devices),
        "start": inputs.duration("start", start),
        "length": inputs.duration("length", length),
        "first_row": _row("first_row", first_row, 0),
        "rows": _row("rows", rows, 1),
        "sort_window": inputs.duration("sort_window", sort_window),
    }


def _row(name: str, given: int | None, least: int) -> int | None:
    return None if given is None else inputs.whole(name, given, least, arguments.NUMBER_MAX)


__all__ = [
    "Fit",
    "check_fit",
    "convert",
    "cut",
    "fit",
    "formats",
    "generate",
    "info",
    "merge",
]
