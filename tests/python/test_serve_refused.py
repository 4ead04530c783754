"""Command lines of `flashgc serve` that cannot be: the message, and nothing is left."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
from time import monotonic, sleep

import pytest

from conftest import COMMAND
from flashgc import ConfigError
from flashgc.drives import serving
from nbd_client import READ, Client
from test_serve import BUILT, DRIVE
from test_serve_full import ROOT_ONLY

WORDS = ["serve", "drive.toml", "--socket", "drive.sock", "--time", "off"]


@pytest.fixture
def refused(tmp_path, flashgc):
    """Runs the command in 80 columns; returns its message, and checks that it has left no file."""
    (tmp_path / "drive.toml").write_text(DRIVE)

    def refused(*words, **more):
        before = {path: path.stat().st_ino for path in tmp_path.rglob("*")}
        told = flashgc(*words, code=2, env={"COLUMNS": "80", **more.pop("env", {})}, **more)
        assert {path: path.stat().st_ino for path in tmp_path.rglob("*")} == before
        assert "Traceback" not in told.err
        assert not told.out
        assert told.err.startswith("error: ")
        assert "  = help: " in told.err
        return told.err

    return refused


SOCKETS = {
    "empty": ("", "{option} has an empty name", "{option} {file}"),
    "a folder": (".", "is a folder", "{option} {folder}/{file}"),
    "in no folder": ("no/s", "{folder}/no is not a folder", "mkdir -p {folder}/no"),
    "in a file": ("drive.toml/s", "drive.toml is not a folder", "in an existing folder ({option})"),
    "too long": ("x" * 120, "at most 107 are allowed", "{option} /tmp/{file}"),
    "another file": ("drive.toml", "drive.toml exists", "name another socket ({option})"),
}


@BUILT
@pytest.mark.parametrize("kind", SOCKETS)
@pytest.mark.parametrize(
    ("option", "file"), [("--socket", "drive.sock"), ("--status", "drive.status")]
)
def test_a_socket_that_cannot_be_says_what_to_type(tmp_path, refused, kind, option, file):
    name, *texts = SOCKETS[kind]
    first = [] if option == "--socket" else ["--socket", "drive.sock"]
    told = refused("serve", "drive.toml", *first, option, name)
    for text in texts:
        assert text.format(option=option, file=file, folder=tmp_path) in told


@BUILT
def test_a_path_of_a_socket_may_have_107_bytes(tmp_path, refused):
    left = 107 - len(str(tmp_path)) - 1
    if left < 1:
        pytest.skip("the folder of the test has a longer path")
    name = "s" * left
    with serving.served(DRIVE, tmp_path / name, time="off") as server:
        assert server.socket.is_socket()
    assert "has 108 bytes" in refused("serve", "drive.toml", "--socket", f"{name}s")


@BUILT
def test_a_socket_that_a_killed_server_has_left_may_be_removed(tmp_path, refused):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "drive.sock"))
        left.listen()
        assert "another server may use it" in refused(*WORDS)
    told = refused(*WORDS)
    assert "a server that was killed has left it" in told
    assert f"(rm {tmp_path / 'drive.sock'})" in told


@BUILT
def test_no_file_has_two_uses(tmp_path, refused):
    """The trace of the requests would take the name of the store, with the drive in it."""
    (tmp_path / "kept.fgt").write_text("mine")
    (tmp_path / "same.fgt").symlink_to("kept.fgt")
    told = refused(*WORDS, "--store", "kept.fgt", "--capture", "same.fgt")
    assert "--store and --capture name the same file" in told
    assert "--store drive.data --capture requests.fgt" in told
    for option in ("--status", "--store"):
        told = refused(*WORDS, option, "./drive.sock")
        assert f"--socket and {option} name the same file" in told


@BUILT
def test_a_drive_that_is_not_there_is_an_error(refused):
    told = refused(*WORDS, "--drive", "no.drive")
    assert "no.drive: there is no such file" in told
    assert "flashgc drive save" in told


@BUILT
def test_a_store_is_a_file(tmp_path, refused):
    told = refused(*WORDS, "--store", tmp_path)
    assert "is a folder, not a file" in told
    assert "name a file for the drive, as in --store drive.data" in told


@BUILT
def test_the_time_says_its_limits(refused):
    assert "from 1 to 1,000,000: scaled=10" in refused(*WORDS[:4], "--time", "scaled=1e9")


@BUILT
@ROOT_ONLY
def test_on_a_disk_that_is_read_only_the_first_error_is_shown(tmp_path, refused):
    """Removing files that were never made is another error there, which must not hide it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "none", disk]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this root may not mount")
    try:
        told = refused("serve", "drive.toml", "--socket", "disk/s")
        assert "the socket cannot be made: read-only file system" in told
        assert "(--socket)" in told
        assert "the store cannot be opened" in refused(*WORDS, "--store", "disk/d")
        assert "the requests cannot be kept" in refused(*WORDS, "--capture", "disk/c.fgt")
        assert "nobody can watch the drive" in refused(*WORDS, "--status", "disk/s")
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_without_the_plugin_the_error_says_what_to_type(tmp_path, monkeypatch):
    moved = tmp_path / "a" / "flashgc" / "drives" / "serving.py"
    monkeypatch.setattr(serving, "__file__", str(moved))
    (tmp_path / "a" / "flashgc").mkdir(parents=True)
    with pytest.raises(ConfigError) as installed:
        serving.plugin()
    assert "`make serve-deps` in a checkout" in str(installed.value)
    assert f"cp python/flashgc/_nbdkit.so {tmp_path}" in str(installed.value)
    (tmp_path / "Makefile").touch()
    with pytest.raises(ConfigError) as checkout:
        serving.plugin()
    assert "cp " not in str(checkout.value)
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ConfigError, match="on Linux only"):
        serving.plugin()


