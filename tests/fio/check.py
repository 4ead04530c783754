"""Random job files, by fio and by flashgc: `python tests/fio/check.py FIRST [COUNT]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import compare
import draw
import ours
import theirs


def check(seed: int) -> list[str]:
    """What differs for the job file of a seed, with the file."""
    sections = draw.job_file(seed)
    text = draw.text(sections, seed)
    with tempfile.TemporaryDirectory() as folder:
        fio = theirs.run(text, Path(folder))
        own = ours.run(text, Path(folder), seed)
    found = compare.differences(sections, fio, own)
    return [f"seed {seed}: {one}" for one in found] + ([text] if found else [])


if __name__ == "__main__":
    first, *more = map(int, sys.argv[1:])
    wrong = 0
    for at in range(first, first + (more[0] if more else 1)):
        lines = check(at)
        wrong += bool(lines)
        print("\n".join(lines), end="\n" if lines else "", flush=True)
    print(f"{wrong} job files differ")
