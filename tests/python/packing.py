"""Packs texts for tests; Python 3.11 has gzip, and flashgc itself has zstd."""

import gzip as gzip_
import tempfile
from pathlib import Path

import flashgc


def gzip(text):
    return gzip_.compress(text.encode())


def zstd(text):
    """A packed trace in the format of flashgc's own csv; its content does not matter."""
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder) / "a.spc", Path(folder) / "a.csv.zst"
        plain.write_text(text)
        flashgc.trace.convert(plain, packed, "csv")
        return packed.read_bytes()
