"""`flashgc trace list`, `info`, `convert`, `cut`, `merge`, `generate` and `fit`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from flashgc.cli import complete, help_texts, options
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example
from flashgc.files import arguments

app = help_texts.App(
    no_args_is_help=True,
    help="Describe, convert, cut, merge, generate and fit traces.",
    epilog=example("flashgc trace info my-trace.csv.zst"),
)

Target = Annotated[
    str,
    typer.Argument(
        metavar="DST",
        help="The file to write, compressed if it ends in .gz or .zst; - is standard output.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Devices = Annotated[
    list[str] | None,
    typer.Option("--only-device", metavar="ID", show_default=False,
                 help="Keep only rows of this device; repeatable."),
]  # fmt: skip
Start = Annotated[
    str | None,
    typer.Option("--start", metavar="TIME", show_default=False, callback=options.DURATION,
                 help='Start at this time after the first row, such as "10 s".'),
]  # fmt: skip
Length = Annotated[
    str | None,
    typer.Option(
        "--length",
        metavar="TIME",
        show_default=False,
        callback=options.DURATION,
        help='Length of the part, such as "1 h".',
    ),
]
FirstRow = Annotated[
    int | None,
    typer.Option("--first-row", metavar="N", min=0, show_default=False,
                 callback=options.up_to(0, arguments.NUMBER_MAX),
                 help="Start at this row; the first is 0."),
]  # fmt: skip
To = Annotated[
    str | None,
    typer.Option("--to", metavar="F", show_default=False, callback=options.TO,
                 autocompletion=complete.formats_to_write,
                 help="The output format; fgt if the name ends in .fgt."),
]  # fmt: skip
ToKept = Annotated[
    str | None,
    typer.Option("--to", metavar="F", show_default=False, callback=options.TO,
                 autocompletion=complete.formats_to_write,
                 help="The output format; by default that of the trace, or fgt if the name "
                 "ends in .fgt."),
]  # fmt: skip
Source = Annotated[
    str,
    typer.Argument(metavar="SRC", help="The trace to read; - reads standard input.",
                   autocompletion=complete.files, show_default=False),
]  # fmt: skip
Rows = Annotated[
    int | None,
    typer.Option("--rows", metavar="N", min=1, show_default=False,
                 callback=options.up_to(1, arguments.NUMBER_MAX), help="Maximum number of rows."),
]  # fmt: skip
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", show_default=False,
                 help="Save charts: .html for a page, .svg for a picture."),
]  # fmt: skip


@app.command("list", epilog=example("flashgc trace list"))
@guarded
def list_(json: options.Json = False) -> None:
    """List the traces of real programs that come with flashgc; `--trace NAME` takes them."""
    import flashgc.trace as traces
    from flashgc.cli import show
    from flashgc.formatting import units

    known = traces.captures()
    if json:
        import json as encoder

        print(encoder.dumps(known, indent=2))
        return
    rows = [["trace", "program", "reads", "writes", "flushes", "time", "written"]]
    for one in known:
        counts = one["counts"]
        rows.append([
            one["name"], one["program"],
            *(units.count(counts[kind]) for kind in ("reads", "writes", "flushes")),
            units.time(round(1e9 * counts["duration_s"])), units.size(counts["written_bytes"]),
        ])  # fmt: skip
    show.words(rows)
    show.line("`flashgc run real-programs --trace NAME` runs one on the drive of its program.")


@app.command(
    epilog=example(
        "flashgc trace info my-trace.csv.zst",
        "flashgc trace info my.txt --json",
        "flashgc trace info my-trace.spc --plot my-trace.html",
    )
)
@guarded
def info(
    file: options.TraceFile,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    devices: Devices = None,
    start: Start = None,
    length: Length = None,
    first_row: FirstRow = None,
    rows: Rows = None,
    sort_window: options.SortWindow = None,
    json: options.Json = False,
    plot: Plot = None,
) -> None:
    """Read a whole trace and print its contents and statistics."""
    import flashgc.trace as traces
    from flashgc.files import output
    from flashgc.traces import trace_page

    if plot is not None:
        trace_page.check(plot)
        output.check_apart(plot, file)
    about = traces.info(
        file, format=format, on_bad_line=_bad(on_bad_line), devices=devices or None,
        start=start, length=length, first_row=first_row, rows=rows, sort_window=sort_window,
    )  # fmt: skip
    if plot is not None:
        trace_page.save(about, plot, _name(file), options.typed())
    if json:
        print(_json(about))
        return
    from flashgc.cli import show
    from flashgc.traces import trace_summary

    show.pairs(trace_summary.facts(about))
    for table in (trace_summary.spreads, trace_summary.common_sizes, trace_summary.bursts):
        show.rows(table(about))
    if plot is not None:
        say(f"saved {plot}")


@app.command(
    epilog=example(
        "flashgc trace convert my-trace.csv.gz my-trace.fgt",
        "flashgc trace convert my-trace.spc my-trace.csv.zst --to csv",
    )
)
@guarded
def convert(
    source: Source,
    target: Target,
    to: To = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    devices: Devices = None,
    start: Start = None,
    length: Length = None,
    first_row: FirstRow = None,
    rows: Rows = None,
    sort_window: options.SortWindow = None,
) -> None:
    """Write a trace in another format."""
    import flashgc.trace as traces

    done = traces.convert(
        source, target, to, format=format, on_bad_line=_bad(on_bad_line),
        devices=devices or None, start=start, length=length, first_row=first_row, rows=rows,
        sort_window=sort_window,
    )  # fmt: skip
    _say_written(done, f"from {done['from']} to {done['to']}", to)


@app.command(
    epilog=example(
        "flashgc trace cut my-trace.csv.gz hour.csv.gz --start '3600 s' --length '1 h'",
        "flashgc trace cut my-trace.fgt middle.fgt --first-row 1000000 --rows 50000",
    )
)
@guarded
def cut(
    source: Source,
    target: Target,
    to: ToKept = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    devices: Devices = None,
    start: Start = None,
    length: Length = None,
    first_row: FirstRow = None,
    rows: Rows = None,
    sort_window: options.SortWindow = None,
) -> None:
    """Write a part of a trace, selected by time, device or row."""
    import flashgc.trace as traces

    done = traces.cut(
        source, target, to, format=format, on_bad_line=_bad(on_bad_line),
        devices=devices or None, start=start, length=length, first_row=first_row, rows=rows,
        sort_window=sort_window,
    )  # fmt: skip
    _say_written(done, f"in {done['to']}", to or format)


@app.command(
    epilog=example("flashgc trace merge sdb.blktrace.0 sdb.blktrace.1 sdb.fgt --sort-window '1 s'")
)
@guarded
def merge(
    files: Annotated[
        list[str],
        typer.Argument(metavar="SRC... DST", autocompletion=complete.files, show_default=False,
                       help="The traces to read, followed by the file to write."),
    ],
    to: ToKept = None,
    renumber: Annotated[
        bool,
        typer.Option("--renumber", help="Give every device of every trace its own number."),
    ] = False,
    align: Annotated[
        bool, typer.Option("--align", help="Shift every trace so that it starts at time 0.")
    ] = False,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
) -> None:  # fmt: skip
    """Merge several traces into one, in order of time."""
    import flashgc.trace as traces

    *sources, target = files
    if not sources:
        raise typer.BadParameter("name the traces to read, followed by the file to write")
    if len(sources) == 1:
        _refuse_to_replace(sources[0], target)
    done = traces.merge(
        sources, target, to, renumber=renumber, align=align, format=format,
        on_bad_line=_bad(on_bad_line), sort_window=sort_window,
    )  # fmt: skip
    from flashgc.formatting import units

    _say_written(done, f"of {units.counted(done['traces'], 'trace')} in {done['to']}", to or format)


@app.command(
    epilog=example("flashgc trace generate oltp oltp.load.zst"),
)
@guarded
def generate(
    config: options.Config,
    target: Target,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="F", show_default=False, callback=options.TO,
                     autocompletion=complete.formats_to_write,
                     help="The format to write; blkreplay, or fgt if the name ends in .fgt."),
    ] = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
) -> None:  # fmt: skip
    """Write the requests of a synthetic workload as a trace."""
    import flashgc.trace as traces
    from flashgc.cli import progress

    with progress.bars([""], quiet=False) as shown:
        told = None if shown is None else lambda step: shown(0, step)
        done = traces.generate(
            config,
            target,
            format,
            device=device,
            set=sets or [],
            unset=unsets,
            seed=seed,
            progress=told,
        )
    say(f"{_rows(done)} in {done['to']}{_lost(done)}{_again(done, format)}")


@app.command(
    epilog=example(
        "flashgc trace fit my-trace.csv.zst --out my-like.toml",
        "flashgc trace fit my-trace.csv.zst --check",
    )
)
@guarded
def fit(
    file: options.TraceFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", show_default=False,
                     help="The configuration to write, a TOML file."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Run the trace and the fitted workload on one drive, "
            "and compare them."),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, metavar="N", show_default=False,
                     callback=options.up_to(1, arguments.SEEDS_MAX),
                     help="Number of fitted workloads that --check runs \\[default: 3]."),
    ] = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    devices: Devices = None,
    start: Start = None,
    length: Length = None,
    rows: Rows = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Fit a synthetic workload to a trace: distributions that can be shared in its place."""
    import flashgc.trace as traces
    from flashgc.formatting import units
    from flashgc.running import inputs

    if not check and (device is not None or sets or unsets):
        raise typer.BadParameter("--device, --set and --unset need --check")
    if not check and (json or seeds is not None):
        raise typer.BadParameter(
            "--json and --seeds are for the comparison of --check; add --check, or omit them"
        )
    part: dict[str, Any] = {
        "format": format, "on_bad_line": _bad(on_bad_line), "devices": devices or None,
        "start": start, "length": length, "rows": rows,
    }  # fmt: skip
    with inputs.trace_file(file) as found:
        # Standard input is read more than once.
        path = file if found is None else found[1]
        made = traces.fit(path, out, **part)
        if made.trims:
            trims = units.counted(made.trims, "trim")
            say(f"note: {trims} of the trace {'is' if made.trims == 1 else 'are'} left out: a "
                "fitted workload has reads and writes alone")  # fmt: skip
        if out is None and not check:
            print(made.text, end="")
            return
        if out is not None:
            say(f"saved {out}; `flashgc run {out}` runs it")
        if not check:
            return
        told = traces.check_fit(
            path, made, device=device, set=sets or [], unset=unsets, seeds=seeds or 3, **part
        )
    if json:
        import json as encoder

        print(encoder.dumps(told, indent=2))
        return
    from flashgc.cli import show
    from flashgc.traces import trace_summary

    show.rows(trace_summary.checked(told))


