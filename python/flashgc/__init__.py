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
    from flashgc._engine import (
        ConfigError,
        DriveError,
        FlashgcError,
        InternalError,
        OutputError,
        RunError,
        TraceError,
        __version__,
    )
    from flashgc.advising import Advice, AdviceProgress, advise
    from flashgc.animating import Animation, animate
    from flashgc.calibrating import CalibrateProgress, Calibration, calibrate
    from flashgc.components.closed_loop import Loop
    from flashgc.components.component import Completion, Completions, Component
    from flashgc.conversion import Conversion, convert
    from flashgc.estimates.device_facts import DeviceFacts, device_facts
    from flashgc.estimates.register_cost import RegisterCost, register_cost
    from flashgc.estimates.run_plan import RunPlan, plan
    from flashgc.estimates.worst_case import WorstCase, check_wait, worst_case_wait
    from flashgc.explaining import Explanation, explain
    from flashgc.formatting.table import Table
    from flashgc.reports.loading import load
    from flashgc.reports.report import Comparison, Report
    from flashgc.reproduction import (
        Checked,
        Reproduction,
        Reproductions,
        check_bundle,
        reproduce,
        reproduce_all,
    )
    from flashgc.results.refusal import Refusal
    from flashgc.running.builtin_presets import devices, schemes, slots
    from flashgc.running.builtin_workloads import workload, workloads
    from flashgc.running.comparing import compare
    from flashgc.running.executing import Progress
    from flashgc.running.policies import (
        Candidates,
        NextStep,
        Page,
        Scheme,
        pacing,
        placement,
        scheme,
        victim,
    )
    from flashgc.running.runs import run, run_seeds
    from flashgc.schema.json_schema import (
        advice_schema,
        calibration_schema,
        explanation_schema,
        pts_schema,
        report_schema,
        tuning_schema,
    )
    from flashgc.snia import Pts, PtsProgress, pts
    from flashgc.sweeps import SweepProgress, SweepResults, sweep
    from flashgc.sweeps import explain as explain_sweep
    from flashgc.tuning import TuneProgress, Tuning, tune

__all__ = [
    "Advice",
    "AdviceProgress",
    "Animation",
    "CalibrateProgress",
    "Calibration",
    "Candidates",
    "Checked",
    "Comparison",
    "Completion",
    "Completions",
    "Component",
    "ConfigError",
    "Conversion",
    "DeviceFacts",
    "DriveError",
    "Explanation",
    "FlashgcError",
    "InternalError",
    "Loop",
    "NextStep",
    "OutputError",
    "Page",
    "Progress",
    "Pts",
    "PtsProgress",
    "Refusal",
    "RegisterCost",
    "Report",
    "Reproduction",
    "Reproductions",
    "RunError",
    "RunPlan",
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
    "animate",
    "calibrate",
    "calibration_schema",
    "check_bundle",
    "check_wait",
    "compare",
    "convert",
    "device_facts",
    "devices",
    "drive",
    "explain",
    "explain_sweep",
    "explanation_schema",
    "load",
    "pacing",
    "placement",
    "plan",
    "pts",
    "pts_schema",
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
    "_engine": ("ConfigError", "DriveError", "FlashgcError", "InternalError", "OutputError",
                "RunError", "TraceError", "__version__"),
    "schema.json_schema": ("advice_schema", "calibration_schema", "explanation_schema",
                           "pts_schema", "report_schema", "tuning_schema"),
    "running.builtin_workloads": ("workload", "workloads"),
    "animating": ("Animation", "animate"),
    "advising": ("Advice", "AdviceProgress", "advise"),
    "calibrating": ("CalibrateProgress", "Calibration", "calibrate"),
    "running.runs": ("run", "run_seeds"),
    "running.comparing": ("compare",),
    "running.executing": ("Progress",),
    "running.builtin_presets": ("devices", "schemes", "slots"),
    "components.component": ("Completion", "Completions", "Component"),
    "components.closed_loop": ("Loop",),
    "conversion": ("Conversion", "convert"),
    "explaining": ("Explanation", "explain"),
    "reports.loading": ("load",),
    "running.policies": ("Candidates", "NextStep", "Page", "Scheme", "pacing", "placement",
                         "scheme", "victim"),
    "results.refusal": ("Refusal",),
    "estimates.device_facts": ("DeviceFacts", "device_facts"),
    "estimates.register_cost": ("RegisterCost", "register_cost"),
    "estimates.run_plan": ("RunPlan", "plan"),
    "reports.report": ("Comparison", "Report"),
    "reproduction": ("Checked", "Reproduction", "Reproductions", "check_bundle", "reproduce",
                     "reproduce_all"),
    "snia": ("Pts", "PtsProgress", "pts"),
    "sweeps": ("SweepProgress", "SweepResults", "sweep"),
    "formatting.table": ("Table",),
    "tuning": ("TuneProgress", "Tuning", "tune"),
    "estimates.worst_case": ("WorstCase", "check_wait", "worst_case_wait"),
}  # fmt: skip
_HOMES = {name: (module, name) for module, names in _NAMES_IN.items() for name in names}
_HOMES["explain_sweep"] = ("sweeps", "explain")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has this name
    """Import names when they are used, so that a command imports only the modules that it needs."""
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
