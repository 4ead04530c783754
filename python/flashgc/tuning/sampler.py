"""Optuna's samplers, drawing among legal points alone.

1. A sampler of Optuna (TPE, NSGA-II or random) proposes the choices of all slots, and then a value
   of each parameter that is active with them.
2. A point that the engine refuses, or that is a trial already, is drawn again: it never becomes a
   trial.
3. Each trial has a stream of random numbers of its own, so that a search that was interrupted
   continues as if it had not been.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from optuna import Study, samplers
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, Trial, TrialState

from flashgc.axes.choice import Range
from flashgc.tuning.space import Parameter, Space, Values

TPE, NSGA_II, RANDOM = "tpe", "nsga-ii", "random"
METHODS = (TPE, NSGA_II, RANDOM)

CONSTRAINTS = "constraints"
"""The attribute of a trial with the excess of each constraint."""

_DRAWS_MAX = 100
_LISTED_MAX = 4096
"""A space with at most this number of points can be searched in full."""


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """The parameters in the terms of Optuna."""
    return {name: _distribution(one) for name, one in space.parameters.items()}


def _distribution(parameter: Parameter) -> BaseDistribution:
    of = parameter.of
    if not isinstance(of, Range):
        return CategoricalDistribution(list(of))
    log = of.scale == "log"
    if of.is_whole:
        return IntDistribution(int(of.low), int(of.high), log=log)
    return FloatDistribution(of.low, of.high, log=log)


def identity(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Equal for equal points."""
    return tuple(sorted(values.items()))


class Legal(samplers.BaseSampler):
    """A sampler of Optuna whose points are legal and new."""

    def __init__(self, space: Space, method: str, seed: int, starts: Sequence[Values]) -> None:
        self._space, self._method, self._seed = space, method, seed
        self._starts = starts
        self._of = distributions(space)
        self._listed = _all_legal(space)
        self.refused = 0
        """The number of points drawn for the last trial that the engine refused."""

    @property
    def points(self) -> int | None:
        """The number of legal points, if there are few."""
        return None if self._listed is None else len(self._listed)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """All parameters; a trial has those that are active."""
        return self._of

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """A legal point that is not a trial yet."""
        self.refused = 0
        if trial.number < len(self._starts):
            return dict(self._starts[trial.number])
        taken = {identity(one.params) for one in study.get_trials(deepcopy=False)
                 if one.number < trial.number and one.state != TrialState.FAIL}  # fmt: skip
        inner = self._inner(trial.number)
        with quiet():
            for _ in range(_DRAWS_MAX):
                values = self._proposal(inner, study, trial)
                if self._space.problem(values) is not None:
                    self.refused += 1
                elif identity(values) not in taken:
                    return values
        return self._other(taken, trial.number)

    def _other(self, taken: set[Any], number: int) -> Values:
        """A legal point, where the sampler proposes none: any new one, or else a known one."""
        stream = random.Random(f"{self._seed}/other/{number}")
        if self._listed is not None:
            left = [one for one in self._listed if identity(one) not in taken]
            return dict(stream.choice(left or self._listed))
        for _ in range(100 * _DRAWS_MAX):
            values = drawn(self._space, stream)
            if self._space.problem(values) is None:
                return values
            self.refused += 1
        if not taken:
            raise self._space.nothing_legal()
        return dict(stream.choice(sorted(taken)))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:  # noqa: ANN401 - of any type  # fmt: skip
        """Not used: `sample_relative` has a value of each parameter."""
        raise AssertionError(param_name)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState,
        values: Sequence[float] | None,
    ) -> None:  # fmt: skip
        """Keeps the constraints of a trial."""
        with quiet():
            self._inner(trial.number).after_trial(study, trial, state, values)

    def _proposal(
        self, inner: samplers.BaseSampler, study: Study, trial: FrozenTrial
    ) -> Values:  # fmt: skip
        known = inner.infer_relative_search_space(study, trial)
        found = inner.sample_relative(study, trial, known)
        values: Values = {}

        def value(name: str) -> Any:  # noqa: ANN401
            if name in found:
                return found[name]
            return inner.sample_independent(study, trial, name, self._of[name])

        for name, parameter in self._space.parameters.items():
            if parameter.slot is not None:
                values[name] = value(name)
        for name in self._space.active(values):
            if name not in values:
                values[name] = value(name)
        return values

    def _inner(self, number: int) -> samplers.BaseSampler:
        seed = random.Random(f"{self._seed}/{number}").getrandbits(31)
        with quiet():
            if self._method == TPE:
                return samplers.TPESampler(
                    seed=seed, multivariate=True, group=True, constant_liar=False,
                    constraints_func=constraints,
                )  # fmt: skip
            if self._method == NSGA_II:
                return samplers.NSGAIISampler(
                    seed=seed, population_size=24, constraints_func=constraints
                )
            return samplers.RandomSampler(seed=seed)


def suggested(trial: Trial, space: Space) -> Values:
    """The values of a trial, each of which becomes known to the journal."""
    of = distributions(space)
    for name in trial.relative_params:
        own = of[name]
        if isinstance(own, CategoricalDistribution):
            trial.suggest_categorical(name, own.choices)
        elif isinstance(own, IntDistribution):
            trial.suggest_int(name, own.low, own.high, log=own.log)
        elif isinstance(own, FloatDistribution):
            trial.suggest_float(name, own.low, own.high, log=own.log)
    return dict(trial.params)


def constraints(trial: FrozenTrial) -> list[float]:
    """The excess of each constraint."""
    found: list[float] = trial.user_attrs.get(CONSTRAINTS, [])
    return found


def drawn(space: Space, stream: random.Random) -> Values:
    """A random point, legal or not."""
    values: Values = {}
    for name, parameter in space.parameters.items():
        if parameter.slot is not None:
            values[name] = _draw(parameter, stream)
    for name in space.active(values):
        if name not in values:
            values[name] = _draw(space.parameters[name], stream)
    return values


def _draw(parameter: Parameter, stream: random.Random) -> Any:  # noqa: ANN401 - of any type
    of = parameter.of
    if not isinstance(of, Range):
        return stream.choice(list(of))
    value = of.at(stream.random()).value
    if value is None:  # a text with a unit
        value = float(of.at(stream.random()).name.removesuffix(of.unit))
    return int(value) if of.is_whole else value


def _all_legal(space: Space) -> list[Values] | None:
    """All legal points of a small space."""
    total, columns = 1, []
    for parameter in space.parameters.values():
        of = parameter.of
        if isinstance(of, Range) and not of.is_whole:
            return None
        values = list(range(int(of.low), int(of.high) + 1)) if isinstance(of, Range) else list(of)
        columns.append(values)
        total *= len(values)
        if total > _LISTED_MAX:
            return None
    found: dict[Any, Values] = {}
    for one in itertools.product(*columns):
        whole: Values = dict(zip(space.parameters, one, strict=True))
        active = space.active(whole)
        point = {name: value for name, value in whole.items() if name in active}
        if identity(point) not in found and space.problem(point) is None:
            found[identity(point)] = point
    return list(found.values())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Optuna warns of its experimental functions, which the pinned version has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
