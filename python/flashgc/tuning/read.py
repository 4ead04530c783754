"""From a TUNE.toml, or a configuration, to a search."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc._engine_types import Request
from flashgc.axes import layers, naming, read
from flashgc.axes.choice import Choice, Range
from flashgc.axes.forms import RangeForm
from flashgc.files import reading, toml
from flashgc.files.forms import File
from flashgc.results import gc_cost
from flashgc.running import building, inputs, policies
from flashgc.tuning import builtin, metrics
from flashgc.tuning.forms import METHODS, SearchForm, TuneForm
from flashgc.tuning.metrics import Constraint, Metric
from flashgc.tuning.space import Parameter, Space, Values, with_settings

TRIALS, BATCH = 160, 16
_TABLES = {"space", "search", "objectives", "constraints", "base"}
"""Keys that no configuration has at its top."""
_LAYERS = ("config", "device", "trace", "files", "what", "differs", "fitted", "quick")
_COUNTS = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane")


@dataclass(frozen=True)
class Options:
    """The arguments that say how to search; None leaves them to the file, or to the defaults."""

    objectives: Sequence[str] | None = None
    constraints: Sequence[str] | None = None
    trials: int | None = None
    batch: int | None = None
    method: str | None = None
    search_seed: int | None = None


@dataclass(frozen=True)
class Layers:
    """The arguments of a configuration, as of :func:`flashgc.run`."""

    config: building.Config
    scheme: building.AnyScheme | None
    device: building.PathLike | None
    sets: list[str]
    unsets: list[str]
    seed: int | None
    fit: building.Fit | None
    trace: building.PathLike | None = None


@dataclass(frozen=True)
class Asked:
    """A search: its configuration, its space, and how it is done."""

    name: str
    given: Layers
    base: Request
    space: Space
    starts: Mapping[str, Values]
    """Presets in the space, with which the search begins."""
    exact: frozenset[str]
    """The settings among them that the space has to the last value."""
    compared: bool
    """Whether presets are compared with the points."""
    objectives: list[Metric]
    constraints: list[Constraint]
    has_own_bounds: bool
    """Whether the constraints were given, and are not the default ones."""
    method: str
    trials: int
    batch: int
    seed: int

    @property
    def own(self) -> str:
        """The configuration's own scheme."""
        return str(json.loads(engine.check(self.base))["settings"]["gc"]["scheme"])

    @property
    def study(self) -> str:
        """The name of its study: another one for each search that differs."""
        checked = json.loads(engine.check(self.base))
        trace = self.base["trace_path"]
        parts = {
            "config": checked["config_hash"], "version": engine.__version__,
            "trace": None if trace is None else layers.content_of(Path(trace)),
            "space": [(name, repr(one.of)) for name, one in self.space.parameters.items()],
            "objectives": [one.text for one in self.objectives],
            "constraints": [one.text for one in self.constraints],
            "search": [self.method, self.batch, self.seed, self.compared],
        }  # fmt: skip
        text = json.dumps(parts, sort_keys=True)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def form_of(given: building.Config) -> tuple[TuneForm, str, Path] | None:
    """The TUNE.toml that was given, its name and its folder; None for a configuration."""
    folder = Path()
    if isinstance(given, Mapping):
        if not _TABLES & given.keys():
            return None
        text, where, name = toml.dumps(given), "(dictionary)", "tune"
    elif inputs.is_text(given):
        text, where, name = given, "(text)", "tune"
    elif isinstance(given, (str, os.PathLike)) and os.fspath(given).endswith(".toml"):
        path = Path(given)
        text, where = reading.read_text(path), reading.printable(path)
        name = naming.of_file(path.stem, "tune")
        folder = path.parent
    else:
        inputs.config(given)
        return None
    file = File.of(text, where)
    return (file.form(TuneForm), name, folder) if _TABLES & file.table.keys() else None


def layers_of(form: TuneForm, folder: Path, given: Layers) -> Layers:
    """The configuration of a TUNE.toml, with the arguments over it."""
    base = form.base
    if base.files:
        form.base.wrong("`files` are not for a search\n  = help: name the file with `trace`",
                        "files")  # fmt: skip
    config = base.config
    if config is not None and (folder / config).is_file():
        config = os.fspath(folder / config)
    scheme, device = inputs.placed(base.scheme, folder), inputs.placed(base.device, folder)
    trace: building.PathLike | None = given.trace
    if trace is None and base.trace is not None:
        trace = inputs.placed_trace(base.trace, folder)
    return Layers(
        {} if config is None else config, given.scheme or scheme, given.device or device,
        [*inputs.settings(base.set), *given.sets], given.unsets, given.seed, given.fit, trace,
    )  # fmt: skip


