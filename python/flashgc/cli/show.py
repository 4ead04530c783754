"""Tables and lines for a terminal, or for a pipe, as wide as either is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from flashgc.results import (
    blame,
    compared,
    conversion_notes,
    gc_cost,
    run_facts,
    steady_state,
    summary,
)

if TYPE_CHECKING:
    from rich.console import Console

    from flashgc.cli.layout import Lines
    from flashgc.reports.report import Comparison, Report

PIPE_WIDTH = 80
"""Columns of output that is not a terminal, unless `COLUMNS` sets another number."""
LEAST_WIDTH = 20


def width() -> int:
    """Columns of the terminal; `COLUMNS` comes first."""
    return max(shutil.get_terminal_size((PIPE_WIDTH, 0)).columns, LEAST_WIDTH)


@cache
def console() -> Console:
    """Standard output; printed lines have their final width already."""
    from rich.console import Console

    return Console(highlight=False)


def report(one: Report) -> None:
    """The results of a run."""
    line(summary.head(one), "bold")
    for text in steady_state.first(one):
        line(text, "bold yellow")
    latencies = summary.latency(one)
    if latencies:
        rows(latencies)
    pairs(run_facts.facts(one))
    split = blame.rows(one)
    if split:
        rows(split)
    seeds = summary.seeds(one)
    if seeds:
        rows(seeds)
    for text in (*summary.warnings(one), *conversion_notes.told(one)):
        note(text)
    for text in blame.sentences(one):
        line(text)


def comparison(several: Comparison) -> None:
    """The table that compares the schemes."""
    first = several[0]
    shared = f", {compared.shared(several)}" if len(several) > 1 else ""
    line(f"device {first.device}, seed {first.seed}{shared}", "bold")
    unfit = steady_state.warning(several)
    if unfit is not None:
        line(unfit, "bold yellow")
    rows(compared.comparison(several))
    price, differences = gc_cost.rows(several), compared.differences(several)
    for table, words in ((price, gc_cost.notes(several)), (differences, [])):
        if table:
            rows(table)
        for why in words:
            line(why)
    for one in several:
        for text in blame.sentences(one):
            line(f"{one.scheme}: {text}")
    read = compared.over_seeds(several)
    if read is not None:
        line(read)
    for text in (*summary.changed(several), *compared.refused(several.refused)):
        note(text)
    for text in conversion_notes.told(first):
        note(text)
    for text in compared.unlike(several):
        line(text)
    for one in several:
        for text in (*steady_state.first(one), *summary.warnings(one)):
            note(f"{one.scheme}: {text}")


def line(text: str, style: str = "") -> None:
    """A line of words, or several."""
    from flashgc.cli import layout

    _print([[(part, style)] for part in layout.wrapped(text, width())])


def text(paragraphs: str) -> None:
    """Paragraphs, each as its own."""
    for one in paragraphs.strip().splitlines():
        line(one.strip())


def labelled(label: str, text: str, style: str = "bold") -> None:
    """Words after a label in a style of its own."""
    from flashgc.cli import layout

    first, *more = layout.wrapped(f"{label} {text}", width())
    if not first.startswith(label):
        line(f"{label} {text}")
        return
    _print([[(label, style), (first[len(label) :], "")], *([(part, "")] for part in more)])


def command(text: str) -> None:
    """A command to copy: lines that a shell takes as one."""
    import shlex

    if not text.startswith("flashgc "):
        line(text)
        return
    lines, own = [], "  "
    for word in shlex.split(text):
        quoted = shlex.quote(word)
        if len(own) > 2 and len(own) + 1 + len(quoted) > width() - 2:
            lines.append(f"{own} \\")
            own = "    "
        own += quoted if own.isspace() else f" {quoted}"
    _print([[(part, "")] for part in [*lines, own]])


def note(text: str) -> None:
    """An important note."""
    labelled("note", text, "yellow")


def rows(table: summary.Rows, names: int = 1) -> None:
    """Numbers: the first row is the head, and rows may become columns.

    The first `names` columns name a row, and are repeated in each part of a table that is split.
    """
    from flashgc.cli.layout import Table

    right = range(names, len(table[0]))
    marked = {
        (at, column): "yellow"
        for at, row in enumerate(table)
        for column in range(len(row))
        if row[0].startswith("!")
    }
    _print(Table(table, right, (), marked, True, _rule(), names).lines(width()))


def words(
    table: summary.Rows,
    right: Sequence[int] = (),
    wraps: Sequence[int] | None = None,
    styles: dict[tuple[int, int], str] | None = None,
) -> None:
    """Words below a head; only the last two columns break, if no others are named."""
    from flashgc.cli.layout import Table

    columns = len(table[0])
    breaks = range(max(1, columns - 2), columns) if wraps is None else wraps
    _print(Table(table, right, breaks, styles or {}, False, _rule()).lines(width()))


def pairs(facts: Sequence[tuple[str, str]], indent: int = 0, style: str = "bold") -> None:
    """Names, in a style of their own, and texts."""
    from flashgc.cli import layout

    named = [(name, text, "") for name, text in facts]
    _print(layout.pairs(named, width(), indent, style))


def _rule() -> str:
    return "-" if console().options.ascii_only else "─"


def _print(lines: Lines) -> None:
    from rich.text import Text

    if not sys.stdout.isatty():
        for parts in lines:
            print("".join(text for text, _ in parts))
        return
    for parts in lines:
        console().print(Text.assemble(*parts), soft_wrap=True)