def _refuse_to_replace(source: str, target: str) -> None:
    """Refuses a merge of one trace into a file that exists, which may be the second trace."""
    import shlex

    from flashgc._engine import OutputError
    from flashgc.files import output
    from flashgc.files.reading import printable

    output.check_apart(target, source)
    if not Path(target).is_file():
        return
    typed = [shlex.quote(printable(name)) for name in (source, target)]
    raise OutputError(
        f"error: {printable(target)} exists, and the merge of one trace would replace it: the last "
        f"name is the file to write\n  = help: to merge both, add a name: `flashgc trace merge "
        f"{' '.join(typed)} DST`; to replace it, remove it first"
    )


_NUMBERS = re.compile(r"\[[\s\d.,eE+-]+\]")


def _json(about: dict[str, Any]) -> str:
    """Readable JSON: a list of numbers is on one line."""
    import json

    text = json.dumps(about, indent=2)
    return _NUMBERS.sub(lambda found: re.sub(r"\s+", " ", found.group()), text)


def _name(file: str) -> str:
    return "standard input" if file == "-" else Path(file).name


def _rows(done: dict[str, Any]) -> str:
    from flashgc.formatting import units

    return units.counted(done["rows"], "row")


def _say_written(done: dict[str, Any], what: str, named: str | None) -> None:
    from flashgc.formatting import units

    counted = (("left_out", "of other kinds omitted"), ("bad_rows", "skipped"),
               ("out_of_order", "out of order"))  # fmt: skip
    more = [f", {units.count(done[key])} {name}" for key, name in counted if done.get(key)]
    say(f"{_rows(done)} {what}{''.join(more)}{_lost(done)}{_again(done, named)}")


def _again(done: dict[str, Any], named: str | None) -> str:
    """What a reader needs to read columns, which are not recognised by their content."""
    if done["to"] != "csv":
        return ""
    import shlex

    return f"; it is read with --format {shlex.quote(named or 'csv')}"


def _lost(done: dict[str, Any]) -> str:
    from flashgc.formatting import units

    named = (("marks_lost", "priority mark", ""), ("hints_lost", "placement hint", ""),
             ("flushes_lost", "flush or FUA mark", "flushes or FUA marks"))  # fmt: skip
    lost = [units.counted(done[key], one, several) for key, one, several in named if done.get(key)]
    return f"; {' and '.join(lost)} lost, which fgt keeps" if lost else ""


def _bad(on_bad_line: options.OnBadLine | None) -> str:
    return "stop" if on_bad_line is None else on_bad_line.value
