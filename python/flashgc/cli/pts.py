"""`flashgc pts`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded
from flashgc.cli.options import example

if TYPE_CHECKING:
    from flashgc.snia import Pts, PtsProgress

EXAMPLES = (
    "flashgc pts enterprise-tlc --short --set device.blocks_per_plane=64",
    "flashgc pts client-tlc --tests wsat,iops --short --out runs/pts",
)
EPILOG = example(*EXAMPLES)
TESTS = "wsat,iops,tp,lat,hir,xsr,dirth"


@guarded
def pts(
    config: Annotated[
        str,
        typer.Argument(
            metavar="DEVICE|CONFIG",
            help="A device, by name or as a TOML file, or a configuration, whose workload and "
            "preconditioning are ignored.",
            autocompletion=complete.devices,
            show_default=False,
        ),
    ],
    tests: Annotated[
        str | None,
        typer.Option("--tests", metavar="A,B,C", show_default=False,
                     help=f"The tests, some of {TESTS}; by default all."),
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Use rounds of 5 s instead of 1 min.")
    ] = False,
    round: Annotated[
        str | None,
        typer.Option("--round", metavar="TIME", show_default=False,
                     help='Length of a round, up to 1 min, such as "10 s".'),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option("--rounds", min=5, max=25, metavar="N",
                     help="A test ends after N rounds without steady state."),
    ] = 25,
    active_range: Annotated[
        str,
        typer.Option("--active-range", metavar="SHARE",
                     help="Share of the user capacity that is accessed."),
    ] = "100%",
    threads: Annotated[
        int,
        typer.Option("--threads", min=1, metavar="N",
                     help="Threads of random requests (wsat, iops and hir)."),
    ] = 1,
    depth: Annotated[
        int,
        typer.Option("--depth", min=1, metavar="N",
                     help="Queue depth of each of these threads."),
    ] = 32,
    demand_mix: Annotated[
        str,
        typer.Option("--demand-mix", metavar="READS/WRITES",
                     help="The shares of reads and writes of dirth."),
    ] = "65/35",
    scheme: options.Scheme = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    json: options.Json = False,
    out: Annotated[
        Path | None, options.out("index.html, pts.json and the data as CSV files")
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, metavar="N", help="Number of parallel tests.")
    ] = 2,
) -> None:  # fmt: skip
    """Test a device by SNIA's Performance Test Specification."""
    from flashgc import snia
    from flashgc.files import output
    from flashgc.pages import provenance

    folder = None if out is None else output.folder(out)
    names = None if tests is None else options.scheme_names(tests)
    with _bar(quiet=json) as shown:
        found = snia.pts(
            config, tests=names, short=short, round=round, rounds=rounds,
            active_range=_share(active_range), threads=threads, depth=depth,
            demand_mix=_mix(demand_mix), scheme=scheme,
            device=device, set=sets, unset=unsets, seed=seed, jobs=jobs, progress=shown,
        )  # fmt: skip
    provenance.by_command([found.about], options.typed())
    options.finish(
        lambda: [] if folder is None else found.save(folder),
        lambda: _print(found),
        found.to_json if json else None,
    )


def _share(text: str) -> float:
    """A share in percent."""
    try:
        share = float(text.removesuffix("%").strip()) / 100 if text.endswith("%") else 0.0
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise typer.BadParameter(
            f'--active-range "{text}" is not a share: give a percentage above 0 and up to 100, '
            'such as "75%"'
        )
    return share


def _mix(text: str) -> float:
    """The share of reads of a mix such as 65/35."""
    reads, _, writes = text.partition("/")
    if not (reads.isdecimal() and writes.isdecimal() and int(reads) + int(writes) == 100):
        raise typer.BadParameter(
            f'--demand-mix "{text}" is not a mix: give the shares of reads and writes in percent, '
            'such as "65/35"'
        )
    return int(reads) / 100


def _print(found: Pts) -> None:
    from flashgc.cli import show
    from flashgc.snia import words

    values = found.to_dict()
    show.line(words.head(values), "bold")
    if values["form"]["differences"]:
        show.line("shortened form, not that of the specification:", "bold yellow")
        for one in values["form"]["differences"]:
            show.line(f"- {one}")
    else:
        show.line(words.AS_SPECIFIED)
    for test in values["tests"]:
        show.line("")
        show.line(words.title(test), "bold")
        for part in test["parts"]:
            show.line(words.about(part))
            warning = words.not_steady(part)
            if warning is not None:
                show.note(warning)
            for title, table in (("", words.window(part)), *words.results(test["test"], part),
                                 ("", words.responses(part))):  # fmt: skip
                if table:
                    if title:
                        show.line(title)
                    show.rows(table)


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[PtsProgress], None] | None]:
    """One bar with the step of each test under way, or nothing without a terminal."""
    from flashgc.cli import progress
    from flashgc.formatting import units

    with progress.one("starting", quiet) as bar:
        if bar is None:
            yield None
            return
        shown, task = bar
        steps: dict[str, PtsProgress] = {}

        def show(step: PtsProgress) -> None:
            steps[step.test] = step
            if step.phase == "end":
                steps.pop(step.test, None)
            under_way = ", ".join(f"{one.test} {one.phase}" for one in list(steps.values()))
            text = f"{step.tests_done} of {units.counted(step.tests, 'test')}"
            shown.update(task, description=under_way, completed=step.tests_done, total=step.tests,
                         text=text)  # fmt: skip

        yield show
