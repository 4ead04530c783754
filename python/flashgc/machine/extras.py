"""Packages that only some commands need; each is in an extra of flashgc."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from flashgc._engine import ConfigError

PACKAGES = {
    "pyarrow": ("arrow", "pyarrow"),
    "optuna": ("tune", "optuna"),
    "ray": ("ray", "ray"),
    "simpy": ("simpy", "simpy"),
    "vl_convert": ("figures", "vl-convert-python"),
}
"""For each module its extra, and the name of its package."""


def library(module: str, what: str) -> Any:  # noqa: ANN401 - a module
    """The module; a ConfigError says how to install it where it is missing.

    `what` needs it, as at the beginning of a sentence.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        extra, package = PACKAGES[module]
        raise ConfigError(
            f"error: {what} the package {package}, which is not installed\n"
            f"  = help: {sys.executable} -m pip install 'flashgc[{extra}]'"
        ) from None
