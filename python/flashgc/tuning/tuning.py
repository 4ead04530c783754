"""The result of a search, and the forms in which it can be kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashgc._engine import OutputError
from flashgc.files import arguments, output
from flashgc.schema import section
from flashgc.schema.tuning_keys import TuneKeys


class Tuning(TuneKeys):
    """The best configuration of a search, its front, its parameters and its check.

    Every key of `flashgc tune --json` is an attribute and an item.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        section.check_whole("a tuning", values, TuneKeys, "`flashgc.tune` makes a tuning")
        super().__init__(values)

    def to_json(self, indent: int | None = 2) -> str:
        """The result as one JSON object."""
        return json.dumps(self._values, indent=indent)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the result: `.json`, `.html` for a page, `.toml` for the chosen configuration.

        The file appears whole or not at all; an OutputError says why not.
        """
        arguments.check_path("the file", path)
        target = Path(path)
        if target.suffix == ".toml":
            text = self._values["config"]
            if text is None:
                raise OutputError(
                    f"error: {target}: the chosen configuration is not a single file\n"
                    "  = help: `commands` has its settings"
                )
            output.write(target, text)
            return target
        return output.save(path, self.to_json, self._page)

    def __repr__(self) -> str:
        return f"Tuning({self._values['chosen']['name']})"

    def _page(self) -> str:
        from flashgc.tuning import page

        return page.whole(self._values)

    def _repr_html_(self) -> str:
        from flashgc.tuning import page

        return page.fragment(self._values, drawn=False)
