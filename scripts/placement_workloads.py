#!/usr/bin/env python3
"""Writes a workload of single-page writes as a trace in CSV, for comparisons of placement.

    placement_workloads.py NAME --pages N --writes M --seed S > FILE

- `fio`: the ranks of fio's zipf:1.1, spread over the pages by a hash that reaches two thirds of
  them
- `still`: Zipf with exponent 1
- `drift`: the same, and the hottest 20 % of the ranks are permuted after every N / 100 writes
- `volume`: 45 % of the pages are never written; a log that is overwritten in order takes 20 % of
  the writes and a tenth of the pages, and Zipf with exponent 0.8 the rest
"""

import argparse
import bisect
import itertools
import random
import sys
from collections.abc import Iterator

PAGE_BYTES = 4096
GAP_US = 5_000


def zipf(pages: int, theta: float, draw: random.Random) -> Iterator[int]:
    """Ranks from 0 on, by the inverse of their distribution."""
    sums = list(itertools.accumulate((rank + 1) ** -theta for rank in range(pages)))
    while True:
        yield bisect.bisect_left(sums, draw.random() * sums[-1])


def fio(pages: int, draw: random.Random) -> Iterator[int]:
    """Draws of fio's zipf:1.1: the formula of Gray and others, then a hash by multiplication."""
    theta = 1.1
    zetan = sum((rank + 1) ** -theta for rank in range(pages))
    alpha = 1 / (1 - theta)
    eta = (1 - (2 / pages) ** (1 - theta)) / (1 - (1 + 0.5**theta) / zetan)
    while True:
        unit = draw.random()
        if unit * zetan < 1:
            rank = 1
        elif unit * zetan < 1 + 0.5**theta:
            rank = 2
        else:
            rank = 1 + int(pages * (eta * unit - eta + 1) ** alpha)
        yield (rank - 1) * 0x9E37FFFFFFFC0001 % 2**64 % pages


def still(pages: int, draw: random.Random) -> Iterator[int]:
    """Zipf whose ranks keep their places."""
    return zipf(pages, 1.0, draw)


def drift(pages: int, draw: random.Random) -> Iterator[int]:
    """Zipf whose hottest ranks change places."""
    hot = list(range(pages // 5))
    ranks = zipf(pages, 1.0, draw)
    while True:
        draw.shuffle(hot)
        for rank in itertools.islice(ranks, pages // 100):
            yield hot[rank] if rank < len(hot) else rank


def volume(pages: int, draw: random.Random) -> Iterator[int]:
    """A log, a part with Zipf, and the rest left alone."""
    log = pages // 10
    by_zipf = pages * 45 // 100
    places = list(range(log, log + by_zipf))
    draw.shuffle(places)
    ranks = zipf(by_zipf, 0.8, draw)
    in_order = itertools.cycle(range(log))
    while True:
        yield next(in_order) if draw.random() < 0.2 else places[next(ranks)]


WORKLOADS = {"fio": fio, "still": still, "drift": drift, "volume": volume}


def main() -> None:
    """Writes the trace to the standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", choices=WORKLOADS)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--writes", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    pages = WORKLOADS[arguments.name](arguments.pages, random.Random(arguments.seed))
    sys.stdout.writelines(
        f"{at * GAP_US},W,{page * PAGE_BYTES},{PAGE_BYTES}\n"
        for at, page in enumerate(itertools.islice(pages, arguments.writes))
    )


if __name__ == "__main__":
    main()
