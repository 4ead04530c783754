"""From the tables of axes to their choices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flashgc._engine import ConfigError
from flashgc.axes.choice import WORDS, Choice, Range, Source, choice
from flashgc.axes.forms import ChoiceForm, ListedForm, RangeForm, SourceForm, ValuesForm
from flashgc.files import toml
from flashgc.files.forms import Form, shown

_LAYERS = {"gc.scheme": "scheme"}
"""Keys of a configuration with the meaning of a layer."""
COUNT_MAX = 1_000_000
"""Values of a range; more are a mistake of `step`."""

Given = Mapping[str, ChoiceForm | ListedForm] | Sequence[Any] | ValuesForm | RangeForm


def axis(
    form: Form, name: str, given: Given, table: str = "axes"
) -> Mapping[str, Choice] | Range:  # fmt: skip
    """The choices of an axis by their names; or its range, if that has no fixed values."""
    if isinstance(given, RangeForm):
        return _range(given, name)
    if isinstance(given, Mapping):
        return {one: _choice(one, own) for one, own in given.items()}
    if isinstance(given, ValuesForm):
        return _values(given, given.key or name, given.values, ("values",))
    return _values(form, name, given, (table, name))


def key(name: str, given: Given) -> str | None:
    """The one key of an axis; None for a table of choices, each with keys of its own."""
    if isinstance(given, ValuesForm | RangeForm):
        return given.key or name
    return None if isinstance(given, Mapping) else name


def check_keys(form: Form, axes: Mapping[str, Given], table: str) -> None:
    """Refuses two axes of one key, of which the first would have no effect."""
    what = "axes" if table == "axes" else "parameters"
    owners: dict[str, str] = {}
    for axis_, given in axes.items():
        own = key(axis_, given)
        if own is None:
            continue
        first = owners.setdefault(_LAYERS.get(own, own), axis_)
        if first != axis_:
            form.wrong(
                f"the {what} `{first}` and `{axis_}` both set `{own}`, and one of them would have "
                "no effect\n  = help: merge their values in one, or correct the `key` of one",
                table, axis_,
            )  # fmt: skip


def fixed(form: Form, name: str, given: Given) -> Mapping[str, Choice]:
    """The choices of an axis, which must have fixed values."""
    found = axis(form, name, given)
    if isinstance(found, Range):
        form.wrong(
            f"the axis `{name}` has no fixed values\n"
            "  = help: add `count` or `step`; only a sweep with [draw] draws values from a range",
            "axes", name,
        )  # fmt: skip
    return found


def source(form: SourceForm) -> Source:
    """One way to run a choice."""
    if form.differs is not None and form.fitted is not None:
        form.wrong("`differs` and `fitted` exclude each other: values of a fitted source are "
                   "predictions", "fitted")  # fmt: skip
    return Source(
        files=tuple(form.files), trace=form.trace, config=form.config, device=form.device,
        scheme=form.scheme, set=form.set, quick=form.quick, what=form.what, differs=form.differs,
        fitted=form.fitted,
    )  # fmt: skip


def _choice(name: str, form: ChoiceForm | ListedForm) -> Choice:
    label = name if form.label is None else form.label
    several = form.sources if isinstance(form, ListedForm) else [form]
    return Choice(name, label, tuple(map(source, several)), form.value, form.shown)


def _values(
    form: Form, key: str, values: Sequence[Any], place: tuple[str, ...]
) -> dict[str, Choice]:
    found: dict[str, Choice] = {}
    for at, value in enumerate(values):
        if key in WORDS and not isinstance(value, str):
            form.wrong(f"a {key} must be a text, got {shown(value)}", *place, at)
        _check_value(form, key, value, (*place, at))
        one = choice(key, value)
        if one.name in found:
            form.wrong(f"{shown(value)} is there twice", *place, at)
        found[one.name] = one
    return found


def _check_value(form: Form, key: str, value: object, place: tuple[str | int, ...]) -> None:
    """Refuses what no configuration can hold, such as a date or a number that is not finite."""
    try:
        toml.value(value, key)
    except ConfigError:
        kind = "" if isinstance(value, float | list | dict) else f" (a {type(value).__name__})"
        form.wrong(
            f"`{key}` cannot have the value {value}{kind}\n"
            "  = help: give finite numbers, texts, true or false, or lists and tables of them",
            *place,
        )


def _range(form: RangeForm, name: str) -> Mapping[str, Choice] | Range:
    found = Range(form.key or name, form.low, form.high, form.scale, form.unit)
    if found.key in WORDS:
        form.wrong(f"a {found.key} is not a number\n  = help: list its names: `values = [...]`",
                   "from")  # fmt: skip
    for end in ("from", "to"):
        number = form.low if end == "from" else form.high
        if not math.isfinite(number) or (form.scale == "log" and number <= 0):
            positive = "a positive number" if form.scale == "log" else "a finite number"
            form.wrong(f"`{end}` must be {positive}, got {shown(number)}", end)
    if form.high < form.low:
        form.wrong(f"`to` must not be below `from`, got {form.high:g} below {form.low:g}", "to")
    numbers = _numbers(form, found)
    if numbers is None:
        return found
    choices = [found.choice(number) for number in numbers]
    return {one.name: one for one in choices}


def _numbers(form: RangeForm, own: Range) -> list[float] | None:
    """The fixed values of a range; None for those between which every number is a value."""
    if form.step is not None and form.count is not None:
        form.wrong("`step` and `count` exclude each other", "step")
    if form.count is not None:
        if form.count > COUNT_MAX:
            form.wrong(f"the range has {form.count:,} values; at most {COUNT_MAX:,} are allowed",
                       "count")  # fmt: skip
        return _spread(own, form.count)
    if form.step is None and (form.scale == "log" or not own.is_whole):
        return None
    step = 1 if form.step is None else form.step
    if step <= 0 or form.scale == "log":
        why = "needs a linear scale" if step > 0 else f"must be above 0, got {shown(step)}"
        form.wrong(f"`step` {why}", "step")
    count = (form.high - form.low) / step + 1 + 1e-9
    if count >= COUNT_MAX + 1:
        form.wrong(f"the range has {math.floor(count):,} values; at most {COUNT_MAX:,} are allowed",
                   "step" if form.step is not None else "to")  # fmt: skip
    values = [form.low + step * at for at in range(math.floor(count))]
    return [_digits(value) for value in values]


def _spread(own: Range, count: int) -> list[float]:
    """Values at equal distances, or at equal ratios, both ends included."""
    shares = [at / (count - 1) if count > 1 else 0.0 for at in range(count)]
    if own.scale == "log":
        low, high = math.log(own.low), math.log(own.high)
        values = [math.exp(low + share * (high - low)) for share in shares]
    else:
        values = [own.low + share * (own.high - own.low) for share in shares]
    # Whole numbers may coincide, and are one value then.
    whole = [round(value) if own.is_whole else _digits(value) for value in values]
    return list(dict.fromkeys(whole))


def _digits(number: float) -> float:
    return number if isinstance(number, int) else float(f"{number:.6g}")
