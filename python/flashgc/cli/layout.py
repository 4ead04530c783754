"""Tables for a given number of columns: wrapped, split or turned, but with every character."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

Rows = Sequence[Sequence[str]]
Lines = list[list[tuple[str, str]]]
"""Lines of parts, each with its style."""
Place = tuple[int, int]

GAP = 2
_LEAST_TEXT, _LEAST_BESIDE = 18, 14
_UNIT = re.compile(r"(?:[num]?s|min|h|B|[KMGT]i?B|%|requests|pages)(?:/s)?(?!\w)")


@dataclass(frozen=True)
class Table:
    """Cells below a head, and how they may be laid out."""

    rows: Rows
    right: Collection[int] = ()
    """Columns of numbers, which are aligned to the right."""
    wraps: Collection[int] = ()
    """Columns of words, which may take several lines."""
    styles: Mapping[Place, str] = field(default_factory=dict)
    turns: bool = False
    """Whether rows may become columns, and columns may be split into blocks below each other."""
    rule: str = "-"
    names: int = 1
    """Columns that name a row: each block has them."""

    def lines(self, width: int) -> Lines:
        """The table in at most `width` columns, if its longest words leave a choice."""
        found = [self._whole(width)]
        if _width(found[0]) > width and self.turns:
            found += [self._blocks(width), self._turned()._blocks(width)]
        fitting = [lines for lines in found if _width(lines) <= width]
        if fitting:
            # The fewest blocks, which end in an empty line each.
            return min(fitting, key=lambda lines: (lines.count([]), len(lines)))
        return min((*found, self._records(width)), key=lambda lines: max(_width(lines), width))

    def _turned(self) -> Table:
        rows = list(zip(*self.rows, strict=True))
        styles = {(column, row): style for (row, column), style in self.styles.items()}
        return Table(rows, range(1, len(rows[0])), (), styles, True, self.rule)

    def _whole(self, width: int) -> Lines:
        return self._drawn(range(len(self.rows[0])), width)

    def _blocks(self, width: int) -> Lines:
        """Blocks of columns below each other, each with those that name the rows."""
        columns = range(self.names, len(self.rows[0]))
        blocks = self._filled(columns, width, len(columns))
        # Blocks of about one size are easier to read than a last one of a single column.
        even = self._filled(columns, width, -(-len(columns) // len(blocks)))
        if len(even) == len(blocks):
            blocks = even
        return [
            line for block in blocks for line in self._drawn([*range(self.names), *block], width)
        ]

    def _filled(self, columns: Sequence[int], width: int, most: int) -> list[list[int]]:
        blocks: list[list[int]] = [[]]
        for column in columns:
            block = [*blocks[-1], column]
            shown = [*range(self.names), *block]
            fits = _sum(self._widths(shown, width)) <= width and len(block) <= most
            if blocks[-1] and not fits:
                blocks.append([column])
            else:
                blocks[-1] = block
        return blocks

    def _widths(self, columns: Sequence[int], width: int) -> list[int]:
        """The widths of the cells; heads of words are wrapped first, then the words."""
        cells = [[str(row[column]) for row in self.rows] for column in columns]
        widths = [max(map(cell_len, column)) for column in cells]
        for at, column in enumerate(cells):
            if _sum(widths) > width:
                body = max(map(cell_len, column[1:]), default=0)
                widths[at] = max(body, _longest_word(column[0]))
        least = [
            min(wide, max(*map(_longest_word, cells[at]), _LEAST_TEXT))
            if column in self.wraps else wide
            for at, (column, wide) in enumerate(zip(columns, widths, strict=True))
        ]  # fmt: skip
        if _sum(least) > width:
            return least
        while _sum(widths) > width:
            spare = [wide - low for wide, low in zip(widths, least, strict=True)]
            most = max(range(len(widths)), key=lambda at: (spare[at] > 0, widths[at]))
            widths[most] -= 1
        return widths

    def _drawn(self, columns: Sequence[int], width: int) -> Lines:
        widths = self._widths(columns, width)
        drawn: Lines = [[]]
        for at, row in enumerate(self.rows):
            cells = [wrapped(str(row[column]), wide)
                     for column, wide in zip(columns, widths, strict=True)]  # fmt: skip
            if at or any(row):
                drawn += self._row(at, columns, widths, cells)
            if not at and any(row):
                drawn.append([(self.rule * _sum(widths), "")])
        return [*drawn, []]

    def _row(
        self, at: int, columns: Sequence[int], widths: Sequence[int], cells: list[list[str]]
    ) -> Iterator[list[tuple[str, str]]]:
        height = max(map(len, cells))
        if not at:
            # A head is aligned to the bottom, next to its column.
            cells = [[""] * (height - len(cell)) + cell for cell in cells]
        for line in range(height):
            parts = []
            for column, wide, cell in zip(columns, widths, cells, strict=True):
                text = cell[line] if line < len(cell) else ""
                blank = " " * (wide - cell_len(text))
                text = blank + text if column in self.right else text + blank
                parts.append((text, self._style(at, column)))
                parts.append((" " * GAP, ""))
            yield _stripped(parts)

    def _style(self, row: int, column: int) -> str:
        return self.styles.get((row, column), "" if row else "bold")

    def _records(self, width: int) -> Lines:
        """Each row, or each column of numbers, under its name."""
        table = self._turned() if self.turns else self
        head, *body = table.rows
        lines: Lines = [[]]
        for at, row in enumerate(body, 1):
            lines += [
                [(part, table.styles.get((at, 0), "bold"))] for part in wrapped(row[0], width)
            ]
            named = [(name, cell, table._style(at, column))
                     for column, (name, cell) in enumerate(zip(head, row, strict=True))
                     if column and cell]  # fmt: skip
            lines += pairs(named, width, indent=GAP)
            lines.append([])
        return lines


def pairs(
    named: Sequence[tuple[str, str, str]], width: int, indent: int = 0, names: str = "bold"
) -> Lines:
    """Names with a text next to each, or below it where there is no room, and its style."""
    wide = max((cell_len(name) for name, _, _ in named), default=0)
    beside = indent + wide + GAP
    words = max((_longest_word(text) for _, text, _ in named), default=0)
    texts = max((cell_len(text) for _, text, _ in named), default=0)
    below = beside + max(words, min(_LEAST_BESIDE, texts))
    lines: Lines = []
    for name, text, style in named:
        if below > width:
            parts = wrapped(text, width - indent - GAP)
            lines += [[(" " * indent + part, names)] for part in _label(name, width - indent)]
            lines += [[(" " * (indent + GAP) + part, style)] for part in parts]
            continue
        blank = " " * (wide - cell_len(name) + GAP)
        for at, part in enumerate(wrapped(text, width - beside)):
            first = [(" " * indent + name, names), (blank, "")] if not at else [(" " * beside, "")]
            lines.append(_stripped([*first, (part, style)]))
    return lines


def wrapped(text: str, width: int) -> list[str]:
    """Words in lines; no word is broken, and no number is separated from its unit."""
    if cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    for word in _words(text):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def _label(name: str, width: int) -> list[str]:
    """A name in lines, with the blanks that it begins with."""
    blank = " " * (len(name) - len(name.lstrip()))
    return [blank + part for part in wrapped(name.strip(), width - len(blank))]


def _words(text: str) -> list[str]:
    words: list[str] = []
    for word in text.split():
        if words and words[-1][-1:].isdigit() and _UNIT.match(word):
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


def _longest_word(text: str) -> int:
    return max(map(cell_len, _words(text)), default=0)


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _width(lines: Lines) -> int:
    return max(sum(cell_len(text) for text, _ in line) for line in lines)


def _stripped(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    while parts and not parts[-1][0].strip():
        parts = parts[:-1]
    return [*parts[:-1], (parts[-1][0].rstrip(), parts[-1][1])] if parts else []
