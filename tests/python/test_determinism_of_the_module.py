"""The built module takes no function from the C library's mathematics: its last digits differ."""

import re
import struct
import sys
from pathlib import Path

import pytest

import flashgc

# Rounding, remainders and square roots are exact everywhere, by IEEE 754. These are not.
INEXACT = re.compile(
    r"(__)?("
    r"a?(cos|sin|tan)h?|atan2|cbrt|erfc?|exp(10|2|m1)?|[lt]?gamma(_r)?|hypot|j[01n]|"
    r"log(10|1p|2|b)?|pow|sincos|y[01n]"
    r")(f|l|_finite)?"
)


def undefined_symbols(path: Path) -> set[str]:
    """Names that the dynamic linker must find elsewhere, of a 64-bit little-endian ELF file."""
    data = path.read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01"
    sections_at, entry_bytes, count = (
        *struct.unpack_from("<Q", data, 40),
        *struct.unpack_from("<HH", data, 58),
    )
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, sections_at + at * entry_bytes)
        for at in range(count)
    ]
    names = set()
    for section in sections:
        kind, at, size, link = section[1], section[4], section[5], section[6]
        if kind != 11:  # SHT_DYNSYM
            continue
        text_at = sections[link][4]
        for entry in range(at, at + size, 24):
            name, _, _, section_of_symbol = struct.unpack_from("<IBBH", data, entry)
            if section_of_symbol == 0 and name:
                end = data.index(b"\0", text_at + name)
                names.add(data[text_at + name : end].decode())
    return names


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads ELF files")
def test_the_module_calls_no_function_of_the_c_mathematics_library() -> None:
    (module,) = Path(flashgc.__file__).parent.glob("_engine*.so")
    names = undefined_symbols(module)
    assert "malloc" in names, "the table of symbols was read"
    assert sorted(name for name in names if INEXACT.fullmatch(name)) == []
