"""The result of a calibration, and the forms in which it can be kept."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashgc._engine import OutputError
from flashgc.files import arguments, output
from flashgc.schema import section
from flashgc.schema.calibration_keys import CalibrateKeys

FILES = ("device.toml", "scheme.toml", "calibration.html", "calibration.json")
"""The files of each calibration."""


class Calibration(CalibrateKeys):
    """A device and a scheme that have the measurements, with intervals and the other candidates.

    Every key of `flashgc calibrate --json` is an attribute and an item.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        section.check_whole(
            "a calibration", values, CalibrateKeys, "`flashgc.calibrate` makes a calibration"
        )
        super().__init__(values)

    def to_json(self, indent: int | None = 2) -> str:
        """The result as one JSON object."""
        return json.dumps(self._values, indent=indent)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the result: `.json`, `.html` for a page; a file `device.toml` or `scheme.toml`.

        The file appears whole or not at all; an OutputError says why not.
        """
        arguments.check_path("the file", path)
        target = Path(path)
        if target.suffix == ".toml":
            texts = {"device.toml": "device_toml", "scheme.toml": "scheme_toml"}
            if target.name not in texts:
                raise OutputError(f"error: {target}: the name must be device.toml or scheme.toml")
            output.write(target, self._values[texts[target.name]])
            return target
        return output.save(path, self.to_json, self._page)

    def save_all(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Saves device, scheme, page, result, and the job file of the further measurement.

        The job file of an earlier calibration in the folder is removed, unless it was changed.
        """
        target = output.folder(folder)
        _remove_earlier_job(target)
        made = [self.save(target / name) for name in FILES]
        further = self._values["further"]
        if further is not None and further["file"] is not None:
            output.write(target / further["file"], further["job"])
            made.append(target / further["file"])
        return made

    def __repr__(self) -> str:
        return f"Calibration({self._values['candidates'][0]['name']})"

    def _page(self) -> str:
        from flashgc.calibrating import page

        return page.whole(self._values)

    def _repr_html_(self) -> str:
        from flashgc.calibrating import page

        return page.fragment(self._values, drawn=False)


def _remove_earlier_job(folder: Path) -> None:
    """Removes the job file of the calibration that is there, which would be taken for one of this.

    It stays where its text is no longer that of the calibration.
    """
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        further = json.loads((folder / "calibration.json").read_text("utf-8"))["further"]
        file = folder / Path(further["file"]).name
        if file.suffix == ".fio" and file.read_text("utf-8") == further["job"]:
            file.unlink()
