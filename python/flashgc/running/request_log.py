"""The log of requests: a row for each request, as csv or Parquet, in the order of completion."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from flashgc._engine import REQUEST_KINDS, OutputError
from flashgc.files import output
from flashgc.machine import extras

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = tuple(name for name, _ in REQUEST_KINDS)
"""The values of the column `kind`, in the order of their numbers in the engine."""
WHAT = "log of requests"
_COLUMNS_OF_ALL = 10
"""Columns that every log has; those after them are the parts of the latency."""

Batch = Mapping[str, bytes]
Add = Callable[[Batch], None]
PathLike = str | os.PathLike[str]


def check(path: PathLike | None) -> None:
    """An OutputError where the log cannot have this name."""
    if path is None:
        return
    if Path(path).suffix.lower() not in _WRITERS:
        raise OutputError(
            f"error: the {WHAT} `{os.fspath(path)}` has no known format\n"
            "  = help: end its name in .csv or .parquet"
        )
    extras.library("pyarrow", f"a {WHAT} needs")


@contextmanager
def written(path: PathLike | None) -> Iterator[Add | None]:
    """Takes the rows of a run; the file appears at the end, unless there was an exception."""
    if path is None:
        yield None
        return
    with output.opened(path, WHAT) as file:
        writer = _WRITERS[Path(path).suffix.lower()](file)
        try:
            # An exception from here ends the run, and is the one that the user gets.
            yield lambda batch: _add(writer, batch, path)
        except BaseException:
            # A writer that is not ended complains when it is collected.
            with suppress(Exception):
                writer.end()
            raise
        with output.explained(path, WHAT):
            writer.end()


class _Writer(Protocol):
    def add(self, rows: pa.Table) -> None: ...
    def end(self) -> None: ...


def _add(writer: _Writer, batch: Batch, path: PathLike) -> None:
    with output.explained(path, WHAT):
        writer.add(_table(batch))


def _table(batch: Batch) -> pa.Table:
    """A batch of columns; a kind whose latency is not split has no parts."""
    import numpy as np
    import pyarrow as pa

    kinds = np.frombuffer(batch["kind"], dtype=np.uint8)
    is_whole = ~np.array([has_parts for _, has_parts in REQUEST_KINDS])[kinds]
    columns: dict[str, Any] = {}
    for at, (name, packed) in enumerate(batch.items()):
        if name == "kind":
            columns[name] = pa.array(KINDS).take(pa.array(kinds))
            continue
        values = np.frombuffer(packed, dtype="<i8")
        columns[name] = pa.array(values, mask=is_whole if at >= _COLUMNS_OF_ALL else None)
    return pa.table(columns)


class _Csv:
    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._has_names = file, False

    def add(self, rows: pa.Table) -> None:
        import pyarrow as pa
        from pyarrow import csv

        if not self._has_names:
            # Without quotation marks, as in the other logs.
            self._file.write((",".join(rows.column_names) + "\n").encode())
            self._has_names = True
        out = pa.BufferOutputStream()
        csv.write_csv(rows, out, csv.WriteOptions(include_header=False, quoting_style="none"))
        self._file.write(out.getvalue())

    def end(self) -> None:
        """Nothing is left to write."""


class _Parquet:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None

    def add(self, rows: pa.Table) -> None:
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(
                self._file,
                rows.schema,
                compression="zstd",
                use_dictionary=["kind"],
                write_page_checksum=True,
            )
        if rows.num_rows:
            self._writer.write_table(rows)

    def end(self) -> None:
        """Writes the footer."""
        if self._writer is not None:
            self._writer.close()


_WRITERS: dict[str, Callable[[IO[bytes]], _Writer]] = {".csv": _Csv, ".parquet": _Parquet}
