"""The folder of all results: a Parquet dataset that only grows, and a journal of the newest rows.

1. A result is appended to the journal as one line, as soon as it is there.
2. From time to time the lines of the journal become one file of the dataset, under a temporary
   name first; then a new journal begins. A crash in between leaves rows twice, and one of them
   counts.
3. Many small files of the dataset become a large one in the same way.

Only one sweep at a time writes into a folder. Others may read at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from flashgc._engine import OutputError
from flashgc.files import output
from flashgc.files.reading import describe
from flashgc.machine import extras
from flashgc.sweeps import columns

if TYPE_CHECKING:
    import pyarrow as pa

DONE, FAILED, KILLED, REFUSED, MISSING = "done", "failed", "killed", "refused", "missing"
STATUSES = (DONE, FAILED, KILLED, REFUSED, MISSING)

_ROWS_OF_FILE = 512
_SECONDS_OF_FILE = 5.0
_FILES_MAX = 32

Row = dict[str, Any]


def _check_library() -> None:
    extras.library("pyarrow", "the results of sweeps and searches need")


class Store:
    """The results in a folder, for reading."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        _check_library()
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise OutputError(
                f"error: {self.folder} is a file, not a folder of results\n"
                "  = help: name the folder with --store; it is made where there is none"
            )
        self.results = self.folder / "results"
        self._journal = self.folder / "journal.jsonl"

    def sweep(self, name: str) -> Path:
        """The folder with the points of a sweep."""
        return self.folder / "sweeps" / name

    def drive(self, key: str) -> Path:
        """The file of a preconditioned drive that points share."""
        return self.folder / "drives" / f"{key[:32]}.drive"

    def sweeps(self) -> list[str]:
        """The names of the sweeps of this folder."""
        folder = self.folder / "sweeps"
        found = folder.glob("*/points.parquet") if folder.is_dir() else ()
        return sorted(path.parent.name for path in found)

    def rows(
        self, names: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> pa.Table:
        """The newest row of each key, or of these keys; with these columns or all of them."""
        import pyarrow as pa

        schema = columns.schema()
        if names is not None:
            needed = ["key", "status", "ended_s", *names]
            schema = pa.schema([field for field in schema if field.name in needed])
        # The journal is read first: its rows may move into the dataset meanwhile.
        lines = self._lines()
        if keys is not None:
            wanted = set(keys)
            lines = [row for row in lines if row["key"] in wanted]
        newest = _table(lines, schema)
        table = pa.concat_tables([*self._files(schema, keys), newest])
        return _newest(table)

    def _files(self, schema: pa.Schema, keys: Sequence[str] | None = None) -> Iterator[pa.Table]:
        import pyarrow.dataset as ds

        wanted = None if keys is None else ds.field("key").isin(keys)
        for _ in range(5):
            files = sorted(map(os.fspath, self.results.glob("*.parquet")))
            try:
                _check_whole(files)
                # A file of another version may lack columns.
                yield ds.dataset(files, schema=schema, format=_checked()).to_table(filter=wanted)
                return
            except FileNotFoundError:
                continue  # it has just become part of a larger one
            except (OSError, ValueError) as reason:
                raise OutputError(
                    f"error: {self.results}: a file of results cannot be read: {reason}\n"
                    "  = help: remove the damaged file; its points are computed again"
                ) from None
        raise OutputError(f"error: {self.results}: the files change too fast to be read")

    def _lines(self) -> list[Row]:
        try:
            data = self._journal.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as reason:
            raise OutputError(f"error: {describe(self._journal, reason)}") from None
        rows = []
        for line in data.split(b"\n"):
            # A crash may have cut a line.
            with contextlib.suppress(ValueError):
                row = json.loads(line)
                if isinstance(row, dict) and "key" in row:
                    rows.append(row)
        return rows


class Writer(Store):
    """The results in a folder, for one sweep at a time that adds to them."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        import filelock

        _check_library()  # before a folder is made
        super().__init__(output.folder(folder, "--store"))
        for inner in (self.results, self.folder / "drives", self.folder / "sweeps"):
            output.folder(inner, "--store")
        self._lock = filelock.FileLock(self.folder / "lock", timeout=0)
        self._file: int | None = None
        self._rows = 0
        self._since_s = time.monotonic()

    def __enter__(self) -> Self:
        import filelock

        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise OutputError(
                f"error: another sweep writes into {self.folder}\n"
                "  = help: wait for its end (`flashgc sweep status`), or name another folder "
                "with --store"
            ) from None
        # A killed writer may have left files that never got their names.
        _remove(self.folder.rglob("*.part"))
        self.fold()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.fold()
        finally:
            self._lock.release()

    def add(self, row: Row) -> None:
        """Appends a result; it is kept whatever happens to this process."""
        line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        try:
            if self._file is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self._file = os.open(self._journal, flags, 0o666)
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as reason:
            raise _unwritten(self._journal, reason) from None
        self._rows += 1
        if self._rows >= _ROWS_OF_FILE or time.monotonic() - self._since_s > _SECONDS_OF_FILE:
            self.fold()

    def fold(self) -> None:
        """Turns the journal into a file of the dataset."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        rows = self._lines()
        if rows:
            self._write(_table(rows, columns.schema()))
        self._journal.unlink(missing_ok=True)
        self._rows, self._since_s = 0, time.monotonic()
        files = sorted(self.results.glob("*.parquet"))
        if len(files) > _FILES_MAX:
            self._write(_newest(next(self._files(columns.schema()))))
            for file in files:
                file.unlink()

    def remove_drives(self) -> None:
        """Removes the drives that interrupted sweeps have left."""
        _remove((self.folder / "drives").iterdir())

    def _write(self, table: pa.Table) -> None:
        fresh = self.results / f"{uuid.uuid4().hex}.parquet"
        write_table(table, fresh)
        # Checksums of pages leave out the heads of pages: the name has one of the whole file.
        os.replace(fresh, fresh.with_stem(f"{fresh.stem}-{_checksum(fresh)}"))


def _checked() -> Any:  # noqa: ANN401 - PyArrow's format
    """Parquet whose pages are compared with their checksums."""
    import pyarrow.dataset as ds

    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    return ds.ParquetFileFormat(default_fragment_scan_options=options)


def _checksum(file: Path) -> str:
    return f"{zlib.crc32(file.read_bytes()):08x}"


def _check_whole(files: Iterable[str]) -> None:
    """A ValueError names a file whose content does not match its name."""
    for file in map(Path, files):
        _, _, checksum = file.stem.partition("-")
        if checksum and checksum != _checksum(file):
            raise ValueError(f"{file.name} has another checksum than its name")


def write_table(table: pa.Table, target: Path) -> None:
    """Writes a Parquet file, whole or not at all."""
    import pyarrow.parquet as pq

    unfinished = target.with_name(f".{target.name}.part")
    try:
        pq.write_table(table, unfinished, compression="zstd", write_page_checksum=True)
        os.replace(unfinished, target)
    except OSError as reason:
        unfinished.unlink(missing_ok=True)
        raise _unwritten(target, reason) from None


def _remove(files: Iterable[Path]) -> None:
    for file in list(files):
        with contextlib.suppress(OSError):
            file.unlink()


def _unwritten(target: Path, reason: OSError) -> OutputError:
    return OutputError(f"error: the result cannot be written: {describe(target, reason)}")


def _table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Rows of the journal as a table, with the metrics of their reports."""
    import pyarrow as pa

    bare = not set(schema.names) & set(columns.metrics())
    full = []
    for row in rows:
        report = {} if bare or row.get("report") is None else json.loads(row["report"])
        full.append({**columns.values(report), **row})
    return pa.Table.from_pylist(full, schema=schema)


def _newest(table: pa.Table) -> pa.Table:
    """One row for each key: a result if there is one, else the newest."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if table.num_rows == 0:
        return table
    rank = pc.equal(table["status"], DONE).cast(pa.int8())
    ranked = table.append_column("_rank", rank).append_column("_at", pa.array(range(len(table))))
    order = [("key", "ascending"), ("_rank", "ascending"), ("ended_s", "ascending")]
    keys = ranked.select(["key", "_rank", "ended_s", "_at"]).sort_by(order)
    names = keys["key"].combine_chunks()
    is_last = np.ones(len(keys), dtype=bool)
    is_last[:-1] = pc.not_equal(names[:-1], names[1:]).to_numpy(zero_copy_only=False)
    kept = np.sort(keys["_at"].to_numpy()[is_last])
    return table.take(pa.array(kept))
