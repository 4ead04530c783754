"""The function `animate`: from a configuration to the recording of a part of its run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

import flashgc._engine as engine
from flashgc._engine_types import AnimatedPart
from flashgc.animating.animation import Animation
from flashgc.files import arguments
from flashgc.pages import provenance
from flashgc.reports.report import of_outcome
from flashgc.running import building, executing, inputs, origin
from flashgc.running import timeline as timelines

REQUESTS = 1000
"""Requests that are recorded where neither a number nor a window is given."""
LAST = 2**64 - 1
"""The last number that the engine can count."""


def animate(
    config: building.Config,
    trace: building.PathLike | None = None,
    *,
    requests: int | None = None,
    window: str | None = None,
    units: timelines.Units | None = None,
    scheme: building.AnyScheme | None = None,
    device: building.PathLike | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    drive: building.PathLike | None = None,
    fit: building.Fit | None = None,
    format: str | None = None,
    progress: executing.ProgressCallback | None = None,
) -> Animation:
    """Runs one configuration and returns an animation of its drive.

    The whole configuration runs, and the report of the animation is that of :func:`flashgc.run`. A
    part of the run is recorded, after preconditioning.

    Args:
        config: a configuration, as for :func:`flashgc.run`.
        trace: as for :func:`flashgc.run`.
        requests: the number of requests after whose end the recording ends; 1000 where neither it
            nor `window` is given.
        window: the part that is recorded, in simulated time, as `"1 s..1.2 s"`.
        units: those whose blocks and queues are recorded, as `[0, 3]` or `"0,4-7"`; all by default.
        scheme: as for :func:`flashgc.run`.
        device: as for :func:`flashgc.run`.
        set: as for :func:`flashgc.run`.
        unset: as for :func:`flashgc.run`.
        seed: as for :func:`flashgc.run`.
        drive: as for :func:`flashgc.run`.
        fit: as for :func:`flashgc.run`.
        format: as for :func:`flashgc.run`.
        progress: as for :func:`flashgc.run`.

    Raises:
        ConfigError: more blocks than a picture can show, or a recording that is longer than a page
            can hold; and with every mistake of the configuration.
        TraceError: a trace that cannot be read.
        DriveError: a saved drive that cannot be read, or is that of another device.
        RunError: a window after the end of the run, or one without an event; and a run that cannot
            continue, such as a full drive.
        KeyboardInterrupt: on Ctrl-C, at once.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> flashgc.animate("oltp", window="1 ms..2 ms", units=[0, 3], set=small)
    Animation(...)

    """
    part: AnimatedPart = {
        "window": inputs.duration("window", window, "1 s..1.2 s"),
        "units": None if units is None else timelines.numbers(units, "animation"),
        "requests": _count(requests, window),
    }
    arguments.check_paths(drive=drive)
    set_ = building.with_format(set, format)
    with inputs.trace_file(trace) as file:
        given = building.request(config, file, scheme, device, set_, seed, fit, unset)
        [sized] = building.sized([given], executing.callback(progress))
        own = None if drive is None else os.fspath(drive)
        outcome, recorded = engine.animate(sized, part, own, executing.callback(progress))
    report = of_outcome(outcome)
    origin.note([report], given, provenance.call(
        "animate", origin.leading(config, trace),
        {"requests": requests, "window": window, "units": units, "scheme": scheme,
         "device": device, **origin.settings(given), "drive": drive},
    ))  # fmt: skip
    return Animation(json.loads(recorded.head), recorded.packed, report)


def _count(requests: int | None, window: str | None) -> int | None:
    if requests is None:
        return REQUESTS if window is None else None
    return min(inputs.whole("requests", requests, 1), LAST)
