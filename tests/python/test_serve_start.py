"""The start of a server, between the moment at which its drive is ready and its first request."""

import os
import subprocess
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
