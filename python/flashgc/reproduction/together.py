"""`flashgc.reproduce_all`: every paper, one after the other, with one page that leads to all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from flashgc._engine import FlashgcError, InternalError
from flashgc.files import arguments, output
from flashgc.pages import provenance
from flashgc.reproduction import bundle as bundles
from flashgc.reproduction import index, outcome, papers
from flashgc.reproduction.reproduced import Reproduction, Reproductions
from flashgc.reproduction.runs import Step

PathLike = str | os.PathLike[str]


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
    arguments.check_function(progress=progress)
    target = None if bundle is None else bundles.checked(bundle)
    folder = output.folder(Path("runs/reproduce") if out is None else out)
    command = again or provenance.call("reproduce_all", [], {
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
    output.write(folder / "index.json", found.to_json() + "\n")
    output.write(folder / "index.html", index.whole(found))
    if target is not None and done:
        bundles.save(target, list(done.values()))
    return found


def _part(
    told: Callable[[Step], object] | None, at: int, papers_: int, name: str
) -> Callable[[Step], object] | None:
    """Reports steps of one paper as steps of all."""
    if told is None:
        return None
    return lambda step: told(
        step._replace(share=(at + step.share) / papers_, label=f"{name}: {step.label}")
    )
