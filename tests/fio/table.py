"""The table of fio's options in docs/fio.md: `python tests/fio/table.py` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from flashgc.conversion import fio_keys

PAGE = Path(__file__).parents[2] / "docs" / "fio.md"
HEAD = "| outcome | what differs, or why | options |\n|---|---|---|\n"
MANUAL = Path(__file__).parent / "options.txt"
"""The options of fio's manual."""


def manual() -> list[str]:
    """The options of fio's manual."""
    return [line for line in MANUAL.read_text().splitlines() if not line.startswith("#")]


def rows() -> Iterator[tuple[str, str, str]]:
    """Outcome, reason, and options."""
    yield "as fio", "", _listed(fio_keys.MAPPED)
    aliases = ", ".join(f"`{name}` (`{of}`)" for name, of in sorted(fio_keys.ALIASES.items()))
    yield "as fio, other names", "of the options above and below", aliases
    for outcome, reasons in (
        ("differs, noted in each run", fio_keys.LOUD), ("no meaning here", fio_keys.IGNORED),
        ("refused", fio_keys.REFUSED),
    ):  # fmt: skip
        for why in dict.fromkeys(reasons.values()):
            yield outcome, why, _listed(name for name, one in reasons.items() if one == why)


def text() -> str:
    """The table."""
    return HEAD + "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def of_page(page: str) -> str:
    """The table as the page has it."""
    behind = page[page.index(HEAD) :]
    return "".join(f"{line}\n" for line in behind.split("\n\n")[0].splitlines())


if __name__ == "__main__":
    page = PAGE.read_text()
    PAGE.write_text(page.replace(of_page(page), text()))
