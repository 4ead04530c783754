"""flashgc: garbage-collection schemes for flash storage on one device, one trace and one clock.

>>> import flashgc
>>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
>>> report = flashgc.run("oltp", set=small)
>>> report.scheme
'greedy'
"""

# isort: off
from flashgc import _start as _start  # first of all: the other imports take time

# isort: on
from flashgc import drive, trace
from flashgc._engine import __version__
from flashgc._json_schema import report_schema
from flashgc._workloads import workload, workloads
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
from flashgc.refusal import Refusal
from flashgc.registers import RegisterCost, register_cost
from flashgc.report import Comparison, Report
from flashgc.reproduction import Reproduction, reproduce
from flashgc.sweeps import SweepProgress, SweepResults, sweep
from flashgc.sweeps import explain as explain_sweep
from flashgc.table import Table
from flashgc.worst_case import WorstCase, check_wait, worst_case_wait

__all__ = [
    "Comparison",
    "ConfigError",
    "Conversion",
    "DriveError",
    "FlashgcError",
    "InternalError",
    "OutputError",
    "Progress",
    "Refusal",
    "RegisterCost",
    "Report",
    "Reproduction",
    "RunError",
    "SweepProgress",
    "SweepResults",
    "Table",
    "TraceError",
    "WorstCase",
    "__version__",
    "check_wait",
    "compare",
    "convert",
    "devices",
    "drive",
    "explain_sweep",
    "register_cost",
    "report_schema",
    "reproduce",
    "run",
    "run_seeds",
    "schemes",
    "slots",
    "sweep",
    "trace",
    "workload",
    "workloads",
    "worst_case_wait",
]


def __dir__() -> list[str]:
    """The public names of the package; its inner modules are not among them."""
    return [*__all__, "__all__", "__doc__"]