def asked(
    form: TuneForm | None, name: str, given: Layers, base: Request, options: Options
) -> Asked:
    """The search, with all of its parts checked."""
    named = form.name if form is not None and form.name else name
    if not naming.NAME.fullmatch(named):
        raise ConfigError(
            f"error: the name of a search must be letters, digits, dots, dashes and underscores, "
            f"got {named!r}"
        )
    search = SearchForm() if form is None else form.search
    built_in = form is None or (form.space is None if search.built_in is None else search.built_in)
    settings = json.loads(engine.check(base))["settings"]["gc"]
    own = settings["scheme"]
    if gc_cost.is_free(settings):
        raise ConfigError(
            f"error: collections of the configuration's own scheme, {own}, take no time\n"
            '  = help: set another scheme, as in `gc.scheme = "greedy"`, and no gc.cost = "none" '
            'or gc.copy.use = "instant"'
        )
    space, starts = builtin.space(base) if built_in else (Space(base, []), {})
    if form is not None and form.space is not None:
        read.check_keys(form, form.space, "space")
        more = [_parameter(form, base, axis, one) for axis, one in form.space.items()]
        _check_schemes(form, base, more)
        space = space.with_more(more)
        full = {name: space.completed(one) for name, one in starts.items()}
        starts = {name: one for name, one in full.items()
                  if one is not None and space.problem(one) is None}  # fmt: skip
    goals = _first(options.objectives, None if form is None else form.objectives,
                   metrics.DEFAULT_OBJECTIVES)  # fmt: skip
    own_bounds = _first(options.constraints, None if form is None else form.constraints, None)
    objectives = metrics.objectives(goals)
    bounds = own_bounds
    if bounds is None:
        used = {one.name for one in objectives}
        bounds = [text for text in metrics.DEFAULT_CONSTRAINTS if text.split()[0] not in used]
    method = _first(options.method, search.method, METHODS[0])
    if method not in METHODS:
        raise ConfigError(
            f"error: the method {method!r} is not known\n  = help: one of {', '.join(METHODS)}"
        )
    exact = frozenset(name for name, one in starts.items() if _is_exact(base, space, name, one))
    return Asked(
        named, given, base, space, starts, exact, built_in, objectives,
        [metrics.constraint(text) for text in bounds], own_bounds is not None, method,
        inputs.whole("trials", _first(options.trials, search.trials, TRIALS), 1),
        inputs.whole("batch", _first(options.batch, search.batch, BATCH), 1),
        inputs.whole("search_seed", _first(options.search_seed, search.seed, 1), 0),
    )  # fmt: skip


def _is_exact(base: Request, space: Space, name: str, values: Values) -> bool:
    """Whether a point of the space is a preset, its name apart."""
    preset: Request = {**base, "scheme": (name, None)}
    try:
        found = [json.loads(engine.check(one))["settings"]
                 for one in (preset, space.request(values))]  # fmt: skip
    except ConfigError:
        return False  # a key that the space lacks, such as extra blocks, does not fit the base
    for one in found:
        one["gc"].pop("scheme", None)
    return bool(found[0] == found[1])


def _first(*given: Any) -> Any:  # noqa: ANN401 - of the type of the argument
    return next((one for one in given if one is not None), None)


def _parameter(
    form: TuneForm, base: Request, name: str, given: Any  # noqa: ANN401 - a form
) -> Parameter:  # fmt: skip
    """A parameter of [space]: an axis whose choices are settings or schemes."""
    found = read.axis(form, name, given, "space")
    if isinstance(given, RangeForm) and given.step is None and given.count is None:
        made = Range(given.key or name, given.low, given.high, given.scale, given.unit)
        ends = [made.choice(given.low), made.choice(given.high)]
        if None not in [_mistake(base, end) for end in ends]:
            _refuse(form, base, name, ends[0])
        return Parameter(name, made)
    assert not isinstance(found, Range)
    for choice in found.values():
        _check(form, name, choice)
        _refuse(form, base, name, choice)
    return Parameter(name, found)


