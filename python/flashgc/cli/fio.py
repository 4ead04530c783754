"""`flashgc fio`."""

from __future__ import annotations

from typing import Annotated

import typer

from flashgc.cli import options
from flashgc.cli.guard import guarded, say

EXAMPLES = (
    "flashgc fio job.fio --output-format=json --device enterprise-tlc",
    "flashgc fio --name=a --rw=randwrite --bs=4k --size=64m --iodepth=8 --ioengine=libaio",
)

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOB.fio] [--OPTION=VALUE]...",
        help="A job file, or a job by its options, and of fio's own options --section, --runtime, "
        "--output, --output-format=normal,json,json+ and --parse-only.",
        show_default=False,
    ),
]


@guarded
def fio(
    words: Words = None,
    device: options.Device = None,
    scheme: options.Scheme = None,
    sets: options.Sets = None,
    seed: options.Seed = None,
) -> None:
    """Run a job of fio on a simulated drive, with fio's command line and fio's output."""
    from flashgc.cli import progress
    from flashgc.files import output
    from flashgc.fio import arguments, run

    if words in (["--version"], ["-v"]):
        print(run.VERSION)
        return
    command = arguments.read(words or [])
    if command.parse_only:
        run.findings(command)
        return
    with progress.bars([""], quiet=False) as shown:
        told = None if shown is None else lambda step: shown(0, step)
        text = run.run(
            command, device=device, scheme=scheme, sets=sets or (), seed=seed, progress=told
        )
    if command.output is None:
        print(text, end="")
    else:
        output.write(command.output, text)
        say(f"saved: {command.output}")
