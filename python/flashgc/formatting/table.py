"""A small table: columns by name, each a NumPy array, all of one length.

It is a dictionary, so that `pandas.DataFrame`, `polars.DataFrame` and `pyarrow.table` take it.
"""

from __future__ import annotations

import html
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_ROWS_SHOWN = 60
"""The most rows that are shown."""
_ENDS = 10
"""Rows that are shown of each end of a longer table."""


class Table(dict[str, "NDArray[Any]"]):
    """Columns by name.

    >>> from flashgc.formatting.table import Table
    >>> table = Table({"kind": ["read", "write"], "p50": [25_000.0, None]})
    >>> table["p50"]
    array([25000.,    nan])
    >>> len(table), table.rows
    (2, 2)

    A data frame has the same columns: `pandas.DataFrame(table)`, `polars.DataFrame(table)`. More
    than 60 rows are shown as the first and the last 10.
    """

    def __init__(self, columns: Mapping[str, Sequence[object] | NDArray[Any]]) -> None:
        super().__init__({name: _array(column) for name, column in columns.items()})

    def __eq__(self, other: object) -> bool:
        """Whether both have the same columns with equal values; NaN is equal to NaN."""
        if not isinstance(other, Mapping):
            return NotImplemented
        return list(self) == list(other) and all(
            _are_equal(column, other[name]) for name, column in self.items()
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values()), ()))

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas need not be installed
        """The table as a `pandas.DataFrame`; an ImportError if pandas is not installed."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from None
        return pandas.DataFrame(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as plain lists; NaN where a metric is undefined.

        >>> from flashgc.formatting.table import Table
        >>> Table({"kind": ["read"], "p50": [25_000]}).to_dict()
        {'kind': ['read'], 'p50': [25000]}
        """
        return {name: column.tolist() for name, column in self.items()}

    def __repr__(self) -> str:
        lines = ["  ".join(row) for row in _padded(self._text())]
        return "\n".join([*lines, *self._note()])

    def _repr_html_(self) -> str:
        head, *body = self._text()
        cells = ["".join(f"<th>{html.escape(cell)}</th>" for cell in head)]
        cells += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in body]
        note = "".join(f"<p>{text}</p>" for text in self._note())
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + f"</table>{note}"

    def _text(self) -> list[list[str]]:
        """The names and the rows that are shown, as texts."""
        columns = [[name, *_cells(array)] for name, array in self.items()]
        return [list(row) for row in zip(*columns, strict=True)] or [[]]

    def _note(self) -> list[str]:
        return [f"{self.rows:,} rows"] if self.rows > _ROWS_SHOWN else []


def _cells(column: NDArray[Any]) -> list[str]:
    """The values that are shown: those of a long column at its ends."""
    if len(column) <= _ROWS_SHOWN:
        return [f"{item}" for item in column]
    ends = [f"{item}" for item in (*column[:_ENDS], *column[-_ENDS:])]
    return [*ends[:_ENDS], "…", *ends[_ENDS:]]


def _array(column: Sequence[object] | NDArray[Any]) -> NDArray[np.generic]:
    import numpy as np

    if any(item is None for item in column):
        return np.array([np.nan if item is None else item for item in column], dtype=np.float64)
    return np.asarray(column)


def _are_equal(one: NDArray[Any], other: object) -> bool:
    import numpy as np

    other = np.asarray(other)
    if one.shape != other.shape:
        return False
    has_nan = one.dtype.kind == "f" and other.dtype.kind == "f"
    return np.array_equal(one, other, equal_nan=has_nan)


def _padded(rows: list[list[str]]) -> list[list[str]]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
