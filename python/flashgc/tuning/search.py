"""The search: batches of trials, short runs first, and longer ones for those that can still win.

1. The values of a batch come from Optuna, its trials run on the first rung, and their results
   return in the order of the batch; so no result depends on the number of workers.
2. The best third of all trials so far, as far as they are of this batch, runs on the next rung, and
   so on; the values that Optuna gets are those of the longest runs.
3. After the last batch the best ones run until steady, next to the best presets.

Interrupted, the search begins again from its journal and from the results of its runs, which are
there, and so arrives where it was.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import Trial, TrialState

from flashgc._engine_types import Request
from flashgc.advising import candidates
from flashgc.tuning import ranking
from flashgc.tuning.metrics import Metric
from flashgc.tuning.pool import Pool, Report, Run
from flashgc.tuning.progress import Told, TuneProgress
from flashgc.tuning.ranking import Candidate, Score
from flashgc.tuning.read import Asked
from flashgc.tuning.sampler import CONSTRAINTS, Legal, quiet, suggested
from flashgc.tuning.samples import Samples, Sets
from flashgc.tuning.space import Values

KEPT = 3
"""One of this number of trials gets longer runs."""
FINALISTS = 8
PRESETS = 4
"""Presets with long runs."""
_TINY = 1e-9

REFUSED = "refused"
"""The attribute of a trial with the number of points that were drawn and refused for it."""

CHECK = -2
"""The check, which is below all rungs."""


class _Unlocked(JournalFileOpenLock):
    """No lock: the folder of results is locked already, and none must be left by a crash."""

    def acquire(self) -> bool:
        """Nothing to do."""
        return True

    def release(self) -> None:
        """Nothing to do."""


class Search:
    """A search under way."""

    def __init__(
        self, asked: Asked, samples: Samples, pool: Pool, folder: Path, told: Told
    ) -> None:
        self.asked, self.samples, self._pool, self._told = asked, samples, pool, told
        self.sampler = Legal(asked.space, asked.method, asked.seed, list(asked.starts.values()))
        self.study = _study(asked, self.sampler, folder)
        self.own = Candidate(asked.own, f"{asked.own} (own)",
                             preset=asked.own if asked.compared else None)  # fmt: skip
        self.presets: list[Candidate] = []
        self.left: dict[str, str] = {}
        """Presets that are not compared, with the reasons."""
        self.trials: list[Candidate] = []
        self._requests: dict[str, Request] = {self.own.name: asked.base}
        self._bounds: dict[int, list[float]] = {}
        metrics = {one.name: one for one in asked.objectives}
        metrics |= {one.metric.name: Metric(one.metric.name) for one in asked.constraints
                    if one.metric.name not in metrics}  # fmt: skip
        self.metrics = list(metrics.values())

    def run(self) -> list[Candidate]:
        """All of the search; the candidates with the longest runs."""
        self._references()
        asked = self.asked
        count = asked.trials
        if self.sampler.points == 0:
            raise asked.space.nothing_legal()
        if self.sampler.points is not None:
            count = min(count, self.sampler.points)
        for first in range(0, count, asked.batch):
            self._batch(range(first, min(first + asked.batch, count)), count)
        return self._final()

    def _references(self) -> None:
        """The configuration's own scheme on all rungs, and the presets on the first ones."""
        rungs = range(len(self.samples.rungs))
        for rung in rungs:
            self._evaluate([self.own], rung, "presets", False)
        if self.asked.compared:
            base = self.asked.base
            names = candidates.presets(self.own.name)
            requests: dict[str, Request] = {name: self._as_preset(name) for name in names}
            found = candidates.chosen(base, requests, self.own.name, False)
            self.left = found.left
            for name, request in found.requests.items():
                if name != self.own.name:
                    self._requests[name] = request
                    self.presets.append(Candidate(name, f"preset {name}", preset=name))
            self._evaluate(self.presets, 0, "presets")
            for rung in rungs[1:-1]:
                self._evaluate(self._best_presets(rung - 1), rung, "presets")
        self._score([self.own, *self.presets])

    def _as_preset(self, name: str) -> Request:
        """The request of a preset, which shares the runs of an equal point."""
        return {**self.asked.base, "scheme": (name, None)}

    def _best_presets(self, rung: int) -> list[Candidate]:
        return ranking.unbounded(self.presets, rung)[: self._rivals(rung)]

    def _rivals(self, rung: int) -> int:
        """The number of presets that get runs longer than a rung's."""
        is_last = rung >= len(self.samples.rungs) - 2
        return PRESETS if is_last else max(PRESETS, math.ceil(len(self.presets) / KEPT))

    def _batch(self, numbers: range, count: int) -> None:
        """Draws the trials of a batch, runs them, and returns their values to Optuna."""
        batch, asked_for = [], []
        for number in numbers:
            trial, values, ended = self._trial(number)
            batch.append(self._candidate(number, values))
            asked_for.append(None if ended else trial)
        self.trials += batch
        self._told(TuneProgress("search", numbers.start, count))
        promoted = batch
        for rung in range(max(len(self.samples.rungs) - 1, 1)):
            if rung > 0:
                order = ranking.ordered(self.trials, rung - 1)
                best = order[: math.ceil(len(order) / KEPT)]
                promoted = [one for one in promoted if one in best]
            self._evaluate(promoted, rung, "search", of=(numbers, count))
        with quiet():
            for own, trial in zip(batch, asked_for, strict=True):
                if trial is not None:
                    self._tell(trial, own)

    def _candidate(self, number: int, values: Values) -> Candidate:
        """The first trials are presets in the space."""
        names = list(self.asked.starts)
        start = names[number] if number < len(names) else None
        same = start if start in self.asked.exact else None
        label = f"trial {number}" + (f" ({start})" if start else "")
        own = Candidate(f"trial {number}", label, trial=number, preset=same, values=values)
        self._requests[own.name] = (
            self.asked.space.request(values) if same is None else self._as_preset(same)
        )
        return own

    def _trial(self, number: int) -> tuple[Trial | None, Values, bool]:
        """The trial of a number: from the journal, or drawn by the sampler now."""
        trials = self.study.get_trials(deepcopy=False)
        with quiet():
            if number < len(trials):
                found = trials[number]
                if found.state.is_finished():
                    return None, dict(found.params), True
                trial = Trial(self.study, found._trial_id)
            else:
                trial = self.study.ask()
            trial.set_user_attr(REFUSED, self.sampler.refused)
            values = suggested(trial, self.asked.space)
        return trial, values, False

    def _tell(self, trial: Trial, own: Candidate) -> None:
        score = own.score
        trial.set_user_attr("rung", own.rung)
        if score is None:
            self.study.tell(trial, state=TrialState.FAIL)
            return
        trial.set_user_attr(CONSTRAINTS, list(score.excess))
        self.study.tell(trial, list(score.objectives))

    def _final(self) -> list[Candidate]:
        """The best of all, on the last rung."""
        last = len(self.samples.rungs) - 1
        before = max(last - 1, 0)
        finalists = _different(ranking.ordered(self.trials, before), before)[:FINALISTS]
        same = {one.preset: one for one in self.trials if one.preset is not None}
        presets = [same.get(str(one.preset), one) for one in self._best_presets(before)]
        finalists += [one for one in presets if one not in finalists]
        if last > 0:
            self._evaluate(finalists, last, "final")
        return [self.own, *finalists]

    @property
    def others(self) -> list[Candidate]:
        """The presets that are not trials."""
        same = {one.preset for one in self.trials}
        return [one for one in self.presets if one.preset not in same]

    def check(self, those: Sequence[Candidate]) -> None:
        """Runs on the samples that the search has not seen."""
        self._evaluate(those, CHECK, "check", False)

    def request(self, one: Candidate) -> Request:
        """The request of a candidate."""
        return self._requests[one.name]

    def _evaluate(
        self, those: Sequence[Candidate], rung: int, phase: str, scored: bool = True,
        of: tuple[range, int] | None = None,
    ) -> None:  # fmt: skip
        sets = self.samples.check if rung == CHECK else self.samples.rungs[rung]
        runs = [self._run(one, own) for one in those for own in sets]

        def tell(done: int, total: int) -> None:
            if of is None:
                self._told(TuneProgress(phase, done, total))
            elif rung == 0:
                numbers, count = of
                at = numbers.start + len(numbers) * done / max(total, 1)
                self._told(TuneProgress(phase, at, count))

        found = self._pool.run(runs, tell)
        for at, one in enumerate(those):
            own = found[at * len(sets) : (at + 1) * len(sets)]
            one.results[rung] = self._values(own)
            one.balanced[rung] = all(
                report is not None and report["steady"]["verdict"] == "yes" for report in own
            )
        if scored:
            self._score(those, rung)

    def _run(self, one: Candidate, sets: Sets) -> Run:
        return Run(one.name, self.samples.request(self._requests[one.name], sets))

    def _values(self, reports: Sequence[Report | None]) -> list[dict[str, float]]:
        """The metrics of each run; none where a run failed or a metric is undefined."""
        found = []
        for report in reports:
            if report is None:
                return []
            values = {one.name: one.value(report) for one in self.metrics}
            if any(value is None for value in values.values()):
                return []
            found.append({name: float(value or 0.0) for name, value in values.items()})
        return found

    def _score(self, those: Sequence[Candidate], rung: int | None = None) -> None:
        for one in those:
            for at in [rung] if rung is not None else list(one.results):
                if one.results.get(at) and self.own.results.get(at):
                    one.scores[at] = self.scored(one, at)

    def scored(self, one: Candidate, rung: int) -> Score:
        """The objectives of a candidate over a rung's samples, and whether it is feasible."""
        ratios = {metric.name: self.ratio(one, metric.name, rung) for metric in self.metrics}
        goals = tuple(metric.sign * ratios[metric.name] for metric in self.asked.objectives)
        excess = []
        for bound in self.asked.constraints:
            name = bound.metric.name
            values = [own[name] for own in one.results[rung]]
            best = self._best_preset(name, rung) if bound.of_presets else 0.0
            excess.append(bound.excess(ratios[name], sum(values) / len(values), best))
        # Short runs are never in steady state; the longest must be, where the own scheme's are.
        is_long = rung == len(self.samples.rungs) - 1
        unfit = is_long and self.own.balanced.get(rung, False) and not one.balanced.get(rung, True)
        return Score(goals, (*excess, 1.0 if unfit else 0.0))

    def _best_preset(self, name: str, rung: int) -> float:
        """The lowest ratio of a metric among the presets, with the longest runs that all have."""
        known = [one for one in [self.own, *self.presets] if one.results.get(0)]
        del rung
        return min(self.ratio(one, name, 0) for one in known)

    def ratio(self, one: Candidate, name: str, rung: int) -> float:
        """The logarithm of the mean ratio of a metric to the own scheme, in pairs of runs."""
        pairs = zip(one.results[rung], self.own.results[rung], strict=True)
        logs = [math.log((a[name] + _TINY) / (b[name] + _TINY)) for a, b in pairs]
        return sum(logs) / len(logs)


