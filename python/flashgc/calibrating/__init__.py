"""Calibration: from measurements of a real drive to a device and a scheme that have them.

1. `reading` makes rows of fio's output and of tables: the load of a run, and the measured
   numbers (`rows`).
2. `drive` has the base in small, and turns a row into a run; `numbers` has the keys of a device
   that are fitted, and `candidates` the collectors that may be inside.
3. `search` finds the numbers of each candidate, on the workers and in the store of sweeps;
   `likelihood` says how likely a run makes a measurement, and `fits` makes the steps.
4. `verdicts`, `intervals` and `apart` say which candidates are left, the interval of each number,
   and which further measurement helps; `made` has the function that does all of it.
"""

from flashgc.calibrating.calibration import Calibration
from flashgc.calibrating.made import calibrate
from flashgc.calibrating.progress import CalibrateProgress

__all__ = ["CalibrateProgress", "Calibration", "calibrate"]
