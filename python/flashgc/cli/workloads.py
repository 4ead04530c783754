"""`flashgc workloads`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flashgc.cli import complete, options, presets
from flashgc.cli.guard import guarded

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME|FILE]",
        help="Generate this one and set what it achieves beside what it aims at.",
        autocompletion=complete.configs,
        show_default=False,
    ),
]
Text = Annotated[bool, typer.Option("--text", help="Print its file in place of that.")]


@guarded
def workloads(
    name: Name = None,
    text: Text = False,
    json: options.Json = False,
    device: options.Device = None,
    sets: options.Sets = None,
    seed: options.Seed = None,
) -> None:
    """List the look-alike workloads, or compare one with the figures it was made for."""
    import json as encoder

    from flashgc import _sources, _workloads
    from flashgc.cli import progress

    if name is None:
        _list(_workloads.workloads(), json)
        return
    if text:
        print(_sources.config(name).text.rstrip())
        return
    with progress.bars([""], quiet=json) as shown:
        told = None if shown is None else lambda step: shown(0, step)
        found = _workloads.workload(name, device=device, set=sets or [], seed=seed, progress=told)
    if json:
        print(encoder.dumps(found, indent=2))
        return
    _show(found)


def _list(known: list[dict[str, Any]], json: bool) -> None:
    import json as encoder

    if json:
        print(encoder.dumps(known, indent=2))
        return
    rows = [["workload", "what", "device", "source"]]
    rows += [[one["name"], one["title"], one["device"], one["source"]] for one in known]
    presets.table(rows)
    print("Made to look like their originals in the figures that their sources state; no more.")
    print("`flashgc workloads NAME` sets what one achieves beside these figures;")
    print("`flashgc run NAME` runs it, `flashgc trace generate NAME FILE` writes it as a trace.")


def _show(found: dict[str, Any]) -> None:
    from rich.markup import escape

    from flashgc import units
    from flashgc.cli import show

    out = show.console()
    out.print(f"[bold]{escape(found['title'] or found['name'])}[/]")
    if found["source"]:
        out.print(escape(found["source"]))
    if found["figures"]:
        head = ["", "target", "achieved", "off"]
        out.print(show.rows([head, *(_row(figure) for figure in found["figures"])]))
    for figure in found["figures"]:
        if figure["why"]:
            out.print(f"[yellow]note[/] {escape(figure['label'])}: {escape(figure['why'])}")
    for what, why in found["chosen"].items():
        out.print(f"[bold]chosen[/] {escape(what)}: {escape(str(why))}")
    if found["notes"]:
        out.print(escape(found["notes"]))
    counted = found["statistics"]
    original = found["original_requests"]
    of = "" if original is None else f"; the original has {units.count(original)}"
    out.print(
        f"{units.count(counted['requests'])} requests in {units.time(counted['duration_ns'])}{of}; "
        f"{units.size(counted['footprint_bytes'])} touched, "
        f"{units.size(counted['written_footprint_bytes'])} written"
    )


def _row(figure: dict[str, Any]) -> list[str]:
    mark = "" if figure["met"] else "! "
    return [
        f"{mark}{figure['label']}",
        _figures(figure["target"]),
        _figures(figure["achieved"]),
        _off(figure),
    ]


def _figures(value: float | None) -> str:
    return "-" if value is None else f"{value:,.5g}"


def _off(figure: dict[str, Any]) -> str:
    if figure["off"] is None:
        return "-"
    # Where the target is 0 there is nothing to be relative to.
    return f"{100 * figure['off']:+.2f} %" if figure["target"] else f"{figure['off']:+.4f}"
