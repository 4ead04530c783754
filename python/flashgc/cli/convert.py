"""`flashgc convert`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded, say


class Program(StrEnum):
    """A program whose files can be converted."""

    mqsim = "mqsim"
    ssdsim = "ssdsim"
    disksim = "disksim"
    fio = "fio"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="An MQSim device file, an SSDSim parameter file, a DiskSim parameter file with the "
        "MSR SSD extension, or a job file of fio.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
Workload = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="FILE",
        help="An MQSim workload file.",
        autocompletion=complete.files,
        show_default=False,
    ),
]
From = Annotated[
    Program | None,
    typer.Option(
        "--from",
        metavar="NAME",
        help="The program of the file: mqsim, ssdsim, disksim or fio; by default it is recognised "
        "from the content.",
        show_default=False,
    ),
]
Scenario = Annotated[
    int, typer.Option("--scenario", metavar="N", min=1, help="The scenario of the workload file.")
]
Flow = Annotated[int, typer.Option("--flow", metavar="N", min=1, help="The flow of the scenario.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the configuration to this file and print how each key was mapped; by default "
        "the configuration goes to standard output.",
        show_default=False,
    ),
]


@guarded
def convert(
    file: File,
    workload: Workload = None,
    program: From = None,
    scenario: Scenario = 1,
    flow: Flow = 1,
    out: Out = None,
    json: options.Json = False,
) -> None:
    """Convert a configuration of MQSim, SSDSim or DiskSim, or a job file of fio."""
    import json as encoder

    from flashgc import conversion

    options.refuse_standard_output(json, {"--out": out})
    made = conversion.convert(
        file, workload, program=None if program is None else program.value,
        scenario=scenario, flow=flow, out=out,
    )  # fmt: skip
    if json:
        print(encoder.dumps(made.to_dict(), indent=2))
    elif out is None:
        print(made.text, end="")
    else:
        from flashgc.cli import show

        print(made.listing(max(show.width(), 40)))
    refused = made.refusal()
    if refused is not None:
        say(f"note: flashgc does not run this configuration as it is\n{refused}")
    if out is not None:
        say(f"saved {out}")
