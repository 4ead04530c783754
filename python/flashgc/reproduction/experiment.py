"""The runs of a paper: axes with their choices, measures, and figures and tables made of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flashgc.reproduction.formula import Formula
from flashgc.reproduction.read import Reader, parse

Point = tuple[str, ...]
"""One run: a choice of each axis, in the order of the axes."""

Where = Mapping[str, Sequence[str]]
"""Which choices of each axis."""

FORMS = ("table", "bars", "lines", "cdf", "course", "peaks", "moves")
"""A table, groups of bars, lines over an axis of numbers, shares of requests by response time, a
curve over time, the longest responses over time, and pages moved by each collection; all but the
first are drawn."""
WAYS = ("value", "ratio", "reduction", "factor")
"""How a value is compared with that of another run: value, value / other, 1 - value / other, or
other / value."""

ANY = "*"


@dataclass(frozen=True)
class Source:
    """One way to run a choice: settings, and the files that the user's folder must have for it."""

    files: tuple[str, ...] = ()
    trace: str | None = None
    """A trace that is there, as a path."""
    config: str | None = None
    device: str | None = None
    scheme: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    what: str = ""
    differs: str | None = None
    """Why values of this source are not comparable with the paper's; None where they are."""


@dataclass(frozen=True)
class Choice:
    """A choice of an axis, with its name in the paper; the first available source counts."""

    name: str
    label: str
    sources: tuple[Source, ...]
    value: float | None = None
    """The number that it means, where the axis is one of numbers."""


@dataclass(frozen=True)
class Measure:
    """A value of one run."""

    name: str
    label: str
    unit: str
    formula: Formula


@dataclass(frozen=True)
class Item:
    """A figure or table of the paper: measures over the choices of two axes."""

    id: str
    title: str
    form: str
    measures: tuple[str, ...]
    at: Where
    rows: str
    columns: str
    against: Mapping[str, str]
    way: str
    mean: bool
    note: str
    x: str = ""
    """The title of the rows' numbers, where lines are drawn."""
    course: Course | None = None
    over: str | None = None
    """An axis over whose choices each value is a mean; one that is neither rows nor columns."""


@dataclass(frozen=True)
class Course:
    """A column of the rows over time, as a multiple of a value of the run."""

    column: str
    per: Formula
    label: str
    own_time: bool = False
    """Whether each chart has a time of its own; otherwise all have that of the longest run."""


@dataclass(frozen=True)
class Experiment:
    """All of an experiment.toml."""

    title: str
    citation: str
    url: str
    base: Source
    axes: Mapping[str, Mapping[str, Choice]]
    measures: Mapping[str, Measure]
    items: tuple[Item, ...]

    def points(self, where: Where) -> list[Point]:
        """The runs at these choices."""
        return list(itertools.product(*(where[axis] for axis in self.axes)))

    def moved(self, point: Point, change: Mapping[str, str]) -> Point:
        """The run that differs from this one in these choices."""
        return tuple(change.get(axis, own) for axis, own in zip(self.axes, point, strict=True))

    def label(self, point: Point, axes: Sequence[str] | None = None) -> str:
        """A run in words."""
        named = zip(self.axes, point, strict=True)
        labels = (
            self.axes[axis][name].label for axis, name in named if axes is None or axis in axes
        )
        return ", ".join(filter(None, labels))

    def item_points(self, item: Item) -> list[Point]:
        """All runs that a figure or table needs."""
        own = self.points(item.at)
        against = [self.moved(point, item.against) for point in own] if item.against else []
        return list(dict.fromkeys([*own, *against]))

    def where(self, reader: Reader, key: str) -> dict[str, list[str]]:
        """A choice, a list of them or `*` for each axis."""
        given = reader.mapping(key)
        for axis in given:
            if axis not in self.axes:
                reader.wrong(f"`{key}.{axis}`: there is no such axis, only {', '.join(self.axes)}")
        missing = [axis for axis in self.axes if axis not in given]
        if missing:
            reader.wrong(f"`{key}` lacks the axes {', '.join(missing)}")
        return {axis: self._chosen(reader, key, axis, given[axis]) for axis in self.axes}

    def change(self, reader: Reader, key: str) -> dict[str, list[str]]:
        """A choice, or a list of them, for some of the axes."""
        given = reader.mapping(key)
        for axis in given:
            if axis not in self.axes:
                reader.wrong(f"`{key}.{axis}`: there is no such axis, only {', '.join(self.axes)}")
        return {axis: self._chosen(reader, key, axis, names) for axis, names in given.items()}

    def single(self, reader: Reader, key: str) -> dict[str, str]:
        """One choice for some of the axes."""
        found = self.change(reader, key)
        for axis, names in found.items():
            if len(names) != 1:
                reader.wrong(f"`{key}.{axis}` must be one choice")
        return {axis: names[0] for axis, names in found.items()}

    def _chosen(self, reader: Reader, key: str, axis: str, given: object) -> list[str]:
        known = self.axes[axis]
        if given == ANY:
            return list(known)
        names: list[str] = given if isinstance(given, list) else [str(given)]
        for name in names:
            if name not in known:
                reader.wrong(f'`{key}.{axis}`: there is no "{name}", only {", ".join(known)}')
        return names


