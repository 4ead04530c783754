"""`flashgc.reproduce_all`: every paper, one after the other, with one page that leads to all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flashgc import _output, heads, units
from flashgc._engine import FlashgcError, InternalError
from flashgc.reproduction import bundle as bundles
from flashgc.reproduction import evidence, headline, index, outcome, papers
from flashgc.reproduction.outcome import Reproduction
from flashgc.reproduction.runs import Step
from flashgc.reproduction.verdict import VERDICTS, counted

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Reproductions:
    """The results of several papers."""

    papers: Mapping[str, Reproduction]
    """The papers that could be reproduced, by name."""
    errors: Mapping[str, str]
    """Why the others could not."""
    folder: Path
    """Where everything was saved: a folder for each paper, index.html and index.json."""
    again: str = field(default="", repr=False)

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The claims of all papers that fail."""
        return [claim for one in self.papers.values() for claim in one.failed]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims of all papers."""
        return [claim for one in self.papers.values() for claim in one.claims]

    def rows(self) -> list[list[str]]:
        """A row for each paper below a head: how many claims have which verdict."""
        table = [["paper", "runs", "fail", *VERDICTS]]
        for name, one in self.papers.items():
            counts = counted(one.verdicts)
            cells = [one.runs, len(one.failed), *(counts[word] for word in VERDICTS)]
            table.append([name, *(units.count(cell) if cell else units.NOTHING for cell in cells)])
        return table

    def evidence_rows(self) -> list[list[str]]:
        """The number of claims of all papers with each verdict, by their evidence."""
        return headline.rows([one for each in self.papers.values() for one in each.verdicts])

    def to_json(self, indent: int | None = 2) -> str:
        """A list with an object for each paper: its verdicts by evidence, or its error."""
        found = [_described(one) for one in self.papers.values()]
        found += [{"paper": name, "error": text} for name, text in self.errors.items()]
        return json.dumps(sorted(found, key=lambda one: str(one["paper"])), indent=indent)


def reproduce_all(
    traces: PathLike | None = None,
    out: PathLike | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    quick: bool = False,
    progress: Callable[[Step], object] | None = None,
    bundle: PathLike | None = None,
    again: str | None = None,
) -> Reproductions:
    """Reproduces all papers that come with the package, one after the other.

    A paper that cannot be run, for example since a trace is broken, does not stop the others.

    Args:
        traces: a folder of traces, as for :func:`flashgc.reproduce`.
        out: where everything goes; `runs/reproduce` if not given. Each paper has a folder in it,
            and index.html leads to their pages.
        jobs: number of parallel runs; the number of processors if not given.
        fresh: whether to run everything again.
        quick: whether to run a few requests on small drives.
        progress: called with a :class:`flashgc.reproduction.Step`, whose share is that of all.
        bundle: a zip file for all of it, which `flashgc reproduce --check` can run again.
        again: the command that the pages name as their origin; this call if not given.

    Raises:
        OutputError: results that cannot be written.

    """
    target = None if bundle is None else bundles.checked(bundle)
    folder = _output.folder(Path("runs/reproduce") if out is None else out)
    command = again or heads.call("reproduce_all", [], {
        "traces": traces, "out": out, "quick": quick, "bundle": bundle,
    })  # fmt: skip
    names = papers.names()
    done: dict[str, Reproduction] = {}
    errors: dict[str, str] = {}
    for at, name in enumerate(names):
        try:
            done[name] = outcome.reproduce(
                name, None, traces, folder / name, jobs, fresh, quick,
                _part(progress, at, len(names), name), again=command,
            )  # fmt: skip
        except InternalError:
            raise
        except FlashgcError as error:
            errors[name] = str(error)
    found = Reproductions(done, errors, folder, command)
    _output.write(folder / "index.json", found.to_json() + "\n")
    _output.write(folder / "index.html", index.whole(found))
    if target is not None and done:
        bundles.save(target, list(done.values()))
    return found


def _part(
    told: Callable[[Step], object] | None, at: int, papers_: int, name: str
) -> Callable[[Step], object] | None:
    """Tells steps of one paper as those of all."""
    if told is None:
        return None
    return lambda step: told(
        step._replace(share=(at + step.share) / papers_, label=f"{name}: {step.label}")
    )


def _described(one: Reproduction) -> dict[str, Any]:
    by_evidence = {}
    for kind in evidence.KINDS:
        counts = counted(each for each in one.verdicts if each.evidence == kind)
        if any(counts.values()):
            by_evidence[kind] = {word: count for word, count in counts.items() if count}
    return {
        "paper": one.paper, "title": one.title, "page": f"{one.paper}/{one.page}",
        "runs": one.runs, "claims": len(one.claims), "fails": len(one.failed),
        "on_good_evidence": headline.solid(one.verdicts), "evidence": by_evidence,
    }  # fmt: skip
