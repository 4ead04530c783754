"""The results of `pts`: their keys, their measurements, and the files in which they are kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flashgc.files import output
from flashgc.reports.report import Report
from flashgc.schema import section
from flashgc.schema.pts_keys import PtsKeys
from flashgc.snia.procedures import Part


class Pts(PtsKeys):
    """The results of the tests of SNIA's Performance Test Specification.

    Every key of `flashgc pts --json` is an attribute and an item.
    """

    def __init__(
        self, values: Mapping[str, Any], parts: Mapping[str, Sequence[Part]], about: Report,
        again: str,
    ) -> None:  # fmt: skip
        section.check_whole("a report of tests", values, PtsKeys, "`flashgc.pts` makes it")
        super().__init__(values)
        self._parts = parts
        self._about = about
        self._again = again

    @property
    def about(self) -> Report:
        """The purged drive before any test: its configuration, and its capacity."""
        return self._about

    def to_json(self, indent: int | None = 2) -> str:
        """The results as one JSON object."""
        return json.dumps(self._values, indent=indent)

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Saves the report and its data in a folder: `index.html`, `pts.json`, and CSV files.

        The measurements are in `measurements.csv`, the tracking variables of each round in
        `rounds.csv`, the averages over the measurement window in `results.csv`, and the histograms
        in `response-times.csv`. Each file appears whole or not at all.
        """
        from flashgc.snia import page, tables

        target = output.folder(folder)
        texts = {
            "index.html": page.whole(self._values, self._parts, self._about, self._again),
            "pts.json": self.to_json() + "\n",
            **tables.files(self._values, self._parts),
        }
        for name, text in texts.items():
            output.write(target / name, text)
        return [target / name for name in texts]

    def _repr_html_(self) -> str:
        from flashgc.snia import page

        return page.fragment(self._values, self._parts, self._about, self._again, drawn=False)

    def __repr__(self) -> str:
        shown = ", ".join(f"{one['test']}: {_steady(one)}" for one in self._values["tests"])
        return f"Pts({self._values['device']}, {shown})"


def _steady(test: Mapping[str, Any]) -> str:
    return {None: "done", True: "steady", False: "not steady"}[test["steady"]]
