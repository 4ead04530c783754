"""The advice: its keys, its long runs, and the forms in which it can be kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashgc.files import output
from flashgc.reports.report import Comparison
from flashgc.schema import section
from flashgc.schema.advice_keys import AdviceKeys


class Advice(AdviceKeys):
    """What collection costs a workload, and the schemes that serve it best.

    Every key of `flashgc advise --json` is an attribute and an item.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 40_000}
    >>> found = flashgc.advise("oltp", schemes=["fifo"], set=small)
    >>> found.best.write_amplification.scheme == found["best"]["write_amplification"]["scheme"]
    True
    >>> found.reports.keys()
    ['greedy', 'fifo']
    """

    def __init__(self, values: Mapping[str, Any], reports: Comparison) -> None:
        section.check_whole("advice", values, AdviceKeys, "`flashgc.advise` makes advice")
        super().__init__(values)
        self._reports = reports

    @property
    def reports(self) -> Comparison:
        """The reports of the long runs, with the parts of their latencies; of the first seed."""
        return self._reports

    def to_json(self, indent: int | None = 2) -> str:
        """The advice as one JSON object."""
        return json.dumps(self._values, indent=indent)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the advice: `.json`, or `.html` for a page that needs nothing else.

        The file appears whole or not at all; an OutputError says why not.
        """
        return output.save(path, self.to_json, self._page)

    def __repr__(self) -> str:
        return f"Advice({' '.join(self._values['advice'])})"

    def _page(self) -> str:
        from flashgc.advising import page

        return page.whole(self._values, self._reports)

    def _repr_html_(self) -> str:
        from flashgc.advising import page

        return page.fragment(self._values, self._reports, drawn=False)
