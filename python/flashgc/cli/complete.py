"""Completions in the shell: names of configurations, schemes, devices, formats and files."""

from __future__ import annotations

from pathlib import Path

from flashgc.files.reading import JOB_FILES


def configs(incomplete: str) -> list[str]:
    """Built-in configurations, TOML files and job files of fio."""
    from flashgc.running import inputs

    files = [name for end in (".toml", *JOB_FILES) for name in _files(incomplete, end)]
    return _starting(list(inputs.builtin_configs()), incomplete) + list(dict.fromkeys(files))


def scheme_names(incomplete: str) -> list[str]:
    """Schemes that come with the package."""
    from flashgc.running import builtin_presets

    return _starting([known["name"] for known in builtin_presets.schemes()], incomplete)


def schemes(incomplete: str) -> list[str]:
    """Schemes that come with the package, and TOML files."""
    return scheme_names(incomplete) + _files(incomplete, ".toml")


def scheme_lists(incomplete: str) -> list[str]:
    """The last name of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [f"{before}{comma}{name}" for name in scheme_names(last) if name not in taken]


def devices(incomplete: str) -> list[str]:
    """Devices that come with the package."""
    from flashgc.running import builtin_presets

    return _starting([known["name"] for known in builtin_presets.devices()], incomplete)


def formats(incomplete: str) -> list[str]:
    """Formats of traces."""
    from flashgc.trace import formats as every

    return _starting([name for known in every() for name in known["names"]], incomplete)


def formats_to_write(incomplete: str) -> list[str]:
    """Formats of traces that can be written: those with a text on the lost fields."""
    from flashgc.trace import formats as every

    known = [known["names"] for known in every() if known["lost"]]
    return _starting([name for names in known for name in names], incomplete)


def papers(incomplete: str) -> list[str]:
    """Papers that come with the package, and their figures and tables after a slash."""
    from flashgc.reproduction import papers as known

    paper, slash, begun = incomplete.partition("/")
    if not slash:
        return _starting(known.names(), incomplete)
    if paper not in known.names():
        return []
    before, comma, last = begun.rpartition(",")
    ids = [item.id for item in known.load(paper).experiment.items]
    taken = before.split(",")
    free = [name for name in _starting(ids, last) if name not in taken]
    return [f"{paper}/{before}{comma}{name}" for name in free]


def files(incomplete: str) -> list[str]:
    """Any file."""
    return _files(incomplete, "")


def traces(incomplete: str) -> list[str]:
    """Traces that come with the package, and any file."""
    from flashgc.running import inputs

    return _starting(list(inputs.captures()), incomplete) + _files(incomplete, "")


def _starting(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _files(incomplete: str, suffix: str) -> list[str]:
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return []
    found = []
    for path in paths:
        name = str(path) + ("/" if path.is_dir() else "")
        hidden = path.name.startswith(".") and not Path(incomplete).name.startswith(".")
        if name.startswith(incomplete) and not hidden and (path.is_dir() or name.endswith(suffix)):
            found.append(name)
    return found
