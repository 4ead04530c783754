"""`flashgc workloads`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import guarded

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME|FILE]",
        help="Generate this workload and compare it with its targets.",
        autocompletion=complete.configs,
        show_default=False,
    ),
]
Text = Annotated[bool, typer.Option("--text", help="Print its file instead.")]


@guarded
def workloads(
    name: Name = None,
    text: Text = False,
    json: options.Json = False,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
) -> None:
    """List the synthetic workloads of the papers, or compare one with its targets."""
    import json as encoder

    from flashgc.cli import progress
    from flashgc.running import builtin_workloads, inputs

    if name is None:
        _list(builtin_workloads.workloads(), json)
        return
    if text:
        print(inputs.config(name).text.rstrip())
        return
    with progress.bars([""], quiet=json) as shown:
        told = None if shown is None else lambda step: shown(0, step)
        found = builtin_workloads.workload(
            name, device=device, set=sets or [], unset=unsets, seed=seed, progress=told
        )
    if json:
        print(encoder.dumps(found, indent=2))
        return
    _show(found)


def _list(known: list[dict[str, Any]], json: bool) -> None:
    import json as encoder

    from flashgc.cli import show

    if json:
        print(encoder.dumps(known, indent=2))
        return
    rows = [["workload", "what", "device", "source"]]
    rows += [[one["name"], one["title"], one["device"], one["source"]] for one in known]
    show.words(rows)
    show.line("Each matches its original in the values that the source states, and in no others.")
    show.line("`flashgc workloads NAME` compares a workload with these values;")
    show.line(
        "`flashgc run NAME` runs it, `flashgc trace generate NAME FILE` writes it as a trace."
    )


def _show(found: dict[str, Any]) -> None:
    from flashgc.cli import show
    from flashgc.formatting import units

    show.line(found["title"] or found["name"], "bold")
    if found["source"]:
        show.line(found["source"])
    if found["metrics"]:
        head = ["", "target", "achieved", "off"]
        show.rows([head, *(_row(metric) for metric in found["metrics"])])
    for metric in found["metrics"]:
        if metric["why"]:
            show.note(f"{metric['label']}: {metric['why']}")
    for what, why in found["chosen"].items():
        show.labelled("chosen", f"{what}: {why}")
    if found["notes"]:
        show.text(found["notes"])
    counted = found["statistics"]
    original = found["original_requests"]
    of = "" if original is None else f"; the original has {units.count(original)}"
    show.line(
        f"{units.counted(counted['requests'], 'request')} in "
        f"{units.time(counted['duration_ns'])}{of}; "
        f"{units.size(counted['footprint_bytes'])} touched, "
        f"{units.size(counted['written_footprint_bytes'])} written"
    )


def _row(metric: dict[str, Any]) -> list[str]:
    mark = "" if metric["met"] else "! "
    return [
        f"{mark}{metric['label']}",
        _metrics(metric["target"]),
        _metrics(metric["achieved"]),
        _off(metric),
    ]


def _metrics(value: float | None) -> str:
    return "-" if value is None else f"{value:,.5g}"


def _off(metric: dict[str, Any]) -> str:
    if metric["off"] is None:
        return "-"
    # A target of 0 has no relative difference.
    return f"{100 * metric['off']:+.2f} %" if metric["target"] else f"{metric['off']:+.4f}"
