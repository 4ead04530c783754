"""The explanation: the stories of some requests, and the forms in which they can be kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashgc.files import output
from flashgc.formatting import units
from flashgc.reports.report import Report
from flashgc.schema import section
from flashgc.schema.explanation_keys import ExplanationKeys


class Explanation(ExplanationKeys):
    """The stories of some requests of a run.

    Every key of `flashgc explain --json` is an attribute and an item.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> found = flashgc.explain("oltp", slowest=1, set=small)
    >>> slowest = found.stories[0]
    >>> slowest.latency_ns == found.report.latency_ns.all.max == sum(slowest.parts.values())
    True
    """

    def __init__(self, values: Mapping[str, Any], report: Report) -> None:
        remedy = "`flashgc.explain` makes an explanation"
        section.check_whole("an explanation", values, ExplanationKeys, remedy)
        super().__init__(values)
        self._report = report

    @property
    def report(self) -> Report:
        """The report of the run, with the parts of its latencies."""
        return self._report

    def to_json(self, indent: int | None = 2) -> str:
        """The explanation as one JSON object."""
        return json.dumps(self._values, indent=indent)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the explanation: `.json`, or `.html` for a page that needs nothing else.

        The file appears whole or not at all; an OutputError says why not.
        """
        return output.save(path, self.to_json, self._page)

    def __str__(self) -> str:
        from flashgc.explaining import words

        return "\n\n".join(words.text(story) for story in self._values["stories"])

    def __repr__(self) -> str:
        every = units.counted(self._values["requests"], "request")
        return f"Explanation({len(self._values['stories'])} of {every})"

    def _page(self) -> str:
        from flashgc.explaining import page

        return page.whole(self._values, self._report)

    def _repr_html_(self) -> str:
        from flashgc.explaining import page

        return page.fragment(self._values, self._report)
