"""A served drive whose programs, erases and reads fail, on the clock of the machine."""

import json
import random
import shlex
import struct
import threading
from time import sleep

import pytest

from flashgc.drives import serving
from nbd_client import FLUSH, READ, TRIM, WRITE, ZERO, Client
from test_serve import BUILT, served
from test_serve_again import Server

PAGE = 4096
EIO = 5
DRIVE = ["--set", "device.blocks_per_plane=24", "--set", "device.exported=0.6",
         "--set", "precondition.overwrite=0", "--set", 'device.allocation="dynamic"',
         "--set", 'device.timing.erase="300 us"']  # fmt: skip
READS = "device.read_retry={cycles=3000,retention_days=365,retries=1,soft_gain=1.1}"
"""Some pages of old flash have more errors than are corrected."""
BLOCKS = 8 * 24
ERASES = [f"{{block={block}}}" for block in range(0, BLOCKS, 8)]
PROGRAMS = [f"{{block={plane * 24 + 18},program=5}}" for plane in (0, 4)]
"""Blocks that are not open before the clients write. No plane loses more than it can spare."""
FAILING = f"device.failures={{at=[{','.join(ERASES + PROGRAMS)}]}}"


def content(page, version):
    return struct.pack("<QQ", page, version) * (PAGE // 16)


class Worker(threading.Thread):
    """A client with pages of its own, their versions, and the set of lost ones."""

    def __init__(self, socket, pages, seed):
        super().__init__()
        self.client = Client(socket)
        self.random = random.Random(seed)
        self.pages = pages
        self.versions = dict.fromkeys(pages, 0)
        self.lost, self.written, self.wrong = set(), 0, []
        self.requests, self.is_read_only = 0, False

    def run(self):
        try:
            while self.requests > 0 and not self.is_read_only:
                self.requests -= 1
                self.one(self.random.choice(self.pages))
        except (AssertionError, OSError) as error:
            self.wrong.append(error)

    def one(self, page):
        if self.random.random() < 0.3:
            self.check(page)
            return
        version = self.versions[page] + 1
        error = self.client.ask(WRITE, page * PAGE, PAGE, content(page, version))[0]
        if error:
            # A write of a whole page reads nothing: only a drive that is read-only refuses it.
            assert error == EIO, error
            self.is_read_only = True
            return
        self.versions[page] = version
        self.written += 1
        self.lost.discard(page)

    def check(self, page):
        """The last version, or an error that stays until the page is written again."""
        error, data = self.client.ask(READ, page * PAGE, PAGE)
        version = self.versions[page]
        assert error in (0, EIO), error
        if error:
            self.lost.add(page)
            return
        assert page not in self.lost, f"page {page} was lost, and is there again"
        assert data == (content(page, version) if version else bytes(PAGE)), f"page {page}"


def work(folder, requests, workers=None):
    """Two concurrent clients, until they have sent this many requests or may not write."""
    socket = folder / "drive.sock"
    if workers is None:
        with Client(socket) as client:
            pages = range(client.bytes // PAGE)
        workers = [Worker(socket, pages[at::2], at) for at in range(2)]
    for worker in workers:
        worker.requests = requests
        worker.start()
    for worker in workers:
        worker.join()
        assert not worker.wrong, worker.wrong
    return workers


def replayed(ended, flashgc):
    """The report of the run of the captured requests."""
    [again] = [line for line in ended["told"].splitlines() if "flashgc run" in line]
    words = shlex.split(again.partition("flashgc run")[2])
    return json.loads(flashgc("run", *words, "--json").out)


@BUILT
@pytest.mark.parametrize("time", ["real", "scaled=3"])
def test_failures_harm_nobody_but_the_request_of_a_lost_page(tmp_path, flashgc, time):
    options = [*DRIVE, "--set", READS, "--set", FAILING]
    with served(tmp_path, "--time", time, "--capture", "kept.fgt", *options) as ended:
        workers = work(tmp_path, 1200)
        for worker in workers:
            worker.client.socket.close()
    report = ended["report"]
    assert not any(worker.is_read_only for worker in workers)
    assert report["failures"]["program"] == len(PROGRAMS)
    assert report["failures"]["erase"] > 0
    assert not report["failures"]["read_only"]
    assert any(worker.lost for worker in workers), "no page was lost"
    assert report["read_retry"]["host"]["uncorrectable"] > 0
    assert report["requests"]["write"] == sum(worker.written for worker in workers)
    assert replayed(ended, flashgc)["result_hash"] == report["result_hash"]


@BUILT
@pytest.mark.parametrize("time", ["real", "scaled=3"])
def test_a_worn_out_drive_is_read_only_and_keeps_its_data(tmp_path, flashgc, time):
    options = [*DRIVE, "--set", READS, "--set", "device.failures={program=1e-3,erase=0.3}"]
    with served(tmp_path, "--time", time, "--capture", "kept.fgt", *options) as ended:
        workers = work(tmp_path, 20_000)
        assert all(worker.is_read_only for worker in workers)
        one, other = (worker.client for worker in workers)
        for kind in (WRITE, TRIM, ZERO):
            data = bytes(PAGE) if kind == WRITE else b""
            assert one.ask(kind, 0, PAGE, data)[0] == EIO
        assert other.ask(FLUSH, 0, 0)[0] == 0
        for worker in workers:
            for page in worker.pages[::10]:
                worker.check(page)
            worker.client.socket.close()
        sleep(0.3)
    told = "the drive is read-only: too many of its blocks are bad"
    assert ended["told"].splitlines().count(told) == 1
    assert ended["told"].count("a page that was read has more errors than can be corrected") == 1
    report = ended["report"]
    written = sum(worker.written for worker in workers)
    assert report["failures"]["read_only"]
    assert report["requests"]["write"] == written
    [note] = [note for note in report["notes"] if "became read-only" in note]
    assert f"after {written:,} writes" in note
    # A run ends where the drive is read-only: the reads and the flush after that are not in it.
    run = replayed(ended, flashgc)
    assert run["requests"]["write"] == written
    # Collections under way end later.
    for key in ("program", "erase", "read_only"):
        assert run["failures"][key] == report["failures"][key], key
    assert run["requests"]["read"] < report["requests"]["read"]


@BUILT
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_drive_that_was_read_only_is_so_after_a_restart(tmp_path, is_killed):
    """Its pool has spare blocks: a plane had too few erased ones for the next failure."""
    failures = ["--set", "device.failures={program=1e-3,erase=0.3}"]
    server = Server(tmp_path, *DRIVE, *failures, "--time", "real")
    workers = work(tmp_path, 20_000)
    assert all(worker.is_read_only for worker in workers)
    for worker in workers:
        worker.client.socket.close()
    (server.kill if is_killed else server.stop)()
    for turn in range(2):
        server = Server(tmp_path, *DRIVE, *failures, "--time", "off")
        was = "cut off" if is_killed and turn == 0 else "stopped"
        assert f"{was} before" in server.said
        assert "the drive is read-only" in server.said
        with Client(tmp_path / "drive.sock") as client:
            assert client.ask(WRITE, 0, PAGE, bytes(PAGE))[0] == EIO
            for worker in workers:
                worker.client = client
                for page in worker.pages:
                    worker.check(page)
        server.stop()


def test_a_line_of_the_log_that_is_written_in_pieces_is_one_message(tmp_path):
    """The beginning of a line was a message, and its end another one."""
    begun = []
    with (tmp_path / "log").open("w") as out, (tmp_path / "log").open() as log:
        for piece, messages in (
            ("nbdkit: flashgc.2", []),
            (": error: it is ", []),
            ("full\nnbdkit: flashgc[1]: error: so is it\n\nnbd", ["it is full", "so is it", ""]),
            ("kit: ready\n", ["nbdkit: ready"]),
        ):
            out.write(piece)
            out.flush()
            assert list(serving._messages(log, begun)) == messages
