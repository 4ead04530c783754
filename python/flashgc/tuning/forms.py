"""The tables of a TUNE.toml, with the type of each key; axes are in `axes.forms`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator

from flashgc.axes.forms import Axes, SourceForm, Text, Texts, whole
from flashgc.files.forms import Form, one_of

METHODS = ("tpe", "nsga-ii", "random")

Flag = Annotated[bool, Field(description="true or false")]


class SearchForm(Form):
    """[search]."""

    method: Annotated[str | None, PlainValidator(one_of(METHODS))] = None
    trials: Annotated[int | None, whole(1), Field(description="a whole number from 1")] = None
    batch: Annotated[int | None, whole(1), Field(description="a whole number from 1")] = None
    seed: Annotated[int | None, whole(0), Field(description="a whole number from 0")] = None
    built_in: Flag | None = None


class TuneForm(Form):
    """All of a TUNE.toml."""

    name: Text | None = None
    objectives: Texts | None = None
    constraints: Texts | None = None
    base: SourceForm = Field(default_factory=SourceForm)
    space: Axes | None = None
    search: SearchForm = Field(default_factory=SearchForm)
