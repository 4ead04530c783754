"""The requests of a trace as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import flashgc._engine as engine
from flashgc._engine_types import Reading
from flashgc.fitting.mixtures import Flags, Ints

PAGE_BYTES = 4096
_READ, _WRITE = 0, 1


@dataclass(frozen=True)
class Requests:
    """Reads and writes in order of time; devices lie one behind the other."""

    at_ns: Ints
    writes: Flags
    start: Ints
    size: Ints
    sequential: Flags
    """Begins where the request before ended."""

    def __len__(self) -> int:
        return len(self.at_ns)

    @property
    def first_page(self) -> Ints:
        """Pages of 4 KiB."""
        return self.start // PAGE_BYTES

    @property
    def end_page(self) -> Ints:
        """The page after the last one."""
        return -(-(self.start + self.size) // PAGE_BYTES)

    def written_pages(self) -> int:
        """Pages that are written, as often as they are."""
        return int((self.end_page - self.first_page)[self.writes].sum())

    def footprint_pages(self) -> int:
        """Pages that are touched, each once."""
        return len(touched(self.first_page, self.end_page))


def touched(first: Ints, end: Ints) -> Ints:
    """The pages of all ranges, each once, in order."""
    order = np.argsort(first, kind="stable")
    first, end = first[order], np.maximum.accumulate(end[order])
    begins = np.ones(len(first), dtype=bool)
    begins[1:] = first[1:] > end[:-1]
    starts = first[begins]
    ends = end[np.append(np.flatnonzero(begins)[1:] - 1, len(end) - 1)]
    return expand(starts, ends)


def expand(first: Ints, end: Ints) -> Ints:
    """The numbers of all ranges, one range after the other."""
    lengths = end - first
    before = np.cumsum(lengths) - lengths
    numbers: Ints = np.arange(int(lengths.sum())) + np.repeat(first - before, lengths)
    return numbers


def read(reading: Reading) -> Requests:
    """Reads a trace. A TraceError if it holds neither reads nor writes."""
    times, devices, ops, offsets, sizes = engine.trace_columns(reading)
    at_ns = np.frombuffer(times, dtype="<u8").astype(np.int64)
    device = np.frombuffer(devices, dtype="<u8")
    op = np.frombuffer(ops, dtype=np.uint8)
    start = np.frombuffer(offsets, dtype="<u8").astype(np.int64)
    size = np.frombuffer(sizes, dtype="<u8").astype(np.int64)
    wanted = ((op == _READ) | (op == _WRITE)) & (size > 0)
    if not wanted.any():
        raise engine.TraceError("error: the trace contains no reads or writes to fit")
    at_ns, device, op, start, size = (column[wanted] for column in (at_ns, device, op, start, size))
    order = np.argsort(at_ns, kind="stable")
    at_ns, device, op, start, size = (column[order] for column in (at_ns, device, op, start, size))
    numbers = np.unique(device, return_inverse=True)[1].reshape(-1)
    ends = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    np.maximum.at(ends, numbers, -(-(start + size) // PAGE_BYTES) * PAGE_BYTES)
    start = start + (np.cumsum(ends) - ends)[numbers]
    sequential = np.zeros(len(start), dtype=bool)
    sequential[1:] = start[1:] == start[:-1] + size[:-1]
    return Requests(at_ns, op == _WRITE, start, size, sequential)
