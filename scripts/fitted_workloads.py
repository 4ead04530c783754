"""How like their traces fitted workloads are: a Markdown table over all traces of a folder.

    python scripts/fitted_workloads.py FOLDER [--formats FILE] [--only PART] [--seeds N]

FILE has lines `name | ... | format`: the first cell is a file of the folder without `.zst`, the
last its format, empty where it is recognised by the content. Without it all files are tried so.
"""

import argparse
import sys
from pathlib import Path

from flashgc import FlashgcError, trace
from flashgc.formatting import units

HEAD = (
    "| trace | requests | footprint | written | WA | fitted workload | difference | mean latency | "
    "fitted workload | difference |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)
WITHIN = 0.1
CUT = {
    "ycsb_ext4.blkparse.txt": {"length": "1000 s"},
    "nexus5_Booting_log176.txt": {"start": "1000000000 s"},
}
"""Filters that remove a part of these, since their clocks jump by years."""


def formats(listed: Path | None, folder: Path) -> list[tuple[Path, str | None]]:
    if listed is None:
        files = sorted(path for path in folder.iterdir() if path.suffix not in (".md", ".sha256"))
        return [(path, None) for path in files]
    found = []
    for line in listed.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if not line.startswith("#") and len(cells) > 1:
            path = folder / f"{cells[0]}.zst"
            path = path if path.exists() else folder / cells[0]
            # A trace that is listed with another reader is the same trace.
            if all(path != known for known, _ in found):
                found.append((path, cells[-1] or None))
    return found


def row(path: Path, name: str | None, seeds: int) -> tuple[str, list[bool]]:
    """A row of the table, and whether each of the two is near; empty if nothing could be run."""
    title = path.name.removesuffix(".zst")
    try:
        cut = CUT.get(title, {})
        about = trace.info(path, format=name, **cut)
        alike = trace.fit(path, format=name, **cut)
        told = trace.check_fit(path, alike, format=name, seeds=seeds, **cut)
    except FlashgcError as error:
        why = str(error).splitlines()[0].removeprefix("error: ")
        return f"| {title} | | | | | | | | | {why} |", []
    metrics = {found["metric"]: found for found in told}
    cells = [title, f"{about['rows']:,}", units.size(about["footprint_bytes"])]
    cells.append(units.size(about["written_bytes"]))
    near = []
    for metric, show in (("write amplification", "{:.2f}".format), ("mean latency", units.time)):
        found = metrics.get(metric)
        if found is None:
            cells += ["-", "-", "-"]
            near.append(True)
            continue
        difference = found["difference"]
        near.append(abs(difference) <= WITHIN)
        cells += [show(found["original"]), show(found["fitted"]), f"{100 * difference:+.0f} %"]
    return "| " + " | ".join(cells) + " |", near


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--formats", type=Path, help="a file that names formats")
    parser.add_argument("--only", default="", help="only names with this part")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(HEAD, flush=True)
    verdicts = []
    for path, name in formats(given.formats, given.folder):
        if given.only not in path.name:
            continue
        line, near = row(path, name, given.seeds)
        print(line, flush=True)
        if near:
            verdicts.append(near)
    amplified, timed = (sum(near[at] for near in verdicts) for at in (0, 1))
    both = sum(all(near) for near in verdicts)
    print(
        f"\nOf {len(verdicts)} traces, write amplification is within 10 % for {amplified}, mean "
        f"latency for {timed}, both for {both}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
