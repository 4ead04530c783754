"""The result of a search in words and tables, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flashgc.advising.objectives import percent, spread
from flashgc.formatting import units
from flashgc.tuning.metrics import MAXIMISE, Metric, constraint

Rows = list[list[str]]

_PARAMETERS = 10
"""Parameters in the table, the ones that mattered most."""
_LEAST = 0.01
"""A share below this is not worth a row."""


def head(found: Mapping[str, Any]) -> str:
    """The search in a sentence."""
    return (
        f"search {found['study']}: {units.counted(found['trials'], 'trial')} ({found['method']}, "
        f"seed {found['seed']}) on {found['device']}; "
        f"{units.counted(found['refused_points'], 'illegal point')} drawn, none of them run"
    )


def about(found: Mapping[str, Any]) -> str:
    """The lengths of the runs, and the constraints."""
    *rungs, check = found["samples"]
    lengths = "; then ".join(rungs)
    bounds = f"; constraints: {', '.join(found['constraints'])}" if found["constraints"] else ""
    return f"runs: {lengths}; check: {check}{bounds}"


def metrics(found: Mapping[str, Any]) -> list[Metric]:
    """The metrics of the search: objectives, then constraints."""
    own = [Metric(one["metric"], -1.0 if one["maximised"] else 1.0) for one in found["objectives"]]
    names = {one.name for one in own}
    more = [constraint(text).metric for text in found["constraints"]]
    for one in more:
        if one.name not in names:
            own.append(one)
            names.add(one.name)
    return own


def long(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The points with the longest runs: the chosen one first, then the front, then the others."""
    last = max(one["rung"] for one in found["points"])
    name = found["chosen"]["name"]
    points = [one for one in found["points"] if one["rung"] == last and one["metrics"]]
    return sorted(points, key=lambda one: (one["name"] != name, not one["on_front"]))


def points(found: Mapping[str, Any]) -> Rows:
    """The points with the longest runs, and their metrics."""
    listed = metrics(found)
    rows = [["longest runs", *(one.head for one in listed), "on the front"]]
    is_required = any(one["balanced"] for one in found["points"] if one["name"].endswith("(own)"))
    for point in long(found):
        cells = [one.show(point["metrics"][one.name]) for one in listed]
        mark = " (chosen)" if point["name"] == found["chosen"]["name"] else ""
        place = "yes" if point["on_front"] else "no"
        if not point["feasible"]:
            # Steady state is required where the configuration's own scheme has it.
            is_unsteady = is_required and not point["balanced"]
            place = "not in steady state" if is_unsteady else "breaks a constraint"
        rows.append([f"{point['name']}{mark}", *cells, place])
    return rows


def chosen(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings of the chosen point, slots first."""
    settings = found["chosen"]["settings"]
    if not settings:
        own = next(one for one in found["points"] if one["name"] == found["chosen"]["name"])
        why = ("the configuration itself is the best" if own["feasible"] else
               "no point of the longest runs meets the constraints in steady state, the "
               "configuration itself included")  # fmt: skip
        return [("settings", f"none: {why}")]
    slots = {key: value for key, value in settings.items() if key.endswith(".use")}
    rest = {key: value for key, value in settings.items() if key not in slots}
    return [(key, value.strip('"')) for key, value in (*slots.items(), *rest.items())]


def parameters(found: Mapping[str, Any]) -> Rows:
    """The parameters that mattered most, with their shares for each objective."""
    goals = list(found["parameters"][0]["importance"]) if found["parameters"] else []
    heads = [f"for {Metric(goal.removeprefix(MAXIMISE)).head}" for goal in goals]
    rows = [["parameter", "chosen", *heads]]
    for one in found["parameters"][:_PARAMETERS]:
        shares = one["importance"]
        if max(shares.values(), default=0.0) >= _LEAST:
            cells = [units.share(shares[goal]) for goal in goals]
            rows.append([one["name"], one["chosen"] or units.NOTHING, *cells])
    return rows if len(rows) > 1 else []


def check(found: Mapping[str, Any], intervals: bool = False) -> Rows:
    """The chosen point against others on unseen samples, with intervals or without."""
    listed = metrics(found)
    rows = [["chosen against", *(one.head for one in listed), "objectives"]]
    for rival in found["check"]["rivals"]:
        changes = [rival["changes"].get(one.name) for one in listed]
        cells = [spread(one) if intervals else _change(one) for one in changes]
        rows.append([rival["name"], *cells, rival["verdict"]])
    return rows if len(rows) > 1 else []


def _change(change: Mapping[str, Any] | None) -> str:
    return units.NOTHING if change is None else percent(change["change"])


def verdict(found: Mapping[str, Any]) -> str:
    """The check in a sentence."""
    values = found["check"]["metrics"]
    shown = ", ".join(f"{one.label} {one.show(values[one.name])}" for one in metrics(found))
    sure = "confirmed" if found["check"]["confirmed"] else "not confirmed"
    return f"{found['chosen']['name']} is {sure} on {found['check']['samples']}: {shown}."
