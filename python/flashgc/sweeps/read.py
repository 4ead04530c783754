"""From a SWEEP.toml, or a dictionary like one, to the choices of each point."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flashgc._engine import ConfigError
from flashgc.axes import naming, read
from flashgc.axes.choice import Choice, Range, Source, plain
from flashgc.files import arguments, reading, toml
from flashgc.files.forms import File, near
from flashgc.files.reading import JOB_FILES
from flashgc.running import inputs, policies
from flashgc.sweeps.columns import OWN, metrics
from flashgc.sweeps.forms import COUNT_MAX, LATIN, DrawForm, SweepForm

ANY = "*"
UNNAMED = "sweep"

Point = tuple[Choice, ...]
"""A choice of each axis, in the order of the axes."""
Axis = Mapping[str, Choice] | Range


@dataclass(frozen=True)
class Sweep:
    """All points of a sweep, not checked by the engine yet."""

    name: str
    base: Source
    axes: tuple[str, ...]
    points: Sequence[Point]

    def label(self, point: Point) -> str:
        """A point in words."""
        pairs = zip(self.axes, point, strict=True)
        return ", ".join(f"{axis} {choice.label or choice.name}" for axis, choice in pairs)


def load(given: str | os.PathLike[str] | Mapping[str, object]) -> Sweep:
    """The sweep of a file, a TOML text or a dictionary; an error has the place of each mistake."""
    folder = Path()
    if isinstance(given, Mapping):
        inputs.refuse_result(given)
        toml.check_depth(given)
        _check_schemes(given)
        text, where, name = toml.dumps(given), "(dictionary)", UNNAMED
    elif isinstance(given, str) and "\n" in given:
        text, where, name = given, "(text)", UNNAMED
    else:
        arguments.check_path("a sweep", given)
        path = Path(given)
        text, where = reading.read_text(path), reading.printable(path)
        name = naming.of_file(path.stem, UNNAMED)
        folder = path.parent
    if not isinstance(given, Mapping) and where.endswith(JOB_FILES):
        raise ConfigError(f"error: {where} is a job file of fio, and not a sweep\n"
                          "  = help: name it in a sweep, as in `[base] set = { workload.fio = "
                          f'"{where}" }}`')  # fmt: skip
    form = File.of(text, where).form(SweepForm)
    return _sweep(form, form.name or name, folder)


def _check_schemes(given: object) -> None:
    """Refuses a scheme in Python, wherever it is: points are known by texts."""
    if isinstance(given, policies.Scheme):
        policies.check_named(given, "a sweep")
    elif isinstance(given, Mapping):
        for one in given.values():
            _check_schemes(one)
    elif isinstance(given, list | tuple):
        for one in given:
            _check_schemes(one)


def _sweep(form: SweepForm, name: str, folder: Path) -> Sweep:
    if not naming.NAME.fullmatch(name):
        form.wrong(
            f"`name` must be letters, digits, dots, dashes and underscores, got {name!r}", "name"
        )
    axes: dict[str, Axis] = {}
    for axis, given in form.axes.items():
        if axis in OWN:
            form.wrong(
                f"`{axis}` is the name of a column of the results\n"
                "  = help: name the axis differently, and give it `key`", "axes", axis,
            )  # fmt: skip
        own = read.key(axis, given)
        if not axis.strip():
            form.wrong("an axis needs a name\n  = help: name the key, or give a name and `key`",
                       "axes", axis)  # fmt: skip
        if metrics().get(axis) in ("int64", "float64") and own != axis:
            form.wrong(
                f"`{axis}` is the name of a metric of the results\n"
                "  = help: name the axis differently", "axes", axis,
            )  # fmt: skip
        found = read.axis(form, axis, given)
        axes[axis] = found if isinstance(found, Range) else _in_folder(found, folder)
    read.check_keys(form, form.axes, "axes")
    if form.points is not None:
        if form.draw is not None:
            form.wrong("[draw] and [[points]] exclude each other", "draw")
        points = _listed(form, axes)
    else:
        points = _drawn(form, axes)
    if len(points) > COUNT_MAX:
        raise ConfigError(f"error: {len(points):,} points; at most {COUNT_MAX:,} are allowed")
    base = _placed(read.source(form.base), folder)
    return Sweep(name, base, tuple(axes), points)


def _in_folder(choices: Mapping[str, Choice], folder: Path) -> dict[str, Choice]:
    return {
        name: replace(one, sources=tuple(_placed(source, folder) for source in one.sources))
        for name, one in choices.items()
    }


def _placed(source: Source, folder: Path) -> Source:
    """Files are in the folder of the sweep."""
    config, trace = source.config, source.trace
    scheme, device = inputs.placed(source.scheme, folder), inputs.placed(source.device, folder)
    if config is not None and (folder / config).is_file():
        config = os.fspath(folder / config)
    trace = None if trace is None else os.fspath(inputs.placed_trace(trace, folder))
    return replace(source, config=config, device=device, scheme=scheme, trace=trace)


def _fixed(form: SweepForm, axes: Mapping[str, Axis], axis: str) -> list[Choice]:
    found = axes[axis]
    if isinstance(found, Range):
        form.wrong(
            f"the axis `{axis}` has no fixed values\n"
            "  = help: add `count` or `step`, or a table [draw] that draws values from it",
            "axes", axis,
        )  # fmt: skip
    return list(found.values())


def _listed(form: SweepForm, axes: Mapping[str, Axis]) -> list[Point]:
    """The points of [[points]]: of an axis that one does not name, every choice."""
    points: dict[tuple[str, ...], Point] = {}
    for at, table in enumerate(form.points or ()):
        for axis in table:
            if axis not in axes:
                form.wrong(f'there is no axis "{axis}"\n{near(axis, list(axes), "axes")}',
                           "points", at, axis)  # fmt: skip
        columns = [_named(form, axes, axis, at, table.get(axis, ANY)) for axis in axes]
        _check_count([len(column) for column in columns])
        for point in itertools.product(*columns):
            points[tuple(one.name for one in point)] = point
    return list(points.values())


def _named(
    form: SweepForm, axes: Mapping[str, Axis], axis: str, at: int, given: object
) -> list[Choice]:
    """The choices that a point names: one, a list of them, or `*`."""
    known = {one.name: one for one in _fixed(form, axes, axis)}
    if given == ANY:
        return list(known.values())
    if given == []:
        form.wrong(f"`{axis}` has no choice in this point: its list is empty\n"
                   f"  = help: choices: {', '.join(known)}; omit the key for all of them",
                   "points", at, axis)  # fmt: skip
    names = [_name(one) for one in (given if isinstance(given, list) else [given])]
    for name in names:
        if name not in known:
            form.wrong(f'`{axis}`: there is no "{name}"\n{near(name, list(known), "choices")}',
                       "points", at, axis)  # fmt: skip
    return [known[name] for name in names]


def _name(given: object) -> str:
    """The name of a choice; that of a value of no configuration, such as nan, is none of them."""
    try:
        return plain(given)
    except ConfigError:
        return str(given)


def _drawn(form: SweepForm, axes: Mapping[str, Axis]) -> list[Point]:
    """The grid of all axes; the axes of [draw] together are one axis of it."""
    draw = form.draw
    names = [] if draw is None else list(axes) if draw.axes is None else draw.axes
    for at, axis in enumerate(names):
        if axis not in axes and draw is not None:
            draw.wrong(f'there is no axis "{axis}"\n{near(axis, list(axes), "axes")}', "axes", at)
    others = [axis for axis in axes if axis not in names]
    columns = [_fixed(form, axes, axis) for axis in others]
    counts = [len(column) for column in columns]
    _check_count([*counts, draw.count if draw else 1], draw is not None)
    draws = _draws(draw, {axis: axes[axis] for axis in names}) if draw and names else [{}]
    points: dict[tuple[str, ...], Point] = {}
    for combination in itertools.product(*columns):
        for drawn in draws:
            chosen = {**dict(zip(others, combination, strict=True)), **drawn}
            point = tuple(chosen[axis] for axis in axes)
            points[tuple(one.name for one in point)] = point
    return list(points.values())


def _check_count(counts: Sequence[int], is_drawn: bool = False) -> None:
    total = 1
    for count in counts:
        total *= count
    if total > COUNT_MAX:
        help_ = "lower the `count` of [draw]" if is_drawn else "draw some of them with [draw]"
        raise ConfigError(
            f"error: the axes have {total:,} points; at most {COUNT_MAX:,} are allowed\n"
            f"  = help: {help_}"
        )


def _draws(draw: DrawForm, axes: Mapping[str, Axis]) -> list[dict[str, Choice]]:
    """A choice of each of these axes for each draw."""
    columns = {}
    for axis, choices in axes.items():
        # A stream of its own, so that another axis changes nothing.
        stream = random.Random(f"{draw.seed}/{axis}")
        shares = _shares(stream, draw.count, draw.method == LATIN)
        columns[axis] = [_at(choices, share) for share in shares]
    return [{axis: column[at] for axis, column in columns.items()} for at in range(draw.count)]


def _shares(stream: random.Random, count: int, is_latin: bool) -> list[float]:
    """Numbers from 0 to 1; in a Latin hypercube one in each of `count` equal parts."""
    if not is_latin:
        return [stream.random() for _ in range(count)]
    order = sorted((stream.random(), part) for part in range(count))
    return [(part + stream.random()) / count for _, part in order]


def _at(axis: Axis, share: float) -> Choice:
    if isinstance(axis, Range):
        return axis.at(share)
    choices = list(axis.values())
    return choices[min(int(share * len(choices)), len(choices) - 1)]