def _check_schemes(form: TuneForm, base: Request, parameters: Sequence[Parameter]) -> None:
    """Refuses two schemes of one point, of which one would have no effect."""
    first: str | None = None
    for one in parameters:
        choices = [] if isinstance(one.of, Range) else one.of.values()
        ways = [_schemes_in(choice) for choice in choices]
        if not any(ways):
            continue
        if first is not None:
            form.wrong(f"the parameters `{first}` and `{one.name}` both name a scheme\n"
                       "  = help: merge their choices in one", "space", one.name)  # fmt: skip
        first = one.name
        is_set = any("gc.scheme" in way for way in ways)
        if any(len(way) > 1 for way in ways) or (is_set and base["scheme"] is not None):
            form.wrong("two schemes: one of `scheme`, and one of `gc.scheme`\n  = help: name the "
                       "schemes of a space with `scheme` alone", "space", one.name)  # fmt: skip


def _schemes_in(choice: Choice) -> list[str]:
    """The keys by which a choice names a scheme."""
    source = choice.sources[0]
    keys = {text.partition("=")[0] for text in inputs.settings(source.set)}
    return [*(["scheme"] if source.scheme is not None else []), *({"gc.scheme"} & keys)]


def _refuse(form: TuneForm, base: Request, name: str, choice: Choice) -> None:
    """Refuses a choice that is wrong by itself; without it the search would be another one."""
    found = _mistake(base, choice)
    if found is not None:
        remedy = f"\n  = help: {found['help']}" if found["help"] else ""
        form.wrong(f"{found['message']}{remedy}", "space", name)


def _mistake(base: Request, choice: Choice) -> dict[str, Any] | None:
    """The mistake of a choice on any drive: a name, a key, or the form of a value."""
    source = choice.sources[0]
    request = with_settings(base, source.set)
    if source.scheme is not None:
        request = {**request, "scheme": inputs.preset(source.scheme)}
    found: list[dict[str, Any]] = json.loads(engine.problems(request))
    return next((one for one in found if one["is_form"] or one["key"] == "gc.scheme"), None)


def _check(form: TuneForm, name: str, choice: Choice) -> None:
    source = choice.sources[0]
    for layer in _LAYERS:
        if getattr(source, layer):
            form.wrong(
                f"`{layer}` cannot differ between the points of a search: all of them have the "
                f"same drive and requests\n  = help: name it in [base]; a space has keys and "
                "schemes", "space", name,
            )  # fmt: skip
    if "seed" in source.set:
        form.wrong("`seed` cannot be a parameter: each point has the same seeds\n  = help: set the "
                   "first of them in [base], and the seed of the search in [search]",
                   "space", name)  # fmt: skip


def shaped(base: Request, progress: Any = None) -> Request:  # noqa: ANN401
    """The request with the trace that it names, on a drive of fixed size.

    Where the trace sizes the drive, the size becomes a setting, so that all points have the same.
    """
    request: Request = {**base}
    if request["trace_path"] is None:
        building.add_own_trace(request)
    [sized] = building.sized([request], progress)
    if sized["fitted"] is None:
        return request
    shape = json.loads(engine.check(sized))["settings"]["device"]["shape"]
    counts = [f"device.{name}={shape[name]}" for name in _COUNTS]
    fixed = ['workload.trace.fit="none"', 'workload.trace.address="compact"', *counts]
    return {**request, "sets": [*request["sets"], *fixed]}


def bare(given: Layers, file: tuple[str, Path] | None) -> Request:
    """The request of a configuration."""
    if isinstance(given.scheme, policies.Scheme):
        raise ConfigError(
            f"error: tune cannot search around the scheme in Python `{given.scheme.name}`: its "
            "runs are in other processes\n"
            "  = help: give a scheme by name; flashgc.compare runs schemes in Python"
        )
    return building.bare_request(
        given.config, file, given.scheme, given.device, given.sets, given.seed, given.fit,
        given.unsets,
    )  # fmt: skip


def name_of(config: building.Config) -> str:
    """The name of a search over a configuration."""
    if isinstance(config, Mapping) or inputs.is_text(config):
        return "tune"
    stem = Path(config).stem
    return naming.of_file(stem, "tune")
