r"""The errors of flashgc. Each message is ready to be shown to a person, on one or several lines.

>>> import flashgc
>>> try:
...     flashgc.run("[device]\nchanels = 4\n")
... except flashgc.ConfigError as error:
...     print("channels" in str(error))
True
"""

from flashgc._engine import (
    ConfigError,
    DriveError,
    FlashgcError,
    InternalError,
    OutputError,
    RunError,
    TraceError,
)

__all__ = [
    "ConfigError",
    "DriveError",
    "FlashgcError",
    "InternalError",
    "OutputError",
    "RunError",
    "TraceError",
]
