"""Each patch of docs/exercises applies to the sources as they are; `make exercises` runs them."""

import subprocess

import pytest

from conftest import ROOT

PATCHES = sorted((ROOT / "docs/exercises").glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_applies(patch):
    done = subprocess.run(["git", "apply", "--check", str(patch)], cwd=ROOT, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_there_are_patches():
    assert len(PATCHES) >= 5
