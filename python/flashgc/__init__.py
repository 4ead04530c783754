"""flashgc: garbage-collection schemes for flash storage on one device, one trace and one clock.

>>> import flashgc
>>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
>>> report = flashgc.run("oltp", set=small)
>>> report.scheme
'greedy'
"""

import importlib
from typing import TYPE_CHECKING, Any

from flashgc import _start as _start

if TYPE_CHECKING:
    from flashgc import drive, trace
    from flashgc._engine import __version__
    from flashgc._json_schema import (
        advice_schema,
        explanation_schema,
        report_schema,
        tuning_schema,
    )
    from flashgc._workloads import workload, workloads
    from flashgc.advising import Advice, AdviceProgress, advise
    from flashgc.api import (
        Progress,
        compare,
        devices,
        run,
        run_seeds,
        schemes,
        slots,
    )
    from flashgc.conversion import Conversion, convert
    from flashgc.errors import (
        ConfigError,
        DriveError,
        FlashgcError,
        InternalError,
        OutputError,
        RunError,
        TraceError,
    )
    from flashgc.explaining import Explanation, explain
    from flashgc.loaded import load
    from flashgc.policies import (
        Candidates,
        NextStep,
        Page,
        Scheme,
        pacing,
        placement,
        scheme,
        victim,
    )
    from flashgc.refusal import Refusal
    from flashgc.registers import RegisterCost, register_cost
    from flashgc.report import Comparison, Report
    from flashgc.reproduction import (
        Checked,
        Reproduction,
        Reproductions,
        check_bundle,
        reproduce,
        reproduce_all,
    )
    from flashgc.sweeps import SweepProgress, SweepResults, sweep
    from flashgc.sweeps import explain as explain_sweep
    from flashgc.table import Table
    from flashgc.tuning import TuneProgress, Tuning, tune
    from flashgc.worst_case import WorstCase, check_wait, worst_case_wait

__all__ = [
    "Advice",
    "AdviceProgress",
    "Candidates",
    "Checked",
    "Comparison",
    "ConfigError",
    "Conversion",
    "DriveError",
    "Explanation",
    "FlashgcError",
    "InternalError",
    "NextStep",
    "OutputError",
    "Page",
    "Progress",
    "Refusal",
    "RegisterCost",
    "Report",
    "Reproduction",
    "Reproductions",
    "RunError",
    "Scheme",
    "SweepProgress",
    "SweepResults",
    "Table",
    "TraceError",
    "TuneProgress",
    "Tuning",
    "WorstCase",
    "__version__",
    "advice_schema",
    "advise",
    "check_bundle",
    "check_wait",
    "compare",
    "convert",
    "devices",
    "drive",
    "explain",
    "explain_sweep",
    "explanation_schema",
    "load",
    "pacing",
    "placement",
    "register_cost",
    "report_schema",
    "reproduce",
    "reproduce_all",
    "run",
    "run_seeds",
    "scheme",
    "schemes",
    "slots",
    "sweep",
    "trace",
    "tune",
    "tuning_schema",
    "victim",
    "workload",
    "workloads",
    "worst_case_wait",
]


_MODULES = ("drive", "trace")
_NAMES_IN = {
    "_engine": ("__version__",),
    "_json_schema": ("advice_schema", "explanation_schema", "report_schema",
                     "tuning_schema"),
    "_workloads": ("workload", "workloads"),
    "advising": ("Advice", "AdviceProgress", "advise"),
    "api": ("Progress", "compare", "devices", "run", "run_seeds", "schemes", "slots"),
    "conversion": ("Conversion", "convert"),
    "errors": ("ConfigError", "DriveError", "FlashgcError", "InternalError", "OutputError",
               "RunError", "TraceError"),
    "explaining": ("Explanation", "explain"),
    "loaded": ("load",),
    "policies": ("Candidates", "NextStep", "Page", "Scheme", "pacing", "placement", "scheme",
                 "victim"),
    "refusal": ("Refusal",),
    "registers": ("RegisterCost", "register_cost"),
    "report": ("Comparison", "Report"),
    "reproduction": ("Checked", "Reproduction", "Reproductions", "check_bundle", "reproduce",
                     "reproduce_all"),
    "sweeps": ("SweepProgress", "SweepResults", "sweep"),
    "table": ("Table",),
    "tuning": ("TuneProgress", "Tuning", "tune"),
    "worst_case": ("WorstCase", "check_wait", "worst_case_wait"),
}  # fmt: skip
_HOMES = {name: (module, name) for module, names in _NAMES_IN.items() for name in names}
_HOMES["explain_sweep"] = ("sweeps", "explain")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has this name
    """Names are imported when they are used, so that a command starts with what it needs."""
    if name in _MODULES:
        return importlib.import_module(f"flashgc.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'flashgc' has no attribute {name!r}")
    module, inside = _HOMES[name]
    found = getattr(importlib.import_module(f"flashgc.{module}"), inside)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names of the package; its inner modules are not among them."""
    return [*__all__, "__all__", "__doc__"]
