"""`flashgc explain`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import options
from flashgc.cli.guard import guarded
from flashgc.cli.options import example

if TYPE_CHECKING:
    from flashgc.explaining import Explanation

EXAMPLES = (
    "flashgc explain oltp --slowest 3",
    "flashgc explain oltp --request 48213 --scheme fpgc",
    "flashgc explain replay --trace my-trace.csv.zst --kind read --out runs/slow",
)
EPILOG = example(*EXAMPLES)


class Kind(StrEnum):
    """A kind of request."""

    read = "read"
    write = "write"


@guarded
def explain(
    config: options.Config,
    trace: options.Trace = None,
    request: Annotated[
        list[int] | None,
        typer.Option(
            "--request",
            min=0,
            metavar="N",
            help="The number of a request in order of arrival, from 0, as in the log of requests; "
            "repeatable.",
            show_default=False,
        ),
    ] = None,
    slowest: Annotated[
        int | None,
        typer.Option(
            "--slowest",
            min=1,
            max=1000,
            metavar="N",
            help="The N slowest requests; 3 if neither option is given.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option("--kind", help="Only reads, or only writes.",
                     show_default=False),
    ] = None,
    scheme: options.Scheme = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    drive: options.Drive = None,
    fit: options.Fit = None,
    json: options.Json = False,
    out: Annotated[
        Path | None, options.out("explanation.html and explanation.json")
    ] = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
) -> None:  # fmt: skip
    """Show what single requests waited for: each step, and the work of their units meanwhile."""
    from flashgc import explaining
    from flashgc.cli import progress
    from flashgc.files import output
    from flashgc.pages import provenance

    if request and (slowest is not None or kind is not None):
        raise typer.BadParameter("--request cannot be combined with --slowest or --kind")
    folder = None if out is None else output.folder(out)
    set_ = options.settings(sets, format, on_bad_line, sort_window)
    with progress.bars([""], quiet=json) as shown:
        told = None if shown is None else lambda step: shown(0, step)
        found = explaining.explain(
            config, trace, request=request or None, slowest=slowest,
            kind=None if kind is None else kind.value, scheme=scheme, device=device, set=set_,
            unset=unsets, seed=seed, drive=drive, fit=fit, progress=told,
        )  # fmt: skip
    provenance.by_command([found.report], options.typed())
    options.finish(
        lambda: options.save(found.save, folder, "explanation"),
        lambda: _print(found),
        found.to_json if json else None,
    )


def _print(found: Explanation) -> None:
    from flashgc.cli import show
    from flashgc.explaining import words
    from flashgc.results import summary

    show.line(summary.head(found.report), "bold")
    show.line("")
    if not found.stories:
        show.line(words.NOTHING)
    for story in found.to_dict()["stories"]:
        show.line(words.title(story), "bold")
        show.line(f"{words.about(story)}: {words.split(story)}")
        show.words(words.rows(story), right=(0, 1), wraps=(2,))
