"""A plain installation has no pyarrow: runs need none, and features with it name the remedy."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules["pyarrow"] = None  # as if it were not installed
from flashgc.cli import main
sys.argv = ["flashgc", *sys.argv[1:]]
main()
"""
TINY = ("--set", "device.blocks_per_plane=64", "--set", "workload.synthetic.requests=2000")


def without_pyarrow(folder, *args):
    command = [sys.executable, "-c", WITHOUT, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_run_with_its_page_needs_no_pyarrow(tmp_path):
    done = without_pyarrow(tmp_path, "run", "oltp", *TINY, "--out", "one", "--over-time")
    assert done.returncode == 0, done.stderr
    assert "responses" in (tmp_path / "one/report.html").read_text()
    done = without_pyarrow(tmp_path, "compare", "oltp", *TINY, "--schemes", "greedy,fifo",
                           "--out", "two")  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (["run", "oltp", "--request-log", "a.csv"], "a log of requests needs"),
        (["sweep", "a.toml"], "the results of sweeps and searches need"),
    ],
)
def test_what_needs_pyarrow_says_what_to_type(tmp_path, args, what):
    (tmp_path / "a.toml").write_text(
        '[base]\nconfig = "oltp"\n[axes]\n"gc.scheme" = ["greedy", "fifo"]\n'
    )
    done = without_pyarrow(tmp_path, *args)
    assert done.returncode == 2
    told = " ".join(done.stderr.replace("│", " ").split())
    assert f"{what} the package pyarrow, which is not installed" in told
    assert f"{sys.executable} -m pip install 'flashgc[arrow]'" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.toml"]
