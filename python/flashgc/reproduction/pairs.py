"""Numbers in pairs: the value of the paper or of another program, and the measured one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flashgc.charts import Chart, theme
from flashgc.reproduction import marks
from flashgc.reproduction.claims import Value
from flashgc.reproduction.experiment import Program
from flashgc.reproduction.verdict import (
    MET,
    NEAR,
    NOT_COMPARABLE,
    NOT_MET,
    NOT_PREDICTED,
    PREDICTED,
    Verdict,
)

COLOURS = {
    MET: theme.COLOURS[2], PREDICTED: theme.COLOURS[5], NEAR: theme.COLOURS[4],
    NOT_MET: theme.COLOURS[1], NOT_PREDICTED: theme.COLOURS[3], NOT_COMPARABLE: theme.COLOURS[6],
}  # fmt: skip
_ROW = 30
_WIDE = 50.0
"""Values that differ by more than this factor are drawn over a logarithmic axis."""


class Pair(NamedTuple):
    """A number that is known from elsewhere, and the one that was measured."""

    name: str
    unit: str
    here: float | None
    there: float
    verdict: str = ""
    measure: str = ""
    """The measure of both values, such as `iops`; empty where that is not known."""


def of_claims(verdicts: Sequence[Verdict], is_alone: bool) -> list[Pair]:
    """The numbers of claims; the place is in the name where it is not that of all of them."""
    found = []
    for one in verdicts:
        claim = one.claim
        if isinstance(claim.claimed, str) or isinstance(one.measured, str):
            continue
        name = claim.what if is_alone else f"{claim.place}: {claim.what}"
        measure = claim.test.quantity.measure if isinstance(claim.test, Value) else ""
        found.append(Pair(name, claim.unit, one.measured, claim.claimed, one.verdict, measure))
    return found


def charts(name: str, pairs: Sequence[Pair], there: str = marks.PAPER) -> list[Chart]:
    """A chart for each unit: a line for each pair, from one number to the other."""
    units = dict.fromkeys(one.unit for one in pairs)
    parts = [part for unit in units for part in _apart([one for one in pairs if one.unit == unit])]
    return [
        _chart(f"{name}-{at + 1}" if len(parts) > 1 else name, own[0].unit, own, there)
        for at, own in enumerate(parts)
    ]


def _apart(pairs: list[Pair]) -> list[list[Pair]]:
    """The pairs of one unit, by measure where counts and ratios would share a logarithmic axis."""
    measures = dict.fromkeys(one.measure for one in pairs)
    if pairs[0].unit or not _is_wide(pairs):
        return [pairs]
    return [[one for one in pairs if one.measure == measure] for measure in measures]


def of_program(name: str, program: Program) -> list[Chart]:
    """The output of another program, and the output of flashgc."""
    pairs = [Pair(one.what, one.unit, one.here, one.there) for one in program.rows]
    return charts(name, pairs, program.name)


def _chart(name: str, unit: str, pairs: Sequence[Pair], there: str) -> Chart:
    rows: list[tuple[Any, ...]] = []
    for at, one in enumerate(pairs):
        here = None if one.here is None else marks.brief(one.here)
        rows.append((at, one.name, here, marks.brief(one.there), marks.words(one.here, unit),
                     marks.words(one.there, unit), one.verdict or marks.HERE, there))  # fmt: skip
    names = ("at", "what", "here", "there", "here_text", "there_text", "verdict", "other")
    said = "; ".join(f"{row[1]}: {there} {row[5]}, measured {row[4]}" for row in rows)
    title = f"{there[:1].upper()}{there[1:]} and {marks.HERE}" + (
        f", {unit}" if unit and unit != "ns" else "")  # fmt: skip
    return Chart(name, title, _spec(pairs, unit, there), marks.columns(names, rows), said,
                 height=_ROW * len(pairs) + 12)  # fmt: skip


def _spec(pairs: Sequence[Pair], unit: str, there: str) -> dict[str, Any]:
    log = _is_wide(pairs)
    scale = {"type": "log", "nice": False} if log else {"zero": True}
    axis = theme.log_time_axis("", "x") if log and unit == "ns" else marks.quantity("", unit)
    axis = {**axis, "title": None}
    x = {"field": "here", "type": "quantitative", "scale": scale, "axis": axis}
    domain = [-0.85, len(pairs) - 0.35]
    y = {"field": "at", "type": "quantitative", "axis": None,
         "scale": {"domain": domain, "reverse": True, "nice": False}}  # fmt: skip
    tooltip = theme.tooltip({"what": "number", "there_text": there, "here_text": "measured",
                             "verdict": "verdict"})  # fmt: skip
    rule = {"mark": {"type": "rule", "color": "#888", "strokeWidth": 1.5},
            "encoding": {"x": x, "x2": {"field": "there"}}}  # fmt: skip
    names = {"mark": {"type": "text", "align": "left", "baseline": "middle", "dy": -13,
                      "limit": {"expr": "width"}, "fontSize": 11},
             "encoding": {"x": {"value": 0}, "text": {"field": "what"}}}  # fmt: skip
    points = {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
              "encoding": {"x": x, "color": _colour(pairs), "tooltip": tooltip}}  # fmt: skip
    other = _there(x, there, tooltip)
    # Marks of a column without any value would have an infinite extent.
    known = any(one.here is not None for one in pairs)
    layer = [rule, names, points, other] if known else [names, other]
    return {"encoding": {"y": y}, "layer": layer}


def _is_wide(pairs: Sequence[Pair]) -> bool:
    """Whether a linear axis would show the small values as zero."""
    values = [value for one in pairs for value in (one.here, one.there) if value is not None]
    return min(values) > 0 and max(values) > _WIDE * min(values)


def _colour(pairs: Sequence[Pair]) -> theme.Part:
    """By verdict, with a legend that marks these points as measured."""
    found = [word for word in COLOURS if any(one.verdict == word for one in pairs)]
    domain = found or [marks.HERE]
    legend = {"orient": "top", "title": None, "symbolType": "circle", "columns": 2,
              "labelExpr": f"datum.label == '{marks.HERE}' ? datum.label : "
                           f"'{marks.HERE}: ' + datum.label"}  # fmt: skip
    colours = [COLOURS.get(word, theme.COLOURS[0]) for word in domain]
    return {"field": "verdict", "type": "nominal", "legend": legend,
            "scale": {"domain": domain, "range": colours}}  # fmt: skip


def _there(x: theme.Part, there: str, tooltip: list[theme.Part]) -> theme.Part:
    """The other number: a white diamond."""
    legend = {"orient": "top", "title": None, "symbolSize": 60, "symbolOpacity": 1}
    shape = {"field": "other", "type": "nominal", "legend": legend,
             "scale": {"domain": [there], "range": ["diamond"]}}  # fmt: skip
    return {
        "mark": {"type": "point", "filled": True, "fill": "white", "stroke": marks.INK,
                 "strokeWidth": 1.1, "size": 50, "opacity": 1},
        "encoding": {"x": {**x, "field": "there"}, "shape": shape, "tooltip": tooltip},
    }  # fmt: skip
