"""The scripts that prepare a release."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import flashgc
from conftest import COMMAND, LONG, ROOT, script_of
from test_native import LIBRARY
from test_serve import BUILT


def script(*words):
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def notes():
    return script_of("release_notes")


@pytest.mark.parametrize("head", ["## 0.2.0", "## 0.2.0 - 2026-12-01", "## [0.2.0] - 2026-12-01"])
def test_notes_are_the_section_of_the_version(notes, head):
    changelog = f"# Changelog\n\n## Unreleased\n\n{head}\n\n### Added\n- New.\n\n## 0.1.0\n- Old.\n"
    assert notes.section(changelog, "0.2.0") == "### Added\n- New."
    assert notes.section(changelog, "0.1.0") == "- Old."
    assert notes.section(changelog, "0.2") is None
    assert notes.section(changelog, "Unreleased") is None


def test_a_tag_that_is_not_the_version_is_refused():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    done = script("scripts/release_notes.py", "v9.9.9")
    assert done.returncode == 1
    assert f"the tag is 9.9.9, Cargo.toml says {version}" in done.stderr
    assert not done.stdout


def test_a_wheel_that_is_not_there_is_refused():
    done = script("scripts/wheel_check.py", "no-such.whl")
    assert done.returncode == 2
    assert "no-such.whl is not a file" in done.stderr
    assert "make wheel" in done.stderr


@BUILT
def test_the_check_of_a_wheel_serves_a_drive(tmp_path, monkeypatch):
    check = script_of("wheel_check")
    assert check.serve(COMMAND, tmp_path) == "served a drive of 870 MiB"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check.serve(COMMAND, tmp_path).startswith("skipped: nbdkit is missing")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho error: the plugin of nbdkit is missing >&2\nexit 2\n")
    broken.chmod(0o755)
    monkeypatch.undo()
    with pytest.raises(check.FailedError, match=r"status 2\nerror: the plugin of nbdkit"):
        check.serve(broken, tmp_path)


@LIBRARY
def test_the_check_of_a_wheel_builds_a_program_in_c(tmp_path, monkeypatch):
    check = script_of("wheel_check")
    python = Path(sys.executable)
    told = check.compile_c(python, tmp_path)
    assert told == f"a program in C opens a drive of flashgc {flashgc.__version__}, 27852 MiB"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check.compile_c(python, tmp_path).startswith("skipped: cc is missing")
    monkeypatch.undo()
    monkeypatch.setattr(check, "PROGRAM", "#error no such thing\n")
    with pytest.raises(check.FailedError, match="no such thing"):
        check.compile_c(python, tmp_path)


@BUILT
def test_a_built_wheel_serves_a_drive_from_a_new_environment(tmp_path):
    wheels = sorted((ROOT / "target/wheels").glob("flashgc-*.whl"))
    if not LONG or not wheels:
        pytest.skip("FLASHGC_LONG=1 after `make wheel`: it installs the wheel of target/wheels")
    check = script_of("wheel_check")
    command = check.installed(wheels[0], tmp_path)
    assert check.serve(command, tmp_path).startswith("served a drive")
    assert check.compile_c(command.with_name("python"), tmp_path).startswith("a program in C opens")
