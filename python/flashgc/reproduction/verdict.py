"""Compares measured results with claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashgc.reproduction import checks
from flashgc.reproduction.claims import Check, Claim, Order, Tolerance, Value, pairs
from flashgc.reproduction.experiment import Point
from flashgc.reproduction.grid import cell
from flashgc.reproduction.results import PERCENT, Results

MET, NEAR, NOT_MET, NOT_COMPARABLE = "met", "near", "not met", "not comparable"
VERDICTS = (MET, NEAR, NOT_MET, NOT_COMPARABLE)

NEAR_SHARE = 0.1
"""An order that fails at no more than this share of its places is near. So is one that holds at
most of its places and has equal values at the others; equal everywhere is not an order."""
_SHOWN = 4


@dataclass(frozen=True)
class Verdict:
    """A claim with the measured result."""

    paper: str
    claim: Claim
    measured: float | str | None
    verdict: str
    note: str
    fails: bool
    """Whether it was not met without a known reason; a quick run fails by its checks alone."""
    known: bool = False
    """Whether the reason is known, at each place where it fails."""

    def to_dict(self) -> dict[str, Any]:
        """As `flashgc reproduce --json` has it."""
        claim = self.claim
        return {
            "paper": self.paper, "place": claim.place, "what": claim.what, "unit": claim.unit,
            "claimed": claim.claimed, "measured": self.measured, "verdict": self.verdict,
            "note": self.note, "source": claim.source, "in": list(claim.parts),
            "fails": self.fails,
        }  # fmt: skip


def judge(paper: str, claim: Claim, results: Results) -> Verdict:
    """The verdict on a claim; the runs that it needs must be there."""
    wrong: list[Point] = []
    match claim.test:
        case Value():
            measured, verdict, why = _value(claim, claim.test, results)
        case Order():
            measured, verdict, why = _order(claim, claim.test, results, wrong)
        case Check(name):
            measured, verdict, why = _check(name, results)
    reasons, known = _reasons(claim, wrong, results)
    note = "; ".join(filter(None, [why, *(reasons if verdict in (NOT_MET, NEAR) else ()),
                                   claim.note]))  # fmt: skip
    counts = isinstance(claim.test, Check) or not results.quick
    fails = verdict == NOT_MET and not known and counts
    return Verdict(paper, claim, measured, verdict, note, fails, known)


def _reasons(claim: Claim, wrong: Sequence[Point], results: Results) -> tuple[list[str], bool]:
    """Why a claim fails, as far as known, and whether that is all of it."""
    places = [dict(zip(results.experiment.axes, point, strict=True)) for point in wrong]
    fitting = [remark for remark in claim.remarks if any(remark.fits(at) for at in places)]
    reasons = [claim.why_not, *(remark.why_not for remark in fitting)]
    each = bool(places) and all(any(one.fits(at) for one in fitting) for at in places)
    return list(filter(None, reasons)), claim.why_not is not None or each


Judged = tuple[float | str | None, str, str]


def _value(claim: Claim, test: Value, results: Results) -> Judged:
    measured = test.quantity.of(results, test.point)
    if test.minus and measured is not None:
        other = test.quantity.of(results, results.experiment.moved(test.point, test.minus))
        measured = None if other is None else measured - other
    if measured is None:
        return None, NOT_COMPARABLE, "undefined: nothing was collected in one of the runs"
    runs = claim.runs(results.experiment)
    too_much = [] if claim.any_load else results.saturated(runs)
    alike = "" if claim.any_workload and not results.quick else results.why_different(runs)
    why = "; ".join(filter(None, [_saturated(too_much, results), alike]))
    if why:
        return measured, NOT_COMPARABLE, why
    assert not isinstance(claim.claimed, str)
    return measured, compared(measured, claim.claimed, test.tolerance), ""


def compared(measured: float, claimed: float, tolerance: Tolerance) -> str:
    """Met, near or not met.

    >>> from flashgc.reproduction.claims import Tolerance
    >>> from flashgc.reproduction.verdict import compared
    >>> within = Tolerance(0.02, 0.05, relative=True)
    >>> [compared(value, 100.0, within) for value in (98.0, 96.0, 94.0)]
    ['met', 'near', 'not met']
    """
    off = abs(measured - claimed) / (abs(claimed) or 1 if tolerance.relative else 1)
    # A value with exactly the allowed difference is within it, whatever binary floats say.
    if off <= tolerance.met * (1 + 1e-9):
        return MET
    return NEAR if off <= tolerance.near * (1 + 1e-9) else NOT_MET


def _saturated(points: Sequence[Point], results: Results) -> str:
    """That more arrived than the drive could serve, and where."""
    if not points:
        return ""
    named = [results.experiment.label(point) for point in points[:_SHOWN]]
    more = f" and {len(points) - _SHOWN} more" if len(points) > _SHOWN else ""
    return f"saturated (more requests arrived than the drive could serve): {'; '.join(named)}{more}"


def _order(claim: Claim, test: Order, results: Results, failed: list[Point]) -> Judged:
    """Judges an order, and says at which places it fails."""
    experiment = results.experiment
    total, undefined, equal = 0, 0, 0
    wrong: list[str] = []
    too_much: list[Point] = []
    left_out, left_out_held = 0, 0
    unit = _unit(test, results)
    for point in test.points:
        for left_at, right_at in pairs(experiment, test, point):
            left = test.quantity.of(results, left_at)
            right = test.bound if right_at is None else test.other.of(results, right_at)
            if left is None or right is None:
                undefined += 1
                continue
            beyond = results.saturated(_pair_runs(test, results, left_at, right_at))
            if beyond and not claim.any_load:
                too_much += beyond
                left_out += 1
                left_out_held += _holds(test, left, right)
                continue
            total += 1
            if not _holds(test, left, right):
                equal += left == right
                failed.append(left_at)
                signs = f"{cell(left, unit)} against {cell(right, unit)}"
                wrong.append(f"{_named(test, results, left_at)}: {signs}")
    beyond_text = _saturated(list(dict.fromkeys(too_much)), results)
    if total == 0 and left_out:
        return f"{left_out_held} of {left_out}", NOT_COMPARABLE, beyond_text
    if total == 0:
        return None, NOT_COMPARABLE, "undefined: nothing was collected in the runs"
    ties_alone = len(wrong) == equal < total / 2
    near = len(wrong) <= NEAR_SHARE * total or ties_alone
    enough = not wrong or (test.most and len(wrong) < total / 2)
    verdict = MET if enough else NEAR if near else NOT_MET
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    why = f"not at {'; '.join(wrong[:_SHOWN])}{more}" if wrong else ""
    missing = f"{undefined} undefined" if undefined else ""
    alike = results.why_different(_order_points(test, results))
    measured = f"{total - len(wrong)} of {total}"
    beyond_text = beyond_text and f"{left_out} left out: {beyond_text}"
    return measured, verdict, "; ".join(filter(None, [why, missing, beyond_text, alike]))


def _holds(test: Order, left: float, right: float) -> bool:
    slack = 0.0 if test.tie is None else test.tie.of(right)
    if test.word == "equal":
        return abs(left - right) <= slack
    apart = right - left if test.word == "above" else left - right
    return apart < 0 if test.tie is None else apart <= slack


def _pair_runs(test: Order, results: Results, left: Point, right: Point | None) -> list[Point]:
    experiment = results.experiment
    own = test.quantity.runs(experiment, left)
    return own if right is None else [*own, *test.other.runs(experiment, right)]


def _order_points(test: Order, results: Results) -> list[Point]:
    return [
        run
        for point in test.points
        for left, right in pairs(results.experiment, test, point)
        for run in _pair_runs(test, results, left, right)
    ]


def _unit(test: Order, results: Results) -> str:
    quantity = test.quantity
    if quantity.against:
        return PERCENT if quantity.percent else ""
    return results.experiment.measures[quantity.measure].unit


def _named(test: Order, results: Results, point: Point) -> str:
    several = [
        axis for at, axis in enumerate(results.experiment.axes)
        if axis not in test.quantity.over and len({each[at] for each in test.points}) > 1
    ]  # fmt: skip
    several += [test.along] if test.along is not None else []
    return results.experiment.label(point, several or None)


def _check(name: str, results: Results) -> Judged:
    wrong: list[str] = []
    # Choices with equal settings are one run.
    runs = {
        (report.get("config_hash", id(report)), report.get("result_hash")): (point, report)
        for point, report in results.reports.items()
    }
    try:
        for point, report in runs.values():
            complaint = checks.CHECKS[name](report)
            if complaint is not None:
                wrong.append(f"{results.experiment.label(point)}: {complaint}")
    except checks.MissingError as missing:
        return None, NOT_COMPARABLE, str(missing)
    total = len(runs)
    why = f"not in {'; '.join(wrong[:_SHOWN])}" if wrong else ""
    return f"{total - len(wrong)} of {total}", NOT_MET if wrong else MET, why


def counted(verdicts: Sequence[Verdict]) -> Mapping[str, int]:
    """How many claims have each verdict."""
    return {word: sum(one.verdict == word for one in verdicts) for word in VERDICTS}
