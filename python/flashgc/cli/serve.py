"""`flashgc serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example, typed

EPILOG = example(
    "flashgc serve oltp --socket drive.sock",
    "flashgc serve oltp --socket drive.sock --time off --store drive.data",
)


@guarded
def serve(
    config: options.Config,
    socket: Annotated[
        str,
        typer.Option(
            "--socket",
            metavar="PATH",
            help="The unix socket that clients connect to; created at start, removed on exit.",
            autocompletion=complete.files,
            show_default=False,
        ),
    ],
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE",
            help="Keep the drive in this file instead of in memory. Resumes the drive stored "
            "there, if any.",
            autocompletion=complete.files,
            show_default=False,
        ),
    ] = None,
    capture: Annotated[
        str | None,
        typer.Option(
            "--capture",
            metavar="FILE.fgt",
            help="Record the requests as a trace; `flashgc run` on it gives the same result.",
            autocompletion=complete.files,
            show_default=False,
        ),
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            metavar="PATH",
            help="A second unix socket with the state of the drive, for `flashgc top`.",
            autocompletion=complete.files,
            show_default=False,
        ),
    ] = None,
    socket_mode: Annotated[
        str,
        typer.Option(
            "--socket-mode",
            metavar="OCTAL",
            help="The mode of both sockets: write permission gives access to the drive.",
        ),
    ] = "600",
    time: Annotated[
        str,
        typer.Option(
            "--time",
            metavar="real|off|scaled=K",
            help="Complete requests in modelled time (real), K times slower (scaled=K), or "
            "immediately (off).",
        ),
    ] = "real",
    scheme: options.Scheme = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    verify: options.Verify = False,
    drive: options.Drive = None,
    json: options.Json = False,
    out: options.Out = None,
) -> None:
    """Serve the drive of a configuration as a block device (nbd) until Ctrl-C, then report."""
    from flashgc.drives import serving, serving_files
    from flashgc.files import output
    from flashgc.pages import provenance

    folder: Path | None = None if out is None else output.folder(out)
    with serving.served(
        config, socket, store=store, capture=capture, status=status, scheme=scheme, device=device,
        set=sets, unset=unsets, seed=seed, drive=drive, verify=verify, time=time,
        socket_mode=serving_files.mode(socket_mode),
    ) as server:  # fmt: skip
        try:
            resumed = "" if server.found is None else f"resumed {store}: {server.found}\n"
            say(f"serving {server.uri}\n{resumed}Ctrl-C ends it and shows the report")
            server.wait(say)
        except KeyboardInterrupt:
            pass
        report = server.end()
    provenance.by_command([report], typed())
    if server.replay is not None:
        say(f"the same requests again: {server.replay}")
    from flashgc.cli import show

    options.finish(
        lambda: [] if folder is None else report.save_folder(folder),
        lambda: show.report(report),
        report.to_json if json else None,
    )
