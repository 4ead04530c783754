import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import in_process
from own_paper import CLAIMS, EXPERIMENT

ROOT = Path(__file__).resolve().parents[2]

# No test depends on the speed of the machine.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def script_of(name):
    """The module of scripts/NAME.py."""
    path = ROOT / f"scripts/{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
SHARED = ROOT.parent / "shared"
PAPERS = sorted(path.name for path in (ROOT / "papers").iterdir() if path.is_dir())
WHOLE = [name for name in PAPERS if name not in {"fdp-cache", "midas", "sepbit", "ssd-iq", "warp"}]
"""Papers of which more than one experiment is reproduced."""
LONG = bool(os.environ.get("FLASHGC_LONG"))
"""Whether the long forms of the tests are run."""
COMMAND = Path(sysconfig.get_path("scripts")) / "flashgc"

# A shell that starts the tests in the background has them ignore Ctrl-C, and their children
# would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)

SMALL = """
seed = 1
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_size = "4 KiB"
exported = 0.8
unit = "die"
allocation = "striped"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "25 ns/B"
command = "0 ns"
[gc]
scheme = "greedy"
[workload.synthetic]
requests = 20_000
read_share = 0.5
size = "4 KiB"
address = "uniform"
queue_depth = 8
[precondition]
fill = "sequential"
overwrite = 1.0
"""
"""A drive and a workload that take some milliseconds."""

REPLAY = SMALL[: SMALL.index("[workload.synthetic]")] + (
    '[workload.trace]\nformat = "spc"\naddress = "wrap"\n'
    '[precondition]\nfill = "sequential"\noverwrite = 0.0\n'
)
SPC = "".join(f"0,{8 * (page % 500)},4096,{'rw'[page % 2]},{page / 1000}\n" for page in range(3000))
ENDLESS = SMALL.replace("20_000", "1_000_000_000_000")


class OfDoctests:
    """For examples in docstrings, which lie outside the folder of these tests."""

    @pytest.fixture(autouse=True)
    def temporary(self, request, monkeypatch):
        """Their temporary folders are in that of pytest, which removes old ones."""
        if isinstance(request.node, pytest.DoctestItem):
            monkeypatch.setattr(tempfile, "tempdir", str(request.getfixturevalue("tmp_path")))


def pytest_configure(config):
    config.pluginmanager.register(OfDoctests(), "of-doctests")


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Does something in one of the parallel workers, and gives the folder of it to all of them."""

    def once(name, make):
        base = tmp_path_factory.getbasetemp()
        # Workers have folders of their own in that of the session.
        session = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
        folder, done, failed = (session / f"{name}{end}" for end in ("", ".done", ".failed"))
        try:
            folder.mkdir()
        except FileExistsError:
            until = time.monotonic() + 300
            while not done.exists():
                assert not failed.exists(), f"{name} failed in another test"
                assert time.monotonic() < until, f"{name} is not done by another worker"
                time.sleep(0.05)
            return folder
        try:
            make(folder)
        except BaseException:
            failed.touch()
            raise
        done.touch()
        return folder

    return once


@pytest.fixture
def flashgc(tmp_path):
    """Runs the command in an empty folder, as a user does."""

    def run(*args, stdin=None, code=0, env=None, **more):
        words = [str(word) for word in args]
        env = {**os.environ, "COLUMNS": "160", **(env or {})}
        if in_process.CAN_FORK and not more and not in_process.has_drawn():
            result = Done(*in_process.run(words, tmp_path, stdin, env))
        else:
            done = subprocess.run([COMMAND, *words], cwd=tmp_path, input=stdin, timeout=120,
                                  capture_output=True, env=env, **more)  # fmt: skip
            result = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert result.code == code, f"status {result.code}\n{result.out}\n{result.err}"
        assert "Traceback" not in result.err
        return result

    return run


def interrupted_while_writing(folder, option, name):
    """Ctrl-C, once a part of the file of this option is written, leaves nothing."""

    def has_begun():
        return any(part.stat().st_size for part in folder.glob(f".{name}*.part"))

    interrupted(folder, ["run", "endless.toml", option, name], has_begun)


def interrupted(folder, words, has_begun):
    """Ctrl-C, once a command on an endless run has begun, leaves nothing."""
    (folder / "endless.toml").write_text(ENDLESS)
    with subprocess.Popen([COMMAND, *words], cwd=folder, stderr=subprocess.PIPE) as child:
        try:
            for _ in range(1000):
                if has_begun():
                    break
                assert child.poll() is None, child.stderr.read()
                time.sleep(0.02)
            child.send_signal(signal.SIGINT)
            err = child.communicate(timeout=20)[1]
        finally:
            child.kill()
    assert (child.returncode, err) == (130, b"interrupted; nothing was saved\n")
    assert [path.name for path in folder.iterdir()] == ["endless.toml"]


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def replay(tmp_path):
    path = tmp_path / "replay.toml"
    path.write_text(REPLAY)
    return path


@pytest.fixture
def spc(tmp_path):
    path = tmp_path / "requests.spc"
    path.write_text(SPC)
    return path


@pytest.fixture
def shared():
    if not SHARED.is_dir():
        pytest.skip("the folder of shared files is not there")
    return SHARED


@pytest.fixture
def no_figures(monkeypatch):
    """Reproductions save no figures as files, which take the most time of small ones."""
    monkeypatch.setattr("flashgc.charts.sheet.drawable", lambda: False)


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A folder with a paper of six short runs, or as many long ones."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "own-paper"
    folder.mkdir()
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "replay.toml").write_text(SMALL)
    (folder / "experiment.toml").write_text(EXPERIMENT)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "README.md").write_text("# A paper\n\nNothing was chosen.\n")
    return folder


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--disable-gpu", "--disable-background-networking", "--disable-sync"]
        yield playwright.chromium.launch(
            executable_path=BROWSER, args=options, chromium_sandbox=False
        )
