"""The programs in Go and Java of docs/component.md, built and run as the page says."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from flashgc import native
from test_native import LIBRARY, built

PAGE = (ROOT / "docs" / "component.md").read_text()
OLDEST = 22
"""The first version of Java in which `java.lang.foreign` is final."""


def example(name, folder):
    """Writes the program of the page, and returns the output that the page shows for it."""
    pattern = rf"^```\w+ {re.escape(name)}\n(.*?)^```\n.*?^```text\n(.*?)^```"
    found = re.search(pattern, PAGE, re.MULTILINE | re.DOTALL)
    (folder / name).write_text(found[1])
    return found[2]


def java():
    """A Java of this version or later: the first in the path, or one of the system."""
    others = sorted(map(str, Path("/usr/lib/jvm").glob("*/bin/java")), reverse=True)
    for program in filter(None, [shutil.which("java"), *others]):
        told = subprocess.run([program, "-version"], capture_output=True, text=True).stderr
        version = re.search(r'version "(\d+)', told)
        if version and int(version[1]) >= OLDEST:
            return program
    return None


@LIBRARY
@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
def test_the_program_in_go_prints_what_the_page_says(tmp_path):
    shown = example("drive.go", tmp_path)
    flags = {"CGO_CFLAGS": native.cflags(), "CGO_LDFLAGS": native.libs()}
    own = {name: shlex.join(words) for name, words in flags.items()}
    env = {**os.environ, **own, "CGO_ENABLED": "1", "GOFLAGS": ""}
    assert built(["go", "run", "drive.go"], tmp_path, env=env) == shown
    source = tmp_path / "drive.go"
    source.write_text(source.read_text().replace('"slc-msr"', '"none-such"'))
    done = subprocess.run(["go", "run", "drive.go"], cwd=tmp_path, env=env, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode != 0
    assert "none-such" in done.stderr


@LIBRARY
@pytest.mark.skipif(java() is None, reason=f"no Java of version {OLDEST} or later is installed")
def test_the_program_in_java_prints_what_the_page_says(tmp_path):
    shown = example("Drive.java", tmp_path)
    command = [java(), "--enable-native-access=ALL-UNNAMED", "Drive.java", native.library()]
    assert built(command, tmp_path) == shown
    source = tmp_path / "Drive.java"
    source.write_text(source.read_text().replace('"slc-msr"', '"none-such"'))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "none-such" in done.stderr
