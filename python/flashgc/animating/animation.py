"""The animation: the recorded pictures of a drive, and the page that plays them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashgc._engine import OutputError
from flashgc.files import arguments, output
from flashgc.formatting import units
from flashgc.reports.report import Report

KEYS = ("from_ns", "to_ns", "pictures", "requests", "programs", "copies", "erases")
"""The extent of a recording."""


class Animation:
    """The drive in a part of a run, event by event.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> film = flashgc.animate("oltp", requests=100, set=small)
    >>> film.requests, film.from_ns
    (100, 0)
    >>> film.report.result_hash == flashgc.run("oltp", set=small).result_hash
    True
    """

    def __init__(self, head: Mapping[str, Any], packed: bytes, report: Report) -> None:
        self._head = dict(head)
        self._packed = packed
        self._report = report

    @property
    def report(self) -> Report:
        """The report of the whole run."""
        return self._report

    @property
    def from_ns(self) -> int:
        """The begin of the recording, in ns since measuring began."""
        return int(self._head["from_ns"])

    @property
    def to_ns(self) -> int:
        """The instant of its last picture, in ns."""
        return int(self._head["to_ns"])

    @property
    def pictures(self) -> int:
        """The number of pictures: the first, and one for each event that changes the drive."""
        return int(self._head["pictures"])

    @property
    def requests(self) -> int:
        """Requests that are done in it."""
        return int(self._head["requests"])

    @property
    def programs(self) -> int:
        """Pages that are programmed for the host in it."""
        return int(self._head["programs"])

    @property
    def copies(self) -> int:
        """Pages that collections copy in it."""
        return int(self._head["copies"])

    @property
    def erases(self) -> int:
        """Blocks that are erased in it."""
        return int(self._head["erases"])

    def to_dict(self) -> dict[str, Any]:
        """Its extent, and the names and hashes of the run, as `flashgc animate --json` has them."""
        named = {key: self._report[key] for key in
                 ("scheme", "device", "seed", "version", "config_hash", "result_hash")}  # fmt: skip
        return {**named, **{key: self._head[key] for key in KEYS}}

    def to_json(self, indent: int | None = 2) -> str:
        """The same as one JSON object."""
        return json.dumps(self.to_dict(), indent=indent)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the page, `.html`, which needs nothing else.

        The file appears whole or not at all; an OutputError says why not.
        """
        target = checked(path)
        output.write(target, self.page())
        return target

    def page(self) -> str:
        """The page, as text."""
        from flashgc.animating import page

        return page.whole(self._head, self._packed, self._report)

    def _repr_html_(self) -> str:
        from flashgc.animating import page

        return page.framed(self.page())

    def __repr__(self) -> str:
        return (
            f"Animation({units.counted(self.pictures, 'picture')} of "
            f"{units.counted(self.requests, 'request')})"
        )


def checked(path: str | os.PathLike[str]) -> Path:
    """The name of a page, which says what the file is."""
    arguments.check_path("the file", path)
    target = Path(path)
    if target.is_dir():
        raise OutputError(
            f"error: {target} is a directory, not a file\n"
            f"  = help: name the page, such as {target / 'page.html'}"
        )
    if target.suffix not in (".html", ".htm"):
        raise OutputError(
            f"error: {target}: an animation is a page, and its name must end in .html\n"
            f"  = help: name it {target.with_suffix('.html')}"
        )
    return target
