"""Compares measured results with claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from flashgc.reproduction import checks, evidence, orders, pins
from flashgc.reproduction.claims import Check, Claim, Order, Tolerance, Value
from flashgc.reproduction.experiment import Point
from flashgc.reproduction.grid import cell
from flashgc.reproduction.pins import Pin, Pins
from flashgc.reproduction.results import Results

MET, NEAR, NOT_MET, NOT_COMPARABLE = "met", "near", "not met", "not comparable"
PREDICTED, NOT_PREDICTED = "predicted", "not predicted"
VERDICTS = (NOT_MET, NOT_PREDICTED, NEAR, MET, PREDICTED, NOT_COMPARABLE)
"""Failures come first."""

REMAINDER = Tolerance(0.1, 0.2, relative=True)
"""For a reduction of more than half: the remainder must agree as well, as a share of itself."""
_HALF = 50.0
_SHOWN = 4
_SLACK = 1 + 1e-9
"""A value with exactly the allowed difference is within it, whatever binary floats say."""


@dataclass(frozen=True)
class Verdict:
    """A claim with the measured result."""

    paper: str
    claim: Claim
    measured: float | str | None
    verdict: str
    note: str
    fails: bool
    """Whether it was not met without a known reason, or differs from the value on record; a quick
    run fails by its checks and its values on record."""
    known: bool = False
    """Whether the reason is known, at each place where it fails."""
    backed: bool = False
    """Whether runs of this reproduction show the reason."""
    evidence: str = evidence.OWN
    drift: str = ""
    """The difference of the result from the value on record."""
    fails_if: str = ""
    """The change that would make it fail."""
    pin: Pin | None = None
    """The value for the record."""
    section: str = ""
    """The traces of its runs, as they are on record."""

    def to_dict(self) -> dict[str, Any]:
        """The output of `flashgc reproduce --json`."""
        claim = self.claim
        return {
            "paper": self.paper, "place": claim.place, "what": claim.what, "unit": claim.unit,
            "claimed": claim.claimed, "measured": self.measured, "verdict": self.verdict,
            "note": self.note, "source": claim.source, "in": list(claim.parts),
            "fails": self.fails, "evidence": self.evidence, "fails_if": self.fails_if,
            "drift": self.drift,
        }  # fmt: skip


class Judged(NamedTuple):
    """The outcome of a test."""

    measured: float | str | None
    verdict: str
    why: str
    fails_if: str
    failed: Sequence[Point] = ()
    """The places where an order fails."""
    wrong: Sequence[str] = ()
    """Their names."""


def judge(paper: str, claim: Claim, results: Results, on_record: Pins | None = None) -> Verdict:
    """The verdict on a claim; the runs that it needs must be there.

    Without values on record a known reason is enough for a claim that is not met.
    """
    match claim.test:
        case Value():
            found = _value(claim, claim.test, results)
        case Order():
            found = _order(claim, claim.test, results)
        case Check(name):
            found = _check(name, results)
    kind = evidence.of(claim, results)
    word = found.verdict
    if kind == evidence.FITTED:
        word = {MET: PREDICTED, NOT_MET: NOT_PREDICTED}.get(word, word)
    reasons, known, backed = _reasons(claim, found.failed, results)
    fitted = results.what_fitted(claim.runs(results.experiment))
    if fitted and isinstance(claim.test, Value):
        reasons.append(f"a prediction: {fitted}")
        known = True
    now = pins.pin(claim, found.measured, found.wrong)
    drift, unpinned = _drift(claim, now, results, on_record)
    told = reasons if word in (NOT_MET, NEAR, NOT_PREDICTED) else ()
    changed = f"differs from the value on record: {drift}" if drift else ""
    note = "; ".join(filter(None, [changed, found.why, *told, unpinned, claim.note]))
    counts = isinstance(claim.test, Check) or not results.quick
    missed = word in (NOT_MET, NOT_PREDICTED) and not (known and not unpinned) and counts
    return Verdict(
        paper, claim, found.measured, word, note, missed or bool(drift), known, backed, kind, drift,
        found.fails_if, now, pins.section(claim, results),
    )  # fmt: skip


def _drift(
    claim: Claim, now: Pin | None, results: Results, on_record: Pins | None
) -> tuple[str, str]:
    """The difference of the result from the value on record, or the absence of a due one."""
    if now is None or on_record is None:
        return "", ""
    recorded = on_record.find(claim, results)
    if recorded is not None:
        return pins.drift(claim, now, recorded), ""
    # With other traces than those on record, a reason stands as it is.
    missing = not results.quick and not on_record.has(claim, quick=False)
    return "", "no value on record (flashgc reproduce FOLDER --pin)" if missing else ""


def _reasons(
    claim: Claim, wrong: Sequence[Point], results: Results
) -> tuple[list[str], bool, bool]:
    """The known reasons of a failure, whether these are all, and whether runs show them."""
    places = [dict(zip(results.experiment.axes, point, strict=True)) for point in wrong]
    fitting = [remark for remark in claim.remarks if any(remark.fits(at) for at in places)]
    reasons = [claim.why_not, *(remark.why_not for remark in fitting)]
    each = bool(places) and all(any(one.fits(at) for one in fitting) for at in places)
    by = list(
        dict.fromkeys([*claim.backed_by, *(item for one in fitting for item in one.backed_by)])
    )
    told = list(filter(None, reasons))
    if told and by:
        told[-1] += f" (see {', '.join(by)})"
    return told, claim.why_not is not None or each, bool(by)


def _value(claim: Claim, test: Value, results: Results) -> Judged:
    assert not isinstance(claim.claimed, str)
    measured = test.quantity.of(results, test.point)
    fails_if = _limits(claim.claimed, test, claim.unit)
    if test.minus and measured is not None:
        other = test.quantity.of(results, results.experiment.moved(test.point, test.minus))
        measured = None if other is None else measured - other
    if measured is None:
        why = "undefined: nothing was collected in one of the runs"
        return Judged(None, NOT_COMPARABLE, why, fails_if)
    runs = claim.runs(results.experiment)
    too_much = [] if claim.any_load else results.saturated(runs)
    alike = "" if claim.any_workload and not results.quick else results.why_different(runs)
    fitted = results.what_fitted(runs) if claim.fitted_to else ""
    own = fitted and f"the number that the workload was fitted to: {fitted}"
    why = "; ".join(filter(None, [_saturated(too_much, results), alike, own]))
    if why:
        return Judged(measured, NOT_COMPARABLE, why, fails_if)
    return Judged(measured, compared(measured, claim.claimed, test.tolerance, _whole(test)), "",
                  fails_if)  # fmt: skip


def _whole(test: Value) -> float | None:
    """The value of a reduction to nothing; None where the claim is not a reduction."""
    quantity = test.quantity
    if quantity.way != "reduction" or test.minus:
        return None
    return 100.0 if quantity.percent else 1.0


def compared(
    measured: float, claimed: float, tolerance: Tolerance, whole: float | None = None
) -> str:
    """Met, near or not met; of a reduction to more than half, what remains is compared as well.

    >>> from flashgc.reproduction.claims import Tolerance
    >>> from flashgc.reproduction.verdict import compared
    >>> within = Tolerance(0.02, 0.05, relative=True)
    >>> [compared(value, 100.0, within) for value in (98.0, 96.0, 94.0)]
    ['met', 'near', 'not met']
    >>> [compared(value, 98.0, within, 100.0) for value in (98.1, 97.7, 99.0)]
    ['met', 'near', 'not met']
    """
    found = _within(measured, claimed, tolerance)
    if whole is None or not _HALF / 100 * whole < claimed < whole:
        return found
    return max(found, _within(whole - measured, whole - claimed, REMAINDER),
               key=(MET, NEAR, NOT_MET).index)  # fmt: skip


def _within(measured: float, claimed: float, tolerance: Tolerance) -> str:
    off = abs(measured - claimed) / (abs(claimed) or 1 if tolerance.relative else 1)
    if off <= tolerance.met * _SLACK:
        return MET
    return NEAR if off <= tolerance.near * _SLACK else NOT_MET


def _limits(claimed: float, test: Value, unit: str) -> str:
    """The values beyond which a number is not met."""
    tolerance, whole = test.tolerance, _whole(test)
    off = tolerance.near * (abs(claimed) if tolerance.relative else 1)
    if whole is not None and _HALF / 100 * whole < claimed < whole:
        off = min(off, REMAINDER.near * (whole - claimed))
    return f"below {cell(claimed - off, unit)} or above {cell(claimed + off, unit)}"


def _saturated(points: Sequence[Point], results: Results) -> str:
    """The places where more arrived than the drive could serve."""
    if not points:
        return ""
    named = [results.experiment.label(point) for point in points[:_SHOWN]]
    more = f" and {len(points) - _SHOWN} more" if len(points) > _SHOWN else ""
    return f"saturated (more requests arrived than the drive could serve): {'; '.join(named)}{more}"


def _order(claim: Claim, test: Order, results: Results) -> Judged:
    """Judges an order, with the places at which it fails."""
    found = orders.tally(claim, test, results)
    fails_if = _fails_if(test, found)
    beyond = _saturated(list(dict.fromkeys(found.saturated)), results)
    if found.total == 0 and found.left_out:
        measured = f"{found.left_out_held} of {found.left_out}"
        return Judged(measured, NOT_COMPARABLE, beyond, fails_if)
    if found.total == 0:
        why = "undefined: nothing was collected in the runs"
        return Judged(None, NOT_COMPARABLE, why, fails_if)
    wrong = [f"{name}: {signs}" if name else signs for name, signs in found.wrong]
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    why = f"not at {'; '.join(wrong[:_SHOWN])}{more}" if wrong else ""
    missing = f"{found.undefined} undefined" if found.undefined else ""
    alike = results.why_different(claim.runs(results.experiment))
    verdict, told = _order_verdict(test, found)
    beyond = beyond and f"{found.left_out} left out: {beyond}"
    return Judged(
        f"{found.total - len(wrong)} of {found.total}", verdict,
        "; ".join(filter(None, [why, told, missing, beyond, alike])), fails_if, found.failed,
        [name for name, _ in found.wrong],
    )  # fmt: skip


def _order_verdict(test: Order, found: orders.Tally) -> tuple[str, str]:
    """The verdict on an order, and why it has none."""
    every = found.total + found.undefined + found.left_out
    wrong = len(found.wrong)
    if found.total < orders.JUDGED_SHARE * every:
        return NOT_COMPARABLE, f"judged at {found.total} of {every} places alone"
    if wrong == 0 or (test.most and wrong < found.total / 2):
        ties = test.tie is not None and test.word != "equal"
        if ties and found.effects < orders.JUDGED_SHARE * found.total:
            told = f"an effect at {found.effects} of {found.total} places alone; equal elsewhere"
            return NOT_COMPARABLE, told
        return MET, ""
    return (NOT_MET if orders.is_lost(test, found) else NEAR), ""


def _fails_if(test: Order, found: orders.Tally) -> str:
    """The change that would make an order fail, and its distance."""
    if test.tie is not None:
        amount = f"{100 * test.tie.amount:g} %" if test.tie.relative else f"{test.tie.amount:g}"
        least = f"differ by more than {amount}" if test.word == "equal" else (
            f"are more than {amount} against the order")  # fmt: skip
    else:
        margin = test.margin
        amount = f"{100 * margin.amount:g} %" if margin.relative else f"{margin.amount:g}"
        least = f"are not in order by {amount}"
    where = "at half of the places" if test.most else "at a place"
    closest = ""
    if found.closest is not None and test.word != "equal":
        share, name = found.closest
        percent = f"{100 * share:.0f}" if share >= 1 else f"{100 * share:.2g}"
        closest = f"; closest {percent} %" + (f", {name}" if name else "")
    return f"values {least} {where}{closest}"


def _check(name: str, results: Results) -> Judged:
    wrong: list[str] = []
    # Choices with equal settings are one run.
    runs = {
        (report.get("config_hash", id(report)), report.get("result_hash")): (point, report)
        for point, report in results.reports.items()
    }
    fails_if = "a run where it does not hold"
    try:
        for point, report in runs.values():
            complaint = checks.CHECKS[name](report)
            if complaint is not None:
                wrong.append(f"{results.experiment.label(point)}: {complaint}")
    except checks.MissingError as missing:
        return Judged(None, NOT_COMPARABLE, str(missing), fails_if)
    total = len(runs)
    why = f"not in {'; '.join(wrong[:_SHOWN])}" if wrong else ""
    return Judged(f"{total - len(wrong)} of {total}", NOT_MET if wrong else MET, why, fails_if)


def counted(verdicts: Iterable[Verdict]) -> Mapping[str, int]:
    """The number of claims by verdict."""
    words = [one.verdict for one in verdicts]
    return {word: words.count(word) for word in VERDICTS}