def load(text: str, where: str) -> Experiment:
    """The experiment of a text, or an error that describes its problem."""
    return read(parse(text, where))


def read(reader: Reader) -> Experiment:
    """The experiment of a table."""
    reader.mapping("own_trace")  # read where the user's own traces replace workloads
    about = reader.table("paper")
    title, citation, url = about.text("title"), about.text("citation"), about.text("url", "")
    about.done()
    bare = Experiment(title, citation, url, _source(reader.table("base")), _axes(reader), {}, ())
    measures = {name: _measure(name, inner) for name, inner in reader.named("measures").items()}
    experiment = Experiment(title, citation, url, bare.base, bare.axes, measures, ())
    items = tuple(_item(experiment, inner) for inner in reader.tables("items"))
    names = [item.id for item in items]
    if not items or len(set(names)) < len(names):
        reader.wrong("`items` must be at least one, each with an id of its own")
    reader.done()
    return Experiment(title, citation, url, bare.base, bare.axes, measures, items)


def _axes(reader: Reader) -> dict[str, dict[str, Choice]]:
    axes: dict[str, dict[str, Choice]] = {}
    for axis, choices in reader.mapping("axes").items():
        inner = Reader({axis: choices}, f"{reader.where}, [axes]").named(axis)
        axes[axis] = {name: _choice(name, choice) for name, choice in inner.items()}
    if not axes or not all(axes.values()):
        reader.wrong("`axes` must be at least one, each with a choice or more")
    return axes


def _choice(name: str, reader: Reader) -> Choice:
    label = reader.text("label", name)
    number = reader.raw("value", (int, float), "a number") if reader.has("value") else None
    value = None if number is None else float(number)
    listed = reader.tables("sources")
    if listed:
        reader.done()
        return Choice(name, label, tuple(_source(inner) for inner in listed), value)
    return Choice(name, label, (_source(reader),), value)


def _source(reader: Reader) -> Source:
    source = Source(
        files=tuple(reader.texts("files")),
        trace=reader.optional("trace"),
        config=reader.optional("config"),
        device=reader.optional("device"),
        scheme=reader.optional("scheme"),
        set=reader.mapping("set"),
        quick=reader.mapping("quick"),
        what=reader.text("what", ""),
        differs=reader.optional("differs"),
    )
    reader.done()
    return source


def _measure(name: str, reader: Reader) -> Measure:
    formula = Formula(reader.text("formula"), reader.where)
    measure = Measure(name, reader.text("label"), reader.text("unit", ""), formula)
    reader.done()
    return measure


def _item(experiment: Experiment, reader: Reader) -> Item:
    measures = tuple(reader.texts("measures"))
    for name in measures:
        if name not in experiment.measures:
            reader.wrong(f'there is no measure "{name}", only {", ".join(experiment.measures)}')
    form = reader.word("form", FORMS, "table")
    if not measures or (form == "bars" and len(measures) > 1):
        reader.wrong("`measures` must be one or more, and one alone for bars")
    axes = [reader.text("rows"), reader.text("columns")]
    for axis in axes:
        if axis not in experiment.axes:
            reader.wrong(f'there is no axis "{axis}", only {", ".join(experiment.axes)}')
    item = Item(
        id=reader.text("id"),
        title=reader.text("title"),
        form=form,
        measures=measures,
        at=experiment.where(reader, "at"),
        rows=axes[0],
        columns=axes[1],
        against=experiment.single(reader, "against"),
        way=reader.word("as", WAYS, "value"),
        mean=reader.flag("mean"),
        note=reader.text("note", ""),
        x=reader.text("x") if form == "lines" else "",
        course=_course(reader.table("course")) if form == "course" else None,
        over=reader.optional("over") if form in ("table", "bars", "lines") else None,
    )
    if item.over is not None and item.over not in set(experiment.axes) - set(axes):
        reader.wrong("`over` is an axis that is neither `rows` nor `columns`")
    if form == "lines" and any(
        experiment.axes[axes[0]][name].value is None for name in item.at[axes[0]]
    ):
        reader.wrong(f"lines need a `value` of each choice of the axis {axes[0]}")
    for axis, names in item.at.items():
        if axis not in (*axes, item.over) and len(names) > 1:
            reader.wrong(f"`at.{axis}` must be one choice: it is neither `rows` nor `columns`")
    if (item.way == "value") == bool(item.against):
        reader.wrong("`against` and `as` (ratio, reduction or factor) go together")
    reader.done()
    return item


def _course(reader: Reader) -> Course:
    course = Course(
        reader.text("column"), Formula(reader.text("per", "1"), reader.where),
        reader.text("label"), reader.flag("own_time"),
    )  # fmt: skip
    reader.done()
    return course
