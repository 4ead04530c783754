"""The library for C and C++ in this installation: flags of compilers and linkers, and CMake.

>>> from flashgc import native
>>> native.ABI
1
"""

from flashgc.native.place import ABI, cflags, cmakedir, library, libs, pkgconfigdir

__all__ = ["ABI", "cflags", "cmakedir", "library", "libs", "pkgconfigdir"]
