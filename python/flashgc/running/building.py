"""Requests to the engine: built from the arguments of the functions in Python."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.files import arguments, reading
from flashgc.running import inputs, policies

PathLike = str | os.PathLike[str]
AnyScheme = PathLike | policies.Scheme
Config = PathLike | Mapping[str, object]
Settings = Mapping[str, object] | Iterable[str]
Fit = str | float


def request(
    config: Config,
    trace: tuple[str, Path] | None,
    scheme: AnyScheme | None,
    device: PathLike | None,
    set: Settings | None,
    seed: int | None,
    fit: Fit | None = None,
    unset: Iterable[str] | None = None,
) -> Request:
    """The request with its trace, which the configuration may name; not yet sized by it."""
    made = bare_request(config, trace, scheme, device, set, seed, fit, unset)
    if trace is None:
        add_own_trace(made)
    return made


def bare_request(
    config: Config,
    trace: tuple[str, Path] | None,
    scheme: AnyScheme | None,
    device: PathLike | None,
    set: Settings | None,
    seed: int | None,
    fit: Fit | None = None,
    unset: Iterable[str] | None = None,
) -> Request:
    """The request without the trace that the configuration itself may name."""
    own, preset = (scheme, None) if isinstance(scheme, policies.Scheme) else (None, scheme)
    arguments.check_paths(scheme=preset, device=device)
    source = inputs.config(config)
    sets = inputs.settings(set)
    if seed is not None:
        sets.append(f"seed={inputs.whole('seed', seed, 0, arguments.NUMBER_MAX)}")
    if fit is not None:
        if not isinstance(fit, (str, Real)):
            raise ConfigError(
                f'error: fit must be a share, such as "90%" or 0.9, or "none", '
                f"got {arguments.shown(fit)}"
            )
        sets.append(f"workload.trace.fit={json.dumps(str(fit))}")
    _check_named_once("scheme", "gc.scheme", preset, sets)
    _check_named_once("device", "device.preset", device, sets)
    if own is not None:
        sets = [*policies.settings(own), *sets]
    return {
        "name": source.name,
        "text": source.text,
        "scheme": inputs.preset(preset) if own is None else policies.source(own),
        "device": inputs.preset(device),
        "sets": [reading.printable(text) for text in sets],
        "unsets": [reading.printable(key) for key in inputs.keys(unset)],
        "trace_name": trace and trace[0],
        "trace_path": trace and trace[1],
        "jobs": source.jobs or inputs.jobs(source, sets, inputs.keys(unset)),
        "fitted": None,
        "policies": None if own is None else policies.functions(own),
    }


def _check_named_once(
    what: str, key: str, given: PathLike | None, sets: Iterable[str]
) -> None:  # fmt: skip
    """Refuses an assignment of the name that an argument gives."""
    if given is None:
        return
    for text in sets:
        name, _, value = text.partition("=")
        if name.strip() == key:
            raise ConfigError(
                f"error: two {what}s: {reading.printable(given)}, and {key} = "
                f"{reading.printable(value.strip())} of a setting\n"
                f"  = help: remove one of the two"
            )


def without_scheme(sets: Iterable[str], scheme: object) -> list[str]:
    """Settings for a command that names a scheme, if it does: without another name of one.

    >>> from flashgc.running import building
    >>> building.without_scheme(["gc.scheme=fifo", "seed=3"], "pgc")
    ['seed=3']
    """
    return [text for text in sets
            if scheme is None or text.partition("=")[0].strip() != "gc.scheme"]  # fmt: skip


def files_of(request: Request) -> list[str | os.PathLike[str]]:
    """The files that a request names: configuration, trace and job file."""
    jobs = None if request["jobs"] is None else request["jobs"][0]
    named = (request["name"], request["trace_path"], jobs)
    return [one for one in named if one is not None]


def add_own_trace(request: Request) -> None:
    """Adds the trace that a configuration names: a file in the folder of the configuration."""
    if not any("trace" in part for part in (request["text"], *request["sets"])):
        return  # and no need to read the whole configuration
    checked = json.loads(engine.check(request))
    own = checked["trace_file"]
    if checked["needs_trace"] and own is not None:
        path = Path(request["name"]).parent / own
        request["trace_name"] = os.fspath(path)
        request["trace_path"] = path


def sized(requests: Sequence[Request], progress: Callable[..., object] | None) -> list[Request]:
    """The requests with the size of their drive, where their trace decides it."""
    if all(request["trace_path"] is None for request in requests):
        return list(requests)
    fitted = engine.fit(list(requests), progress)
    return [{**request, "fitted": fitted} for request in requests]


def with_format(given: Settings | None, format: str | None) -> Settings | None:
    """The settings with that of the format of the trace before them, where it is given.

    >>> from flashgc.running import building
    >>> building.with_format({"seed": 3}, "msr")
    ['workload.trace.format="msr"', 'seed=3']
    """
    arguments.check_texts(format=format)
    if format is None:
        return given
    return [f"workload.trace.format={json.dumps(format)}", *inputs.settings(given)]


def settings_before(config: Config, **how: Any) -> Mapping[str, Any] | None:  # noqa: ANN401
    """The settings of a run with these arguments, before it begins.

    Its trace is not read, which may come from a pipe. None where the configuration has a mistake,
    which is an error of the run itself.
    """
    try:
        settings: Mapping[str, Any] = json.loads(engine.check(bare_request(config, None, **how)))[
            "settings"
        ]
    except ConfigError:
        return None
    return settings
