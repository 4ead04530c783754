"""The papers that can be reproduced: those that come with the package, and folders."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flashgc import _engine, _files
from flashgc._engine import ConfigError
from flashgc.reproduction.claims import Claim
from flashgc.reproduction.experiment import Experiment, Item
from flashgc.reproduction.own_traces import OwnTraces

FILES = {"experiment": "experiment.toml", "claims": "claims.toml", "readme": "README.md"}


@dataclass(frozen=True)
class Paper:
    """The description of a paper."""

    name: str
    experiment: Experiment
    claims: Sequence[Claim]
    readme: str
    main: Sequence[str] | None = None
    """The figures that are made if none are named; None: all."""

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
        texts = {kind: _files.read_text(folder / name) for kind, name in FILES.items()}
        return _paper(folder.resolve().name, texts, f"{given}/", traces)
    if given not in known:
        raise ConfigError(
            f'error: there is no paper "{given}"\n  = help: {_hint(given, list(known))}, '
            "or give a folder with experiment.toml, claims.toml and README.md"
        )
    return _paper(given, known[given], f"papers/{given}/", traces)


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


def _texts() -> dict[str, dict[str, str]]:
    return {entry["name"]: entry for entry in json.loads(_engine.papers())}


def _paper(name: str, texts: dict[str, str], where: str, traces: OwnTraces | None) -> Paper:
    # Models take time to build, which the start of everything else does not have.
    from flashgc.reproduction import own, read_claims, read_experiment
    from flashgc.reproduction.claims_form import ClaimsForm
    from flashgc.reproduction.experiment_form import ExperimentForm
    from flashgc.reproduction.form import File

    ran = File.of(texts["experiment"], where + FILES["experiment"]).form(ExperimentForm)
    said = File.of(texts["claims"], where + FILES["claims"]).form(ClaimsForm)
    main = None
    if traces is not None:
        ran, said, main = own.replaced(ran, said, traces)
    found = read_experiment.read(ran)
    return Paper(name, found, read_claims.read(said, found), texts["readme"], main)


def _hint(given: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}"
