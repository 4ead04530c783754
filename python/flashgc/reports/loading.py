"""Results that were saved, read again: folders of --out, and files report.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc.files import arguments, reading
from flashgc.formatting import units
from flashgc.reports import curves, shown
from flashgc.reports.report import Comparison, Report
from flashgc.reports.saving import CURVES, REPORT, PathLike
from flashgc.results import metrics
from flashgc.results.metrics import unique
from flashgc.results.refusal import Refusal
from flashgc.schema import section
from flashgc.schema.report_keys import Keys


def load(*results: PathLike) -> Comparison:
    """The results that `--out` or `save` has written: folders, or files `report.json`.

    Each may hold one run or a comparison. Runs of one scheme get names that tell them apart. A
    folder has the curves of its page too: distributions, and the records over time. A ConfigError
    if a file is not a result of this version.

    >>> import flashgc, tempfile
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> folder = tempfile.mkdtemp()
    >>> saved = flashgc.run("oltp", set=small).save_folder(folder)
    >>> again = flashgc.load(folder)
    >>> again.keys(), again[0].distribution("read").rows > 0
    (['greedy'], True)
    """
    return together(results)


def read(results: Sequence[PathLike]) -> list[tuple[Path, Comparison]]:
    """The file of each result, and its reports with the schemes that were refused."""
    if not results:
        raise ConfigError("error: there is no result to read\n  = help: name a folder of --out")
    for one in results:
        if isinstance(one, str) and not one:
            raise ConfigError(
                "error: the name of a result is empty\n  = help: name a folder of --out"
            )
        arguments.check_path("a result", one)
    return [_read(Path(one)) for one in results]


def _read(given: Path) -> tuple[Path, Comparison]:
    file = given / REPORT if given.is_dir() else given
    result = reading.result_at(given)
    if (result is not None and not file.name == REPORT) or (given.is_dir() and not file.exists()):
        raise _other(given, result)
    found = _json(file)
    listed = found if isinstance(found, list) else [found]
    reports = [_report(file, values) for values in listed if not _is_refused(values)]
    if not reports:
        raise _unknown(file, "it has no run")
    drawn = file.parent / CURVES
    if drawn.exists():
        _add_curves(drawn, reports)
    return file, Comparison(reports, map(_refusal, filter(_is_refused, listed)))


def _other(given: Path, result: tuple[str, str] | None) -> ConfigError:
    reads = "`flashgc report` reads results of `flashgc run` and `flashgc compare`"
    if result is None:
        return ConfigError(
            f"error: {given} has no {REPORT}\n  = help: {reads}: name a folder of their --out"
        )
    by, see = result
    return ConfigError(f"error: {given} is a result of `{by}`; {reads}\n  = help: {see}")


def _json(file: Path) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(file.read_text("utf-8"))
    except OSError as reason:
        raise ConfigError(f"error: {reading.describe(file, reason)}") from None
    except (ValueError, RecursionError):
        raise _unknown(file, "it is not JSON") from None


def _unknown(file: Path, why: str) -> ConfigError:
    return ConfigError(
        f"error: {file} is not a result of `flashgc run` or `flashgc compare`: {why}\n"
        "  = help: name a folder of --out, or its report.json"
    )


def _is_refused(values: object) -> bool:
    """A scheme of a comparison that could not run has a place in the list, without metrics."""
    return isinstance(values, Mapping) and "refused" in values


def _refusal(values: Mapping[str, Any]) -> Refusal:
    """A refused scheme of a comparison; a key that the file lacks is empty."""
    text = str(values["refused"])
    return Refusal(
        scheme=str(values.get("scheme")), reason=text, text=str(values.get("text", text)),
        settings=tuple(values.get("settings", ())), unset=tuple(values.get("unset", ())),
        then=values.get("then"),
    )  # fmt: skip


def _report(file: Path, values: object) -> Report:
    if not isinstance(values, Mapping):
        raise _unknown(file, "it has no metrics")
    version = values.get("version")
    if "result_hash" in values and version != engine.__version__:
        raise ConfigError(
            f"error: {file} is a result of flashgc {version}, and this is {engine.__version__}, "
            "which may define metrics otherwise\n  = help: run it again, or use that version"
        )
    key = section.missing(Keys, values) or section.missing_in_time(Keys, values)
    if key is not None:
        raise _unknown(file, f"it has no key {key!r}")
    wrong = section.mistake(Keys, values) or shown.mistake(values)
    if wrong is not None:
        raise _unknown(file, f"no result has {wrong}")
    return Report(values)


def _add_curves(file: Path, reports: Sequence[Report]) -> None:
    """Adds the curves to reports that they belong to; curves of other runs are an error."""
    found = _json(file)
    runs = found.get("runs") if isinstance(found, Mapping) else None
    runs = runs if isinstance(runs, list) else []
    known = [one.get("result_hash") for one in runs if isinstance(one, Mapping)]
    if known != [one.result_hash for one in reports]:
        raise ConfigError(
            f"error: {file} does not belong to the runs of {REPORT} in its folder\n"
            f"{_no_curves(file)}"
        )
    for report, one in zip(reports, runs, strict=True):
        try:
            curves.add(report, one)
        except curves.WrongError as why:
            raise ConfigError(f"error: {file} is damaged: {why}\n{_no_curves(file)}") from None


def _no_curves(file: Path) -> str:
    return f"  = help: remove {file}; the page then has no distributions"


def together(results: Sequence[PathLike], names: Sequence[str] | None = None) -> Comparison:
    """The runs of all results, under these names or under distinct ones."""
    several = read(results)
    found = [(file, report) for file, reports in several for report in reports]
    refused = dict.fromkeys(one for _, reports in several for one in reports.refused)
    schemes = [report.scheme for _, report in found]
    if names is None:
        names = [
            scheme if schemes.count(scheme) == 1 else f"{scheme}, {file.parent.name or file.stem}"
            for (file, _), scheme in zip(found, schemes, strict=True)
        ]
        names = unique(names)
    if len(names) != len(found):
        raise ConfigError(
            f"error: {units.counted(len(found), 'run')} cannot have "
            f"{units.counted(len(names), 'name')}\n"
            f"  = help: the runs, in order: {', '.join(schemes)}"
        )
    if len(set(names)) != len(names):
        raise ConfigError("error: two runs cannot have the same name\n  = help: --names A,B,C")
    named = [
        report if name == report.scheme else _renamed(report, name)
        for (_, report), name in zip(found, names, strict=True)
    ]
    return Comparison(named, refused)


def _renamed(report: Report, name: str) -> Report:
    """A report whose scheme has another name in tables and charts."""
    other = Report({**report.to_dict(), "scheme": name}, metrics.distributions(report))
    metrics.note(other, origin=metrics.origin(report), over_time=report.over_time)
    return other
