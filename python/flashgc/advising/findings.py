"""The findings of `advise`, from its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flashgc.advising import lengths, objectives, ranking, words
from flashgc.advising.candidates import Candidates
from flashgc.advising.lengths import Lengths
from flashgc.advising.objectives import Values
from flashgc.formatting import units
from flashgc.reports.report import Report
from flashgc.results import metrics, steady_state, summary

_UNKNOWN = "p99.9 of all requests is not known to +/- 10 % at the end of the longest run"
PERCENTILES = ("mean", "p50", "p99", "p99_9", "p99_99")
TAIL_REQUESTS = 20_000
"""With fewer requests of a kind, p99.9 is based on fewer than 20 of them."""
_LIMIT = "the run reached its limit"
"""A note on a limit that the advice has set by itself, which it puts in its own words."""


class Found(NamedTuple):
    """All runs of `advise`."""

    candidates: Candidates
    plan: Lengths
    short: Mapping[str, Sequence[Values]]
    long: Mapping[str, Sequence[Values]]
    without: Mapping[str, Sequence[Values]]
    """The long runs without GC cost."""
    dropped: Mapping[str, str]
    reports: Mapping[str, Report]
    """The first long run of each scheme that has one."""
    verdicts: Mapping[str, Sequence[str]]
    """Whether each long run of a scheme is in steady state."""


def nothing_collected(first: Report, plan: Lengths) -> bool:
    """Whether the first run shows that no scheme can differ: nothing collects, in long runs too."""
    is_whole = bool(plan.rows) and plan.at_most is None
    return first.steady.verdict == "no GC" or (is_whole and bool(first.steady.nothing_moved))


def values(found: Found) -> dict[str, Any]:
    """The keys of the advice, except for the commands."""
    own = found.candidates.own
    first = found.reports[own]
    means = {name: objectives.mean(runs) for name, runs in found.long.items()}
    ranked = {name: one for name, one in means.items() if _is_ranked(found, name)}
    changes = {name: _changes(found, name) for name in found.long}
    samples = {name: _samples(found)[name] for name in ranked} if found.short else {}
    best = (
        ranking.bests(ranked, samples, own, changes)
        if found.short and own in ranked
        else {objective.key: None for objective in objectives.OBJECTIVES}
    )
    result: dict[str, Any] = {
        "version": first.version,
        "seed": first.seed,
        "device": first.device,
        "scheme": own,
        "samples": {
            "kind": found.plan.kind,
            "count": len(found.plan.short),
            "requests": found.plan.requests,
            "until_steady": lengths.STEADY in found.plan.long[0],
            "at_most_drive_writes": found.plan.at_most,
        },
        "schemes": _schemes(found, means, changes),
        "collection": _collection(found),
        "best": best,
        "warnings": warnings(found),
    }
    return {**result, "advice": words.sentences(result, first.steady.nothing_moved)}


def _is_ranked(found: Found, name: str) -> bool:
    """Whether a scheme can be advised: its long runs moved pages, and are in steady state."""
    own = found.reports[found.candidates.own]
    return worst(found.verdicts[name]) != "no" and not own.steady.nothing_moved


def _samples(found: Found) -> Mapping[str, Sequence[Values]]:
    """The runs behind confidence intervals: seeds of long runs, or parts of a trace."""
    return found.long if found.plan.kind == "seeds" else found.short


def _changes(found: Found, name: str) -> dict[str, Any]:
    """The changes of the long runs; for a trace with the intervals of its parts."""
    own = found.candidates.own
    changes = objectives.changes(found.long[name], found.long[own])
    samples = _samples(found)
    if found.plan.kind == "parts" and name in samples:
        for key, one in objectives.changes(samples[name], samples[own]).items():
            if one is not None and changes[key] is not None:
                changes[key] = {**changes[key], "low": one["low"], "high": one["high"]}
    return changes


def _schemes(
    found: Found, means: Mapping[str, Values], changes: Mapping[str, Any]
) -> list[dict[str, Any]]:
    rows = []
    for name, report in found.reports.items():
        rows.append(_row(name, "long", None, {
            "balance": worst(found.verdicts[name]), "requests": metrics.requests(report),
            "objectives": means[name], "changes": changes[name],
            "without_gc_cost": objectives.mean(found.without[name]),
        }))  # fmt: skip
    for name, reason in found.dropped.items():
        runs = found.short.get(name)
        rows.append(_row(name, "dropped", reason, {} if runs is None else {
            "requests": found.plan.requests * len(runs),
            "objectives": objectives.mean(runs),
            "changes": objectives.changes(runs, found.short[found.candidates.own]),
        }))  # fmt: skip
    rows += [_row(name, "left out", why, {}) for name, why in found.candidates.left.items()]
    return rows


def worst(verdicts: Sequence[str]) -> str:
    """The verdict on several runs of a scheme: one that is not in steady state decides.

    >>> from flashgc.advising.findings import worst
    >>> worst(["yes", "no", "yes"]), worst(["yes", "yes"])
    ('no', 'yes')
    """
    return "no" if "no" in verdicts else verdicts[0]


def _row(name: str, outcome: str, reason: str | None, more: dict[str, Any]) -> dict[str, Any]:
    empty = {"balance": None, "requests": None, "objectives": None, "changes": None,
             "without_gc_cost": None}  # fmt: skip
    return {"scheme": name, "outcome": outcome, "reason": reason, **empty, **more}


def _collection(found: Found) -> dict[str, Any]:
    """The share of GC in each percentile, and the percentile without GC cost."""
    report = found.reports[found.candidates.own]
    without = report.without_gc_cost.latency_ns
    result: dict[str, Any] = {}
    for kind in ("read", "write"):
        result[kind] = {}
        for name in PERCENTILES:
            split = report.blame[kind][name]
            result[kind][name] = None if split is None else {
                "latency_ns": split["latency_ns"],
                "collection_ns": split["collection_ns"],
                "share": split["collection_ns"] / max(split["latency_ns"], 1),
                "without_gc_cost_ns": without[kind][name],
            }  # fmt: skip
    return result


def warnings(found: Found) -> list[str]:
    """Reasons not to rely on the advice, and the notes of the runs."""
    told: dict[str, list[str]] = {}
    for name, report in found.reports.items():
        for text in (*steady_state.first(report), *summary.warnings(report)):
            own = _UNKNOWN if text.startswith(_LIMIT) else text
            told.setdefault(own, []).append(name)
    everywhere = [
        text if len(schemes) == len(found.reports) else f"{units.listed(schemes)}: {text}"
        for text, schemes in told.items()
    ]
    return [*_unsure(found), *_seeds_out(found), *everywhere]


def _seeds_out(found: Found) -> list[str]:
    """Schemes that are steady with the first seed, whose notes are shown, and not with all."""
    return [
        f"{name}: not in steady state with {verdicts.count('no')} of {len(verdicts)} seeds"
        for name, verdicts in found.verdicts.items()
        if "no" in verdicts[1:]
    ]


def _unsure(found: Found) -> list[str]:
    """The limits of the samples."""
    told = []
    if found.plan.kind == "parts":
        told.append(
            f"intervals come from {found.plan.requests:,} requests of each of "
            f"{len(found.plan.short)} parts of one trace: other hours of the same system may differ"
        )
    if found.plan.kind == "none" and found.short:
        told.append(
            f"no confidence intervals: splitting the trace needs at least {lengths.FEWEST_PARTS} "
            f"parts of {lengths.PART_ROWS:,} requests"
        )
    report = found.reports[found.candidates.own]
    for kind in ("read", "write"):
        count = found.plan.rows.get(kind, report.latency_ns[kind].count)
        if 0 < count < TAIL_REQUESTS:
            told.append(
                f"{kind} p99.9 is based on only {max(count // 1000, 1)} of "
                f"{units.counted(count, kind)}"
            )
    return told
