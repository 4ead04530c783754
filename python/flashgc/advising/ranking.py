"""The schemes that stay after a round, and the best one for each objective, with its confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.advising.objectives import NARROWING, OBJECTIVES, Values, change

Runs = Mapping[str, Sequence[Values]]
"""The values of each scheme in each sample; the samples are in the same order for all."""

MARGIN = 0.02
"""A scheme is beaten if its interval lies beyond this change: less does not decide a choice."""
MARGIN_OF_ONE = 0.2
"""The margin of a single sample, without a known interval."""
BEST_KEPT = 3
"""Schemes kept for each objective, at most; those that the best does not beat come first."""


def order(runs: Runs, key: str, reference: str) -> list[str]:
    """The schemes by one objective, the best first.

    The order is that of the mean change against the reference, so that a sample in which all
    schemes are slow counts no more than the others. Schemes without a value are omitted.
    """
    found = {}
    for at, (scheme, own) in enumerate(runs.items()):
        over = change(own, runs[reference], key)
        if over is not None and over["change"] is not None:
            found[scheme] = (over["change"], at)
    return sorted(found, key=lambda scheme: found[scheme])


def beaten(runs: Runs, scheme: str, best: str, key: str) -> bool:
    """Whether the best is better than a scheme beyond the interval and the margin."""
    over = change(runs[scheme], runs[best], key)
    if over is None or over["change"] is None:
        return False
    if over["low"] is None:
        return over["change"] > MARGIN_OF_ONE
    return over["low"] > MARGIN


def narrowed(runs: Runs, reference: str) -> tuple[list[str], dict[str, str]]:
    """The schemes that stay, and the reasons of the others; the reference always stays."""
    kept = {reference}
    fair: set[str] = set()
    ranked = [(key, order(runs, key, reference)) for key in NARROWING]
    ranked = [(key, schemes) for key, schemes in ranked if schemes]
    for key, schemes in ranked:
        equal = [one for one in schemes if not beaten(runs, one, schemes[0], key)]
        fair.update(equal)
        kept.update(equal[:BEST_KEPT])
    reasons = {}
    for scheme in runs:
        if scheme not in kept:
            reasons[scheme] = (
                f"not among the best {BEST_KEPT} of any objective"
                if scheme in fair
                else "beaten in every objective"
            )
    return [scheme for scheme in runs if scheme in kept], reasons


def not_separable(samples: Runs, best: str, key: str) -> list[str]:
    """The schemes that the samples find better than the best one, or not different from it."""
    found = []
    for scheme in samples:
        over = None if scheme == best else change(samples[scheme], samples[best], key)
        if over is not None and over["low"] is not None and over["low"] <= 0:
            found.append(scheme)
    return found


SECOND = {"read": "write_amplification", "write": "write_amplification",
          "write_amplification": "read", "wear": "read"}  # fmt: skip
"""The objective that decides between schemes that are equally good for another one."""


def equals(runs: Runs, best: str, key: str) -> list[str]:
    """The best scheme, and those within the margin of it: less does not decide a choice."""
    found = [best]
    for scheme in runs:
        over = None if scheme == best else change(runs[scheme], runs[best], key)
        if over is not None and over["change"] is not None and over["change"] <= MARGIN:
            found.append(scheme)
    return found


def taken(runs: Runs, equal: Mapping[str, list[str]], key: str, reference: str) -> str:
    """The scheme for most objectives among equally good ones; among these, the cheapest."""
    counts = {one: sum(one in found for found in equal.values()) for one in equal[key]}
    most = [one for one in equal[key] if counts[one] == max(counts.values())]
    second = order({one: runs[one] for one in (*most, reference)}, SECOND[key], reference)
    return next((one for one in second if one in most), most[0])


def bests(
    long: Mapping[str, Values], samples: Runs, reference: str, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The best scheme of each objective by the long runs, with the certainty of the samples."""
    runs = {scheme: [own] for scheme, own in long.items()}
    first = {}
    for objective in OBJECTIVES:
        schemes = order(runs, objective.key, reference)
        if schemes:
            first[objective.key] = schemes[0]
    equal = {key: equals(runs, best, key) for key, best in first.items()}
    alone = len(next(iter(samples.values()))) < 2
    found: dict[str, Any] = {objective.key: None for objective in OBJECTIVES}
    for key, best in first.items():
        near = not_separable(samples, best, key)
        found[key] = {
            "scheme": best,
            "value": long[best][key],
            "changes": changes[best],
            "known": "unknown" if alone else "no" if near else "yes",
            "not_separable": near,
            "take": taken(runs, equal, key, reference),
        }
    return found
