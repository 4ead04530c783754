"""The list of a bundle, `bundle.json`, with the type of each key."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class _Form(BaseModel):
    """Strict types; further keys are of later versions."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class PaperForm(_Form):
    """A reproduction."""

    paper: str
    quick: bool
    figures: list[str] | None
    traces: list[dict[str, Any]]
    runs: list[dict[str, Any]]


class BundleForm(_Form):
    """The whole list."""

    form: str
    form_version: int
    flashgc: str
    papers: list[PaperForm]
    files: dict[str, str]
