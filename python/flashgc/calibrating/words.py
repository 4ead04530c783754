"""The result of a calibration in words and tables, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.calibrating import numbers, verdicts
from flashgc.calibrating.findings import LIMITS
from flashgc.calibrating.rows import AMPLIFICATION, EACH_IOPS, IOPS
from flashgc.formatting import units

Rows = list[list[str]]

_CANDIDATES = 8
"""Candidates in the table, the likeliest first."""
_LABELS = {IOPS: "IOPS", AMPLIFICATION: "write amplification", "p50": "median",
           **{one: one.replace(f"_{IOPS}", " IOPS") for one in EACH_IOPS}}  # fmt: skip


def label(metric: str) -> str:
    """A metric, or its kind, for people.

    >>> from flashgc.calibrating import words
    >>> words.label("write_p99_9"), words.label("read_iops"), words.label("p99_9")
    ('write p99.9', 'read IOPS', 'p99.9')
    """
    if metric in _LABELS:
        return _LABELS[metric]
    way, _, rest = metric.partition("_")
    return f"{way} {rest.replace('_', '.')}" if way in ("read", "write") else metric.replace(
        "_", ".")  # fmt: skip


def show(metric: str, value: float | None) -> str:
    """A value of a metric."""
    if metric in (IOPS, *EACH_IOPS):
        return units.count(value)
    return units.figures(value) if metric == AMPLIFICATION else units.time(value)


def head(found: Mapping[str, Any]) -> str:
    """The calibration in a sentence."""
    few, all_ = found["blocks"]
    scale = "all blocks" if few == all_ else f"{few:,} of {all_:,} blocks in each plane"
    count = units.counted(len(found["candidates"]), "candidate")
    tried = "" if found["one_queue"] is None else ", and of it as one queue"
    return (
        f"calibration of {found['device']}{tried}: {count}, "
        f"{units.counted(found['trials'], 'trial')}, seed {found['seed']}; runs with {scale}"
    )


def about(found: Mapping[str, Any]) -> str:
    """The fitted rows, by name."""
    judged = len(found["judged"])
    rest = (f"judged on {units.counted(judged, 'other row')}" if judged else
            "no other row judges them")  # fmt: skip
    return f"fitted on {'; '.join(found['fitted'])}; {rest}"


def verdict(found: Mapping[str, Any]) -> str:
    """The result in a sentence."""
    near = verdicts.near(found["candidates"])
    own = found["candidates"][0]["name"]
    if len(near) == 1:
        return f"The collector: {own}."
    return (f"The collector cannot be told: {'; or '.join(near)} give the same numbers within the "
            "noise.")  # fmt: skip


def candidates(found: Mapping[str, Any]) -> Rows:
    """The candidates, each with the measurement against it."""
    rows = [["candidate", "likelihood", "verdict", "measurement against it"]]
    for one in found["candidates"][:_CANDIDATES]:
        rows.append([one["name"], likelihood(one["share"]), one["verdict"], against(one["by"])])
    return rows


def others(found: Mapping[str, Any]) -> str:
    """The candidates that the table leaves out, in a sentence; or nothing."""
    rest = found["candidates"][_CANDIDATES:]
    if not rest:
        return ""
    return f"{units.counted(len(rest), 'further candidate')}: {'; '.join(o['name'] for o in rest)}"


def likelihood(share: float) -> str:
    """The share of a candidate in the likelihood of all.

    >>> from flashgc.calibrating import words
    >>> words.likelihood(0.93), words.likelihood(1e-9)
    ('93.0 %', '< 0.1 %')
    """
    return units.share(share) if share >= 0.001 else "< 0.1 %"


def against(by: Mapping[str, Any] | None) -> str:
    """The measurement against a candidate."""
    if by is None:
        return units.NOTHING
    metric = by["metric"]
    here = "no run" if by["here"] is None else show(metric, by["here"])
    return (f"{by['row']}: {label(metric)} {here} in place of {show(metric, by['measured'])} "
            f"(the best has {show(metric, by['best'])})")  # fmt: skip


def fitted(found: Mapping[str, Any]) -> Rows:
    """The numbers, with their intervals."""
    rows = [["number", "value", "alone", "with the others", "known"]]
    for one in found["numbers"]:
        key = one["key"]
        rows.append([
            key, numbers.words(key, one["value"]),
            _interval(key, one["low"], one["high"]),
            _interval(key, one["together_low"], one["together_high"]), one["known"],
        ])  # fmt: skip
    return rows


def _interval(key: str, low: float | None, high: float | None) -> str:
    ends = [numbers.words(key, end) if end is not None else "?" for end in (low, high)]
    return f"{ends[0]} to {ends[1]}"


def errors(found: Mapping[str, Any]) -> Rows:
    """The errors of each kind of number, fitted and judged."""
    limits = ", ".join(f"{100 * limit:g}" for limit in LIMITS)
    within = f"within {limits} %"
    rows = [["error of", "fitted: median", "worst", "judged: median", "worst", within]]
    for one in found["errors"]:
        cells = [label(one["kind"])]
        for part in (one["fitted"], one["judged"]):
            cells += ([units.NOTHING] * 2 if part is None
                      else [units.share(part["median"]), units.share(part["worst"])])  # fmt: skip
        judged = one["judged"]
        cells.append(units.NOTHING if judged is None else
                     f"{', '.join(map(str, judged['within']))} of {judged['count']}")  # fmt: skip
        rows.append(cells)
    return rows


def points(found: Mapping[str, Any], those: Sequence[Mapping[str, Any]] | None = None) -> Rows:
    """Each measured number next to the simulated one."""
    rows = [["row", "load", "", "number", "measured", "simulated", "error"]]
    for one in found["points"] if those is None else those:
        metric, error = one["metric"], one["error"]
        rows.append([
            one["row"], one["load"], "fitted" if one["fitted"] else "judged", label(metric),
            f"{'> ' if one['bound'] else ''}{show(metric, one['measured'])}",
            show(metric, one["simulated"]),
            units.NOTHING if error is None else f"{100 * error:+.1f} %",
        ])  # fmt: skip
    return rows


def further(found: Mapping[str, Any]) -> str:
    """The further measurement in a sentence; empty where none is needed."""
    one = found["further"]
    if one is None:
        return ""
    first, second = one["names"]
    if one["load"] is None:
        return f"No standard load runs with both {first} and {second}."
    metric = one["metric"]
    values = " and ".join(show(metric, value) for value in one["simulated"])
    text = (f"{label(metric)} of {one['load']} differs most between {first} and {second}: "
            f"{values}, {one['noise']:.1f} times the noise")  # fmt: skip
    if one["enough"]:
        return f"To tell them apart: {text}; {one['file']} measures it."
    return f"No standard load tells them apart: {text}."
