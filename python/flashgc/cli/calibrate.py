"""`flashgc calibrate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import complete, options, sweep
from flashgc.cli.guard import guarded, interrupted_status, say
from flashgc.cli.options import example

if TYPE_CHECKING:
    from flashgc.calibrating import CalibrateProgress, Calibration

EXAMPLES = (
    "flashgc calibrate result.json --device enterprise-tlc-3dwpd --out runs/mine",
    'flashgc calibrate rows.csv --device base.toml --fit-rows "idle;full;half"',
    "flashgc calibrate rows.csv --device base.toml --free over_provisioning,timing.program",
)
EPILOG = example(*EXAMPLES)

_PHASES = {"closed": "each number by itself", "steps": "all numbers together", "trials": "trials",
           "long": "long runs", "polish": "last steps", "profile": "intervals",
           "judge": "other rows", "apart": "further measurement"}  # fmt: skip
_COUNTED = dict.fromkeys(_PHASES, "runs") | {"trials": "trials"}


@guarded
def calibrate(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS...", show_default=False, autocompletion=complete.files,
                       help="Output of fio as JSON, or tables of results."),
    ],
    device: Annotated[
        str,
        typer.Option("--device", metavar="BASE", show_default=False,
                     autocompletion=complete.devices,
                     help="The base, a name or a TOML file: its geometry stays."),
    ],
    drive: Annotated[
        str | None,
        typer.Option("--drive", metavar="NAME", show_default=False,
                     help="The drive, in a table with the rows of several."),
    ] = None,
    fit_rows: Annotated[
        str | None,
        typer.Option("--fit-rows", metavar="A;B;C", show_default=False,
                     help="The fitted rows; the others judge the fit \\[default: at most six]."),
    ] = None,
    free: Annotated[
        str | None,
        typer.Option("--free", metavar="KEY,KEY", show_default=False,
                     help="The keys that are fitted \\[default: over_provisioning, "
                     "timing.program, timing.read, firmware.command]."),
    ] = None,
    schemes: Annotated[
        str | None,
        typer.Option("--schemes", metavar="A,B,C", show_default=False,
                     autocompletion=complete.scheme_lists,
                     help="The candidates, by name or as TOML files \\[default: combinations of "
                     "slots]."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option("--noise", metavar="KIND=SHARE,...", show_default=False,
                     help="The noise of kinds of numbers, as in iops=2%,p99_9=20%."),
    ] = None,
    one_queue: Annotated[
        str,
        typer.Option("--one-queue", metavar="WHEN",
                     help="Try the base as one queue too, a single plane in place of all dies: "
                     "always, never, or auto, where p99.9 at full rate is within 10 % of the "
                     "median."),
    ] = "auto",
    trials: Annotated[
        int, typer.Option("--trials", min=0, metavar="N",
                          help="Points that are drawn around the best candidates; with 0 the steps "
                          "alone decide (faster)."),
    ] = 24,
    blocks: Annotated[
        int | None,
        typer.Option("--blocks", min=1, metavar="N", show_default=False,
                     help="Blocks of each plane of the drive in small \\[default: 128, or more if "
                     "they are small]."),
    ] = None,
    sets: options.Sets = None,
    seed: options.Seed = None,
    json: options.Json = False,
    out: Annotated[
        Path | None,
        options.out("device.toml, scheme.toml, calibration.html, calibration.json and a job file"),
    ] = None,
    store: sweep.Store = sweep.DEFAULT_STORE,
    jobs: sweep.Jobs = None,
    on: sweep.On = None,
) -> None:  # fmt: skip
    """Fit a device and a scheme to measurements of a real drive."""
    from flashgc import calibrating
    from flashgc.calibrating import calibration
    from flashgc.files import output

    sweep.check_jobs(jobs, on)
    listed = None if schemes is None else options.scheme_names(schemes)
    folder = output.folder_apart(out, calibration.FILES, device, *(listed or []), *results)
    names = None if fit_rows is None else [one.strip() for one in fit_rows.split(";")]
    try:
        with _bar(quiet=json) as shown:
            found = calibrating.calibrate(
                results, device, drive=drive, fit_rows=names,
                free=None if free is None else free.split(","),
                schemes=listed,
                noise=None if noise is None else _noise(noise), one_queue=_when(one_queue),
                trials=trials, blocks=blocks, set=sets, seed=seed, store=store, jobs=jobs, on=on,
                progress=shown,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        say("interrupted; completed runs are kept, and the same command continues with them")
        raise typer.Exit(interrupted_status(error)) from None
    options.finish(
        lambda: [] if folder is None else found.save_all(folder),
        lambda: _print(found),
        found.to_json if json else None,
    )


def _when(text: str) -> bool | None:
    known = {"auto": None, "always": True, "never": False}
    if text not in known:
        raise typer.BadParameter(f'--one-queue is "{text}": give {", ".join(known)}')
    return known[text]


def _noise(text: str) -> dict[str, float]:
    """Kinds of numbers, each with a share."""
    found = {}
    for part in text.split(","):
        kind, _, share = part.partition("=")
        try:
            value = float(share.strip().removesuffix("%")) / (100 if "%" in share else 1)
        except ValueError:
            raise typer.BadParameter(
                f'--noise "{part}" is not a kind and a share: give some such as "iops=2%,p99_9=20%"'
            ) from None
        kind = kind.strip().replace(".", "_")
        if kind in found:
            raise typer.BadParameter(f'--noise "{text}" has {kind} twice: give each kind once')
        found[kind] = value
    return found


def _print(found: Calibration) -> None:
    from flashgc.calibrating import words
    from flashgc.cli import show

    values = found.to_dict()
    show.line(words.head(values), "bold")
    show.line(words.about(values))
    show.words(words.candidates(values), right=[1])
    show.words(words.fitted(values))
    show.words(words.errors(values), right=range(1, 6))
    for text in values["warnings"]:
        show.note(text)
    show.line("")
    show.line(words.verdict(values), "bold")
    further = words.further(values)
    if further:
        show.line(further)


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[CalibrateProgress], None] | None]:
    """One bar for each phase, or nothing without a terminal."""
    from flashgc.cli import progress

    with progress.phases(_PHASES, quiet, _COUNTED) as show:
        yield None if show is None else lambda step: show(step.phase, step.done, step.total)
