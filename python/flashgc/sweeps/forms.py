"""The tables of a SWEEP.toml, with the type of each key; axes are in `axes.forms`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator

from flashgc.axes.forms import Axes, SourceForm, Text, Texts, whole
from flashgc.files.forms import Form, one_of

RANDOM, LATIN = "random", "latin-hypercube"
METHODS = (RANDOM, LATIN)

COUNT_MAX = 1_000_000


class DrawForm(Form):
    """[draw]."""

    method: Annotated[str, PlainValidator(one_of(METHODS)), Field(description="a method")]
    count: Annotated[int, whole(1), Field(description="a whole number from 1")]
    seed: Annotated[int, whole(0)] = 1
    axes: Annotated[Texts, Field(min_length=1)] | None = None


class SweepForm(Form):
    """All of a SWEEP.toml."""

    name: Text | None = None
    base: SourceForm = Field(default_factory=SourceForm)
    axes: Axes
    draw: DrawForm | None = None
    points: Annotated[
        list[dict[str, Any]], Field(min_length=1, description="a list of one table or more")
    ] | None = None  # fmt: skip
