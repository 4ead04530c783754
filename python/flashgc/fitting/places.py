"""Places: data that is rewritten often, and how it lies among data that is only read.

A place is where a write begins. Places are of a kind if they are of similar size and are written
about as often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import flashgc._engine as engine
from flashgc.fitting.mixtures import Flags, Floats, Ints, Weights, ages, kinds, mixture, sizes
from flashgc.fitting.requests import PAGE_BYTES, Requests, expand, touched

REGION_PAGES = 1024
"""Some blocks of all units: data that lies together in one of these is erased together."""
_SIZES = (4097, 8193, 16_385, 32_769, 65_537, 262_145)
_COUNTS = (2, 5)
_REGION_KINDS = 40
_SOON = 8
_AGES = 24


@dataclass(frozen=True)
class Kind:
    """Places of one kind."""

    size: Weights
    offset: Weights
    run: Weights
    adjacent: float
    in_order: float
    age: Weights
    sequential_share: float


@dataclass(frozen=True)
class Region:
    """Regions of one kind: number, size in pages, and mean pages of each kind of places."""

    count: int
    pages: int
    written: list[float]


@dataclass(frozen=True)
class Places:
    """The places that a trace writes."""

    kinds: list[Kind]
    regions: list[Region]
    read_only_run: Weights
    of_request: Ints
    """The kind of place that each request writes; -1 for reads."""
    rank: Floats
    """The age of its last write, from 0 (the newest) to 1 (the oldest of its kind)."""
    again: Flags
    """Whether a write continues in the order in which its pages were written last time."""
    read_written: Flags
    """Whether a request begins on a page that is written at some time."""


def find(requests: Requests) -> Places:
    """Finds the places of a trace."""
    writes = np.flatnonzero(requests.writes)
    pages = touched(requests.first_page, requests.end_page)
    of_request = np.full(len(requests), -1, dtype=np.int64)
    rank = np.zeros(len(requests))
    if len(writes) == 0:
        regions, runs = _regions(np.zeros(len(pages), dtype=np.int64), 0)
        nothing = np.zeros(len(requests), dtype=bool)
        return Places([], regions, runs[0], of_request, rank, nothing, nothing)
    start, size = requests.start[writes], requests.size[writes]
    _, first, place, count = np.unique(
        start, return_index=True, return_inverse=True, return_counts=True
    )
    place = place.reshape(-1)
    kind = np.digitize(size[first], _SIZES) * (len(_COUNTS) + 1) + np.digitize(count, _COUNTS)
    kind = np.unique(kind, return_inverse=True)[1].reshape(-1)
    of_request[writes] = kind[place]
    again = np.zeros(len(requests), dtype=bool)
    rank[writes], again[writes] = _ranks(place, kind), _again(requests, writes, pages)
    owner = _owners(requests, writes, kind[place], pages)
    regions, runs = _regions(owner, int(kind.max()) + 1)
    found = [
        _kind(requests, writes, first, place, kind == at, rank, again, runs[at])
        for at in range(int(kind.max()) + 1)
    ]
    written = owner[np.searchsorted(pages, requests.first_page)] <= kind.max()
    return Places(found, regions, runs[-1], of_request, rank, again, written)


def _ranks(place: Ints, kind: Ints) -> Floats:
    """Rank of each write among the places of its kind, if the trace repeats for ever."""
    ranks = np.zeros(len(place))
    for at in range(int(kind.max()) + 1):
        mine = np.flatnonzero(kind == at)
        number = np.full(len(kind), -1, dtype=np.int64)
        number[mine] = np.arange(len(mine))
        these = np.flatnonzero(kind[place] == at)
        numbers = number[place[these]].astype("<u4").tobytes()
        found = np.frombuffer(engine.trace_ranks(numbers, len(mine)), dtype="<u4")
        ranks[these] = found / max(len(mine) - 1, 1)
    return ranks


def _again(requests: Requests, writes: Ints, pages: Ints) -> Flags:
    """Whether each write continues in the order of last time."""
    first = np.searchsorted(pages, requests.first_page[writes])
    end = first + (requests.end_page - requests.first_page)[writes]
    found = engine.trace_again(
        first.astype("<u4").tobytes(), end.astype("<u4").tobytes(), len(pages)
    )
    return np.frombuffer(found, dtype=np.uint8).astype(bool)


def _owners(requests: Requests, writes: Ints, kind: Ints, pages: Ints) -> Ints:
    """The kind of place of each touched page, by its first write; the last: only read."""
    owner = np.full(len(pages), int(kind.max()) + 1, dtype=np.int64)
    extents = np.stack([requests.first_page[writes], requests.end_page[writes]], axis=1)
    _, first = np.unique(extents, axis=0, return_index=True)
    # The first write of a page is assigned last, and so stays.
    for part in np.array_split(np.sort(first)[::-1], max(len(first) // 100_000, 1)):
        begin, end = extents[part, 0], extents[part, 1]
        numbers = np.searchsorted(pages, expand(begin, end))
        owner[numbers] = np.repeat(kind[part], end - begin)
    return owner


def _regions(owner: Ints, written: int) -> tuple[list[Region], list[Weights]]:
    """Kinds of regions, and the runs of each kind of places and of pages that are only read."""
    count = -(-len(owner) // REGION_PAGES)
    region = np.arange(len(owner)) // REGION_PAGES
    pages = np.zeros((count, written + 1))
    np.add.at(pages, (region, owner), 1)
    of_pages = pages.sum(axis=1)
    like = kinds(pages / of_pages[:, None], np.ones(count), _REGION_KINDS)
    # The last region is smaller than the others.
    last = of_pages[-1] < REGION_PAGES and count > 1
    like[-1] = int(like.max()) + 1 if last else like[-1]
    regions = [
        Region(int(mine.sum()), int(of_pages[mine][0]), pages[mine].mean(axis=0)[:-1].tolist())
        for mine in (like == at for at in np.unique(like))
    ]
    ends = np.append(np.flatnonzero(np.diff(owner)) + 1, len(owner))
    lengths = np.minimum(np.diff(ends, prepend=0), REGION_PAGES)
    kind = owner[ends - 1]
    runs = [_counts(lengths[kind == at]) for at in range(written + 1)]
    return regions, runs


def _counts(values: Ints) -> Weights:
    found: dict[float, float] = {}
    for value, weight in mixture(values, 16):
        found[float(round(value))] = found.get(float(round(value)), 0.0) + weight
    return list(found.items())


def _kind(
    requests: Requests,
    writes: Ints,
    first: Ints,
    place: Ints,
    mine: Flags,
    rank: Floats,
    again: Flags,
    run: Weights,
) -> Kind:
    """The places of one kind; `first` is the first write of each place."""
    begins = writes[first[mine]]
    alone = ~requests.sequential[begins]
    offset = requests.start[begins[alone]] % PAGE_BYTES // 512 * 512
    order = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    steps = np.diff(order, prepend=-_SOON - 1)[mine]
    soon = float(((steps > 0) & (steps <= _SOON)).mean())
    all_writes = writes[mine[place]]
    sequential = requests.sequential[all_writes]
    jumps = all_writes[~sequential]
    fresh = jumps[~again[jumps]]
    adjacent = 1 - float(alone.mean())
    share = float(sequential.mean()) / adjacent if adjacent > 0 else 0.0
    return Kind(
        size=sizes(requests.size[begins], 24),
        offset=mixture(offset, 8),
        run=run,
        adjacent=adjacent,
        in_order=soon,
        age=ages(rank[fresh if len(fresh) else all_writes], _AGES),
        sequential_share=min(share, 1.0),
    )
