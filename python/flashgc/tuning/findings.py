"""The result of a search as values: points, front, parameters, and the check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flashgc._engine as engine
from flashgc.files import toml
from flashgc.results import statistics
from flashgc.tuning import ranking
from flashgc.tuning.ranking import Candidate
from flashgc.tuning.search import CHECK, REFUSED, Search, importances

BETTER, WORSE, MIXED, EQUAL = "better", "worse", "mixed", "not separable"


def chosen(search: Search, finalists: Sequence[Candidate]) -> Candidate:
    """The point of the search: the configuration's own scheme, where no other one is feasible."""
    last = len(search.samples.rungs) - 1
    return ranking.chosen(finalists, last) or search.own


def is_checked(one: Candidate) -> bool:
    """Whether all runs of the check have all metrics."""
    return bool(one.results.get(CHECK))


def values(search: Search, finalists: Sequence[Candidate], best: Candidate) -> dict[str, Any]:
    """All keys but those that the caller adds: `device`, `config`, `commands`, `warnings`."""
    asked = search.asked
    front = _front(search, finalists)
    everyone = [search.own, *search.others, *search.trials]
    refused = sum(one.user_attrs.get(REFUSED, 0) for one in search.study.get_trials(deepcopy=False))
    return {
        "version": engine.__version__,
        "name": asked.name,
        "study": asked.study,
        "scheme": asked.own,
        "method": asked.method,
        "seed": asked.seed,
        "trials": len(search.trials),
        "failed": sum(one.score is None for one in search.trials),
        "refused_points": refused,
        "objectives": [{"metric": one.name, "maximised": one.sign < 0}
                       for one in asked.objectives],
        "constraints": [one.text for one in asked.constraints],
        "samples": search.samples.about,
        "points": [_point(search, one, one in front) for one in everyone],
        "parameters": _parameters(search, best),
        "chosen": {
            "name": best.label, "trial": best.trial, "preset": best.preset,
            "settings": settings(search, best),
            "metrics": means(best.results[best_rung(best)]),
        },
        "check": _check(search, finalists, best),
    }  # fmt: skip


def best_rung(one: Candidate) -> int:
    """The longest runs of a point, without the check."""
    return max((rung for rung, own in one.results.items() if rung != CHECK and own), default=-1)


def means(results: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric."""
    return {name: sum(one[name] for one in results) / len(results) for name in results[0]}


def settings(search: Search, one: Candidate) -> dict[str, str]:
    """The settings of a point over the configuration's own."""
    if one is search.own:
        return {}
    if one.preset is not None:
        return {"gc.scheme": toml.value(one.preset, "gc.scheme")}
    space = search.asked.space
    found = {} if (scheme := space.scheme(one.values)) is None else {"gc.scheme": scheme}
    found |= space.settings(one.values)
    return {key: toml.value(value, key) for key, value in found.items()}


def _front(search: Search, finalists: Sequence[Candidate]) -> list[Candidate]:
    last = len(search.samples.rungs) - 1
    known = [one for one in finalists if last in one.scores and one.scores[last].is_feasible]
    places = ranking.front([one.scores[last].objectives for one in known])
    return [known[at] for at in places]


def _point(search: Search, one: Candidate, on_front: bool) -> dict[str, Any]:
    rung = best_rung(one)
    score = one.scores.get(rung)
    results = one.results.get(rung)
    return {
        "name": one.label,
        "trial": one.trial,
        "preset": one.preset,
        "rung": rung,
        "failed": score is None,
        "feasible": score is not None and score.is_feasible,
        "balanced": one.balanced.get(rung, False),
        "on_front": on_front,
        "metrics": means(results) if results else None,
        "changes": changes(search, one, search.own, rung) if results else None,
    }


def changes(search: Search, one: Candidate, other: Candidate, rung: int) -> dict[str, Any]:
    """The mean relative change of each metric in pairs of runs, with its 95 % interval."""
    found = {}
    for metric in search.metrics:
        pairs = zip(one.results[rung], other.results[rung], strict=True)
        known = [(a[metric.name], b[metric.name]) for a, b in pairs]
        if all(b for _, b in known):
            spread = statistics.interval([a / b - 1 for a, b in known])
            found[metric.name] = {"change": spread["mean"], "low": spread["low"],
                                  "high": spread["high"]}  # fmt: skip
    return found


def _parameters(search: Search, best: Candidate) -> list[dict[str, Any]]:
    asked = search.asked
    goals = [one.text for one in asked.objectives]
    known = importances(search.study, len(goals))
    found = []
    for name, parameter in asked.space.parameters.items():
        value = best.values.get(name)
        found.append({
            "name": name, "chosen": None if value is None else parameter.text(value),
            "importance": {goal: known[at].get(name, 0.0) for at, goal in enumerate(goals)},
        })  # fmt: skip
    return sorted(found, key=lambda one: -sum(one["importance"].values()))


def _check(search: Search, finalists: Sequence[Candidate], best: Candidate) -> dict[str, Any]:
    rivals = [one for one in finalists if one is not best and is_checked(one)]
    found = []
    for one in rivals:
        over = changes(search, best, one, CHECK)
        found.append({"name": one.label, "changes": over, "verdict": verdict(search, over)})
    score = search.scored(best, CHECK)
    return {
        "samples": search.samples.about[-1],
        "settings": [[*search.asked.base["sets"], *own] for own in search.samples.check],
        "metrics": means(best.results[CHECK]),
        "feasible": score.is_feasible,
        "balanced": best.balanced[CHECK],
        "rivals": found,
        "confirmed": score.is_feasible and not any(one["verdict"] == WORSE for one in found),
    }


def verdict(search: Search, over: Mapping[str, Any]) -> str:
    """One point against another one, over all objectives, beyond the intervals."""
    better = worse = False
    for goal in search.asked.objectives:
        change = over.get(goal.name)
        if change is None or change["low"] is None:
            continue
        low, high = sorted((goal.sign * change["low"], goal.sign * change["high"]))
        better |= high < 0
        worse |= low > 0
    return {(True, False): BETTER, (False, True): WORSE, (True, True): MIXED,
            (False, False): EQUAL}[better, worse]  # fmt: skip
