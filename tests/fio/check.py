"""Random job files, by fio and by flashgc: `python tests/fio/check.py FIRST [COUNT]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import compare
import draw
import ours
import pool
import theirs

AT_ONCE = 4
"""Concurrent processes of fio, which wait more than they work."""
TRIES_PACED = 3
"""Runs of a job file with rates, whose clock a busy host delays."""


def check(seeds: Iterable[int], engine: str = "null") -> list[str]:
    """The differences for the job files of seeds, with each file, and in the means of them all."""
    drawn = {seed: draw.job_file(seed) for seed in seeds}
    texts = {seed: draw.text(sections, seed) for seed, sections in drawn.items()}
    lines, means = [], pool.Pool()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        fios = threads.map(lambda text: theirs_of(text, engine), texts.values())
        for (seed, sections), fio in zip(drawn.items(), fios, strict=True):
            with tempfile.TemporaryDirectory() as folder:
                own = ours.run(texts[seed], Path(folder), seed)
            found = compare.differences(sections, fio, own)
            tries = TRIES_PACED if any(one.is_paced for one in sections) else 1
            while found and (tries := tries - 1):
                found = compare.differences(sections, theirs_of(texts[seed], engine), own)
            means.add(sections, fio, own)
            lines += [f"seed {seed}: {one}" for one in found] + ([texts[seed]] if found else [])
    return lines + means.differences()


def theirs_of(text: str, engine: str = "null") -> theirs.Outcome:
    """The requests of fio for a job file."""
    with tempfile.TemporaryDirectory() as folder:
        return theirs.run(text, Path(folder), engine=engine)


if __name__ == "__main__":
    first, *more = map(int, sys.argv[1:])
    found = check(range(first, first + (more[0] if more else 1)))
    print("\n".join(found) if found else "none differs", flush=True)
