"""Reads an experiment.toml: its tables by their models, then references between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from flashgc.axes import read as axes_read
from flashgc.files.forms import File, Form, near
from flashgc.reproduction.experiment import (
    ANY,
    Compared,
    Course,
    Experiment,
    Item,
    Measure,
    Program,
)
from flashgc.reproduction.experiment_form import (
    CurveForm,
    ExperimentForm,
    GridForm,
    ItemForm,
    LinesForm,
    ProgramForm,
)
from flashgc.reproduction.formula import Formula


def load(text: str, where: str) -> Experiment:
    """The experiment of a text, or an error that describes its problem."""
    return read(File.of(text, where).form(ExperimentForm))


def read(form: ExperimentForm) -> Experiment:
    """The experiment of a file."""
    axes = {axis: axes_read.fixed(form, axis, given) for axis, given in form.axes.items()}
    measures = {
        name: Measure(name, one.label, one.unit, formula(one, one.formula, "formula"))
        for name, one in form.measures.items()
    }
    about = form.paper
    base = axes_read.source(form.base)
    bare = Experiment(about.title, about.citation, about.url, base, axes, measures, ())
    seen: set[str] = set()
    for one in form.items:
        if one.id in seen:
            one.wrong(f'`id` is "{one.id}", but each figure or table needs an id of its own', "id")
        seen.add(one.id)
    items = tuple(_item(bare, one) for one in form.items)
    programs = tuple(_program(one) for one in form.programs)
    return replace(bare, items=items, story=tuple(about.story), programs=programs)


def _program(form: ProgramForm) -> Program:
    rows = tuple(Compared(one.what, one.unit, one.here, one.there, one.note) for one in form.rows)
    return Program(form.name, form.title, form.note, form.source, rows)


def formula(form: Form, text: str, key: str) -> Formula:
    """The formula of a key."""
    try:
        return Formula(text)
    except ValueError as reason:
        form.wrong(str(reason), key)


def axis_of(form: Form, experiment: Experiment, axis: str, *keys: str | int) -> str:
    """The axis that a key names, which must be one."""
    if axis not in experiment.axes:
        form.wrong(f'there is no axis "{axis}"\n{near(axis, list(experiment.axes), "axes")}', *keys)
    return axis


def where(
    form: Form, experiment: Experiment, given: Mapping[str, str | Sequence[str]]
) -> dict[str, list[str]]:
    """The choices of each axis that `at` names: one, a list of them, or `*`."""
    found = change(form, experiment, given, "at")
    missing = [axis for axis in experiment.axes if axis not in found]
    if missing:
        form.wrong(f"`at` lacks the axes {', '.join(missing)}", "at")
    return {axis: found[axis] for axis in experiment.axes}


def change(
    form: Form, experiment: Experiment, given: Mapping[str, str | Sequence[str]], key: str
) -> dict[str, list[str]]:
    """A choice, or a list of them, for some of the axes."""
    found = {}
    for axis, names in given.items():
        axis_of(form, experiment, axis, key, axis)
        known = experiment.axes[axis]
        found[axis] = list(known) if names == ANY else listed(names)
        for name in found[axis]:
            if name not in known:
                hint = near(name, list(known), "choices")
                form.wrong(f'`{key}.{axis}`: there is no "{name}"\n{hint}', key, axis)
    return found


def listed(names: str | Sequence[str]) -> list[str]:
    """One name as a list of it."""
    return [names] if isinstance(names, str) else list(names)


def single(
    form: Form, experiment: Experiment, given: Mapping[str, str | Sequence[str]], key: str
) -> dict[str, str]:
    """One choice for some of the axes."""
    found = change(form, experiment, given, key)
    for axis, names in found.items():
        if len(names) != 1:
            form.wrong(f"`{key}.{axis}` must be one choice, got {len(names)}", key, axis)
    return {axis: names[0] for axis, names in found.items()}


def _item(experiment: Experiment, form: ItemForm) -> Item:
    for at, name in enumerate(form.measures):
        if name not in experiment.measures:
            hint = near(name, list(experiment.measures), "measures")
            form.wrong(f'there is no measure "{name}"\n{hint}', "measures", at)
    if form.form == "bars" and len(form.measures) > 1:
        form.wrong(f"`measures` must be one alone for bars, got {len(form.measures)}", "measures")
    item = Item(
        id=form.id,
        title=form.title,
        form=form.form,
        measures=tuple(form.measures),
        rows=axis_of(form, experiment, form.rows, "rows"),
        columns=axis_of(form, experiment, form.columns, "columns"),
        at=where(form, experiment, form.at),
        against=single(form, experiment, form.against, "against"),
        way=form.way,
        mean=form.mean,
        note=form.note,
        x=form.x if isinstance(form, LinesForm) else "",
        course=_course(form) if isinstance(form, CurveForm) else None,
        over=form.over if isinstance(form, GridForm) else None,
        sensitivity=form.sensitivity,
    )
    _check(experiment, form, item)
    return item


def _check(experiment: Experiment, form: ItemForm, item: Item) -> None:
    axes = (item.rows, item.columns)
    if item.over is not None and item.over not in set(experiment.axes) - set(axes):
        form.wrong("`over` must be an axis that is neither `rows` nor `columns`, "
                   f'got "{item.over}"', "over")  # fmt: skip
    choices = experiment.axes[item.rows]
    if item.form == "lines" and any(choices[name].value is None for name in item.at[item.rows]):
        form.wrong(f"lines need a `value` of each choice of the axis {item.rows}", "rows")
    for axis, names in item.at.items():
        if axis not in (*axes, item.over) and len(names) > 1:
            form.wrong(f"`at.{axis}` must be one choice, got {len(names)}: the axis is neither "
                       "`rows` nor `columns`", "at", axis)  # fmt: skip
    if (item.way == "value") == bool(item.against):
        form.wrong("`against` and `as` (ratio, reduction or factor) go together",
                   "against" if item.against else "as")  # fmt: skip


def _course(form: CurveForm) -> Course:
    one = form.course
    return Course(one.column, formula(one, one.per, "per"), one.label, one.own_time)
