"""Real programs on a filesystem on a served drive, as docs/real-programs.md has it."""

import contextlib
import json
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from time import monotonic, sleep

import pytest

from conftest import COMMAND, ROOT
from test_serve import BUILT

sys.path.insert(0, str(ROOT / "scripts" / "programs"))

import dbench
import mariadb
import mounted
import postgresql
import rocksdb
import sqlite
from measured import Latency, Load

PAGE = ROOT / "docs" / "real-programs.md"
MOUNTS = pytest.mark.skipif(mounted.why_not() is not None, reason=str(mounted.why_not()))
LOOP = "/dev/loop7"
"""The loop device of the page."""


def sections():
    """The commands of each section of the page that has some, by its title."""
    text = PAGE.read_text()
    found = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```shell\n(.*?)^```", part, re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
        if lines:
            found[part.splitlines()[0]] = lines
    return found


class Terminals:
    """The terminals of a reader: one has the server, one nbdfuse, and one everything else."""

    def __init__(self, folder):
        self.folder = folder
        self.loop = None
        self.background = {}

    def attach(self, words):
        """A loop device that is free: another test may take it first."""
        for _ in range(20):
            free = mounted.run("losetup", "--find").strip()
            command = [free if word == LOOP else word for word in words]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
            if done.returncode == 0:
                self.loop = free
                return
            assert "busy" in done.stderr, done.stderr
            sleep(0.1)
        raise AssertionError("no loop device is free")

    def type(self, line):
        words = shlex.split(line.replace(LOOP, self.loop or LOOP))
        if words[0] == "losetup" and self.loop is None:
            self.attach(words)
            return
        if words[0] == "flashgc":
            words[0] = str(COMMAND)
        if words[1] == "serve" or words[0] == "nbdfuse":
            self.start(words)
            return
        if words[:2] == [str(COMMAND), "run"]:
            self.stop_the_server()
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"

    def start(self, words):
        process = subprocess.Popen(
            words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.background[words[0]] = process
        if words[0] != "nbdfuse":
            assert process.stderr.readline().startswith("serving ")
            return
        until = monotonic() + 20
        while not (self.folder / words[1]).exists():
            assert process.poll() is None, process.communicate()
            assert monotonic() < until
            sleep(0.05)

    def stop_the_server(self):
        server = self.background.pop(str(COMMAND), None)
        if server is not None:
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=60)
            assert server.returncode == 0, err
            return out
        return ""

    def leave(self):
        """Takes down what a test has left that did not come to its end."""
        subprocess.run(["umount", "--lazy", self.folder / "files"], capture_output=True)
        # The page has detached it, and another test may have it now, if this one came to its end.
        listed = ["losetup", "--list", "--noheadings", "--output", "BACK-FILE", self.loop or LOOP]
        found = subprocess.run(listed, capture_output=True, text=True).stdout
        if self.loop is not None and str(self.folder) in found:
            subprocess.run(["losetup", "--detach", self.loop], capture_output=True)
        subprocess.run(["fusermount3", "-u", "-z", self.folder / "fuse"], capture_output=True)
        for process in self.background.values():
            process.kill()
            process.communicate()


@contextlib.contextmanager
def terminals(folder, section):
    lines = sections()[section]
    missing = {words[0] for words in map(str.split, lines) if shutil.which(words[0]) is None}
    if missing - {"flashgc"}:
        pytest.skip(f"missing: {', '.join(sorted(missing))}")
    for name, text in re.findall(
        r"^```toml (\S+)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    ):
        (folder / name).write_text(text)
    opened = Terminals(folder)
    try:
        for line in lines:
            opened.type(line)
        yield opened
    finally:
        opened.leave()


@BUILT
@MOUNTS
def test_the_commands_for_a_filesystem_run(tmp_path, flashgc):
    with terminals(tmp_path, "A filesystem") as opened:
        assert not opened.background.get(str(COMMAND))
        assert opened.background["nbdfuse"].wait(20) == 0, "it ends when its file is unmounted"
    about = flashgc("trace", "info", "files.fgt", "--json").json
    assert about["flushes"] > 100
    assert str(tmp_path) not in mounted.run("losetup", "--list", "--output", "BACK-FILE")


@BUILT
def test_the_commands_for_images_run(tmp_path):
    with terminals(tmp_path, "Images of virtual machines") as opened:
        assert "write amplification" in opened.stop_the_server()


@BUILT
@MOUNTS
@pytest.mark.parametrize("ends", ["by itself", "by an error", "by Ctrl-C"])
def test_nothing_stays_mounted(tmp_path, ends):
    """However a mount ends: no filesystem, no loop device, no nbdfuse and no folder is left."""
    from flashgc.drives import serving

    raised = {"by itself": None, "by an error": RuntimeError, "by Ctrl-C": KeyboardInterrupt}[ends]
    (tmp_path / "drive.toml").write_text(
        re.search(r"^```toml drive.toml\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1]
    )
    expected = contextlib.nullcontext() if raised is None else pytest.raises(raised)
    with serving.served(tmp_path / "drive.toml", tmp_path / "s", time="off", verify=True) as drive:
        with expected, mounted.mounted(drive.uri) as files:
            place = files.parent
            (files / "kept").write_bytes(b"k" * 100_000)
            mounts = mounted.run("mount")
            assert f"{files} type ext4" in mounts
            assert f"{place}/fuse" in mounts
            if raised is not None:
                raise raised
        assert str(place) not in mounted.run("mount")
        assert str(place) not in mounted.run("losetup", "--list", "--output", "BACK-FILE")
        assert not place.exists()
        report = drive.end()
    assert report.requests.write > 0


PROGRAMS = [module.PROGRAM for module in (sqlite, postgresql, rocksdb, mariadb, dbench)]


@BUILT
@MOUNTS
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_finds_its_data_whole(tmp_path, program):
    """Its own check succeeds, and its captured requests have the result of the drive."""
    if program.missing():
        pytest.skip(f"missing: {', '.join(program.missing())}")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "programs", "--programs", program.name, "--schemes",
         "pgc", "--short", "--seconds", "2", "--time", "off", "--save", "found.json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{program.name} under pgc: data whole" in done.stderr
    [found] = json.loads((tmp_path / "found.json").read_text())
    assert found["is_repeated"]
    assert found["collections"] > 0
    assert found["flushes"] > 0
    assert found["own"][0]["count"] > 0


def test_damage_is_found(tmp_path):
    """The check of the script fails where the file of the database is not as it was written."""
    [commits] = sqlite.load(tmp_path, Load(seconds=0.2, is_short=True))
    file, transfers = tmp_path / "accounts.db", sqlite.UPDATES * commits.count
    sqlite._check(file, transfers)
    whole = file.read_bytes()
    at = len(whole) // 2
    # A page that another one has been written over, as a mistake of a map would have it.
    file.write_bytes(whole[:at] + whole[8192:12288] + whole[at + 4096 :])
    with pytest.raises((RuntimeError, sqlite3.DatabaseError)):
        sqlite._check(file, transfers)


def test_percentiles_are_of_the_values():
    found = Latency.of("x", [float(value) for value in range(1, 101)])
    assert (found.p50_us, found.p99_us, found.max_us) == (50.0, 99.0, 100.0)
    assert Latency.of("x", [7.0]).p99_us == 7.0
