"""The JSON Schema of a report, made from the declaration of its keys."""

from __future__ import annotations

import typing
from typing import Any

from flashgc.schema.advice_keys import AdviceKeys
from flashgc.schema.calibration_keys import CalibrateKeys
from flashgc.schema.explanation_keys import ExplanationKeys
from flashgc.schema.pts_keys import PtsKeys
from flashgc.schema.report_keys import Keys
from flashgc.schema.section import Open, Section, conditions, declared, required
from flashgc.schema.tuning_keys import TuneKeys

_WORDS: dict[Any, str] = {int: "integer", float: "number", str: "string", bool: "boolean"}


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report, as `flashgc run --json` prints it.

    Every key of a report is in it, and no report has a key that is not; `config` alone has parts
    whose keys follow the configuration. Attributes of :class:`flashgc.Report` have the same types.

    >>> import flashgc
    >>> schema = flashgc.report_schema()
    >>> latency = schema["$defs"]["Latency"]["properties"]
    >>> latency["p99_9"]
    {'type': ['integer', 'null']}
    """
    return _whole(Keys, "Report")


def advice_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the output of `flashgc advise --json`.

    >>> import flashgc
    >>> flashgc.advice_schema()["properties"]["commands"]
    {'type': 'array', 'items': {'type': 'string'}}
    """
    return _whole(AdviceKeys, "Advice")


def explanation_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of an explanation, as `flashgc explain --json` prints it.

    >>> import flashgc
    >>> flashgc.explanation_schema()["$defs"]["Step"]["required"]
    ['at_ns', 'step']
    """
    return _whole(ExplanationKeys, "Explanation")


def pts_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the results of `flashgc pts --json`.

    >>> import flashgc
    >>> flashgc.pts_schema()["$defs"]["PtsTest"]["required"]
    ['test', 'title', 'steady', 'parts']
    """
    return _whole(PtsKeys, "Pts")


def tuning_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a tuning, as `flashgc tune --json` prints it.

    >>> import flashgc
    >>> flashgc.tuning_schema()["$defs"]["TuneObjective"]["required"]
    ['metric', 'maximised']
    """
    return _whole(TuneKeys, "Tuning")


def calibration_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a calibration, as `flashgc calibrate --json` prints it.

    >>> import flashgc
    >>> flashgc.calibration_schema()["$defs"]["CalibrateStep"]["required"]
    ['value', 'fall']
    """
    return _whole(CalibrateKeys, "Calibration")


def _whole(keys: type[Section], title: str) -> dict[str, Any]:
    sections: dict[str, Any] = {}
    whole = _section(keys, sections)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **whole,
        "$defs": dict(sorted(sections.items())),
    }


def _section(section: type[Section], sections: dict[str, Any]) -> dict[str, Any]:
    about = {"description": (section.__doc__ or "").partition("\n")[0], "type": "object"}
    if issubclass(section, Open):
        return about
    others = getattr(section, "_OTHERS", None)
    if others is not None:
        return {**about, "additionalProperties": _type(others, sections)}
    keys = declared(section)
    return {
        **about,
        "properties": {name: _type(hint, sections) for name, hint in keys.items()},
        "required": required(section),
        "additionalProperties": False,
    }


def _type(hint: Any, sections: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    only = conditions(hint)
    if only:
        told = f"Only {only[0].when}."
        return {**_type(typing.get_args(hint)[0], sections), "description": told}
    if hint in _WORDS:
        return {"type": _WORDS[hint]}
    parts = typing.get_args(hint)
    if typing.get_origin(hint) is list:
        return {"type": "array", "items": _type(parts[0], sections)}
    if type(None) in parts:
        (some,) = (_type(part, sections) for part in parts if part is not type(None))
        if "type" in some:
            return {**some, "type": [some["type"], "null"]}
        return {"anyOf": [some, {"type": "null"}]}
    name = hint.__name__
    if name not in sections:
        sections[name] = {}
        sections[name] = _section(hint, sections)
    return {"$ref": f"#/$defs/{name}"}
