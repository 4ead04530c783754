"""The requests of a run by clone, from its log of requests."""

from __future__ import annotations

import csv
import heapq
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("read", "write", "trim")
PARTS = ("copies_ns", "erase_ns", "blocked_ns", "space_ns")
"""Parts of a latency that collection causes."""
NS_PER_MS = 1_000_000


class Sample(NamedTuple):
    """A request that is done. Times are from the start of its clone, in ns."""

    begun_ns: int
    ended_ns: int
    kind: str
    offset: int
    bytes: int
    collection_ns: int

    @property
    def latency_ns(self) -> int:
        """From its issue to its end."""
        return self.ended_ns - self.begun_ns


@dataclass
class Clone:
    """The requests of one process of fio."""

    job: dict[str, Any]
    """Its job as a table of [[workload.jobs.job]]."""
    number: int
    samples: list[Sample] = field(default_factory=list)
    depths: dict[int, int] = field(default_factory=dict)
    """Requests by the number in flight when they were issued, themselves included."""
    begun_ns: int = 0

    @property
    def runtime_ms(self) -> int:
        """From its start to the end of its last request, at least a millisecond."""
        last = max((one.ended_ns for one in self.samples), default=0)
        return max(1, -(-last // NS_PER_MS)) if self.samples else 0


def read(log: Path, jobs: list[dict[str, Any]], starts_ns: list[int]) -> list[Clone]:
    """The clones of a run, in the order of the jobs; `starts_ns` has the start of each job."""
    clones: list[Clone] = []
    for job, start_ns in zip(jobs, starts_ns, strict=True):
        for _ in range(job.get("clones", 1)):
            clones.append(Clone(job, len(clones), begun_ns=start_ns))
    with log.open(newline="") as file:
        rows = csv.DictReader(file)
        for row in rows:
            clone = clones[int(row["job"])]
            collection_ns = sum(int(row.get(part) or 0) for part in PARTS)
            clone.samples.append(Sample(
                int(row["arrival_ns"]) - clone.begun_ns, int(row["end_ns"]) - clone.begun_ns,
                row["kind"], int(row["offset_bytes"] or 0), int(row["size_bytes"] or 0),
                collection_ns,
            ))  # fmt: skip
    for clone in clones:
        clone.depths = _depths(clone.samples)
    return clones


def after_ramp(clone: Clone, ramp_ns: int) -> Clone:
    """The clone without the requests that ended in its first part; all of one that ended there."""
    if all(one.ended_ns <= ramp_ns for one in clone.samples):
        return clone
    kept = [one._replace(begun_ns=one.begun_ns - ramp_ns, ended_ns=one.ended_ns - ramp_ns)
            for one in clone.samples if one.ended_ns > ramp_ns]  # fmt: skip
    return Clone(clone.job, clone.number, kept, _depths(kept), clone.begun_ns + ramp_ns)


def until(clone: Clone, end_ns: int) -> Clone:
    """The clone with its requests up to this time of the run."""
    end_ns -= clone.begun_ns
    kept = [one for one in clone.samples if one.ended_ns <= end_ns]
    return Clone(clone.job, clone.number, kept, _depths(kept), clone.begun_ns)


def _depths(samples: list[Sample]) -> dict[int, int]:
    found: dict[int, int] = {}
    ends: list[int] = []
    for one in sorted(samples):
        while ends and ends[0] <= one.begun_ns:
            heapq.heappop(ends)
        heapq.heappush(ends, one.ended_ns)
        found[len(ends)] = found.get(len(ends), 0) + 1
    return found
