"""`flashgc report`: the page and the figures of results that were saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example

EPILOG = example(
    "flashgc report runs/greedy runs/pgc --out runs/both",
    "flashgc report runs/both --figures figures --format pdf",
)


@guarded
def report(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT",
            help="Folders that --out has written, or their report.json: runs and comparisons.",
            autocompletion=complete.files,
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Save report.html, report.json and curves.json of all these runs in this folder.",
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            metavar="DIR",
            help="Save each chart as a figure for a column of a paper; needs flashgc\\[figures].",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option("--format", metavar="A,B", help="The formats of figures: svg, pdf, png."),
    ] = "svg,pdf,png",
    names: Annotated[
        str | None,
        typer.Option(
            "--names",
            metavar="A,B,C",
            help="Names of the runs in tables and charts, in order; by default their schemes, and "
            "their folders where schemes are equal.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show any number of saved results on one page, or save figures for a paper."""
    from flashgc.files import output
    from flashgc.reports import loading, saving

    if out is not None and len(results) > 1:
        for one in results:
            output.check_apart(out / saving.REPORT, one, Path(one) / saving.REPORT,
                               remedy="name another folder with --out")  # fmt: skip
    found = loading.together(results, None if names is None else options.scheme_names(names))
    if out is None and figures is None:
        raise typer.BadParameter("name a folder: --out for the page, --figures for figures")
    files = [] if out is None else found.save_folder(out, options.typed())
    if figures is not None:
        drawn = found.save_figures(figures, options.scheme_names(format))
        files += drawn
    options.say_saved(*files)
    if figures is not None and not drawn:
        say(
            f"no figure is saved in {figures}: charts show times, and no run has them "
            '(engine.timing = "none")'
        )
