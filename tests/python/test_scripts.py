"""The scripts around the project."""

import subprocess

from conftest import ROOT


def test_what_is_missing_is_said():
    done = subprocess.run(
        ["scripts/tools", "no-such-python"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "missing: no-such-python" in done.stderr
    assert "get it: apt-get install python3" in done.stderr


def test_help_names_every_target():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("run", "test", "check", "bench", "help"):
        assert f"make {target} " in done.stdout


def test_every_pin_is_exact():
    for path in ROOT.glob("requirements*.txt"):
        for line in path.read_text().splitlines():
            assert line.startswith(("#", "-r ")) or line.count("==") == 1, f"{path.name}: {line}"
