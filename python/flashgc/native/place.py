"""The places of headers and libraries, for compilers, linkers, pkg-config and CMake."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import flashgc._engine as engine
from flashgc._engine import ConfigError

ABI: Final = 1
"""The version of the interface, `FLASHGC_ABI_VERSION` in the header."""
FOLDER: Final = "_native"
"""In the folder of the package; scripts/wheel_native makes it."""


def root() -> Path:
    """The folder with `include` and `lib`; a ConfigError where it was not built."""
    folder = Path(__file__).parents[1] / FOLDER
    if (folder / "lib" / f"libflashgc.so.{ABI}").exists():
        return folder
    if not sys.platform.startswith("linux"):
        raise ConfigError(
            f"error: the package has the library for C and C++ on Linux only, and this is "
            f"{sys.platform}\n"
            f"  = help: `cargo build --release -p flashgc-c` in a checkout of flashgc "
            f"{engine.__version__} builds it"
        )
    is_checkout = (folder.parents[2] / "Makefile").exists()
    remedy = (
        "run `make native` in this checkout; it builds the library"
        if is_checkout
        else "install a wheel: `python -m pip install --only-binary :all: flashgc`; or run `make "
        f"install PREFIX=FOLDER` in a checkout of flashgc {engine.__version__}"
    )
    raise ConfigError(
        f"error: the library for C and C++ is missing: {folder} was not built\n  = help: {remedy}"
    )


def cflags() -> list[str]:
    """Words for a compiler of C or C++: where `flashgc.h` and `flashgc.hpp` are.

    Raises:
        ConfigError: the library was not built, and what to type.

    """
    return [f"-I{root() / 'include'}"]


def libs(*, static: bool = False) -> list[str]:
    """Words for a linker, after the sources: the library, and where it is at run time.

    Args:
        static: whether the library becomes a part of the program, which then needs no file of this
            package at run time.

    Raises:
        ConfigError: the library was not built, and what to type.

    """
    folder = root() / "lib"
    if static:
        return [str(folder / "libflashgc.a"), "-lpthread", "-ldl", "-lm"]
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lflashgc"]


def library() -> Path:
    """The shared library, for languages that load it by its path.

    Raises:
        ConfigError: the library was not built, and what to type.

    """
    return root() / "lib" / f"libflashgc.so.{ABI}"


def cmakedir() -> Path:
    """The folder for `-Dflashgc_DIR=`, so that `find_package(flashgc)` finds it.

    Raises:
        ConfigError: the library was not built, and what to type.

    """
    return root() / "lib" / "cmake" / "flashgc"


def pkgconfigdir() -> Path:
    """The folder for `PKG_CONFIG_PATH`.

    Raises:
        ConfigError: the library was not built, and what to type.

    """
    return root() / "lib" / "pkgconfig"
