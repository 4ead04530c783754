"""The start of a server, between the moment at which its drive is ready and its first request."""

import os
import socket
import subprocess
import threading
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace

import pytest

from flashgc import RunError, watching
from flashgc.drives import serving
from test_serve import BUILT, DRIVE


@BUILT
@pytest.mark.parametrize("time", ["off", "real"])
def test_no_thread_runs_while_nbdkit_replaces_its_input_and_output(monkeypatch, tmp_path, time):
    """A file that one opened meanwhile got the number of the input, and nbdkit ended."""
    threads = []

    def started(command, **words):
        """A server that waits, before `after_fork`, for a reader of its number."""
        number, socket = (command[command.index(option) + 1] for option in ("-P", "-U"))
        os.mkfifo(number)
        process = subprocess.Popen(command, **words)
        until = monotonic() + 20
        while not os.path.exists(socket) and monotonic() < until:
            sleep(0.01)
        threads.append(len(os.listdir(f"/proc/{process.pid}/task")))
        Path(number).read_text()
        return process

    monkeypatch.setattr(
        serving, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": started})
    )
    words = {"status": tmp_path / "status", "capture": tmp_path / "kept.fgt", "time": time}
    with serving.served(DRIVE, tmp_path / "s", **words) as server:
        assert threads == [1]
        assert watching.status(tmp_path / "status")["report"]
        server.end()


def test_a_server_that_ends_for_another_reason_is_no_fault_of_its_socket(tmp_path):
    (tmp_path / "log").write_text("open: No such file or directory\n")
    with subprocess.Popen(["false"]) as process:
        process.wait()
        with pytest.raises(RunError, match=r"nbdkit has ended \(status 1\)\nopen: No such file"):
            serving._await(process, tmp_path, tmp_path / "s")


@pytest.mark.parametrize("answer", [b"5", b"{}", b"[1]", b"\xff", b'{"now_ns": 1}'])
def test_another_socket_than_that_of_a_drive_is_named(tmp_path, monkeypatch, answer):
    monkeypatch.chdir(tmp_path)  # the path of a socket has at most some 100 bytes
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("other")
        listening.listen(1)

        def answers():
            asked, _ = listening.accept()
            with asked:
                asked.recv(4096)
                asked.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer
                )

        thread = threading.Thread(target=answers)
        thread.start()
        with pytest.raises(RunError, match="no drive answers there: another program does"):
            watching.status("other")
        thread.join()


def test_a_file_in_place_of_a_socket_is_named_as_such(tmp_path):
    (tmp_path / "file").write_text("x")
    for name, kind in (("file", "a file, not a socket"), (".", "a directory"), ("no", "no such")):
        with pytest.raises(RunError, match=f"no drive answers there: .*{kind}"):
            watching.status(tmp_path / name)
