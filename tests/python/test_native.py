"""The library for C and C++ in the Python package, and programs that are built with it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from flashgc import ConfigError, native
from flashgc.native import place

FOLDER = Path(place.__file__).parents[1] / place.FOLDER
LIBRARY = pytest.mark.skipif(
    not FOLDER.exists() or shutil.which("cc") is None,
    reason="the library for C, or a compiler, is missing: make native",
)
LOOP = ROOT / "crates/flashgc-c/examples/closed_loop.c"


def asked(*words):
    command = [sys.executable, "-m", "flashgc.native", *words]
    return subprocess.run(command, capture_output=True, text=True)


def built(command, folder, **more):
    """The output of a command that has to succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_version_of_the_interface_is_that_of_the_header():
    header = (ROOT / "crates/flashgc-c/include/flashgc.h").read_text()
    assert re.findall(r"FLASHGC_ABI_VERSION (\d+)", header) == [str(native.ABI)]


@LIBRARY
def test_flags_build_the_example_by_each_way(tmp_path):
    outputs = []
    for words in (("--libs",), ("--libs", "--static")):
        flags = shlex.split(asked("--cflags", *words).stdout)
        built(["cc", "-std=c11", LOOP, *flags, "-o", "loop"], tmp_path)
        outputs.append(built([tmp_path / "loop"], tmp_path))
    assert outputs[0].startswith("20000 writes, the longest ")
    assert outputs[0] == outputs[1]


@LIBRARY
@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
def test_pkg_config_finds_it_wherever_the_package_is(tmp_path):
    folder = tmp_path / "a place"
    shutil.copytree(FOLDER, folder)
    own = {**os.environ, "PKG_CONFIG_PATH": str(folder / "lib/pkgconfig")}
    flags = shlex.split(built(["pkg-config", "--cflags", "--libs", "flashgc"], tmp_path, env=own))
    built(["cc", "-std=c11", LOOP, *flags, "-o", "loop"], tmp_path)
    running = {**os.environ, "LD_LIBRARY_PATH": str(folder / "lib")}
    assert built([tmp_path / "loop"], tmp_path, env=running).startswith("20000 writes")


@LIBRARY
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_finds_both_libraries(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(loop C)\nfind_package(flashgc REQUIRED)\n"
        f'foreach(kind flashgc static)\n  add_executable(${{kind}} "{LOOP}")\n'
        "  target_link_libraries(${kind} flashgc::${kind})\nendforeach()\n"
    )
    folder = asked("--cmakedir").stdout.strip()
    built(["cmake", "-B", "build", f"-Dflashgc_DIR={folder}"], tmp_path)
    built(["cmake", "--build", "build"], tmp_path)
    outputs = {built([tmp_path / "build" / kind], tmp_path) for kind in ("flashgc", "static")}
    assert len(outputs) == 1


def test_a_library_that_is_missing_is_named_with_what_to_type(tmp_path, monkeypatch):
    monkeypatch.setattr(place, "__file__", str(tmp_path / "a" / "flashgc" / "native" / "place.py"))
    with pytest.raises(ConfigError) as installed:
        native.cflags()
    assert f"{tmp_path}/a/flashgc/_native was not built" in str(installed.value)
    assert "pip install --only-binary :all: flashgc" in str(installed.value)
    (tmp_path / "Makefile").touch()
    for function in (native.cflags, native.libs, native.library, native.cmakedir,
                     native.pkgconfigdir):  # fmt: skip
        with pytest.raises(ConfigError, match="run `make native` in this checkout"):
            function()
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ConfigError, match="on Linux only"):
        native.libs(static=True)


def test_a_command_without_a_question_says_what_there_is():
    done = asked()
    assert done.returncode == 2
    assert "--cmakedir" in done.stderr
    done = asked("--static", "--cflags")
    assert done.returncode == 2
    assert "type --libs --static" in done.stderr
