"""`flashgc drive save` and `info`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flashgc.cli import complete, help_texts, options
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example

app = help_texts.App(
    no_args_is_help=True,
    help="Precondition a drive once and reuse it for many runs.",
    epilog=example("flashgc drive save oltp oltp.drive", "flashgc run oltp --drive oltp.drive"),
)

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The file of the drive.",
        autocompletion=complete.files,
        show_default=False,
    ),
]


@app.command(
    epilog=example(
        "flashgc drive save oltp oltp.drive",
        "flashgc drive save oltp steady.drive --set precondition.overwrite=3.0",
    )
)
@guarded
def save(
    config: options.Config,
    file: File,
    trace: options.Trace = None,
    scheme: options.Scheme = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    verify: options.Verify = False,
    fit: options.Fit = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
) -> None:
    """Precondition the drive of a configuration and save it; nothing is measured."""
    import flashgc.drive as drives
    from flashgc.cli import progress
    from flashgc.formatting import units

    set_ = options.settings(sets, format, on_bad_line, sort_window)
    with progress.bars([""], quiet=False) as shown:
        told = None if shown is None else lambda step: shown(0, step)
        about = drives.save(
            config, file, trace, scheme=scheme, device=device, set=set_, unset=unsets, seed=seed,
            verify=verify, fit=fit, progress=told,
        )  # fmt: skip
    say(f"saved {file}: {units.size(about['bytes'])}, key {about['key']}")


@app.command(
    epilog=example("flashgc drive info oltp.drive", "flashgc drive info oltp.drive --json")
)
@guarded
def info(file: File, json: options.Json = False) -> None:
    """Show the contents of a saved drive and the run that made it."""
    import flashgc.drive as drives

    about = drives.info(file)
    if json:
        import json as encoder

        print(encoder.dumps(about, indent=2))
        return
    from flashgc.cli import show

    show.pairs(_facts(about))


def _facts(about: dict[str, Any]) -> list[tuple[str, str]]:
    from flashgc.formatting import units
    from flashgc.results import run_facts

    made, before = about["made_from"], about["precondition"]
    device = made["device"]
    planes = (
        device["channels"] * device["chips_per_channel"]
        * device["dies_per_chip"] * device["planes_per_die"]
    )  # fmt: skip
    blocks, pages = planes * device["blocks_per_plane"], device["pages_per_block"]
    page = device["page_size"]
    return [
        ("key", about["key"]),
        ("file", f"{units.size(about['bytes'])}, by flashgc {about['version']}"),
        ("device", f"{units.counted(blocks, 'block')} of {units.counted(pages, 'page')} of "
          f"{units.size(page)}: "
         f"{units.size(blocks * pages * page)}, of which the host sees "
         f"{units.size(planes * device['exported'] * page)}"),
        ("filled", run_facts.filled(made["precondition"], before)),
        ("overwritten", run_facts.overwritten(before)),
        ("scheme", f"{before['scheme']}, seed {made['seed']}"),
    ]  # fmt: skip
