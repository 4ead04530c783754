"""`flashgc trace info`, `convert`, `cut`, `merge`, `generate` and `fit`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example

app = typer.Typer(
    no_args_is_help=True,
    help="Describe, convert, cut, merge and make traces, and what is like them.",
    epilog=example("flashgc trace info my-trace.csv.zst"),
)

Target = Annotated[
    str,
    typer.Argument(
        metavar="DST",
        help="The file to write, packed if it ends in .gz or .zst; - is standard output.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Devices = Annotated[
    list[str] | None,
    typer.Option("--only-device", metavar="ID", show_default=False,
                 help="Only rows of this device; may be given several times."),
]  # fmt: skip
Start = Annotated[
    str | None,
    typer.Option("--start", metavar="TIME", show_default=False,
                 help='Only from here on, as "10 s" after the first row.'),
]  # fmt: skip
Length = Annotated[
    str | None,
    typer.Option("--length", metavar="TIME", show_default=False, help="Only for so long."),
]
FirstRow = Annotated[
    int | None,
    typer.Option("--first-row", metavar="N", min=0, show_default=False,
                 help="Only from this row on; the first is 0."),
]  # fmt: skip
SortWindow = Annotated[
    str | None,
    typer.Option("--sort-window", metavar="TIME", show_default=False,
                 help='Sort rows that are late by at most so much, as "10 ms".'),
]  # fmt: skip
To = Annotated[
    str | None,
    typer.Option("--to", metavar="F", show_default=False, autocompletion=complete.formats_to_write,
                 help="The format to write; fgt, if the name ends so."),
]  # fmt: skip
ToKept = Annotated[
    str | None,
    typer.Option("--to", metavar="F", show_default=False, autocompletion=complete.formats_to_write,
                 help="The format to write; that of the trace, or fgt if the name ends so."),
]  # fmt: skip
Source = Annotated[
    str,
    typer.Argument(metavar="SRC", help="The trace to read; - is standard input.",
                   autocompletion=complete.files, show_default=False),
]  # fmt: skip
Rows = Annotated[
    int | None,
    typer.Option("--rows", metavar="N", min=1, show_default=False, help="At most so many rows."),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", show_default=False,
                 help="Save charts: .html for a page, .svg for a picture."),
]  # fmt: skip


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
    sort_window: SortWindow = None,
    json: options.Json = False,
    plot: Plot = None,
) -> None:
    """Read a whole trace and say what it holds and what it is like."""
    from flashgc import trace, trace_page

    if plot is not None:
        trace_page.check(plot)
    about = trace.info(
        file, format=format, on_bad_line=_bad(on_bad_line), devices=devices or None,
        start=start, length=length, first_row=first_row, rows=rows, sort_window=sort_window,
    )  # fmt: skip
    if plot is not None:
        trace_page.save(about, plot, _name(file))
    if json:
        print(_json(about))
        return
    from flashgc import trace_summary
    from flashgc.cli import show

    out = show.console()
    out.print(show.pairs(trace_summary.facts(about)))
    for table in (trace_summary.spreads, trace_summary.common_sizes, trace_summary.bursts):
        out.print(show.rows(table(about)))
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
    sort_window: SortWindow = None,
) -> None:
    """Write a trace in another format."""
    from flashgc import trace

    done = trace.convert(
        source, target, to, format=format, on_bad_line=_bad(on_bad_line),
        devices=devices or None, start=start, length=length, first_row=first_row, rows=rows,
        sort_window=sort_window,
    )  # fmt: skip
    _say_written(done, f"rows from {done['from']} to {done['to']}")


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
    sort_window: SortWindow = None,
) -> None:
    """Write a part of a trace: by time, by device, by row."""
    from flashgc import trace

    done = trace.cut(
        source, target, to, format=format, on_bad_line=_bad(on_bad_line),
        devices=devices or None, start=start, length=length, first_row=first_row, rows=rows,
        sort_window=sort_window,
    )  # fmt: skip
    _say_written(done, f"rows in {done['to']}")


@app.command(
    epilog=example("flashgc trace merge sdb.blktrace.0 sdb.blktrace.1 sdb.fgt --sort-window '1 s'")
)
@guarded
def merge(
    files: Annotated[
        list[str],
        typer.Argument(metavar="SRC... DST", autocompletion=complete.files, show_default=False,
                       help="The traces to read, and at last the file to write."),
    ],
    to: ToKept = None,
    renumber: Annotated[
        bool,
        typer.Option("--renumber", help="Give every device of every trace a number of its own."),
    ] = False,
    align: Annotated[
        bool, typer.Option("--align", help="Let every trace begin at time 0.")
    ] = False,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: SortWindow = None,
) -> None:  # fmt: skip
    """Write several traces as one, in order of time."""
    from flashgc import trace

    *sources, target = files
    if not sources:
        raise typer.BadParameter("name the traces to read, and at last the file to write")
    done = trace.merge(
        sources, target, to, renumber=renumber, align=align, format=format,
        on_bad_line=_bad(on_bad_line), sort_window=sort_window,
    )  # fmt: skip
    _say_written(done, f"rows of {done['traces']} traces in {done['to']}")


@app.command(
    epilog=example("flashgc trace generate oltp oltp.load.zst"),
)
@guarded
def generate(
    config: options.Config,
    target: Target,
    format: Annotated[
        str,
        typer.Option("--format", metavar="F", help="The format to write.",
                     autocompletion=complete.formats_to_write),
    ] = "blkreplay",
    device: options.Device = None,
    sets: options.Sets = None,
    seed: options.Seed = None,
) -> None:  # fmt: skip
    """Write the requests of a synthetic workload as a trace."""
    from flashgc import trace
    from flashgc.cli import progress

    with progress.bars([""], quiet=False) as shown:
        told = None if shown is None else lambda step: shown(0, step)
        done = trace.generate(
            config, target, format, device=device, set=sets or [], seed=seed, progress=told
        )
    csv = "; it is replayed with --format csv" if done["to"] == "csv" else ""
    say(f"{done['rows']} rows in {done['to']}{csv}{_lost(done)}")


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
        typer.Option("--check", help="Run trace and look-alike on one drive, and compare."),
    ] = False,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, metavar="N", help="Look-alikes that are run.")
    ] = 3,
    device: options.Device = None,
    sets: options.Sets = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    devices: Devices = None,
    start: Start = None,
    length: Length = None,
    rows: Rows = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Make a look-alike of a trace: a workload of distributions that can be shared."""
    from flashgc import _sources, trace

    if not check and (device is not None or sets):
        raise typer.BadParameter("--device and --set say where to --check")
    part: dict[str, Any] = {
        "format": format, "on_bad_line": _bad(on_bad_line), "devices": devices or None,
        "start": start, "length": length, "rows": rows,
    }  # fmt: skip
    with _sources.trace_file(file) as found:
        # Standard input is read more than once.
        path = file if found is None else found[1]
        made = trace.fit(path, out, **part)
        if out is None and not check:
            print(made.text, end="")
            return
        if out is not None:
            say(f"saved {out}; `flashgc run {out}` runs it")
        if not check:
            return
        told = trace.check_fit(path, made, device=device, set=sets or [], seeds=seeds, **part)
    if json:
        import json as encoder

        print(encoder.dumps(told, indent=2))
        return
    from flashgc import trace_summary
    from flashgc.cli import show

    show.console().print(show.rows(trace_summary.checked(told)))


_NUMBERS = re.compile(r"\[[\s\d.,eE+-]+\]")


def _json(about: dict[str, Any]) -> str:
    """JSON for people too: a list of numbers stands on one line."""
    import json

    text = json.dumps(about, indent=2)
    return _NUMBERS.sub(lambda found: re.sub(r"\s+", " ", found.group()), text)


def _name(file: str) -> str:
    return "standard input" if file == "-" else Path(file).name


def _say_written(done: dict[str, Any], what: str) -> None:
    left = f", {done['left_out']} of other kinds left out" if done["left_out"] else ""
    bad = f", {done['bad_rows']} not understood and skipped" if done["bad_rows"] else ""
    late = f", {done['out_of_order']} out of order" if done.get("out_of_order") else ""
    say(f"{done['rows']} {what}{left}{bad}{late}{_lost(done)}")


def _lost(done: dict[str, Any]) -> str:
    marks = done.get("marks_lost")
    return f"; {marks} marks of high priority lost, which fgt would keep" if marks else ""


def _bad(on_bad_line: options.OnBadLine | None) -> str:
    return "stop" if on_bad_line is None else on_bad_line.value
