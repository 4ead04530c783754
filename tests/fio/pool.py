"""Statistics over many job files: means of fio and of flashgc.

A wrong share that is within what chance does to a few hundred requests is seen in all of them
together: the differences of each section have a mean that is not 0.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from chance import most_popular
from compare import pairs
from determined import sizes_of
from draw import Drawn
from theirs import Outcome, Request

LEAST = 30
"""Sections from which a mean is compared."""
WEIGHT_MOST = 400
"""Requests of a section that count."""
ERRORS = 5.0
"""Standard errors by which a mean may differ from 0."""
OTHER_LAWS = ("pareto", "normal")
"""Distributions that are meant to differ."""


@dataclass
class Pool:
    """The differences of sections with their weights, by what they are differences of."""

    found: dict[str, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, sections: Iterable[Drawn], theirs: Outcome, ours: Outcome) -> None:
        """Adds a job file that both have run."""
        if theirs.refused or ours.refused:
            return
        for one in sections:
            if one.is_paced or any(law in str(one.options) for law in OTHER_LAWS):
                continue
            for _, fio, own in pairs(one, theirs, ours):
                means = [_means(one, stream) for stream in (fio, own)]
                for what in means[0].keys() & means[1].keys():
                    weight = min(len(fio), len(own), WEIGHT_MOST)
                    self.found[what].append((means[0][what] - means[1][what], weight))

    def differences(self) -> list[str]:
        """The means that differ from 0 by more than chance does."""
        told = []
        for what, differences in sorted(self.found.items()):
            count = len(differences)
            if count < LEAST:
                continue
            weights = sum(weight for _, weight in differences)
            mean = sum(one * weight for one, weight in differences) / weights
            squares = sum(((one - mean) * weight) ** 2 for one, weight in differences)
            error = math.sqrt(squares * count / (count - 1)) / weights
            if abs(mean) > ERRORS * error + 1e-9:
                told.append(f"{what}: {mean:+.4f} from flashgc to fio, with an error of "
                            f"{error:.4f}, in {count} sections")  # fmt: skip
        return told


def _means(one: Drawn, stream: list[Request]) -> dict[str, float]:
    """The means of the drawn values in one stream."""
    moves = [request for request in stream if request.kind != "flush"]
    if not moves:
        return {}
    found = {"requests (log)": math.log(len(moves)),
             "bytes (log)": math.log(sum(one.bytes for one in moves))}  # fmt: skip
    if len(one.kinds) == 2:
        found["share of the first kind"] = _mean(one.kinds[0] == move.kind for move in moves)
    if one.has_drawn_sizes:
        largest = max(sizes_of(one))
        found["size"] = _mean(move.bytes / largest for move in moves)
    found["requests behind the one before"] = _follow(moves)
    if one.is_random and not one.scattered and "nrfiles" not in one.options:
        found |= _places(one, moves)
    if one.scattered:
        found["share of the most popular place"] = most_popular(moves) / len(moves)
    return found


def _places(one: Drawn, moves: list[Request]) -> dict[str, float]:
    low, width = min(move.offset for move in moves), int(one.options["size"])
    found = {"places": _mean((move.offset - low) / width for move in moves)}
    name = one.options.get("random_distribution", "").partition(":")[0]
    if name:
        found[f"places of {name}"] = found["places"]
    if one.options.get("percentage_random", "0") not in {"0", "100,0"}:
        for kind in one.kinds:
            own = [move for move in moves if move.kind == kind]
            if len(own) > 1:
                found["sequential share of a kind"] = _follow(own)
    return found


def _follow(moves: list[Request]) -> float:
    follow = [one.offset + one.bytes == after.offset
              for one, after in itertools.pairwise(moves)]  # fmt: skip
    return _mean(follow) if follow else 0.0


def _mean(values: Iterable[float]) -> float:
    listed = [float(value) for value in values]
    return sum(listed) / len(listed)
