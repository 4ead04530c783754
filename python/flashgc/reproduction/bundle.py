"""A reproduction as one archive, which another machine can check: an RO-Crate in a zip file.

1. It has the descriptions of the papers, all results, the environment, and the hashes of traces,
   which have licences of their own and are not in it.
2. `bundle.json` lists every run with the hash of its result, and every file with its own.
3. Equal content gives equal bytes: names are sorted, and times are fixed.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc._engine import ConfigError, OutputError
from flashgc.files import output
from flashgc.reproduction import crate, environment, papers

if TYPE_CHECKING:
    from flashgc.reproduction.papers import Paper
    from flashgc.reproduction.reproduced import Reproduction

MANIFEST = "bundle.json"
FORM, FORM_VERSION = "flashgc reproduction", 1
_FIRST = (1980, 1, 1, 0, 0, 0)
"""The time of all files: the first that a zip file can have."""
_MODE = 0o100644 << 16
_UNIX = 3

PathLike = str | os.PathLike[str]


def checked(path: PathLike) -> Path:
    """The path of a bundle, before minutes are spent on its content."""
    target = Path(path)
    if target.suffix != ".zip":
        raise OutputError(f"error: --bundle: the name must end in .zip, got {os.fspath(path)!r}")
    if target.is_dir():
        raise OutputError(f"error: --bundle: {target} is a directory, not a file")
    if not target.parent.is_dir():
        raise OutputError(f"error: --bundle: there is no folder {target.parent}")
    return target


def portable(paper: Paper) -> None:
    """An error if a run needs a file that would not be in the bundle."""
    experiment = paper.experiment
    choices = (choice for axis in experiment.axes.values() for choice in axis.values())
    for source in (experiment.base, *(one for each in choices for one in each.sources)):
        for what, name in (("configuration", source.config), ("scheme", source.scheme),
                           ("device", source.device), ("trace", source.trace)):  # fmt: skip
            if name is not None and Path(name).is_file():
                raise ConfigError(
                    f"error: --bundle: paper {paper.name} names the {what} {name}, a file that is "
                    "not in its folder, so that others could not run it\n"
                    f"  = help: use a built-in {what}, with `set` for what differs"
                )


def save(path: PathLike, several: Sequence[Reproduction]) -> Path:
    """Writes the archive of some reproductions, whole or not at all."""
    target = checked(path)
    files = _files(several)
    described = manifest(several, files)
    files[MANIFEST] = _json(described)
    files[crate.NAME] = _json(crate.metadata(described, files))
    with output.opened(target, "bundle") as file, output.explained(target, "bundle"):
        _write(file, files)
    return target


def manifest(several: Sequence[Reproduction], files: Mapping[str, bytes]) -> dict[str, Any]:
    """The content for `--check`: the runs with their hashes, the traces, and the files."""
    return {
        "form": FORM,
        "form_version": FORM_VERSION,
        "flashgc": engine.__version__,
        "environment": {**environment.facts(), "packages": environment.packages()},
        "papers": [_paper(one) for one in several],
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())},
    }


def _paper(one: Reproduction) -> dict[str, Any]:
    experiment = one.made.paper.experiment
    return {
        "paper": one.paper,
        "title": one.title,
        "citation": experiment.citation,
        "url": experiment.url,
        "quick": one.made.quick,
        "figures": one.figures,
        "summary": one.summary,
        "command": one.made.again,
        "traces": [trace._asdict() for trace in one.made.traces],
        "runs": [run._asdict() for run in one.made.runs],
    }


def _files(several: Sequence[Reproduction]) -> dict[str, bytes]:
    """All files but those that describe the others."""
    locked = "".join(f"{name}=={version}\n" for name, version in environment.packages().items())
    files = {"environment/requirements.txt": locked.encode(), "README.md": _readme(several)}
    for one in several:
        for kind, name in {**papers.FILES, "measured": papers.MEASURED}.items():
            files[f"papers/{one.paper}/{name}"] = one.made.paper.texts[kind].encode()
        names = [one.page, one.report, one.claims_file]
        names += [f"runs/{run.file}" for run in one.made.runs]
        if one.made.has_files:
            names += [f"figure-{figure}.svg" for figure in one.made.charts]
        for name in names:
            files[f"results/{one.paper}/{name}"] = _read(one.folder / name)
    return files


def _read(path: Path) -> bytes:
    with output.explained(path):
        return path.read_bytes()


def _readme(several: Sequence[Reproduction]) -> bytes:
    listed = "\n".join(
        f"- [{one.title}](results/{one.paper}/{one.page}): {one.summary}" for one in several
    )
    traces = sorted({trace for one in several for trace in one.made.traces})
    needed = "\n".join(
        f"- `{trace.name}`, {trace.size_bytes} bytes, SHA-256 `{trace.sha256}`"
        + (f": {trace.what}" if trace.what else "") for trace in traces
    )  # fmt: skip
    option = " --traces DIR" if traces else ""
    about = (
        "The traces have licences of their own and are not in this archive. Put them into the "
        f"folder DIR:\n\n{needed}\n\n"
        if traces
        else "No run needs a trace.\n\n"
    )
    return (
        f"# Reproductions by flashgc {engine.__version__}\n\n{listed}\n\n"
        f"## Run them again\n{about}"
        f"```sh\npip install flashgc=={engine.__version__}\n"
        f"flashgc reproduce --check BUNDLE.zip{option}\n```\n\n"
        "runs everything again from the descriptions in `papers/`, and compares the hash of each "
        "result with the one in `bundle.json`. No result depends on the machine.\n\n"
        "## Content\n"
        "- `papers/`: the experiments, the claims, and the values on record\n"
        "- `results/`: pages, claims, figures, and the report of each run with its whole "
        "configuration\n"
        "- `environment/requirements.txt`: the Python packages, each at its version\n"
        "- `bundle.json`: hashes of runs, traces and files; `ro-crate-metadata.json`: the same as "
        "an RO-Crate\n"
    ).encode()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _write(file: IO[bytes], files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _FIRST)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, _UNIX
            entry.external_attr = _MODE
            archive.writestr(entry, data, compresslevel=9)
