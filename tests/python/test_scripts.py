"""The scripts around the project."""

import subprocess
import sys

from conftest import ROOT


def test_what_is_missing_is_said():
    done = subprocess.run(
        ["scripts/tools", "no-such-python"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "missing: no-such-python" in done.stderr
    assert "get it: apt-get install python3" in done.stderr


def test_without_its_target_of_rust_the_playground_is_skipped_by_name(tmp_path):
    for how, code, said in ([["--optional"], 0, "playground skipped"], [[], 2, "error"]):
        done = subprocess.run(
            [sys.executable, "scripts/playground", *how], cwd=ROOT, capture_output=True, text=True,
            env={"PATH": str(tmp_path)},
        )  # fmt: skip
        assert done.returncode == code
        assert done.stderr.startswith(f"{said}: the playground needs Rust for wasm32")
        assert "rustup target add wasm32-unknown-unknown" in done.stderr


def test_help_names_every_target():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("run", "test", "check", "bench", "help"):
        assert f"make {target} " in done.stdout


def test_every_pin_is_exact():
    for path in ROOT.glob("requirements*.txt"):
        for line in path.read_text().splitlines():
            assert line.startswith(("#", "-r ")) or line.count("==") == 1, f"{path.name}: {line}"
