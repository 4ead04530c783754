"""`flashgc animate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import options
from flashgc.cli.guard import guarded
from flashgc.cli.options import example

if TYPE_CHECKING:
    from flashgc.animating import Animation

EXAMPLES = (
    "flashgc animate oltp --set device.blocks_per_plane=64 --out oltp.html",
    'flashgc animate oltp --scheme pgc --window "1 s..1.01 s" --units 0-3 --out pgc.html',
    "flashgc animate replay --trace my-trace.csv.zst --requests 500 --out trace.html",
)
EPILOG = example(*EXAMPLES)


@guarded
def animate(
    config: options.Config,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", show_default=False, help="The page, .html."),
    ],
    trace: options.Trace = None,
    requests: Annotated[
        int | None,
        typer.Option(
            "--requests",
            min=1,
            metavar="N",
            help="Record until N requests are done; 1000 without --window.",
            show_default=False,
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            metavar="FROM..TO",
            callback=options.WINDOW,
            show_default=False,
            help='Record only this part of the run, such as "1 s..1.2 s".',
        ),
    ] = None,
    units: Annotated[
        str | None,
        typer.Option(
            "--units",
            metavar="LIST",
            callback=options.units_of("animation"),
            show_default=False,
            help="Record only these units, such as 0,4-7.",
        ),
    ] = None,
    scheme: options.Scheme = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    drive: options.Drive = None,
    fit: options.Fit = None,
    json: options.Json = False,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
) -> None:
    """Save a page that plays what a drive does, event by event: blocks, collections, queues."""
    from flashgc import animating
    from flashgc.animating.animation import checked
    from flashgc.cli import progress
    from flashgc.files import output
    from flashgc.pages import provenance

    options.refuse_standard_output(json, {"--out": out})
    set_ = options.settings(sets, format, on_bad_line, sort_window)
    with output.opened(checked(out), "page") as file:
        with progress.bars([""], quiet=json) as shown:
            told = None if shown is None else lambda step: shown(0, step)
            found = animating.animate(
                config, trace, requests=requests, window=window, units=units, scheme=scheme,
                device=device, set=set_, unset=unsets, seed=seed, drive=drive, fit=fit,
                progress=told,
            )  # fmt: skip
        provenance.by_command([found.report], options.typed())
        with output.explained(out, "page"):
            file.write(found.page().encode("utf-8", errors="backslashreplace"))
    if json:
        print(found.to_json())
        return
    _print(found)
    options.say_saved(out)


def _print(found: Animation) -> None:
    from flashgc.cli import show
    from flashgc.formatting import units
    from flashgc.results import summary

    show.line(summary.head(found.report), "bold")
    show.line(
        f"{units.counted(found.pictures, 'picture')} from {units.time(found.from_ns)} to "
        f"{units.time(found.to_ns)}: {units.counted(found.requests, 'request')} done, "
        f"{units.counted(found.programs, 'page')} programmed for the host, "
        f"{units.count(found.copies)} copied, {units.counted(found.erases, 'block')} erased"
    )
