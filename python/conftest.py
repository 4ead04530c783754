"""What examples in docstrings share."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary folders are in that of pytest, which removes old ones."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
