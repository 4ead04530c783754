"""Colours, axes and texts that all charts share, on a screen and on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Part = dict[str, Any]
"""A part of a specification."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888", "#8c6bb1")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart, without its black and
yellow: one or the other cannot be seen on a dark or a light page."""
DASHES: tuple[Sequence[int], ...] = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2), (4, 4))
"""Where there are more names than colours, dashes distinguish them."""

POINTER = "pointer"
"""The name of layers that only react to the pointer: figures have none of them."""

FONT = "system-ui, sans-serif"
PAPER_FONT = "Liberation Sans, Helvetica, Arial, sans-serif"
_RULE = "rgba(128, 128, 128, 0.22)"


def screen() -> Part:
    """The look of charts in a page: its text colour, so that they are right in the dark."""
    text = {"labelColor": "currentColor", "titleColor": "currentColor"}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "legend": {"disable": True, **text, "labelFontSize": 12, "titleFontSize": 12,
                   "titleFontWeight": "normal", "labelOpacity": 0.9, "offset": 8,
                   "columnPadding": 12, "gradientLength": 130, "gradientThickness": 8},
        "axis": {**text, **_lines("rgba(128, 128, 128, 0.6)"), "labelFontSize": 12,
                 "titleFontSize": 12, "titleFontWeight": "normal", "labelOpacity": 0.8,
                 "titleOpacity": 0.8, "titlePadding": 8, "labelPadding": 4},
        "text": {"color": "currentColor", "fontSize": 12},
        "title": {"color": "currentColor", "fontSize": 12},
        "rule": {"color": "currentColor"},
        "line": {"strokeWidth": 1.5},
        "header": {**text, "labelFontSize": 12, "titleFontSize": 12,
                   "titleFontWeight": "normal", "labelPadding": 4, "titlePadding": 4},
    }  # fmt: skip


def paper() -> Part:
    """The look of figures for a column of 240 pt: text of 7 and 8 pt, thin lines, a legend."""
    return {
        "background": "white",
        "font": PAPER_FONT,
        "padding": 2,
        "view": {"stroke": None},
        "legend": {"orient": "top", "title": None, "labelFontSize": 7.5, "symbolSize": 40,
                   "symbolStrokeWidth": 1.4, "symbolOpacity": 1, "columnPadding": 6,
                   "rowPadding": 1, "offset": 4, "columns": 4, "labelLimit": 100,
                   "titleFontSize": 7.5, "titleFontWeight": "normal", "titleLimit": 80,
                   "gradientLength": 84, "gradientThickness": 6, "gradientStrokeWidth": 0},
        "axis": {"labelFontSize": 7, "titleFontSize": 8, "titleFontWeight": "normal",
                 "titlePadding": 3, "labelPadding": 2, "tickSize": 3, "gridWidth": 0.4,
                 "domainWidth": 0.6, "tickWidth": 0.6, **_lines("#666")},
        "line": {"strokeWidth": 0.8},
        "text": {"fontSize": 7},
        "title": {"fontSize": 8, "offset": 4},
        "header": {"labelFontSize": 7.5, "titleFontSize": 8, "titleFontWeight": "normal",
                   "labelPadding": 2, "titlePadding": 2},
        "point": {"size": 12},
    }  # fmt: skip


def _lines(dark: str) -> Part:
    return {"gridColor": _RULE, "domainColor": dark, "tickColor": dark}


def colour(field: str, names: Sequence[str], dashed: bool = False) -> Part:
    """The channels that give each name its colour, and its dashes where colours are too few."""
    scale = {"domain": list(names), "range": [stroke(at)[0] for at in range(len(names))]}
    found: Part = {"color": {"field": field, "type": "nominal", "scale": scale, "title": None}}
    if dashed and len(names) > len(COLOURS):
        dashes = {"domain": list(names), "range": [stroke(at)[1] for at in range(len(names))]}
        found["strokeDash"] = {"field": field, "type": "nominal", "scale": dashes, "title": None}
    return found


def stroke(at: int) -> tuple[str, list[int]]:
    """The colour and the dashes of a name by its place."""
    return COLOURS[at % len(COLOURS)], list(DASHES[at // len(COLOURS) % len(DASHES)])


def time_text(value: str) -> str:
    """An expression of Vega: a time in ns as text, such as `12.34 ms`."""
    return (
        f"{value} == 0 ? '0' : {value} >= 1e9 ? format({value} / 1e9, ',.4~r') + ' s' : "
        f"{value} >= 1e6 ? format({value} / 1e6, '.4~g') + ' ms' : "
        f"{value} >= 1e3 ? format({value} / 1e3, '.4~g') + ' us' : "
        f"format({value}, '.4~g') + ' ns'"
    )


def time_axis(title: str, **more: object) -> Part:
    """An axis of times in ns, with labels from ns to s."""
    return {"title": title, "labelExpr": time_text("datum.value"), **more}


def log_time_axis(title: str, scale: str) -> Part:
    """A logarithmic axis of times: labels at 1, 2 and 5 of each decade, or at the ones alone."""
    lead = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
    decades = f"log(domain('{scale}')[1] / domain('{scale}')[0]) / LN10"
    shown = f"{lead} == 1 || {decades} < 1 || ({decades} < 3 && ({lead} == 2 || {lead} == 5))"
    label = f"{shown} ? ({time_text('datum.value')}) : ''"
    return {"title": title, "labelExpr": label, "labelSeparation": 6}


def zoom(*channels: str) -> Part:
    """A parameter: drag with a mouse to move, Ctrl and the wheel or a pinch to zoom.

    The wheel alone scrolls the page, and so does a finger.
    """
    drag = "[pointerdown[event.pointerType === 'mouse'], window:pointerup] > window:pointermove!"
    wheel = "wheel![event.ctrlKey]"
    return {
        "name": "zoom", "bind": "scales",
        "select": {"type": "interval", "encodings": list(channels), "translate": drag,
                   "zoom": wheel},
    }  # fmt: skip


def tooltip(fields: Mapping[str, str], **formats: str) -> list[Part]:
    """The texts of a tooltip: the title of each field."""
    return [
        {"field": field, "title": title, "type": "nominal" if field not in formats
         else "quantitative", **({"format": formats[field]} if field in formats else {})}
        for field, title in fields.items()
    ]  # fmt: skip


def nearest(fields: Mapping[str, str]) -> Part:
    """A layer with a point at the row that is nearest to the pointer, and its tooltip.

    The tooltip is an expression: Vega-Lite 6.4 looks for the fields of a list in the wrong place,
    since the mark under the pointer is the region that is nearest to the point.
    """
    pairs = (f"'{title}': (datum.datum || datum)['{field}']" for field, title in fields.items())
    shown = {"value": {"expr": f"{{{', '.join(pairs)}}}"}}
    select = {"type": "point", "nearest": True, "on": "pointerover", "clear": "pointerout"}
    here = {"param": "hover", "empty": False, "value": 1}
    return {
        "name": POINTER,
        "params": [{"name": "hover", "select": select}],
        "mark": {"type": "point", "filled": True, "size": 50, "clip": True},
        "encoding": {"opacity": {"condition": here, "value": 0}, "tooltip": shown},
    }


def names_axis() -> Part:
    """An axis of names: no lines."""
    return {"title": None, "domain": False, "ticks": False, "labelLimit": 130}


def parts_legend() -> Part:
    """The legend of the parts of a bar, which is drawn in pages too."""
    return {"orient": "top", "title": None, "symbolType": "square"}


def title(text: str) -> Part:
    """A title above small multiples, at their left."""
    return {"text": text, "anchor": "start", "fontWeight": "normal", "frame": "group"}
