"""The tables of docs/validation.md: errors by drive, and by load."""

from __future__ import annotations

import math
import statistics

from drives import MEDIAN, RATE, ROOT, TAIL, Drive, Point, load, names

PAGE = ROOT / "docs" / "validation.md"
NEAR = 0.10
"""The limit that a share of the points is counted within."""
KINDS = (RATE, MEDIAN, TAIL)
BY_DRIVE = (
    "| drive | loads | fitted numbers, runs | judged | rates | median latencies | p99, p99.9 |"
)
BY_LOAD = "| drive | load | judged | rates | median latencies | p99, p99.9 | worst |"
DATA_SHEETS = "| drive | data sheet | | source |"
OTHER_LOADS = "full rate"
AT_RATES = "fixed rates"


def by_drive() -> list[str]:
    """The table of all drives."""
    rows = [BY_DRIVE, "|---|---|---|---|---|---|---|"]
    for name in names():
        drive = load(name)
        judged = _judged(drive.points())
        numbers, runs = fitted(drive)
        cells = [f"[{drive.about['name']}]({_link(drive)})", drive.about["loads"],
                 f"{numbers}, {runs}", str(len(judged)), *_cells(judged)]  # fmt: skip
        rows.append(_row(cells))
    return rows


def by_load() -> list[str]:
    """The table of the sets of all drives."""
    rows = [BY_LOAD, "|---|---|---|---|---|---|---|"]
    for name in names():
        drive = load(name)
        rows += sets(drive, drive.points())
    return rows


def data_sheets() -> list[str]:
    """The table of the figures of makers, for drives that no page of a device has."""
    rows = [DATA_SHEETS, "|---|---|---|---|"]
    for name in names():
        about = load(name).about
        for one in about.get("data_sheet", []):
            source = one["source"]
            if source.startswith("https://"):
                source = f"[{source.split('/')[2].removeprefix('www.')}]({source.split()[0]})"
            rows.append(_row([about["short"], one["what"], one["value"], source]))
    return rows


def sets(drive: Drive, points: list[Point]) -> list[str]:
    """The rows of a drive."""
    rows = []
    for label, own in _by_set(drive, points).items():
        judged = _judged(own)
        if not judged:
            continue
        worst = max(judged, key=lambda one: abs(math.log(one.simulated / one.measured)))
        cells = [drive.about["short"], label, str(len(judged)), *_cells(judged),
                 f"{worst.run}: {_times(worst)}"]  # fmt: skip
        rows.append(_row(cells))
    return rows


def fitted(drive: Drive) -> tuple[int, int]:
    """The counts of fitted numbers, and of the runs that they are fitted to."""
    if drive.paper:
        return drive.paper["numbers"], drive.paper["runs"]
    own = drive.about["fitted"]
    return len(own), len({run for one in own for run in one["runs"]})


def write() -> None:
    """Puts the tables into the page, in place of those with the same first line."""
    text = PAGE.read_text("utf-8")
    for rows in (by_drive(), by_load(), data_sheets()):
        before, _, rest = text.partition(rows[0] + "\n")
        after = rest[rest.index("\n\n") :]
        text = before + "\n".join(rows) + after
    PAGE.write_text(text, "utf-8")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _link(drive: Drive) -> str:
    if drive.paper:
        return f"devices/{drive.about['device']}.md"
    return f"#{drive.name}"


def _judged(points: list[Point]) -> list[Point]:
    return [one for one in points if not one.fitted and one.kind]


def _cells(points: list[Point]) -> list[str]:
    cells = []
    for kind in KINDS:
        errors = [abs(one.error) for one in points if one.kind == kind]
        near = sum(error <= NEAR for error in errors)
        cells.append(f"{100 * statistics.median(errors):.1f} %, {near} of {len(errors)}"
                     if errors else "")  # fmt: skip
    return cells


def _times(point: Point) -> str:
    """The error as a percentage, or as a factor where it is large."""
    ratio = point.simulated / point.measured
    if 0.5 <= ratio <= 2:
        return f"{100 * point.error:+.0f} %"
    return f"{ratio:,.0f} times" if ratio >= 10 else f"{ratio:.2g} times"


def _by_set(drive: Drive, points: list[Point]) -> dict[str, list[Point]]:
    labels: dict[str, str] = {}
    if not drive.paper:
        known = {run.name: run.set for run in drive.runs}
        labels = {name: drive.about["sets"][one]["label"] for name, one in known.items()}
    found: dict[str, list[Point]] = {}
    for one in points:
        label = labels.get(one.run) or (AT_RATES if "a second" in one.run else OTHER_LOADS)
        found.setdefault(label, []).append(one)
    return found
