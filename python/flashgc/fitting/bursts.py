"""Bursts of requests, their kinds, and the course over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashgc.fitting.mixtures import Flags, Floats, Ints, Weights, kinds, mixture, sizes
from flashgc.fitting.places import Places
from flashgc.fitting.requests import PAGE_BYTES, Requests

PAUSE_NS = 1_000_000
"""A longer gap ends a burst."""
LENGTH_MAX = 64
"""Bursts of more requests are cut."""
KINDS = 32
PARTS = 512
PART_REQUESTS = 25
"""The least number of requests in a part of the course."""


@dataclass(frozen=True)
class Kind:
    """Bursts of one kind; times in ns."""

    length: Weights
    pause: Weights
    gap: Weights
    stay: float
    read_share: float
    same_share: float
    read_size: Weights
    read_sequential_share: float
    read_written_share: float
    again_share: float
    places: Weights


@dataclass(frozen=True)
class Part:
    """A part of the course: bursts of each kind, and all pauses together."""

    pauses_ns: int
    bursts: list[int]


@dataclass(frozen=True)
class Course:
    """The load over time."""

    kinds: list[Kind]
    parts: list[Part]
    read_offset: Weights


def find(requests: Requests, places: Places) -> Course:
    """Finds the bursts of a trace."""
    gap = np.diff(requests.at_ns, prepend=requests.at_ns[0])
    begins = _begins(gap)
    length = np.diff(np.append(begins, len(requests)))
    kind = kinds(_features(requests, places, gap, begins, length), np.sqrt(length), KINDS)
    count = int(kind.max()) + 1
    found = [
        _kind(requests, places, gap, begins, np.flatnonzero(kind == at)) for at in range(count)
    ]
    stay = [_stay(kind, at) for at in range(count)]
    found = [_with_stay(one, share) for one, share in zip(found, stay, strict=True)]
    alone = ~requests.writes & ~requests.sequential
    offset = requests.start[alone] % PAGE_BYTES // 512 * 512
    return Course(found, _parts(gap[begins], length, kind, count), mixture(offset, 8))


def _begins(gap: Ints) -> Ints:
    """The first request of each burst."""
    first = gap > PAUSE_NS
    first[0] = True
    at = np.flatnonzero(first)
    within = np.arange(len(gap)) - np.repeat(at, np.diff(np.append(at, len(gap))))
    begins: Ints = np.flatnonzero(within % LENGTH_MAX == 0)
    return begins


def _features(requests: Requests, places: Places, gap: Ints, begins: Ints, length: Ints) -> Floats:
    """The features that decide the kind of a burst, scaled so that a step of 1 is significant."""

    def total(values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> Floats:
        sums: Floats = np.add.reduceat(values.astype(np.float64), begins)
        return sums

    inside = gap.copy()
    inside[begins] = 0
    writes = total(requests.writes)
    rank = np.where(writes > 0, total(places.rank) / np.maximum(writes, 1), 0.5)
    columns = [
        np.log2(length) / 1.5,
        np.log2(total(inside) / np.maximum(length - 1, 1) + 1e4) / 3,
        np.log2(gap[begins] + 1e5) / 4,
        3 * (1 - writes / length),
        total(np.log2(requests.size)) / length / 1.5,
        3 * total(requests.sequential) / length,
        2 * rank,
    ]
    return np.stack(columns, axis=1)


def _kind(requests: Requests, places: Places, gap: Ints, begins: Ints, mine: Ints) -> Kind:
    ends = np.append(begins[1:], len(requests))
    first, end = begins[mine], ends[mine]
    chosen = np.zeros(len(requests) + 1, dtype=np.int64)
    chosen[first] += 1
    np.add.at(chosen, end, -1)
    inside = np.cumsum(chosen[:-1]) > 0
    later = inside.copy()
    later[first] = False
    writes, reads = inside & requests.writes, inside & ~requests.writes
    alone = reads & ~requests.sequential
    same = np.zeros(len(requests), dtype=bool)
    same[1:] = requests.writes[1:] == requests.writes[:-1]
    return Kind(
        length=mixture(end - first, 10),
        pause=mixture(gap[first], 8, tail=True),
        gap=mixture(gap[later], 8, tail=True),
        stay=0.0,
        read_share=float(reads.sum() / inside.sum()),
        same_share=_mean(same[later]),
        read_size=sizes(requests.size[reads], 16),
        read_sequential_share=_mean(requests.sequential[reads]),
        read_written_share=_mean(places.read_written[alone]),
        again_share=_mean(places.again[writes]),
        places=mixture(places.of_request[writes], 64),
    )


def _stay(kind: Ints, at: int) -> float:
    """The share of bursts that are followed by another one of the kind."""
    return _mean(kind[1:][kind[:-1] == at] == at)


def _with_stay(one: Kind, share: float) -> Kind:
    return Kind(**{**vars(one), "stay": share})


def _mean(values: Flags) -> float:
    return float(values.mean()) if len(values) else 0.0


def _parts(pause: Ints, length: Ints, kind: Ints, count: int) -> list[Part]:
    """Parts with about equal numbers of requests."""
    ends = np.cumsum(length)
    parts = max(min(PARTS, int(ends[-1]) // PART_REQUESTS), 1)
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], parts + 1)[1:-1], side="right")
    cuts = np.unique(np.concatenate([[0], cuts, [len(length)]]))
    return [
        Part(int(pause[a:b].sum()), np.bincount(kind[a:b], minlength=count).tolist())
        for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]
