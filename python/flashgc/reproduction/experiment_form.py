"""The tables of an experiment.toml, with the type of each key."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, PlainValidator, Tag
from pydantic_core import PydanticCustomError

from flashgc.axes import forms
from flashgc.axes.forms import Axes, SourceForm
from flashgc.files.forms import KIND, Form, kind_of, one_of
from flashgc.reproduction.experiment import FORMS, WAYS


def _names(value: object) -> str | list[str]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return value
    raise PydanticCustomError("names", "", {"what": _NAMES})


_NAMES = "a text or a list of texts"

Text = forms.Text
Texts = forms.Texts
Table = forms.Table
Way = Annotated[str, PlainValidator(one_of(WAYS))]
SomeTexts = Annotated[list[str], Field(description="a list of texts", min_length=1)]
Names = Annotated[str | list[str], PlainValidator(_names), Field(description=_NAMES)]
Choices = Annotated[dict[str, Names], Field(description="a table of choices by axis")]


class PaperForm(Form):
    """[paper]."""

    title: Text
    citation: Text
    url: Text = ""
    story: Texts = Field(default_factory=list)


class MeasureForm(Form):
    """[measures.NAME]."""

    formula: Text
    label: Text
    unit: Text = ""


class ComparedForm(Form):
    """One of the `rows` of [[programs]]."""

    what: Text
    unit: Text = ""
    here: float
    there: float
    note: Text = ""


class ProgramForm(Form):
    """[[programs]]."""

    name: Text
    title: Text
    note: Text = ""
    source: Text
    rows: Annotated[list[ComparedForm], Field(min_length=1, description="a list of tables")]


class OwnTraceForm(Form):
    """[own_trace]."""

    axis: Text
    items: Texts = Field(default_factory=list)
    set: Table = Field(default_factory=dict)
    quick: Table = Field(default_factory=dict)


class CourseForm(Form):
    """[items.course]."""

    column: Text
    per: Text = "1"
    label: Text
    own_time: bool = False


class ItemForm(Form):
    """[[items]]."""

    id: Text
    title: Text
    form: Annotated[str, PlainValidator(one_of(FORMS))] = "table"
    measures: SomeTexts
    rows: Text
    columns: Text
    at: Choices
    against: Choices = Field(default_factory=dict)
    way: Way = Field("value", alias="as")
    mean: bool = False
    note: Text = ""
    sensitivity: bool = False


class GridForm(ItemForm):
    """A table or bars, whose values may be means over an axis."""

    over: Text | None = None


class LinesForm(GridForm):
    """Lines over an axis of numbers."""

    x: Text


class CurveForm(ItemForm):
    """A curve over time."""

    course: CourseForm = Field(default_factory=dict, validate_default=True)


def _kind_of_item(table: object) -> str:
    word = kind_of(table, "form", FORMS, "table").removeprefix(KIND)
    kinds = {"table": "grid", "bars": "grid", "lines": "lines", "course": "course"}
    return KIND + kinds.get(word, "other")


AnyItem = Annotated[
    Annotated[GridForm, Tag(f"{KIND}grid")]
    | Annotated[LinesForm, Tag(f"{KIND}lines")]
    | Annotated[CurveForm, Tag(f"{KIND}course")]
    | Annotated[ItemForm, Tag(f"{KIND}other")],
    Discriminator(_kind_of_item),
]


class ExperimentForm(Form):
    """All of an experiment.toml."""

    paper: Annotated[PaperForm, Field(description="a table")]
    own_trace: OwnTraceForm | None = None
    programs: list[ProgramForm] = Field(default_factory=list)
    base: SourceForm = Field(default_factory=SourceForm)
    axes: Axes
    measures: dict[str, MeasureForm] = Field(default_factory=dict)
    items: Annotated[list[AnyItem], Field(min_length=1, description="a list of one table or more")]
