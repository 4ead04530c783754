"""One chart: a Vega-Lite specification, the data that it draws, and a description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flashgc.charts import theme

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SHOWN = "shown"
"""The parameter with the names that the legend of the page has switched on."""
DATA = "rows"

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Chart:
    """A chart of a page, and a figure of a paper.

    >>> from flashgc import charts
    >>> x = {"field": "utilisation", "type": "quantitative"}
    >>> y = {"field": "amplification", "type": "quantitative"}
    >>> line = {"mark": "line", "encoding": {"x": x, "y": y}}
    >>> data = {"utilisation": [0.5, 0.8], "amplification": [1.2, 2.6]}
    >>> one = charts.Chart("waf", "Write amplification", line, data, "It rises.")
    >>> one.rows()
    [{'utilisation': 0.5, 'amplification': 1.2}, {'utilisation': 0.8, 'amplification': 2.6}]
    """

    name: str
    """Letters, digits and hyphens; unique in its page, and the name of its file."""
    title: str
    spec: Mapping[str, Any]
    """A view or layers, without data, size and title."""
    columns: Columns
    """The data: columns of equal length. None is a missing value."""
    text: str
    """A description for readers who cannot see it."""
    note: str = ""
    """A line below it, such as how the data was reduced."""
    series: str = ""
    """The column with the names that the legend of the page switches on and off.

    A chart that has no such column appears and disappears with its names."""
    names: Sequence[str] = field(default=())
    """These names, in order."""
    height: int = 260
    wide: bool = False
    """Whether it has a row of its own."""
    linked: Sequence[str] = field(default=())
    """Signals that charts of a page share, such as the zoom of a common axis: `zoom_time_ns`."""

    def rows(self) -> list[dict[str, Any]]:
        """The data, a dictionary for each row."""
        names = list(self.columns)
        return [
            dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)
        ]

    def specification(self) -> dict[str, Any]:
        """The whole specification except its data, which is named `rows`, as wide as its place."""
        size = {} if "facet" in self.spec else {"width": "container", "height": self.height}
        return {
            "$schema": SCHEMA,
            "description": self.text,
            "data": {"name": DATA},
            **size,
            **self.spec,
            **self._switched(),
        }

    def _switched(self) -> dict[str, Any]:
        """The filter for series that the legend has switched off."""
        if self.series not in self.columns:
            return {}
        shown = {"name": SHOWN, "value": list(self.names)}
        kept = {"filter": f"indexof({SHOWN}, datum['{self.series}']) >= 0"}
        return {
            "params": [shown, *self.spec.get("params", [])],
            "transform": [kept, *self.spec.get("transform", [])],
        }

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """Notebooks draw the specification themselves."""
        whole = {**self.specification(), "data": {"values": self.rows()}, "title": self.title,
                 "width": 520, "config": {**theme.paper(), "background": None}}  # fmt: skip
        return {"application/vnd.vegalite.v5+json": whole, "text/plain": f"Chart({self.name})"}
