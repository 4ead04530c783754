"""Clients that go away, that say nothing, that are too many, and that are other users."""

import contextlib
import os
import signal
import socket as socketlib
import stat
import tempfile
from pathlib import Path
from time import monotonic, sleep

import pytest

from conftest import LONG
from flashgc import OutputError, watching
from flashgc.drives import serving
from nbd_client import READ, WRITE, Client
from test_serve import BUILT, DRIVE

PAGE = 4096
KILLED = 200 if LONG else 40
PARALLEL_CONNECTIONS = 32
"""The number of the plugin."""
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
NOBODY = 65534


def killed(socket, turn):
    """A client that is killed with answers outstanding: under way, or waiting for it to read."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            client = Client(socket)
            if turn % 2:
                for at in range(20 + turn % 100):
                    if at % 3 == 0:
                        client.send(WRITE, at % 64 * PAGE, PAGE, bytes(PAGE))
                    else:
                        client.send(READ, at * PAGE, PAGE)
            else:
                # They fill the socket, and threads wait to send theirs.
                for at in range(30):
                    client.send(READ, at * 16 * PAGE, 16 * PAGE)
                sleep(0.01 + 0.005 * (turn % 5))
        os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def counts(server):
    """Threads and descriptors of the server."""
    process = Path(f"/proc/{server._process.pid}")
    return len(list((process / "task").iterdir())), len(list((process / "fd").iterdir()))


def at_rest(server):
    """The counts of the server, where they do not change; None where they do."""
    first = counts(server)
    sleep(0.3)
    return first if first == counts(server) else None


def within(seconds, found):
    """The result of `found` as soon as it is true, or at the end."""
    until = monotonic() + seconds
    while not (last := found()) and monotonic() < until:
        sleep(0.02)
    return last


def connected(socket):
    """A client; None where there are too many."""
    with contextlib.suppress(ConnectionRefusedError):
        return Client(socket)


@BUILT
def test_clients_that_are_killed_with_answers_outstanding_end_nobody_else(tmp_path):
    socket = tmp_path / "s"
    with serving.served(DRIVE, socket, time="real") as server:
        with Client(socket) as first:
            assert first.ask(WRITE, 0, PAGE, b"k" * PAGE)[0] == 0
        before = within(20, lambda: at_rest(server))
        for turn in range(KILLED):
            killed(socket, turn)
            assert server._process.poll() is None, f"the server ended after client {turn}"
        with Client(socket) as last:
            assert last.ask(READ, 200 * PAGE, PAGE) == (0, bytes(PAGE))
        left = within(20, lambda: at_rest(server) == before)
        assert left, f"{counts(server)} threads and descriptors, {before} before"
        server.end()


@BUILT
def test_a_client_that_breaks_the_protocol_with_answers_outstanding_ends_nobody_else(tmp_path):
    socket = tmp_path / "s"
    with serving.served(DRIVE, socket, time="real") as server:
        for turn in range(KILLED // 4):
            # Their connections end a little later, and a drive takes a number of them at once.
            with within(10, lambda: connected(socket)) as client:
                for at in range(60):
                    client.send(READ, (at + turn) * PAGE, PAGE)
                client.socket.sendall(b"x" * 28)
                sleep(0.002 * (turn % 3))
            assert server._process.poll() is None, f"the server ended after client {turn}"
        with Client(socket) as last:
            assert last.ask(READ, 0, PAGE)[0] == 0
        server.end()


@BUILT
def test_more_clients_than_a_drive_takes_are_refused_and_those_before_go_on(tmp_path):
    socket = tmp_path / "s"
    with (
        serving.served(DRIVE, socket, time="real") as server,
        contextlib.ExitStack() as clients,
    ):
        taken = [clients.enter_context(Client(socket)) for _ in range(PARALLEL_CONNECTIONS)]
        with pytest.raises(ConnectionRefusedError):
            Client(socket)
        for client in taken:
            assert client.ask(READ, 0, PAGE)[0] == 0
        log = (server._folder / "log").read_text()
        assert f"has {PARALLEL_CONNECTIONS} connections already, and takes no more" in log
        taken[0].socket.close()
        last = within(10, lambda: connected(socket))
        assert last, "a place that is free is taken"
        clients.enter_context(last)
        server.end()


@BUILT
def test_clients_of_the_status_that_ask_nothing_keep_nobody_waiting(tmp_path):
    status = tmp_path / "status"
    with (
        serving.served(DRIVE, tmp_path / "s", time="off", status=status) as server,
        contextlib.ExitStack() as silent,
    ):
        for _ in range(100):
            client = silent.enter_context(socketlib.socket(socketlib.AF_UNIX))
            client.connect(str(status))
        begun = monotonic()
        assert watching.status(status)["report"]
        assert monotonic() - begun < 3, "one second for each silent client would be 100"
        server.end()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@BUILT
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_files_and_sockets_have_the_modes_that_they_should(tmp_path, umask):
    socket, status = tmp_path / "s", tmp_path / "status"
    store, capture = tmp_path / "store", tmp_path / "kept.fgt"
    before = os.umask(umask)
    try:
        for socket_mode in (0o600, 0o660, 0o666):
            words = {"store": store, "status": status, "capture": capture, "time": "off"}
            with serving.served(DRIVE, socket, socket_mode=socket_mode, **words) as server:
                assert (mode(socket), mode(status)) == (socket_mode, socket_mode)
                assert mode(store) == 0o600
                server.end()
            assert mode(capture) == 0o666 & ~umask
            capture.unlink()
    finally:
        os.umask(before)


@pytest.mark.parametrize("wrong", ["6", "888", "060", "1777", "rw", ""])
def test_a_mode_of_sockets_that_is_none_is_refused(wrong):
    from flashgc.drives import serving_files

    with pytest.raises(OutputError, match="octal, from 600 to 777"):
        serving_files.mode(wrong)


@BUILT
@AS_ROOT
def test_another_user_has_neither_the_drive_nor_its_store():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        socket, status, store = folder / "s", folder / "status", folder / "store"

        def as_nobody(socket_mode):
            """The rights of another user: connect to both sockets, and read the store."""
            words = {"store": store, "status": status, "time": "off", "socket_mode": socket_mode}
            with serving.served(DRIVE, socket, **words) as server:
                child = os.fork()
                if child == 0:
                    found = 7
                    with contextlib.suppress(BaseException):
                        os.setgroups([])
                        os.setgid(NOBODY)
                        os.setuid(NOBODY)
                        found = 0
                        for bit, path in enumerate((socket, status)):
                            with contextlib.suppress(PermissionError):
                                socketlib.socket(socketlib.AF_UNIX).connect(str(path))
                                found |= 1 << bit
                        with contextlib.suppress(PermissionError):
                            store.open("rb").close()
                            found |= 4
                    os._exit(found)
                _, ended = os.waitpid(child, 0)
                server.end()
                return os.waitstatus_to_exitcode(ended)

        assert as_nobody(0o600) == 0
        assert as_nobody(0o666) == 3


@BUILT
def test_the_folder_of_a_server_that_was_killed_is_removed_by_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "drive").mkdir()
    left = tmp_path / "flashgc-serve-left"
    left.mkdir()
    (left / "lock").touch()
    (left / "log").write_text("nothing")
    other = tmp_path / "flashgc-serve-of-nobody-knows-whom"
    other.mkdir()
    with serving.served(DRIVE, tmp_path / "drive" / "s", time="off") as one:
        assert not left.exists()
        assert other.exists(), "it has no lock"
        with serving.served(DRIVE, tmp_path / "drive" / "t", time="off") as two:
            assert one._folder.exists(), "its server is there"
            two.end()
        one.end()
    assert not one._folder.exists()


@BUILT
def test_a_link_to_a_store_that_is_not_there_yet_is_followed(tmp_path):
    link, store = tmp_path / "link", tmp_path / "real"
    link.symlink_to(store)
    with serving.served(DRIVE, tmp_path / "s", store=link, time="off") as server:
        assert store.is_file()
        server.end()
    with serving.served(DRIVE, tmp_path / "s", store=link, time="off") as server:
        assert server.found is not None
        server.end()