@BUILT
@pytest.mark.parametrize("presses", [1, 2])
@pytest.mark.parametrize("delay", [0.3, 0.8, 2.0])
def test_ctrl_c_before_the_drive_is_ready_leaves_nothing(tmp_path, delay, presses):
    """While the command starts, and while the drive is preconditioned, which takes a minute."""
    (tmp_path / "drive.toml").write_text(DRIVE)
    command = [COMMAND, *WORDS, "--status", "status", "--store", "drive.data", "--capture",
               "kept.fgt", "--set", "precondition.overwrite=1000",
               "--set", "device.blocks_per_plane=1024"]  # fmt: skip
    # A folder of its own: servers of other tests come and go meanwhile.
    with (
        tempfile.TemporaryDirectory() as own,
        subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": own},
        ) as server,
    ):  # fmt: skip
        sleep(delay)
        for _ in range(presses):
            server.send_signal(signal.SIGINT)
            sleep(0.05)
        out, err = server.communicate(timeout=20)
        assert os.listdir(own) == []
    assert not out
    assert server.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err
    assert err in ("", "interrupted\n", "interrupted; nothing was saved\n")
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


@BUILT
def test_a_second_ctrl_c_says_what_is_there(tmp_path):
    (tmp_path / "drive.toml").write_text(DRIVE)
    command = [COMMAND, *WORDS, "--store", "drive.data", "--capture", "kept.fgt"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr.readline().startswith("serving ")
        server.send_signal(signal.SIGINT)
        until = monotonic() + 20
        while not (tmp_path / "kept.fgt").exists():
            assert monotonic() < until
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=20)
    assert "Traceback" not in err
    assert not (tmp_path / "drive.sock").exists()
    # The report may have been faster.
    assert server.returncode in (0, 130)
    if server.returncode == 130:
        assert "interrupted; saved before that: drive.data, kept.fgt" in err


@BUILT
def test_the_server_shows_each_message_once_and_not_all_of_a_bad_client(tmp_path):
    told = []
    with serving.served(DRIVE, tmp_path / "s", time="off") as server:
        shows = threading.Thread(target=server.wait, args=(told.append,), daemon=True)
        shows.start()
        with Client(tmp_path / "s") as client:
            for at in [*range(200), *range(200)]:
                assert client.ask(READ, client.bytes + at, 512)[0] == 22
        sleep(0.5)
    shows.join(timeout=30)
    assert len(told) == 100
    assert told[0].startswith("invalid request: NBD_CMD_READ: offset and count are out of range")
    assert told[-1] == "later messages of the server are not shown"
