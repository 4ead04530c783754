"""Saved drives: preconditioned once, and begun with as often as one likes.

`flashgc.run(config, drive=file)` and `flashgc.compare(..., drive=file)` begin with one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import flashgc._engine as engine
from flashgc.files import arguments, output
from flashgc.running import building, executing, inputs

PathLike = str | os.PathLike[str]


def save(
    config: building.Config,
    file: PathLike,
    trace: PathLike | None = None,
    *,
    scheme: building.AnyScheme | None = None,
    device: str | os.PathLike[str] | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    verify: bool = False,
    fit: building.Fit | None = None,
    format: str | None = None,
    progress: executing.ProgressCallback | None = None,
) -> dict[str, Any]:
    """Preconditions a drive as :func:`flashgc.run` does, and saves it in place of running on it.

    Returns the result of :func:`info` for the file. An OutputError says why it cannot be written;
    it appears whole or not at all.

    >>> import flashgc, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "oltp.drive"
    >>> about = flashgc.drive.save("oltp", file, set={"precondition.overwrite": 0.5})
    >>> about["precondition"]["drive_writes"], about["key"] == flashgc.drive.info(file)["key"]
    (0.5, True)
    """
    arguments.check_path("file", file)
    output.check_named(file, "saved drive")
    verify = arguments.switch("verify", verify)
    set_ = building.with_format(set, format)
    with inputs.trace_file(trace) as found:
        request = building.request(config, found, scheme, device, set_, seed, fit, unset)
        output.check_apart(file, config, scheme, device, *building.files_of(request))
        shown = executing.callback(progress)
        [request] = building.sized([request], shown)
        told = engine.drive_save(request, os.fspath(file), verify, shown)
        output.note(file)
    about: dict[str, Any] = json.loads(told)
    return about


def info(file: PathLike) -> dict[str, Any]:
    """The origin and the content of a saved drive.

    `key` (equal for equal drives), `bytes` (of the file), `version` (of flashgc), `made_from`
    (everything that the drive depends on: device, scheme, seed, preconditioning, workload), and
    `precondition` (its results, as in a report). A DriveError describes the problem of the file.
    """
    arguments.check_path("file", file)
    about: dict[str, Any] = json.loads(engine.drive_info(os.fspath(file)))
    return about
