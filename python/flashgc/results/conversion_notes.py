"""Notes of a run on a configuration that `flashgc convert` has made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flashgc.formatting import units
from flashgc.results import metrics

if TYPE_CHECKING:
    from flashgc.results.metrics import RunResults

KEYS_SHOWN = 6
_LISTS = ("files", "mapped", "differs", "not_mapped")


def note(reports: Iterable[RunResults], text: str) -> None:
    """Adds the outcome of a configuration's conversion to its reports."""
    found = of(text)
    if found is not None:
        for report in reports:
            metrics.note(report, converted=found)


def of(text: str) -> dict[str, Any] | None:
    r"""The table [about.converted] of a configuration, as far as it is one.

    >>> from flashgc.results import conversion_notes
    >>> conversion_notes.of('[about.converted]\nprogram = "MQSim"\nfiles = ["a.xml"]')
    {'program': 'MQSim', 'files': ['a.xml'], 'mapped': [], 'differs': [], 'not_mapped': []}
    """
    if "converted" not in text:
        return None
    import tomllib

    try:
        about = tomllib.loads(text).get("about")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None  # the engine reports the error
    table = about.get("converted") if isinstance(about, dict) else None
    if not isinstance(table, dict) or not isinstance(table.get("program"), str):
        return None
    return {"program": table["program"], **{name: _texts(table, name) for name in _LISTS}}


def _texts(table: Mapping[str, object], name: str) -> list[str]:
    found = table.get(name)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def told(report: RunResults) -> list[str]:
    """Sentences on the keys that have no counterpart, or one that differs."""
    found = report.get("converted")
    if not found:
        return []
    files = " and ".join(found["files"]) or f"a file of {found['program']}"
    if found["program"] == "fio":
        return _of_fio(found, files)
    origin = metrics.origin(report)
    where = f"the head of {origin.config}" if origin else "the head of the configuration"
    sentences = []
    for name, what, whats in (
        ("not_mapped", "has no counterpart", "have no counterpart"),
        ("differs", "is mapped with a difference", "are mapped with a difference"),
    ):
        entries = found[name]
        if entries:
            count = sum(map(_count, entries))
            keys = [one.partition(": ")[0] for one in entries]
            more = len(keys) - KEYS_SHOWN
            shown = ", ".join(keys[:KEYS_SHOWN]) + (", ..." if more > 0 else "")
            verb = what if count == 1 else whats
            sentences.append(
                f"{units.counted(count, 'key')} of {files} {verb}: {shown}; see {where}"
            )
    return sentences


def _of_fio(found: Mapping[str, list[str]], files: str) -> list[str]:
    """Each option that changes the requests and is mapped with a difference, in full."""
    entries = found["differs"]
    sentences = []
    for entry in entries[:KEYS_SHOWN]:
        key, _, said = entry.partition(": ")
        sentences.append(f"{files}, `{key}`: {said}")
    if len(entries) > KEYS_SHOWN:
        more = units.counted(len(entries) - KEYS_SHOWN, "option")
        sentences.append(f"{more} of {files} more differ: `flashgc convert` lists them")
    return sentences


def _count(entry: str) -> int:
    """The number of keys in an entry: one, or the number of a part as in `Flow[1.2] (22 keys)`."""
    head = entry.partition(": ")[0]
    number = head.rpartition("(")[2].removesuffix(" keys)")
    return int(number) if head.endswith(" keys)") and number.isdecimal() else 1
