"""The scripts that prepare a release."""

import importlib.util
import subprocess
import sys
import tomllib

import pytest

from conftest import ROOT


def script(*words):
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def notes():
    place = ROOT / "scripts/release_notes.py"
    spec = importlib.util.spec_from_file_location("release_notes", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
