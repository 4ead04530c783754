"""A store on a disk that fills up, under fio and under a client that checks its data."""

import contextlib
import json
import os
import shutil
import subprocess

import pytest

import flashgc
from flashgc.drives import serving
from nbd_client import FLUSH, READ, TRIM, WRITE, Client
from test_serve import BUILT, DRIVE, needs

ENOSPC_OF_NBD = 28
PAGE = 4096
ROOT_ONLY = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("mount") is None, reason="only root mounts a small disk"
)


def _can_mount(folder):
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder],
                          capture_output=True)  # fmt: skip
    return done.returncode == 0


@pytest.fixture
def disk(tmp_path):
    """A disk of 10 MiB: the drive with its records needs 64 MiB and more."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not _can_mount(folder):
        pytest.skip("this root may not mount")
    try:
        resize(folder, "10m")
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def resize(folder, size):
    subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True)


def content(page, version):
    return b"%08d%08d" % (page, version) * (PAGE // 16)


def holds(client, due):
    """Whether every page that was written is there."""
    for page, version in due.items():
        assert client.ask(READ, page * PAGE, PAGE) == (0, content(page, version)), page


@BUILT
@ROOT_ONLY
@pytest.mark.parametrize("time", ["off", "real"])
def test_a_full_disk_is_an_error_and_harms_nothing_that_was_written(tmp_path, disk, time):
    socket, store = tmp_path / "s", disk / "drive.data"
    words = {"store": store, "time": time, "set": {"device.exported": 0.6}}
    due, failed = {}, []
    with serving.served(DRIVE, socket, **words) as server, Client(socket) as client:
        for turn, page in enumerate(range(client.bytes // PAGE)):
            if client.ask(WRITE, page * PAGE, PAGE, content(page, turn))[0] == 0:
                due[page] = turn
                continue
            failed.append(page)
            if len(failed) == 50:
                break
        assert len(due) > 1000, "the disk was full at once"
        assert len(failed) == 50, "the disk was never full"
        holds(client, due)
        with Client(socket) as other:
            holds(other, dict(list(due.items())[:100]))
        assert client.ask(FLUSH, 0, 0)[0] == ENOSPC_OF_NBD
        assert client.ask(TRIM, failed[0] * PAGE, PAGE)[0] == ENOSPC_OF_NBD
        # The file stays as it is, even if there is space again.
        resize(disk, "200m")
        assert client.ask(WRITE, failed[0] * PAGE, PAGE, content(failed[0], 7))[0] != 0
        holds(client, due)
        report = server.end()
    assert any(
        "read-only, since its store cannot be written: No space" in it for it in report.notes
    )
    with serving.served(DRIVE, socket, **words) as server, Client(socket) as client:
        assert "cut off before" in server.found
        holds(client, due)
        for page in failed:
            assert client.ask(WRITE, page * PAGE, PAGE, content(page, 7))[0] == 0
            due[page] = 7
        assert client.ask(FLUSH, 0, 0)[0] == 0
        holds(client, due)
        server.end()
    with serving.served(DRIVE, socket, **words) as server, Client(socket) as client:
        assert "stopped before" in server.found
        holds(client, due)


@BUILT
@ROOT_ONLY
def test_what_was_written_before_the_disk_was_full_survives_a_kill(tmp_path, disk):
    socket, store = tmp_path / "s", disk / "drive.data"
    words = {"store": store, "time": "off", "set": {"device.exported": 0.6}}
    due = {}
    with serving.served(DRIVE, socket, **words) as server, Client(socket) as client:
        page = 0
        while client.ask(WRITE, page * PAGE, PAGE, content(page, 1))[0] == 0:
            due[page] = 1
            page += 1
        server._process.kill()
        server.wait()
    # The next start needs no space to read the store.
    with serving.served(DRIVE, socket, **words) as server, Client(socket) as client:
        assert "cut off before" in server.found
        holds(client, due)
        server._process.kill()
        server.wait()
    resize(disk, "200m")
    with serving.served(DRIVE, socket, **words) as server, Client(socket) as client:
        assert "cut off before" in server.found
        holds(client, due)
        assert client.ask(WRITE, page * PAGE, PAGE, content(page, 2))[0] == 0
        holds(client, {**due, page: 2})


@BUILT
@ROOT_ONLY
@needs("fio")
def test_fio_sees_the_error_of_a_full_disk_and_its_data_afterwards(tmp_path, disk):
    """Earlier writes of fio are verified while the disk is full, and again after a restart."""
    socket, store = tmp_path / "s", disk / "drive.data"
    words = {"store": store, "time": "off", "set": {"device.exported": 0.6}}

    def fio(uri, *more):
        done = subprocess.run(
            ["fio", "--name=job", "--ioengine=nbd", f"--uri={uri}", "--bs=4k", "--iodepth=16",
             "--verify=crc32c", "--output-format=json", *more],
            cwd=tmp_path, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        with contextlib.suppress(ValueError, KeyError):
            return done.returncode, json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
        raise AssertionError(done.stdout + done.stderr)

    early, later = ["--size=4m", "--rw=randwrite"], ["--offset=4m", "--size=12m", "--rw=randwrite"]
    with serving.served(DRIVE, socket, **words) as server:
        assert fio(server.uri, *early)[0] == 0
        code, job = fio(server.uri, *later, "--do_verify=0")
        assert code != 0
        assert job["error"] in (5, ENOSPC_OF_NBD)
        assert fio(server.uri, *early, "--verify_only=1")[0] == 0
        report = server.end()
    assert report.requests.write > 4 * 256
    resize(disk, "200m")
    with serving.served(DRIVE, socket, **words) as server:
        assert fio(server.uri, *early, "--verify_only=1")[0] == 0
        assert fio(server.uri, *later)[0] == 0
        assert fio(server.uri, *early, "--verify_only=1")[0] == 0
        assert isinstance(server.end(), flashgc.Report)
