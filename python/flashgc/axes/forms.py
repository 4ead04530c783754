"""The tables of axes in a TOML file, with the type of each key."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn

from pydantic import Discriminator, Field, PlainValidator, Tag
from pydantic_core import PydanticCustomError

from flashgc.axes.choice import SCALES
from flashgc.files.forms import KIND, Form, one_of


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise PydanticCustomError("number", "", {"what": "a number"})


def whole(least: int) -> PlainValidator:
    """A check for a whole number from `least`."""

    def check(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        raise PydanticCustomError("whole", "", {"what": f"a whole number from {least}"})

    return PlainValidator(check)


Text = Annotated[str, Field(description="a text")]
Texts = Annotated[list[str], Field(description="a list of texts")]
Table = Annotated[dict[str, Any], Field(description="a table")]
Number = Annotated[float, PlainValidator(_number), Field(description="a number")]
"""Whole numbers stay whole."""
Values = Annotated[list[Any], Field(min_length=1, description="a list of values, one or more")]


class SourceForm(Form):
    """[base], or a way to run a choice."""

    files: Texts = Field(default_factory=list)
    trace: Text | None = None
    config: Text | None = None
    device: Text | None = None
    scheme: Text | None = None
    set: Table = Field(default_factory=dict)
    quick: Table = Field(default_factory=dict)
    what: Text = ""
    differs: Text | None = None
    fitted: Text | None = None


class ChoiceForm(SourceForm):
    """[axes.AXIS.CHOICE] with one source, its own."""

    label: Text | None = None
    shown: Text = ""
    value: float | None = None


class ListedForm(Form):
    """[axes.AXIS.CHOICE] with a list of sources."""

    label: Text | None = None
    shown: Text = ""
    value: float | None = None
    sources: Annotated[list[SourceForm], Field(min_length=1)]


def _kind_of_choice(table: object) -> str:
    return KIND + ("listed" if isinstance(table, dict) and "sources" in table else "own")


AnyChoice = Annotated[
    Annotated[ChoiceForm, Tag(f"{KIND}own")] | Annotated[ListedForm, Tag(f"{KIND}listed")],
    Discriminator(_kind_of_choice),
]


class ValuesForm(Form):
    """An axis of some values of one key."""

    key: Text | None = None
    values: Values


class RangeForm(Form):
    """An axis of the numbers between two, for one key."""

    key: Text | None = None
    low: Number = Field(alias="from", description="a number")
    high: Number = Field(alias="to", description="a number")
    step: Number | None = None
    count: Annotated[int | None, whole(1)] = None
    scale: Annotated[str, PlainValidator(one_of(SCALES))] = "linear"
    unit: Text = ""


def _kind_of_axis(axis: object) -> str:
    if isinstance(axis, list):
        return f"{KIND}list"
    if isinstance(axis, dict):
        # A table under such a word is a choice of this name.
        words = {key for key, value in axis.items() if not isinstance(value, dict)}
        if words & {"from", "to", "step", "count"}:
            return f"{KIND}range"
        if words & {"values", "key"}:
            return f"{KIND}values"
    elif not isinstance(axis, list):
        return f"{KIND}single"
    return f"{KIND}choices"


def _single(_: object) -> NoReturn:
    raise PydanticCustomError("axis", "", {"what": "a list of values, or a table"})


AnyAxis = Annotated[
    Annotated[dict[str, AnyChoice], Field(min_length=1), Tag(f"{KIND}choices")]
    | Annotated[Values, Tag(f"{KIND}list")]
    | Annotated[ValuesForm, Tag(f"{KIND}values")]
    | Annotated[RangeForm, Tag(f"{KIND}range")]
    | Annotated[Any, PlainValidator(_single), Tag(f"{KIND}single")],
    Discriminator(_kind_of_axis),
]
"""A table of choices; or a list, some values or a range of one key."""

Axes = Annotated[
    dict[str, AnyAxis],
    Field(min_length=1, description="a table of axes, each with a choice or more"),
]
