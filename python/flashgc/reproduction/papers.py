"""The papers that can be reproduced: those that come with the package, and folders."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc.files import output, reading
from flashgc.reproduction import pins
from flashgc.reproduction.claims import Claim
from flashgc.reproduction.experiment import Experiment, Item
from flashgc.reproduction.own_traces import OwnTraces
from flashgc.reproduction.pins import Pin, Pins
from flashgc.reproduction.verdict import Verdict

FILES = {"experiment": "experiment.toml", "claims": "claims.toml", "readme": "README.md"}
MEASURED = "measured.toml"
"""The values on record, which a folder may lack."""


@dataclass(frozen=True)
class Paper:
    """The description of a paper."""

    name: str
    experiment: Experiment
    claims: Sequence[Claim]
    readme: str
    pins: Pins
    """The measured values that are on record."""
    main: Sequence[str] | None = None
    """The figures that are made if none are named; None: all."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of its files, by their kind."""

    def items(self, wanted: Sequence[str] | None) -> list[Item]:
        """The given figures and tables, or all of them; an error for one that there is not."""
        known = {item.id: item for item in self.experiment.items}
        if wanted is None:
            return [item for item in known.values() if self.main is None or item.id in self.main]
        for name in wanted:
            if name not in known:
                raise ConfigError(
                    f'error: paper {self.name} has no figure or table "{name}"\n'
                    f"  = help: {_hint(name, list(known))}"
                )
        return [item for item in known.values() if item.id in wanted]


def names() -> list[str]:
    """The papers that come with the package."""
    return list(_texts())


def load(given: str, traces: OwnTraces | None = None) -> Paper:
    """A paper by its name, or from a folder with its three files.

    With traces it is about them, in place of the paper's workloads.
    """
    known = _texts()
    if given not in known and (Path(given) / FILES["experiment"]).is_file():
        folder = Path(given)
        texts = {kind: reading.read_text(folder / name) for kind, name in FILES.items()}
        has_pins = (folder / MEASURED).is_file()
        texts["measured"] = reading.read_text(folder / MEASURED) if has_pins else ""
        return _paper(folder.resolve().name, texts, f"{given}/", traces)
    if given not in known:
        raise ConfigError(
            f'error: there is no paper "{given}"\n  = help: {_apart(given) or _papers(given)}'
        )
    return _paper(given, known[given], f"papers/{given}/", traces)


def recordable(given: str, own: bool) -> None:
    """An error where measured values cannot be put on record."""
    if own:
        raise ConfigError("error: values of a trace of your own are not put on record: --trace")
    if not (Path(given) / FILES["experiment"]).is_file():
        raise ConfigError(
            f"error: --pin: there is no folder {given}; values are recorded in that of a paper\n"
            "  = help: give the folder, such as papers/parallel-gc"
        )


def record(given: str, paper: Paper, verdicts: Sequence[Verdict]) -> None:
    """Writes the measured values into the folder of the paper."""
    found: dict[str, dict[str, Pin]] = {}
    for one in verdicts:
        if one.pin is not None:
            found.setdefault(one.section, {})[pins.key(one.claim)] = one.pin
    merged = paper.pins.merged(paper.claims, found)
    output.write(Path(given) / MEASURED, merged.text())


def split(given: str) -> tuple[str, list[str] | None]:
    """PAPER, PAPER/FIGURE or PAPER/FIGURE,FIGURE, where PAPER may be a folder.

    >>> from flashgc.reproduction import papers
    >>> papers.split("parallel-gc/5a,5b")
    ('parallel-gc', ['5a', '5b'])
    """
    if given in _texts() or (Path(given) / FILES["experiment"]).is_file():
        return given.rstrip("/"), None
    paper, slash, items = given.rpartition("/")
    return (paper, items.split(",")) if slash else (given, None)


@functools.cache
def _texts() -> dict[str, dict[str, str]]:
    return {entry["name"]: entry for entry in json.loads(engine.papers())}


def _paper(name: str, texts: dict[str, str], where: str, traces: OwnTraces | None) -> Paper:
    # Models take time to build, which the start of everything else does not have.
    from flashgc.files.forms import File
    from flashgc.reproduction import own, read_claims, read_experiment, story
    from flashgc.reproduction.claims_form import ClaimsForm
    from flashgc.reproduction.experiment_form import ExperimentForm

    ran = File.of(texts["experiment"], where + FILES["experiment"]).form(ExperimentForm)
    said = File.of(texts["claims"], where + FILES["claims"]).form(ClaimsForm)
    main = None
    if traces is not None:
        ran, said, main = own.replaced(ran, said, traces)
    found = read_experiment.read(ran)
    on_record = Pins.of(texts["measured"], where + MEASURED)
    claims = read_claims.read(said, found)
    if traces is None:
        story.check(found.story, claims, where + FILES["experiment"])
    return Paper(name, found, claims, texts["readme"], on_record, main, texts)


def _apart(given: str) -> str | None:
    """What to type in place of PAPER/FIGURE, which is the form of the command line."""
    paper, figures = split(given)
    if figures is None or not (paper in _texts() or (Path(paper) / FILES["experiment"]).is_file()):
        return None
    named = f"{json.dumps(paper)}, figures={json.dumps(figures)}"
    return f"figures are an argument of their own: flashgc.reproduce({named})"


def _papers(given: str) -> str:
    near = difflib.get_close_matches(given, names(), n=1)
    hint = f"did you mean `{near[0]}`? " if near else ""
    return (
        f"{hint}give one of {', '.join(names())}, or a folder with experiment.toml, claims.toml "
        "and README.md"
    )


def _hint(given: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}"
