"""The function `pts`: the tests of the specification on one device."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from flashgc._engine import ConfigError
from flashgc.components.component import Component, is_device
from flashgc.files import arguments
from flashgc.formatting import units
from flashgc.pages import provenance
from flashgc.running import building, inputs, parallel
from flashgc.snia import definitions, findings, steady
from flashgc.snia.definitions import Form
from flashgc.snia.measuring import Rig
from flashgc.snia.procedures import PROCEDURES, Outstanding, Part
from flashgc.snia.results import Pts

SHORT_NS = 5 * definitions.SECOND_NS
"""The length of a round of the shortened form."""
_PURGED = ('precondition.fill="none"', "precondition.overwrite=0")
"""The settings of a drive as new."""
_UNITS_NS = {"us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
_LEAST_NS = 10**6


class PtsProgress(NamedTuple):
    """The progress of a test."""

    test: str
    """Its name."""
    phase: str
    """What it does: `preconditioning`, `round 3`, `histogram`; and `end`."""
    done: float
    """From 0 to 1, of this step alone."""
    tests_done: int
    """Tests that have ended."""
    tests: int
    """All tests."""


ProgressCallback = Callable[[PtsProgress], object]
_DEMAND_MIX = 0.65
_AT = Outstanding(threads=1, depth=32)
_WITH_REQUESTS = {"wsat", "iops", "hir"}
"""Tests whose number of requests at a time is chosen."""


def pts(
    config: building.Config,
    *,
    tests: Sequence[str] | None = None,
    short: bool = False,
    round: str | None = None,
    rounds: int = steady.ROUNDS_MAX,
    active_range: float = 1.0,
    threads: int = _AT.threads,
    depth: int = _AT.depth,
    demand_mix: float = _DEMAND_MIX,
    scheme: building.AnyScheme | None = None,
    device: building.PathLike | None = None,
    set: building.Settings | None = None,
    unset: Iterable[str] | None = None,
    seed: int | None = None,
    jobs: int = 2,
    progress: ProgressCallback | None = None,
) -> Pts:
    """Carries out tests of SNIA's Performance Test Specification on a simulated drive.

    docs/pts.md has the definitions.

    Args:
        config: a device, by name or as a file; or a configuration, as for :func:`flashgc.run`,
            whose workload and preconditioning are ignored: each test begins with a drive as new.
        tests: some of `wsat`, `iops`, `tp`, `lat`, `hir`, `xsr`, `dirth`; by default all.
        short: rounds of 5 s, in place of 1 min.
        round: another length, up to `"1 min"`.
        rounds: the most of a test without steady state, up to 25.
        active_range: the share of the user capacity that requests go to.
        threads: of random requests, for `wsat`, `iops` and `hir`.
        depth: requests of each thread at a time.
        demand_mix: the share of reads of `dirth`.
        scheme: as for :func:`flashgc.run`.
        device: as for :func:`flashgc.run`.
        set: as for :func:`flashgc.run`; not of the workload, and not of preconditioning.
        unset: as for :func:`flashgc.run`.
        seed: as for :func:`flashgc.run`.
        jobs: tests in parallel, on which no result depends.
        progress: called with a :class:`flashgc.PtsProgress`.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "device.pages_per_block": 16}
    >>> found = flashgc.pts("enterprise-tlc", tests=["tp"], round="50 ms", set=small)
    >>> found.tests[0].steady, [part.name for part in found.tests[0].parts]
    (True, ['1024 KiB', '128 KiB'])

    """
    arguments.check_function(progress=progress)
    names = _tests(tests)
    short = arguments.switch("short", short)
    sets = _settings(set)

    def drive() -> Component:
        return Component(config, scheme=scheme, device=device, set=sets, unset=unset, seed=seed,
                         parts=False)  # fmt: skip

    at = Outstanding(inputs.whole("threads", threads, 1), inputs.whole("depth", depth, 1)).checked()
    if device is not None and is_device(config):
        raise ConfigError(
            f"error: two devices: {config} and {os.fspath(device)}\n"
            "  = help: give one of them, or a configuration with --device"
        )
    about = _begun(drive).statistics()
    form = _form(short, round, rounds, active_range, demand_mix, about.seed)
    _check_effects(names, form, at)
    ended: list[str] = []

    def one(number: int, going: parallel.Going) -> list[Part]:
        name = names[number]

        def purged(part: str) -> Rig:
            def tell(phase: str, done: float) -> None:
                going()
                if progress is not None:
                    progress(PtsProgress(name, f"{part} {phase}".strip(), done, len(ended),
                                         len(names)))  # fmt: skip

            return Rig(f"{name} {part}", drive(), form, tell)

        found = PROCEDURES[name](purged, at)
        ended.append(name)
        tell_end(name)
        return found

    def tell_end(name: str) -> None:
        if progress is not None:
            progress(PtsProgress(name, "end", 1.0, len(ended), len(names)))

    parts = dict(zip(names, parallel.each(len(names), jobs, one), strict=True))
    again = provenance.call("pts", [config], {
        "tests": None if tests is None else names, "short": short, "round": round,
        "rounds": None if rounds == steady.ROUNDS_MAX else rounds,
        "active_range": None if active_range == 1.0 else active_range,
        "demand_mix": None if demand_mix == _DEMAND_MIX else demand_mix,
        "threads": None if threads == _AT.threads else threads,
        "depth": None if depth == _AT.depth else depth,
        "scheme": scheme, "device": device, "set": inputs.settings(set),
        "unset": inputs.keys(unset), "seed": seed,
    })  # fmt: skip
    values = {
        "version": about.version, "specification": definitions.SPECIFICATION,
        "device": about.device, "scheme": about.scheme, "seed": about.seed,
        "config_hash": about.config_hash, "user_bytes": about.capacity.exported_bytes,
        "page_bytes": about.capacity.exported_bytes // about.capacity.exported_pages,
        "form": {
            "round_ns": form.round_ns, "rounds_max": form.rounds_max,
            "active_range": form.active_range, "demand_mix": form.demand_mix, **at._asdict(),
            "differences": form.differences(names),
        },
        "tests": [findings.of_test(name, parts[name]) for name in names],
    }  # fmt: skip
    return Pts(values, parts, about, again)


def _begun(drive: Callable[[], Component]) -> Component:
    """The first drive; a name that is none of a file may be meant as one of a device."""
    try:
        return drive()
    except ConfigError as error:
        if "there is no such file" not in str(error):
            raise
        raise ConfigError(f"{error}; `flashgc devices` lists the devices") from None


def _tests(given: Sequence[str] | None) -> list[str]:
    """The tests in the order of the specification."""
    if given is None:
        return list(definitions.TESTS)
    known = ", ".join(definitions.TESTS)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) or not [*given]:
        raise ConfigError(
            f"error: tests must be a list with one name or more\n  = help: the tests are {known}"
        )
    for name in given:
        if name not in definitions.TESTS:
            raise ConfigError(
                f"error: there is no test {name!r} here\n  = help: the tests are {known}"
            )
    return [name for name in definitions.TESTS if name in given]


def _check_effects(names: Sequence[str], form: Form, at: Outstanding) -> None:
    """Refuses what none of the tests has."""
    told = f"and the tests are {', '.join(names)}\n  = help: omit"
    if form.demand_mix != _DEMAND_MIX and "dirth" not in names:
        raise ConfigError(
            f"error: the demand mix {definitions.mix(form.demand_mix)} has no effect: only dirth "
            f"has one, {told} it, or add dirth to the tests"
        )
    if at != _AT and not _WITH_REQUESTS & {*names}:
        raise ConfigError(
            f"error: {at.threads:,} x {at.depth:,} (threads x depth) have no effect: only wsat, "
            f"iops and hir have a choice, {told} them, or add one of these tests"
        )


def _settings(given: building.Settings | None) -> list[str]:
    """The settings of a purged drive; none may change what the specification sets."""
    sets = inputs.settings(given)
    for text in sets:
        part = text.partition(".")[0].partition("=")[0].strip()
        if part in ("precondition", "workload"):
            raise ConfigError(
                f"error: `{text}` sets what the specification itself defines: each test begins "
                "with a drive as new, and has requests of its own\n  = help: omit it; "
                "settings of the device (`device.`) and of the scheme (`gc.`) have an effect"
            )
    return [*sets, *_PURGED]


def _form(
    short: bool, round_: str | None, rounds: int, active_range: float, demand_mix: float, seed: int
) -> Form:
    if short and round_ is not None:
        raise ConfigError(
            f'error: short has rounds of 5 s, and round = "{round_}" names another length\n'
            "  = help: omit one of them"
        )
    length = definitions.MINUTE_NS if round_ is None else _length(round_)
    most = steady.ROUNDS_MAX
    if not steady.WINDOW <= inputs.whole("rounds", rounds, 1) <= most:
        asked = units.counted(rounds, "round")
        raise ConfigError(
            f"error: a test of {asked} is not possible: the measurement window has "
            f"{steady.WINDOW}, and a test ends after {most}\n  = help: give a number from "
            f"{steady.WINDOW} to {most}"
        )
    if not (isinstance(active_range, (int, float)) and 0 < active_range <= 1):
        raise ConfigError(
            f"error: an active range of {active_range!r} is not possible\n  = help: give a share "
            "of the user capacity above 0 and up to 1, such as 0.75"
        )
    if not (isinstance(demand_mix, (int, float)) and 0 <= demand_mix <= 1):
        raise ConfigError(
            f"error: a share of reads of {demand_mix!r} is not possible\n  = help: give a share "
            "from 0 to 1 as demand_mix, such as 0.65"
        )
    length = SHORT_NS if short else length
    return Form(length, rounds, float(active_range), float(demand_mix), seed)


def _length(text: str) -> int:
    """The length of a round, in ns."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min)\s*", str(text))
    length = int(float(found[1]) * _UNITS_NS[found[2]]) if found else 0
    if not _LEAST_NS <= length <= definitions.MINUTE_NS:
        raise ConfigError(
            f"error: a round cannot last {text!r}\n  = help: give a time from 1 ms to 1 min (the "
            'length of the specification), such as "5 s"'
        )
    return length
