"""The tables of a claims.toml, with the type of each key."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, PlainValidator, Tag
from pydantic_core import PydanticCustomError

from flashgc.files.forms import KIND, Form, kind_of, one_of
from flashgc.reproduction.checks import CHECKS
from flashgc.reproduction.claims import KINDS, WORDS
from flashgc.reproduction.experiment_form import Choices, Names, SomeTexts, Table, Text, Texts, Way
from flashgc.reproduction.results import PERCENT, TAKE

Amount = tuple[float, bool]
"""A number, and whether it is a share of a value."""

_AMOUNT = 'a share such as "5 %", or a number in the unit of the claim, not below 0'


def _amount(value: object) -> Amount:
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        amount = float(value.removesuffix(PERCENT) if isinstance(value, str) else value)
        if not 0 <= amount < float("inf"):
            raise ValueError
    except ValueError:
        raise PydanticCustomError("amount", "", {"what": _AMOUNT}) from None
    return (0.01 * amount, True) if isinstance(value, str) else (amount, False)


AnAmount = Annotated[Amount, PlainValidator(_amount), Field(description=_AMOUNT)]


class ToleranceForm(Form):
    """[tolerance], or the tolerance of one claim."""

    met: AnAmount
    near: AnAmount


class FileToleranceForm(ToleranceForm):
    """[tolerance] of the file, with the margin of its orders."""

    margin: AnAmount = (0.01, True)


class RemarkForm(Form):
    """[[claims.remarks]]."""

    at: Choices = Field(default_factory=dict)
    note: Text = ""
    why_not: Text | None = None
    backed_by: Texts = Field(default_factory=list)
    fitted_to: bool = False


class ClaimForm(Form):
    """The keys of every claim."""

    parts: SomeTexts = Field(alias="in")
    kind: Annotated[str, PlainValidator(one_of(KINDS))] = "value"
    place: Text
    what: Text
    unit: Text = ""
    source: Text = "paper"
    any_load: bool = False
    any_workload: bool = False
    note: Text = ""
    why_not: Text | None = None
    backed_by: Texts = Field(default_factory=list)


class MeasuredForm(ClaimForm):
    """The keys of a claim on a measure."""

    measure: Text
    at: Choices = Field(default_factory=dict)
    against: Choices = Field(default_factory=dict)
    way: Way = Field("value", alias="as")
    over: Names = Field(default_factory=list)
    take: Annotated[str, PlainValidator(one_of(TAKE))] = "mean"
    remarks: list[RemarkForm] = Field(default_factory=list)


class ValueForm(MeasuredForm):
    """A claim that states a number, or several along axes."""

    by: Texts = Field(default_factory=list)
    minus: Choices = Field(default_factory=dict)
    tolerance: ToleranceForm | None = None
    claimed: float | None = None
    values: Table | None = None
    fitted_to: bool = False


class OrderForm(MeasuredForm):
    """A claim on which value is larger."""

    claimed: Text
    word: Annotated[str, PlainValidator(one_of(WORDS))] = Field("below", alias="is")
    than: Choices = Field(default_factory=dict)
    than_measure: Text | None = None
    than_against: Choices | None = None
    bound: float | None = None
    along: Text | None = None
    tie: AnAmount | None = None
    most: bool = False
    margin: AnAmount | None = None


class CheckForm(ClaimForm):
    """A check that must hold in every run."""

    claimed: Text
    check: Annotated[str, PlainValidator(one_of(CHECKS)), Field(description="the name of a check")]


AnyClaim = Annotated[
    Annotated[ValueForm, Tag(f"{KIND}value")]
    | Annotated[OrderForm, Tag(f"{KIND}order")]
    | Annotated[CheckForm, Tag(f"{KIND}check")],
    Discriminator(lambda table: kind_of(table, "kind", KINDS, "value")),
]


class ClaimsForm(Form):
    """All of a claims.toml."""

    tolerance: Annotated[FileToleranceForm, Field(description="a table")]
    claims: list[AnyClaim] = Field(default_factory=list)
