"""The drives of `validation/`: what was measured, and what was fitted to which run."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation"
PAPERS = ROOT / "papers"
METRICS = ("read_iops", "write_iops", "write_MiBs", "read_p50_us", "write_p50_us", "read_p99_us",
           "write_p99_us")  # fmt: skip
"""Columns of measured values: requests or MiB a second, and percentiles of latency in us."""
RATE, MEDIAN, TAIL = "rate", "median", "tail"
NS_IN_US = 1000.0


@dataclass(frozen=True)
class Point:
    """A measured number of a run, and what the fitted device has."""

    run: str
    metric: str
    measured: float
    simulated: float
    fitted: bool

    @property
    def kind(self) -> str:
        """Rate, median or tail; empty for write amplification, which few drives tell."""
        for kind, words in ((RATE, ("iops", "IOPS", "MiBs")), (MEDIAN, ("p50", "median")),
                            (TAIL, ("p99",))):  # fmt: skip
            if any(word in self.metric for word in words):
                return kind
        return ""

    @property
    def error(self) -> float:
        """The relative error of the simulated value."""
        return self.simulated / self.measured - 1


@dataclass(frozen=True)
class Run:
    """A row of `measured.csv`: its set, its load, and its values by metric."""

    set: str
    name: str
    load: dict[str, float]
    values: dict[str, float]
    fitted: tuple[str, ...]


@dataclass(frozen=True)
class Drive:
    """A folder of `validation/`."""

    name: str
    about: dict[str, Any]
    """The content of `drive.toml`."""
    runs: list[Run] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Its folder."""
        return FOLDER / self.name

    @property
    def paper(self) -> dict[str, Any] | None:
        """Where its measurements are those of a paper in `papers/`."""
        return self.about.get("paper")

    def points(self) -> list[Point]:
        """All points on record."""
        if self.paper:
            return paper_points(self.paper["name"], self.paper["place"])
        return recorded(self.folder / "results.csv")


def names() -> list[str]:
    """The folders, in the order of the table."""
    found = {path.parent.name: tomllib.loads(path.read_text("utf-8"))
             for path in FOLDER.glob("*/drive.toml")}  # fmt: skip
    return sorted(found, key=lambda name: found[name]["place"])


def load(name: str) -> Drive:
    """A drive with its measured runs."""
    about = tomllib.loads((FOLDER / name / "drive.toml").read_text("utf-8"))
    path = FOLDER / name / "measured.csv"
    if not path.is_file():
        return Drive(name, about)
    with path.open(newline="", encoding="utf-8") as file:
        return Drive(name, about, [_run(row) for row in csv.DictReader(file)])


def _run(row: dict[str, str]) -> Run:
    load = {key: float(value) for key, value in row.items()
            if value and key not in {"set", "run", "fitted", *METRICS}}  # fmt: skip
    values = {key: float(row[key]) for key in METRICS if row.get(key)}
    return Run(row["set"], row["run"], load, values, tuple(row["fitted"].split()))


def recorded(path: Path) -> list[Point]:
    """The points of a `results.csv`."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Point(row["run"], row["metric"], float(row["measured"]), float(row["simulated"]),
                  row["fitted"] == "yes")
            for row in csv.DictReader(file)
        ]  # fmt: skip


def record(path: Path, points: list[Point]) -> None:
    """Writes a `results.csv`."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["run", "metric", "measured", "simulated", "error_percent", "fitted"])
        for one in points:
            rows.writerow([one.run, one.metric, f"{one.measured:.10g}", f"{one.simulated:.7g}",
                           f"{100 * one.error:+.1f}", "yes" if one.fitted else ""])  # fmt: skip


def paper_points(paper: str, place: str) -> list[Point]:
    """The points of a paper's claims on one of its drives, with the values on record there."""
    folder = PAPERS / paper
    claims, experiment, measured = (
        tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
        for name in ("claims", "experiment", "measured")
    )
    ours = measured["no trace"]
    found = []
    for claim in claims["claims"]:
        if not claim["place"].startswith(f"{place}, ") or "values" not in claim:
            continue
        (axis,) = claim["by"]
        for level, value in claim["values"].items():
            label = experiment["axes"][axis][level]["label"]
            name = claim["place"].format(**{axis: label})
            simulated = ours[f"{name}: {claim['what']}"]
            fitted = any(remark.get("fitted_to") and _at(remark["at"], axis, level)
                         for remark in claim.get("remarks", []))  # fmt: skip
            unit = NS_IN_US if claim.get("unit") == "ns" else 1.0
            run = name.removeprefix(f"{place}, ")
            found.append(Point(run, claim["what"], value / unit, simulated / unit, fitted))
    return found


def _at(at: dict[str, Any], axis: str, level: str) -> bool:
    wanted = at.get(axis)
    return level in wanted if isinstance(wanted, list) else level == wanted
