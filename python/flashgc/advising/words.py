"""The advice in words and tables, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashgc.advising.objectives import BY_KEY, OBJECTIVES, percent, spread
from flashgc.formatting import units
from flashgc.results import gc_cost

Rows = list[list[str]]

_PERCENTILES = {"mean": "mean", "p50": "p50", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99"}
_SMALL = 0.005
"""A price below this change is not worth a word."""


def collection(advice: Mapping[str, Any]) -> Rows:
    """The share of GC in each percentile, and the percentile without GC cost."""
    rows = [[f"under {advice['scheme']}", "all", "collection", "share", gc_cost.WITHOUT]]
    for kind in ("read", "write"):
        for name, shown in _PERCENTILES.items():
            share = advice["collection"][kind][name]
            if share is not None:
                rows.append([
                    f"{kind} {shown}", units.time(share["latency_ns"]),
                    units.time(share["collection_ns"]), units.share(share["share"]),
                    units.time(share["without_gc_cost_ns"]),
                ])  # fmt: skip
    return rows if len(rows) > 1 else []


def schemes(advice: Mapping[str, Any]) -> Rows:
    """The schemes of the long runs, with the metric of each objective."""
    rows = [["", *(objective.label for objective in OBJECTIVES), "steady state"]]
    for one in advice["schemes"]:
        if one["outcome"] == "long":
            found = one["objectives"]
            cells = [objective.show(found[objective.key]) for objective in OBJECTIVES]
            rows.append([one["scheme"], *cells, one["balance"]])
    return rows


def costs(advice: Mapping[str, Any]) -> Rows:
    """The distances of each scheme's latencies from its own without GC cost."""
    heads = [(f"{kind} p99.9 {gc_cost.WITHOUT}", "difference") for kind in ("read", "write")]
    rows = [["", *heads[0], *heads[1]]]
    for one in advice["schemes"]:
        if one["without_gc_cost"] is not None:
            cells: list[str] = []
            for kind in ("read", "write"):
                own, without = one["objectives"][kind], one["without_gc_cost"][kind]
                cells += [units.time(without), _signed(own, without)]
            rows.append([one["scheme"], *cells])
    return rows if len(rows) > 1 else []


def _signed(own: float | None, without: float | None) -> str:
    """A difference of times with its sign: it can be below zero."""
    if own is None or without is None:
        return units.NOTHING
    return f"{'+' if own >= without else '-'}{units.time(abs(own - without))}"


def best(advice: Mapping[str, Any]) -> Rows:
    """The best scheme for each objective, its gain, and whether that is sure."""
    over = advice["scheme"]
    rows = [["best for", "scheme", f"change over {over}", "significant?"]]
    for objective in OBJECTIVES:
        found = advice["best"][objective.key]
        if found is not None:
            change = found["changes"][objective.key]
            of_parts = advice["samples"]["kind"] == "parts"
            text = "-" if found["scheme"] == over else spread(change, of_parts)
            rows.append([objective.purpose, found["scheme"], text, known(found)])
    return rows if len(rows) > 1 else []


def known(found: Mapping[str, Any]) -> str:
    """Whether the best scheme is known to be the best."""
    if found["known"] == "unknown":
        return "unknown"
    if found["known"] == "yes":
        return "yes"
    return f"not against {', '.join(found['not_separable'])}"


