"""`flashgc trace info`, `convert` and `generate`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example

app = typer.Typer(
    no_args_is_help=True,
    help="Describe, convert and make traces.",
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
Rows = Annotated[
    int | None,
    typer.Option("--rows", metavar="N", min=1, show_default=False, help="At most so many rows."),
]


@app.command(
    epilog=example("flashgc trace info my-trace.csv.zst", "flashgc trace info my.txt --json")
)
@guarded
def info(
    file: options.TraceFile,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    devices: Devices = None,
    start: Start = None,
    length: Length = None,
    rows: Rows = None,
    json: options.Json = False,
) -> None:
    """Read a whole trace and say what it holds."""
    from flashgc import trace

    about = trace.info(
        file, format=format, on_bad_line=_bad(on_bad_line), devices=devices or None,
        start=start, length=length, rows=rows,
    )  # fmt: skip
    if json:
        import json as encoder

        print(encoder.dumps(about, indent=2))
        return
    from flashgc.cli import show

    show.console().print(show.pairs(_facts(about)))


@app.command(
    epilog=example(
        "flashgc trace convert my-trace.spc my-trace.csv.zst --to csv",
        "flashgc trace convert my-trace.csv.gz hour.csv --to msr --start '3600 s'",
    )
)
@guarded
def convert(
    source: Annotated[
        str,
        typer.Argument(metavar="SRC", help="The trace to read; - is standard input.",
                       autocompletion=complete.files, show_default=False),
    ],
    target: Target,
    to: Annotated[
        str,
        typer.Option("--to", metavar="F", help="The format to write.",
                     autocompletion=complete.formats_to_write, show_default=False),
    ],
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    devices: Devices = None,
    start: Start = None,
    length: Length = None,
    rows: Rows = None,
) -> None:  # fmt: skip
    """Write a trace in another format."""
    from flashgc import trace

    done = trace.convert(
        source, target, to, format=format, on_bad_line=_bad(on_bad_line),
        devices=devices or None, start=start, length=length, rows=rows,
    )  # fmt: skip
    left = f", {done['left_out']} of other kinds left out" if done["left_out"] else ""
    bad = f", {done['bad_rows']} not understood and skipped" if done["bad_rows"] else ""
    say(f"{done['rows']} rows from {done['from']} to {done['to']}{left}{bad}")


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
    say(f"{done['rows']} rows in {done['to']}{csv}")


def _bad(on_bad_line: options.OnBadLine | None) -> str:
    return "stop" if on_bad_line is None else on_bad_line.value


def _facts(about: dict[str, Any]) -> list[tuple[str, str]]:
    from flashgc import units

    option = f" ({about['format_option']})" if about.get("format_option") else ""
    reads, writes, trims = (units.count(about[name]) for name in ("reads", "writes", "trims"))
    return [
        ("format", f"{about['format']}{option}"),
        ("rows", f"{units.count(about['rows'])}, and {about['bad_rows']} not understood"),
        ("requests", f"{reads} reads, {writes} writes, {trims} trims, {about['others']} others"),
        ("read", f"{units.size(about['read_bytes'])}, {_mean(about['mean_read_bytes'])}"),
        ("written", f"{units.size(about['written_bytes'])}, {_mean(about['mean_write_bytes'])}"),
        ("footprint", f"{units.size(about['footprint_bytes'])}, in whole 4 KiB pages"),
        ("written footprint", f"{units.size(about['written_footprint_bytes'])}, "
         f"each page {units.figures(about['overwrite_ratio'])} times"),
        ("highest address", units.size(about["max_address_bytes"])),
        ("duration", units.time(about["duration_s"] * 1e9)),
        ("between rows", f"{units.time(about['mean_interarrival_ns'])} on average"),
        ("sequential", units.share(about["sequential_share"])),
        ("devices", _devices(about["devices"])),
        ("out of order", f"{units.count(about['out_of_order'])} rows, "
         f"by {units.time(about['late_ns_max'])} at most"),
    ]  # fmt: skip


def _mean(mean_bytes: float | None) -> str:
    return "none" if mean_bytes is None else f"{mean_bytes:,.0f} B on average"


def _devices(devices: list[dict[str, Any]]) -> str:
    names = ", ".join(str(known["device"]) for known in devices[:8])
    more = f" and {len(devices) - 8} more" if len(devices) > 8 else ""
    return f"{len(devices)}: {names}{more}"
