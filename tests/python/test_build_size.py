"""The cost of a build, in figures that do not depend on the machine: they may only fall."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import flashgc._engine

ROOT = Path(__file__).resolve().parents[2]
CRATES = 64
"""The crates of a plain build of the binding, including the workspace's."""
PACKAGES_MB = 100
"""Python packages of a plain user, without pip and flashgc."""
ENGINE_MB = 10.8
"""The compiled engine of the profile `people`, with its binding. One of them is that the
configuration is not optimised, which takes a third of the time to build."""


needs_cargo = pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")


def _crates(package: str) -> dict[str, str]:
    """The crates that a package is built from, with their features."""
    done = subprocess.run(
        ["cargo", "tree", "--package", package, "--edges", "normal,build", "--prefix", "none",
         "--locked", "--format", "{p}|{f}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = (line.removesuffix(" (*)").split("|") for line in done.stdout.splitlines() if line)
    return {crate.split(" (")[0]: features for crate, features in rows}


@needs_cargo
def test_a_plain_build_has_few_crates():
    crates = _crates("flashgc-py")
    assert len(crates) <= CRATES, sorted(crates)


@needs_cargo
@pytest.mark.parametrize("package", ["flashgc-c", "flashgc-nbdkit"])
def test_no_package_has_the_engine_compiled_again(package):
    """The C library and the plugin take what the binding's build has left: each crate that both
    have is built with the same features."""
    binding, other = _crates("flashgc-py"), _crates(package)
    common = binding.keys() & other.keys()
    assert len(common) > 20
    assert {name: other[name] for name in common} == {name: binding[name] for name in common}


def test_the_packages_of_a_plain_user_are_small():
    named = [re.findall(r"^([\w-]+)==", (ROOT / file).read_text(), re.MULTILINE)
             for file in ("requirements.txt", "requirements-build.txt")]  # fmt: skip
    sizes = {name: _bytes(name) for names in named for name in names}
    assert sizes
    assert sum(sizes.values()) <= PACKAGES_MB << 20, sizes


def _bytes(package: str) -> int:
    files = importlib.metadata.files(package) or []
    paths = [Path(file.locate()) for file in files]
    return sum(path.stat().st_size for path in paths if path.exists())


def test_the_engine_is_small():
    assert Path(flashgc._engine.__file__).stat().st_size <= ENGINE_MB * 2**20


def test_the_engine_is_compiled_once():
    """A second call of cargo with other packages gives the engine other features: it was compiled
    twice. Settings of all packages reach macros and build scripts, which run once."""
    assert "cargo build" not in (ROOT / "scripts" / "build").read_text()
    profile = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["people"]
    assert "*" not in profile["package"]


def test_no_unit_test_is_passed_over():
    """The tests of a crate without unit tests are not built, which would compile it again."""
    manifests = {path.parent: tomllib.loads(path.read_text())
                 for path in sorted(ROOT.glob("crates/*/Cargo.toml"))}  # fmt: skip
    not_built = [folder for folder, manifest in manifests.items()
                 if not manifest.get("lib", {}).get("test", True)]  # fmt: skip
    assert len(not_built) > 5
    for path in (path for folder in not_built for path in folder.glob("src/**/*.rs")):
        text = path.read_text()
        assert "#[test]" not in text, path
        assert "proptest! {" not in text, path