def prices(advice: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each scheme that is best or advised for an objective, with the changes of all of them."""
    changes = {one["scheme"]: one["changes"] for one in advice["schemes"]}
    told: dict[str, str] = {}
    for objective in OBJECTIVES:
        found = advice["best"][objective.key]
        for scheme in () if found is None else (found["scheme"], found["take"]):
            if scheme not in (advice["scheme"], *told):
                known = changes[scheme].items()
                parts = [_priced(key, change) for key, change in known if change is not None]
                told[scheme] = ", ".join(parts)
    return list(told.items())


def others(advice: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The schemes without long runs, by their reasons."""
    told: dict[tuple[str, str], list[str]] = {}
    for one in advice["schemes"]:
        if one["outcome"] in {"dropped", "left out"}:
            told.setdefault((one["outcome"], one["reason"]), []).append(one["scheme"])
    return [(f"{outcome}: {', '.join(found)}", reason) for (outcome, reason), found in told.items()]


def about(advice: Mapping[str, Any]) -> str:
    """The method of the runs."""
    samples = advice["samples"]
    count = samples["count"]
    what = {"seeds": f"{count} seeds", "parts": f"{count} parts of the trace",
            "none": "the whole trace"}[samples["kind"]]  # fmt: skip
    if samples["kind"] == "seeds":
        long = f"{'until steady' if samples['until_steady'] else 'all requests'}, with each seed"
    else:
        again = samples["until_steady"]
        long = f"the trace {'again and again until steady' if again else 'once'}"
    return (
        f"short runs: {what}, {units.counted(samples['requests'], 'request')} each; "
        f"long runs: {long}; intervals are of 95 %"
    )


def sentences(advice: Mapping[str, Any], nothing_moved: str | None) -> list[str]:
    """The advice itself, in two or three sentences; or the reason why there is none."""
    if nothing_moved:
        return [
            "No advice: nothing was moved, so that schemes cannot be told apart.",
            _sentence(nothing_moved),
        ]
    out = _not_steady(advice)
    if advice["scheme"] in out:
        return [
            f"No advice yet: {advice['scheme']} has not reached steady state, and changes over it "
            "would not hold for a longer run; the notes have the reason."
        ]
    told = [_share(advice)]
    if out:
        told.append(
            f"Not ranked: {units.listed(out)}, not in steady state; the notes have the reason."
        )
    return [text for text in (*told, *_choice(advice)) if text]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _not_steady(advice: Mapping[str, Any]) -> list[str]:
    """Schemes with long runs that are not in steady state."""
    return [one["scheme"] for one in advice["schemes"] if one["balance"] == "no"]


def _share(advice: Mapping[str, Any]) -> str:
    """The share of GC in the tail latencies."""
    parts = []
    for kind in ("read", "write"):
        share = advice["collection"][kind]["p99_9"]
        if share is not None:
            parts.append(f"{100 * share['share']:.0f} % of {kind} p99.9")
    if not parts:
        return ""
    return f"Under {advice['scheme']}, GC is {units.listed(parts)}."


def _choice(advice: Mapping[str, Any]) -> list[str]:
    """The scheme to take for each objective, at its price."""
    groups: dict[str, list[str]] = {}
    for objective in OBJECTIVES:
        found = advice["best"][objective.key]
        if found is not None and _gains(advice, objective.key):
            groups.setdefault(found["take"], []).append(objective.key)
    if not groups:
        which = "ranked scheme" if _not_steady(advice) else "scheme"
        return [f"No {which} is known to be better than {advice['scheme']} here: keep it."]
    return [_taken(advice, scheme, keys) for scheme, keys in groups.items()]


def _gains(advice: Mapping[str, Any], key: str) -> bool:
    """Whether the best scheme is better than the configuration's own beyond chance."""
    found = advice["best"][key]
    own = advice["scheme"]
    if own in (found["scheme"], found["take"], *found["not_separable"]):
        return False
    change = found["changes"][key]
    return change is not None and change["change"] < -_SMALL


def _taken(advice: Mapping[str, Any], scheme: str, keys: Sequence[str]) -> str:
    changes = next(one["changes"] for one in advice["schemes"] if one["scheme"] == scheme)
    large = {key: one for key, one in changes.items() if one and abs(one["change"]) >= _SMALL}
    price = [key for key, one in large.items() if one["change"] > 0]
    gains = [key for key in large if key not in price]
    text = f"Use {scheme} for {units.listed([BY_KEY[key].purpose for key in keys])}: "
    text += ", ".join(_priced(key, large[key]) for key in gains)
    if price:
        text += f"; the price is {', '.join(_priced(key, large[key]) for key in price)}"
    near = _near(advice, scheme, keys)
    if near:
        text += f" ({near})"
    elif any(advice["best"][key]["known"] == "unknown" for key in keys):
        text += " (confidence unknown: the trace is too short to split)"
    return f"{text}."


def _near(advice: Mapping[str, Any], scheme: str, keys: Sequence[str]) -> str:
    """The schemes that may be as good as the advised one, and for which purposes."""
    purposes: dict[str, list[str]] = {}
    for key in keys:
        found = advice["best"][key]
        for name in dict.fromkeys((found["scheme"], *found["not_separable"])):
            if name != scheme:
                purposes.setdefault(name, []).append(BY_KEY[key].purpose)
    several: dict[str, list[str]] = {}
    for name, found in purposes.items():
        which = "" if len(found) == len(keys) else f" for {units.listed(found)}"
        several.setdefault(which, []).append(name)
    return "; ".join(
        f"{units.listed(found)} may be as good{which}" for which, found in several.items()
    )


def _priced(key: str, change: Mapping[str, Any]) -> str:
    return f"{BY_KEY[key].label} {percent(change['change'])}"
