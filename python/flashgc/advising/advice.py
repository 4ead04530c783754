"""The advice: its keys, its long runs, and the forms in which it can be kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashgc import _output
from flashgc._advice_keys import AdviceKeys
from flashgc._engine import OutputError
from flashgc.report import Comparison


class Advice(AdviceKeys):
    """What collection costs a workload, and the schemes that serve it best.

    Every key of `flashgc advise --json` is an attribute and an item.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 20_000}
    >>> found = flashgc.advise("oltp", schemes=["fifo"], set=small)
    >>> found.best.write_amplification.scheme == found["best"]["write_amplification"]["scheme"]
    True
    >>> found.reports.keys()
    ['greedy', 'fifo', 'ideal']
    """

    def __init__(self, values: Mapping[str, Any], reports: Comparison) -> None:
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
        target = Path(path)
        if target.suffix == ".json":
            _output.write(target, self.to_json() + "\n")
        elif target.suffix in (".html", ".htm"):
            from flashgc.advising import page

            _output.write(target, page.whole(self._values, self._reports))
        else:
            raise OutputError(f"error: {target}: the name must end in .json or .html")
        return target

    def __repr__(self) -> str:
        return f"Advice({' '.join(self._values['advice'])})"

    def _repr_html_(self) -> str:
        from flashgc.advising import page

        return page.fragment(self._values, self._reports)
