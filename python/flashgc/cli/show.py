"""Tables and lines for a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from flashgc import summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from flashgc.report import Comparison, Report

PLAIN_WIDTH = 160


def console() -> Console:
    """Standard output; wide and plain where it is no terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return Console(width=width, highlight=False, soft_wrap=not sys.stdout.isatty())


def report(one: Report) -> None:
    """What a run has found."""
    from rich.markup import escape

    out = console()
    out.print(f"[bold]{escape(summary.head(one))}[/]")
    out.print(rows(summary.latency(one)))
    out.print(pairs(summary.facts(one)))
    seeds = summary.seeds(one)
    if seeds:
        out.print(rows(seeds))
    for text in summary.warnings(one):
        out.print(f"[yellow]note[/] {escape(text)}")


def comparison(several: Comparison) -> None:
    """The schemes side by side."""
    from rich.markup import escape

    out = console()
    first = several[0]
    out.print(f"[bold]device {escape(first.device)}, seed {first.seed}, identical requests[/]")
    out.print(rows(summary.comparison(several)))
    if several.unequal:
        out.print("[yellow]![/] marks what should be equal in a fair comparison, and is not")
    for one in several:
        for text in summary.warnings(one):
            out.print(f"[yellow]note[/] {escape(one.scheme)}: {escape(text)}")


def rows(table: summary.Rows) -> Table:
    """The first row is the head; figures to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    head, *body = table
    shown = Table(box=box.SIMPLE, pad_edge=False)
    for index, name in enumerate(head):
        shown.add_column(Text(name), justify="right" if index else "left", no_wrap=True)
    for row in body:
        style = "yellow" if row[0].startswith("!") else None
        shown.add_row(*(Text(cell) for cell in row), style=style)
    return shown


def pairs(facts: list[tuple[str, str]]) -> Table:
    """Names and texts."""
    from rich.table import Table
    from rich.text import Text

    shown = Table.grid(padding=(0, 2))
    shown.add_column(style="bold", no_wrap=True)
    shown.add_column()
    for name, text in facts:
        shown.add_row(Text(name), Text(text))
    return shown
