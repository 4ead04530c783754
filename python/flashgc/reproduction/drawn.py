"""The charts of a figure in the form of the paper, with the paper's numbers and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flashgc.charts import Chart, sheet
from flashgc.files import output
from flashgc.reproduction import bars, cliffs, curves
from flashgc.reproduction.beside import Beside
from flashgc.reproduction.grid import Grid
from flashgc.reproduction.results import Results


def charts(one: Grid, beside: Beside, results: Results) -> list[Chart]:
    """The charts of a figure; none of a table."""
    item, experiment = one.item, results.experiment
    drawn: Mapping[str, Callable[[], list[Chart]]] = {
        "bars": lambda: [bars.chart(one, beside)],
        "lines": lambda: curves.lines(one, beside, experiment),
        "cdf": lambda: curves.cdf(item, results),
        "course": lambda: curves.course(item, results),
        "peaks": lambda: cliffs.peaks(item, results),
        "moves": lambda: cliffs.moves(item, results),
    }
    return drawn[item.form]() if item.form in drawn else []


def save(folder: Path, several: Mapping[str, Sequence[Chart]], titles: Mapping[str, str]) -> bool:
    """Saves `figure-ID.svg` of each figure, where vl-convert is installed; whether it is."""
    if not sheet.drawable():
        return False
    for name, drawn in several.items():
        titled = [replace(one, text=f"{titles[name]}. {one.text}") for one in drawn]
        data = sheet.svg(titled)
        output.write_with(folder / f"figure-{name}.svg", lambda file, data=data: file.write(data))  # type: ignore[misc]
    return True
