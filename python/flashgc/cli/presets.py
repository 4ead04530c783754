"""`flashgc schemes` and `flashgc devices`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashgc.cli import complete, options
from flashgc.cli.guard import fail, guarded

if TYPE_CHECKING:
    from flashgc.estimates.device_facts import DeviceFacts

SchemeName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="Print this one in full.", show_default=False,
                   autocompletion=complete.scheme_names),
]  # fmt: skip
DeviceName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME|FILE]", help="Print this one in full, or what the keys of a file "
                   "mean.", show_default=False, autocompletion=complete.devices),
]  # fmt: skip


@guarded
def schemes(
    name: SchemeName = None,
    json: options.Json = False,
    slots: Annotated[
        bool,
        typer.Option("--slots", help="List the choices of every slot with their parameters."),
    ] = False,
) -> None:
    """List the GC schemes with their slots and sources, or print one."""
    from flashgc.cli import show
    from flashgc.running import builtin_presets

    if slots:
        options.refuse_with("--slots lists the choices for all schemes", {"a name": name})
        _slots(builtin_presets.slots(), json)
        return
    known = builtin_presets.schemes()
    if name is not None or json:
        _print(known, "scheme", name, json)
        return
    rows = [["scheme", "differences from greedy", "source"]]
    plain: dict[str, Any] = next((entry for entry in known if entry["name"] == "greedy"), {})
    rows += [[entry["name"], _differs(entry, plain), entry["source"]] for entry in known]
    show.words(rows)
    chosen = ", ".join(f"{slot} {choice}" for slot, choice in plain["slots"].items())
    show.line(f"greedy: {chosen}")
    show.line("`flashgc schemes NAME` prints a scheme in full; it can be saved, changed and run.")


def _differs(entry: dict[str, Any], plain: dict[str, Any]) -> str:
    """The choices of a scheme that the plain one has otherwise, each with its own parameters."""
    words = []
    for slot, choice in entry["slots"].items():
        own, others = (scheme["keys"].get(slot, {}) for scheme in (entry, plain))
        parameters = [
            key if value is True else f"{key} {str(value).lower() if value is False else value}"
            for name, table in own.items()
            if isinstance(table, dict)
            for key, value in table.items()
            if others.get(name, {}).get(key) != value
        ]
        if parameters or plain["slots"].get(slot) != choice:
            words.append(f"{slot} {choice}" + (f" ({', '.join(parameters)})" if parameters else ""))
    return ", ".join(words)


def _slots(known: list[dict[str, Any]], json: bool) -> None:
    import json as encoder

    if json:
        print(encoder.dumps(known, indent=2))
        return
    from flashgc.cli import show

    for slot in known:
        print()
        show.line(f"{slot['name']}: {slot['question']}", "bold")
        facts = []
        for choice in slot["choices"]:
            facts.append((choice["name"], choice["about"]))
            facts += [(f"  .{key}", meaning) for key, meaning in choice["keys"]]
        show.pairs(facts, indent=2, style="")
    print()
    show.line('Set them as gc.victim.use = "d-choices" and gc.victim.d-choices.d = 5.')


@guarded
def devices(
    name: DeviceName = None,
    json: options.Json = False,
    registers: Annotated[
        int | None,
        typer.Option(min=1, max=64, show_default=False, help="Print the area and price of "
            "N data registers per plane (paper parallel-gc, section IV-C)."),
    ] = None,
    die_mm2: Annotated[
        float | None,
        typer.Option("--die-mm2", min=0.1, show_default=False,
                     help="Area of a die for --registers, in mm² \\[default: 128]."),
    ] = None,
    worst_case: Annotated[
        bool,
        typer.Option("--worst-case", help="Print the worst-case time of a page request "
            "during collection (paper preemptible-gc, Table V)."),
    ] = False,
    facts: Annotated[
        bool, typer.Option("--facts", help="Print what the keys of the device mean, as for a file.")
    ] = False,
) -> None:  # fmt: skip
    """List the devices with geometry, times and sources, or print one."""
    from flashgc.cli import show
    from flashgc.running import builtin_presets, inputs

    _check_one({"--facts": facts, "--registers": registers is not None, "--worst-case": worst_case})
    if die_mm2 is not None and registers is None:
        raise typer.BadParameter(
            "--die-mm2 is the area of a die for --registers; add --registers N, or omit it"
        )
    if facts or (name is not None and inputs.is_file(name)):
        _facts(name, json)
        return
    known = builtin_presets.devices()
    if registers is not None:
        _register_cost(known, name, registers, die_mm2 or 128.0, json)
        return
    if worst_case:
        _worst_case(known, name, json)
        return
    if name is not None or json:
        _print(known, "device", name, json)
        return
    rows = [
        ["device", "capacity", "exported", "geometry", "unit", "read / program / erase", "source"]
    ]
    rows += [_device(entry) for entry in known]
    show.words(rows)
    show.line("Geometry: channels x chips x dies x planes, blocks, pages, page size.")
    show.line("`flashgc devices NAME` prints a device in full.")


def _check_one(given: dict[str, bool]) -> None:
    """Refuses two options of which each prints another table."""
    names = [name for name, is_given in given.items() if is_given]
    if len(names) > 1:
        raise typer.BadParameter(
            f"{' and '.join(names)} exclude each other: each prints another table; use one at a "
            "time"
        )


def _facts(name: str | None, json: bool) -> None:
    """Sizes, rates and unloaded times of a device."""
    import json as encoder

    from flashgc.cli import show
    from flashgc.estimates.device_facts import device_facts
    from flashgc.formatting import units

    if name is None:
        fail("error: --facts needs a device\n  = help: `flashgc devices NAME --facts`")
    found = device_facts(str(name))
    if json:
        print(encoder.dumps(found._asdict(), indent=2))
        return
    of_one = f"{units.size(found.mapped_bytes)}{', without jitter' if found.has_jitter else ''}"
    show.line(str(name), "bold")
    show.pairs([
        ("user capacity", f"{_decimal(found.user_bytes)} ({units.size(found.user_bytes)})"),
        ("flash", f"{units.size(found.physical_bytes)}, over-provisioning "
                  f"{100 * found.over_provisioning:.1f} %"),
        ("blocks", f"{found.blocks_per_plane:,} in each of "
                   f"{units.counted(found.planes, 'plane')}; a collection empties "
                   f"{units.size(found.victim_bytes)}"),
        ("map", f"{units.size(found.mapped_bytes)} an entry"),
        ("program", f"{units.size(found.program_bytes)} in {units.time(found.program_ns)}"),
        ("at once", f"{units.counted(found.units, 'operation')}: programs "
                    f"{_rate(found.program_rate)}, reads of whole pages {_rate(found.read_rate)}, "
                    f"buses {_rate(found.bus_rate)}"),
        *_link(found),
        ("unloaded read", f"{units.time(found.read_ns)} for {of_one}"),
        ("unloaded write", f"{units.time(found.write_ns)} for {of_one}"),
    ], indent=2, style="")  # fmt: skip


def _link(found: DeviceFacts) -> list[tuple[str, str]]:
    """The link to the host, where the device has one."""
    if found.link_rate is None:
        return []
    at_once = "in each direction" if found.link_duplex == "full" else "one direction at a time"
    return [("link", f"{_rate(found.link_rate)}, {at_once}")]


def _decimal(size_bytes: int) -> str:
    """A capacity as data sheets have it, in powers of 1000."""
    unit, step = next((one for one in (("GB", 1e9), ("MB", 1e6)) if size_bytes >= one[1]),
                      ("kB", 1e3))  # fmt: skip
    return f"{size_bytes / step:,.1f} {unit}"


def _rate(bytes_per_s: float | None) -> str:
    return "not limited" if bytes_per_s is None else f"{bytes_per_s / 1e6:,.0f} MB/s"


def run_plan(config: str, trace: str | None, json: bool, **given: Any) -> None:  # noqa: ANN401
    """What a run would do: `flashgc run --plan`, with these arguments of `flashgc.plan`."""
    import json as encoder

    from flashgc.cli import show
    from flashgc.estimates.run_plan import plan
    from flashgc.formatting import units

    found = plan(config, trace, **given)
    if json:
        print(encoder.dumps(found._asdict(), indent=2))
        return
    pages = found.precondition_pages
    of_pages = "" if pages is None else f": {units.counted(pages, 'page')}"
    show.pairs([
        ("device", f"{found.device}, {units.size(found.physical_bytes)}, user capacity "
                   f"{units.size(found.user_bytes)}"),
        ("scheme", found.scheme),
        ("precondition", found.precondition + of_pages),
        ("workload", found.workload + ("" if found.requests is None else
                                       f", {units.counted(found.requests, 'request')}")),
        ("memory", f"{units.size(found.table_bytes)} for the tables of the drive"),
    ], style="")  # fmt: skip
    for key in found.unused_keys:
        show.note(f"without effect: {key}")
    for note in found.notes:
        show.note(note)


def _register_cost(
    known: list[dict[str, Any]], name: str | None, registers: int, die_mm2: float, json: bool
) -> None:
    import json as encoder

    from flashgc.cli import show
    from flashgc.estimates.register_cost import register_cost
    from flashgc.formatting import units

    if name is None:
        fail("error: --registers needs a device\n  = help: `flashgc devices NAME --registers 4`")
    if all(entry["name"] != name for entry in known):
        _print(known, "device", name, json)
    try:
        cost = register_cost(str(name), registers, die_mm2=die_mm2)
    except ValueError as error:
        fail(f"error: {error}")
    if json:
        print(encoder.dumps(cost._asdict(), indent=2))
        return
    for text in (
        f"{name}: {units.counted(registers, 'data register')} in each plane, "
        f"{units.counted(registers, 'set')} in each die",
        f"added to a die of {die_mm2:g} mm2: {cost.data_registers} data, "
        f"{cost.command_registers} command and "
        f"{units.counted(cost.address_registers, 'address register')} of {cost.page_bytes} bytes",
        f"area: {cost.area_mm2:.3g} mm2, {100 * cost.share_of_die:.2g} % of the die",
        f"price of all data registers: at most {cost.usd_at_most:.3f} US dollars for a die",
        "SRAM of 4.75 MB/mm2 at 500 dollars a GB; without wiring "
        "(paper parallel-gc, section IV-C2).",
    ):
        show.line(text)


def _worst_case(known: list[dict[str, Any]], name: str | None, json: bool) -> None:
    import json as encoder

    from flashgc.cli import show
    from flashgc.estimates.worst_case import worst_case_wait

    if name is None:
        fail("error: --worst-case needs a device\n  = help: `flashgc devices NAME --worst-case`")
    if all(entry["name"] != name for entry in known):
        _print(known, "device", name, json)
    bare, whole = worst_case_wait(str(name)), worst_case_wait(str(name), transfer=True)
    if json:
        print(encoder.dumps({"array": bare._asdict(), "transfer": whole._asdict()}, indent=2))
        return
    rows = [["technique", "formula", "array only", "with transfer"]]
    for technique, formula, key in _WORST_CASES:
        times = (f"{getattr(each, key) / 1e6:g} ms" for each in (bare, whole))
        rows.append([technique, formula, *times])
    show.words(rows)
    show.line(
        "Worst case of a page request in state S1, in which a collection admits every request; "
        "queueing behind other requests is not included (paper preemptible-gc, Table V)."
    )


_WORST_CASES = (
    ("GFTL", "erase + max(read, write)", "gftl_ns"),
    ("RFTL", "max(erase + write, read)", "rftl_ns"),
    ("PGC", "erase + max(read, write)", "pgc_ns"),
    ("F-PGC", "suspend + max(read, write)", "fpgc_ns"),
)


def _exported(keys: dict[str, Any]) -> str:
    """The share of the pages that the host sees, or which blocks it does not."""
    if "user_capacity" in keys:
        return str(keys["user_capacity"])
    exported: float | dict[str, str] = keys["exported"]
    if isinstance(exported, dict):
        return f"all but {exported['reserved_blocks']} of the blocks"
    return f"{100 * exported:.4g} %"


def _time(value: str | list[str]) -> str:
    """A time, or the first and the last of those of the page types."""
    return value if isinstance(value, str) else f"{value[0]} to {value[-1]}"


def _device(entry: dict[str, Any]) -> list[str]:
    from flashgc.formatting import units

    keys, timing = entry["keys"], entry["keys"]["timing"]
    planes = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    parts = "x".join(str(keys[name]) for name in planes)
    blocks = keys.get("blocks_per_plane", "as many as that needs")
    geometry = f"{parts}, {blocks}, {keys['pages_per_block']}, {keys['page_size']}"
    times = " / ".join(_time(timing[name]) for name in ("read", "program", "erase"))
    share = _exported(keys)
    source = re.split(r"[;.(]", entry["source"])[0].strip()
    capacity = units.size(entry["capacity_bytes"])
    return [entry["name"], capacity, share, geometry, keys["unit"], times, source]


def _print(known: list[dict[str, Any]], kind: str, name: str | None, json: bool) -> None:
    import difflib
    import json as encoder

    chosen = [entry for entry in known if name in (None, entry["name"])]
    if not chosen:
        names = [entry["name"] for entry in known]
        near = difflib.get_close_matches(str(name), names, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(names)}"
        fail(f'error: there is no {kind} "{name}"\n  = help: {hint}')
    if json:
        print(encoder.dumps(chosen if name is None else chosen[0], indent=2))
    else:
        print(chosen[0]["text"].rstrip())