def _different(those: Sequence[Candidate], rung: int) -> list[Candidate]:
    """The first one of points with equal objectives."""
    found: dict[tuple[float, ...], Candidate] = {}
    for one in those:
        found.setdefault(one.scores[rung].objectives, one)
    return list(found.values())


def _study(asked: Asked, sampler: Legal, folder: Path) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with quiet():
        # Another number of trials ends its batches elsewhere, and so draws other ones.
        path = os.fspath(folder / f"journal-{asked.trials}.log")
        _mend(Path(path))
        backend = JournalFileBackend(path, lock_obj=_Unlocked(path))
        return optuna.create_study(
            storage=JournalStorage(backend), study_name=asked.study, sampler=sampler,
            directions=["minimize"] * len(asked.objectives), load_if_exists=True,
        )  # fmt: skip


def _mend(journal: Path) -> None:
    """Removes a last line that a crash has cut: Optuna would read no journal with it."""
    try:
        data = journal.read_bytes()
    except FileNotFoundError:
        return
    if data and not data.endswith(b"\n"):
        os.truncate(journal, data.rfind(b"\n") + 1)


def importances(study: optuna.Study, count: int) -> list[dict[str, float]]:
    """How much each parameter mattered for each objective, by PED-ANOVA; shares of 1.

    Nothing is known where the best trials are all trials: Optuna then has equal shares.

    PED-ANOVA compares where the best tenth of the trials lies with where all of them lie. Unlike
    fANOVA it needs no model, and so no scikit-learn.
    """
    found = []
    for at in range(count):
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        with quiet():
            known = optuna.importance.get_param_importances(
                study, evaluator=evaluator,
                target=lambda trial: float(trial.values[at]),  # noqa: B023
            )  # fmt: skip
        is_known = len(known) == 1 or len(set(known.values())) > 1
        found.append(dict(known) if is_known else {})
    return found
