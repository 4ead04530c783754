"""A served drive in a file is resumed, however its server has ended."""

import contextlib
import os
import random
import re
import signal
import struct
import subprocess
import threading
from pathlib import Path
from time import sleep

import pytest

from conftest import COMMAND, LONG
from nbd_client import FLUSH, READ, TRIM, WRITE, Client
from test_serve import BUILT, DRIVE, served

PAGE = 4096
BUFFERS = {
    "none": [],
    "protected": ["--set", 'device.write_buffer.size="64 KiB"'],
    "volatile": ["--set", 'device.write_buffer={size="64 KiB",power_loss_protection=false}'],
}
SMALLER = ["--set", "device.blocks_per_plane=24", "--set", "device.exported=0.7"]


def content(page, version):
    return struct.pack("<QQ", page, version) * (PAGE // 16)


class Server:
    """A server that can be killed."""

    def __init__(self, folder, *options):
        (folder / "drive.toml").write_text(DRIVE)
        command = [COMMAND, "serve", "drive.toml", "--socket", "drive.sock", "--store",
                   "drive.data", *options]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.said = self.process.stderr.readline()
        assert self.said.startswith("serving "), self.said + self.process.stderr.read()
        self.said += self.process.stderr.readline()

    def kill(self):
        """Kills nbdkit, which has the drive, and waits for the command."""
        pid = self.process.pid
        [child] = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        self.process.communicate(timeout=60)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err


class Writer(threading.Thread):
    """A client that writes its own pages, with flushes, until the server is gone."""

    def __init__(self, socket, pages, is_volatile, seed):
        super().__init__()
        self.client = Client(socket)
        self.random = random.Random(seed)
        self.pages = pages
        self.is_volatile = is_volatile
        self.sent = dict.fromkeys(pages, 0)
        self.done = dict.fromkeys(pages, 0)
        self.sure = dict.fromkeys(pages, 0)

    def goes_on(self, server_socket):
        """The server is there again."""
        super().__init__()
        self.client = Client(server_socket)

    def run(self):
        with contextlib.suppress(ConnectionError, OSError):
            while True:
                self.one()

    def one(self):
        if self.random.random() < 0.05:
            done = dict(self.done)
            assert self.client.ask(FLUSH, 0, 0)[0] == 0
            self.sure = done
            return
        page = self.random.choice(self.pages)
        forced = self.random.random() < 0.1
        self.sent[page] += 1
        version = self.sent[page]
        data = content(page, version)
        assert self.client.ask(WRITE, page * PAGE, PAGE, data, flags=int(forced))[0] == 0
        self.done[page] = version
        if forced or not self.is_volatile:
            self.sure[page] = version

    def check(self, client):
        """Every page has a version that may be there; returns how many newer ones are gone."""
        gone = 0
        for page in self.pages:
            error, data = client.ask(READ, page * PAGE, PAGE)
            assert error == 0
            found, version = struct.unpack("<QQ", data[:16])
            if version > 0:
                assert found == page, "another page's data"
                assert data == content(page, version), "a page is not whole"
            assert version >= self.sure[page], f"page {page}: {version}, not {self.sure[page]}"
            assert version <= self.sent[page], f"page {page}: {version} was never written"
            gone += self.done[page] - version if version < self.done[page] else 0
            # A version that was read stays. No later version has the number of one that has
            # vanished.
            self.sure[page] = self.done[page] = version
        return gone


@BUILT
@pytest.mark.parametrize("buffer", BUFFERS)
def test_what_was_flushed_survives_a_kill(tmp_path, buffer):
    """50 rounds in the long form, 3 of them under each buffer in the short one."""
    chance = random.Random(buffer)
    options = [*BUFFERS[buffer], *SMALLER]
    writers, gone = [], 0
    for turn in range((17 if LONG else 1) + 1):
        time = ["--time", "off" if turn % 2 else "real"]
        server = Server(tmp_path, *options, *time)
        socket = tmp_path / "drive.sock"
        if turn == 0:
            with Client(socket) as client:
                pages = range(client.bytes // PAGE)
            writers = [
                Writer(socket, pages[at:: 4], buffer == "volatile", at) for at in range(4)
            ]  # fmt: skip
        else:
            assert re.search(r"resumed drive.data: cut off before; [0-9,]+ pages", server.said)
            with Client(socket) as client:
                gone += sum(writer.check(client) for writer in writers)
            for writer in writers:
                writer.goes_on(socket)
        for writer in writers:
            writer.start()
        sleep(chance.uniform(0.3, 1.2))
        server.kill()
        for writer in writers:
            writer.join()
            writer.client.socket.close()
    assert sum(sum(writer.sent.values()) for writer in writers) > 500
    assert gone == 0 or buffer == "volatile"


@BUILT
@pytest.mark.parametrize("buffer", BUFFERS)
def test_a_drive_that_was_stopped_has_everything(tmp_path, buffer):
    options = ["--store", "drive.data", *BUFFERS[buffer], *SMALLER]
    with served(tmp_path, *options), Client(tmp_path / "drive.sock") as client:
        for page in range(300):
            data = content(page, 1)
            assert client.ask(WRITE, page * PAGE, PAGE, data)[0] == 0
        assert client.ask(TRIM, 10 * PAGE, 5 * PAGE)[0] == 0
    for scheme in ("greedy", "cost-benefit"):
        with (
            served(tmp_path, *options, "--scheme", scheme) as ended,
            Client(tmp_path / "drive.sock") as client,
        ):
            for page in range(300):
                due = bytes(PAGE) if page in range(10, 15) else content(page, 1)
                assert client.ask(READ, page * PAGE, PAGE) == (0, due), page
        [note] = [note for note in ended["report"]["notes"] if "resumed from its store" in note]
        assert "stopped before; 295 pages have data" in note


@BUILT
def test_a_store_is_of_one_drive_and_of_one_server(tmp_path, flashgc):
    with served(tmp_path, "--store", "drive.data"):
        words = ["serve", "drive.toml", "--socket", "other.sock", "--store", "drive.data"]
        assert "another server has the store" in flashgc(*words, code=2).err
    words = ["serve", "drive.toml", "--socket", "drive.sock", "--store", "drive.data"]
    told = flashgc(*words, *SMALLER, code=2).err
    assert "device.blocks_per_plane" in told
    assert "another device" in told
    flashgc("drive", "save", "drive.toml", "made.drive")
    assert "--drive names another" in flashgc(*words, "--drive", "made.drive", code=2).err
