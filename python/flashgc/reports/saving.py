"""Results in a folder: a page, its metrics as JSON, and the curves that the page draws."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc.files import output
from flashgc.formatting.table import Table
from flashgc.pages import page
from flashgc.results import metrics
from flashgc.results.metrics import RunResults

REPORT, CURVES = "report.json", "curves.json"
_PAGE = "report.html"

PathLike = str | os.PathLike[str]


def save(
    reports: Sequence[RunResults], text: str, folder: PathLike, again: str | None = None
) -> list[Path]:
    """Saves a page, the metrics, which are this text, and the curves; returns the files.

    `again` is the command that makes the page of runs that were made apart.
    """
    target = output.folder(folder)
    curves = {"version": engine.__version__, "runs": [_curves(one) for one in reports]}
    output.write(target / _PAGE, page.whole(reports, again))
    output.write(target / REPORT, text + "\n")
    output.write(target / CURVES, json.dumps(curves, separators=(",", ":")) + "\n")
    return [target / name for name in (_PAGE, REPORT, CURVES)]


def _curves(report: RunResults) -> dict[str, Any]:
    origin, watched = metrics.origin(report), report.over_time
    return {
        "scheme": report.scheme,
        "result_hash": report.result_hash,
        "origin": None if origin is None else vars(origin),
        "distributions": metrics.distributions(report),
        "over_time": None if watched is None else {
            name: _plain(table) for name, table in watched._asdict().items()
        },
    }  # fmt: skip


def _plain(table: Table) -> dict[str, list[Any]]:
    """The columns of a table; None in place of NaN, which JSON has not."""
    return {
        name: [
            None if isinstance(value, float) and math.isnan(value) else value for value in column
        ]
        for name, column in table.to_dict().items()
    }
