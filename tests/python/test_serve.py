"""`flashgc serve`: clients of several kinds on a drive that is served by nbdkit."""

import contextlib
import json
import re
import shlex
import shutil
import signal
import socket as socketlib
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep

import pytest

import terminal
from conftest import COMMAND, LONG, ROOT, SMALL
from flashgc import watching
from flashgc.drives import serving
from nbd_client import FLUSH, READ, TRIM, WRITE, ZERO, Client

PLUGIN = Path(serving.__file__).parents[1] / serving.PLUGIN
BUILT = pytest.mark.skipif(
    not PLUGIN.exists() or shutil.which("nbdkit") is None,
    reason="nbdkit or its plugin is missing: make serve-deps",
)
PAGE = ROOT / "docs" / "serve.md"

# 8 planes, of 64 MiB together.
DRIVE = SMALL.replace("chips_per_channel = 1", "chips_per_channel = 2")


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} missing")


@contextlib.contextmanager
def served(folder, *options, config=DRIVE):
    """A drive that is served; `ended` has its report when the context is over."""
    (folder / "drive.toml").write_text(config)
    command = [COMMAND, "serve", "drive.toml", "--socket", "drive.sock", "--json", "--time", "off",
               *options]  # fmt: skip
    ended = {}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            first = server.stderr.readline()
            assert first.startswith("serving nbd+unix:///?socket="), first + server.stderr.read()
            ended["uri"] = first.split()[1]
            yield ended
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=120)
        finally:
            server.kill()
    assert server.returncode == 0, err
    ended["report"], ended["told"] = json.loads(out), err


def size_of(folder):
    with Client(folder / "drive.sock") as client:
        return client.bytes


def fio(ended, folder, *words):
    command = ["fio", "--name=job", "--ioengine=nbd", f"--uri={ended['uri']}", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@BUILT
@needs("fio")
@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        ("greedy", []),
        ("pgc", []),
        ("gsm", ["--set", "device.sub_blocks=4", "--set", "device.exported=0.6"]),
        ("sepbit", ["--store", "drive.data", "--set", "device.exported=0.6"]),
    ],
)
def test_fio_finds_every_block_as_it_wrote_it(tmp_path, scheme, options):
    with served(tmp_path, "--scheme", scheme, *options) as ended:
        size = size_of(tmp_path)
        words = ["--rw=randwrite", "--bs=4k", "--iodepth=16", f"--size={size}",
                 "--verify=crc32c", "--verify_fatal=1",
                 f"--loops={8 if LONG else 3}"]  # fmt: skip
        shown = fio(ended, tmp_path, *words)
    assert "err= 0" in shown
    report = ended["report"]
    assert report["requests"]["write"] >= 3 * size // 4096
    assert report["gc"]["count"] > 100
    left = {path.name for path in tmp_path.iterdir() if path.suffix != ".state"}
    assert left == {"drive.toml", *options[1:2]} - {"device.sub_blocks=4"}


@BUILT
@needs("fio")
def test_several_connections_have_one_drive(tmp_path):
    with served(tmp_path) as ended:
        words = ["--rw=randrw", "--bsrange=512-24k", "--bs_unaligned=0", "--iodepth=8",
                 "--numjobs=3", "--size=8M", "--offset_increment=8M", "--verify=crc32c",
                 "--verify_fatal=1", "--group_reporting"]  # fmt: skip
        fio(ended, tmp_path, *words)
        with Client(tmp_path / "drive.sock") as one, Client(tmp_path / "drive.sock") as other:
            assert one.ask(WRITE, 4096, 4096, b"x" * 4096)[0] == 0
            assert other.ask(READ, 4096, 4096) == (0, b"x" * 4096)
            assert other.ask(FLUSH, 0, 0)[0] == 0
            assert other.ask(TRIM, 4096, 4096)[0] == 0
            assert one.ask(READ, 4096, 4096) == (0, bytes(4096))
            assert one.ask(WRITE, 100, 9000, b"y" * 9000, flags=1)[0] == 0
            assert one.ask(ZERO, 5000, 8192)[0] == 0
            assert other.ask(READ, 0, 16384)[1] == (
                bytes(100) + b"y" * 4900 + bytes(16384 - 5000)
            ), "the rest of each page stays"
    assert ended["report"]["requests"]["trim"] > 0


@BUILT
def test_a_bad_client_harms_nobody(tmp_path):
    with served(tmp_path):
        socket = tmp_path / "drive.sock"
        with Client(socket) as good:
            assert good.ask(WRITE, 0, 8192, b"g" * 8192)[0] == 0
            # One vanishes in the middle of a write.
            with Client(socket) as bad:
                bad.send(WRITE, 0, 1 << 20, b"b" * 1000)
            # Requests beyond the end, and of no known kind.
            with Client(socket) as bad:
                assert bad.ask(READ, good.bytes - 100, 200)[0] != 0
                assert bad.ask(TRIM, good.bytes, 4096)[0] != 0
                assert bad.ask(ZERO, (1 << 64) - 4096, 8192)[0] != 0
                assert bad.ask(99, 0, 512)[0] != 0
                # One is larger than any answer may be, and one is not a request.
                with contextlib.suppress(ConnectionError):
                    bad.ask(READ, 0, 0xFFFFFFFF)
            with Client(socket) as bad:
                bad.socket.sendall(b"\xff" * 5000)
            assert good.ask(READ, 0, 8192) == (0, b"g" * 8192)


@BUILT
def test_a_page_that_cannot_be_read_is_an_error_until_it_is_written(tmp_path):
    errors = "device.read_retry={cycles=3000,retention_days=365,retries=1,soft_gain=1.1}"
    with served(tmp_path, "--set", errors), Client(tmp_path / "drive.sock") as client:
        answers = {at: client.ask(READ, at * 4096, 4096) for at in range(1000)}
        lost = [at for at, (error, _) in answers.items() if error == 5]
        assert 50 < len(lost) < 500
        assert all(answers[at] == (0, bytes(4096)) for at in answers if at not in lost)
        for at in lost:
            assert client.ask(WRITE, at * 4096, 4096, b"n" * 4096)[0] == 0
        again = [client.ask(READ, at * 4096, 4096) for at in lost]
        assert sum(answer == (0, b"n" * 4096) for answer in again) > 0.9 * len(lost)


@BUILT
@needs("nbdcopy", "mkfs.ext4", "e2fsck")
def test_a_filesystem_comes_back_as_it_went(tmp_path):
    image, again = tmp_path / "image", tmp_path / "again"
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "page.md").write_bytes((ROOT / "README.md").read_bytes() * 50)

    def run(*words):
        subprocess.run(words, check=True, capture_output=True, timeout=120)

    with served(tmp_path) as ended:
        image.touch()
        size = size_of(tmp_path)
        with image.open("r+b") as file:
            file.truncate(size)
        run("mkfs.ext4", "-q", "-d", tmp_path / "files", image)
        for _ in range(3):
            run("nbdcopy", image, ended["uri"])
        run("nbdcopy", ended["uri"], again)
        assert again.read_bytes() == image.read_bytes()
        run("e2fsck", "-f", "-n", again)


@BUILT
def test_what_cannot_be_served_is_an_error(tmp_path, flashgc):
    (tmp_path / "drive.toml").write_text(DRIVE)
    words = ["serve", "drive.toml", "--socket", "drive.sock"]
    closed = ["--set", "workload.trace.queue_depth=4"]
    assert "workload.trace.queue_depth" in flashgc(*words, *closed, code=2).err
    assert "= help:" in flashgc(*words, *closed, code=2).err
    wrong = flashgc(*words, "--set", "gc.scheme=greddy", code=2).err
    assert 'did you mean "greedy"?' in wrong
    (tmp_path / "old").write_text("mine")
    assert "it is not the store of a drive" in flashgc(*words, "--store", "old", code=2).err
    assert "cannot be opened" in flashgc(*words, "--store", "no/where", code=2).err
    assert "ends in .fgt" in flashgc(*words, "--capture", "kept.csv", code=2).err
    assert "existing folder" in flashgc(*words, "--capture", "no/kept.fgt", code=2).err
    assert "greddy" in flashgc(*words, "--store", "new", "--set", "gc.scheme=greddy", code=2).err
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "old").read_text() == "mine"
    (tmp_path / "drive.sock").write_text("mine")
    assert "exists" in flashgc(*words, code=2).err
    for time in ("slow", "scaled", "scaled=0.5", "scaled=nan", "scaled=1e9"):
        told = flashgc(*words, "--time", time, code=2).err
        assert "must be real, off or scaled=K" in told
    assert (tmp_path / "drive.sock").read_text() == "mine"


def test_without_nbdkit_the_error_says_what_to_do(tmp_path, flashgc):
    (tmp_path / "drive.toml").write_text(DRIVE)
    words = ["serve", "drive.toml", "--socket", "drive.sock"]
    told = flashgc(*words, code=2, env={"PATH": str(tmp_path)}).err
    assert "nbdkit is not installed" in told
    assert "make serve-deps" in told
    assert "apt-get install nbdkit" in told


@BUILT
def test_a_served_drive_continues_a_saved_one(tmp_path, flashgc):
    (tmp_path / "drive.toml").write_text(DRIVE)
    flashgc("drive", "save", "drive.toml", "made.drive",
            "--set", 'precondition.overwrite_with="uniform"')  # fmt: skip
    hashes = []
    for options in ([], ["--drive", "made.drive"]):
        with served(tmp_path, *options) as ended, Client(tmp_path / "drive.sock") as client:
            for at in range(2000):
                page = at * 7919 % 6000 * 4096
                assert client.ask(WRITE, page, 4096, bytes(4096))[0] == 0
        assert ended["report"]["gc"]["count"] > 0
        hashes.append(ended["report"]["result_hash"])
    assert hashes[0] == hashes[1]


@BUILT
@pytest.mark.parametrize("factor", [1, 20])
def test_a_request_takes_the_time_of_the_model(tmp_path, factor):
    """No request is done before the time of the model, and both clients are served in parallel."""
    time = "real" if factor == 1 else f"scaled={factor}"
    with served(tmp_path, "--time", time) as ended, contextlib.ExitStack() as clients:
        socket = tmp_path / "drive.sock"
        one, other = (clients.enter_context(Client(socket)) for _ in range(2))
        begun = monotonic()
        for at in range(10):
            one.send(WRITE, at * 4096, 4096, b"a" * 4096)
            other.send(WRITE, (at + 20) * 4096, 4096, b"b" * 4096)
            assert (one.answer(), other.answer()) == (0, 0)
        # A transfer of 102 us and a program of 200 us each.
        assert monotonic() - begun >= 10 * 302e-6 * factor
        assert one.ask(READ, 20 * 4096, 4096) == (0, b"b" * 4096)
    report = ended["report"]
    assert report["latency_ns"]["write"]["min"] == 302_400
    [lateness] = [note for note in report["notes"] if "after the model's time" in note]
    assert ("20 times slower" in lateness) == (factor == 20)


@BUILT
@needs("fio")
@pytest.mark.parametrize("time", ["off", "real"])
def test_captured_requests_have_the_result_of_the_drive(tmp_path, flashgc, time):
    unsafe = 'device.write_buffer={size="64 KiB",power_loss_protection=false}'
    options = ["--scheme", "pgc", "--set", unsafe, "--set", "precondition.overwrite=0.5"]
    with served(tmp_path, "--time", time, "--capture", "kept.fgt", *options) as ended:
        fio(ended, tmp_path, "--rw=randtrimwrite", "--bs=4k", "--size=8M", "--iodepth=4",
            "--numjobs=2", "--io_size=2M")  # fmt: skip
        with Client(tmp_path / "drive.sock") as client:
            for at in range(64):
                data = bytes(1000)
                assert client.ask(WRITE, at * 7000, 1000, data, flags=at % 2)[0] == 0
                assert client.ask(FLUSH, 0, 0)[0] == 0
        assert not (tmp_path / "kept.fgt").exists(), "it has its name when it is complete"
    [again] = [line for line in ended["told"].splitlines() if "flashgc run" in line]
    words = shlex.split(again.partition("flashgc run")[2])
    run = json.loads(flashgc("run", *words, "--json").out)
    assert run["result_hash"] == ended["report"]["result_hash"]
    about = json.loads(flashgc("trace", "info", "kept.fgt", "--json").out)
    assert about["flushes"] == 65, "the last one is that of the end"
    assert about["fua"] == 32
    report = ended["report"]
    assert about["rows"] == sum(report["requests"].values()) + report["flush"]["requests"]
    assert "flushes" in flashgc("trace", "info", "kept.fgt").out
    csv = flashgc("trace", "convert", "kept.fgt", "kept.csv", "--to", "csv")
    assert "97 flushes or FUA marks lost" in csv.err


@BUILT
def test_a_capture_that_cannot_be_written_harms_no_client(tmp_path):
    with served(tmp_path, "--capture", "kept.fgt") as ended:
        [part] = tmp_path.glob(".kept.fgt.*")
        part.unlink()
        with Client(tmp_path / "drive.sock") as client:
            assert client.ask(WRITE, 0, 4096, bytes(4096))[0] == 0
    assert any("kept.fgt was not written" in note for note in ended["report"]["notes"])


@BUILT
@pytest.mark.parametrize("time", ["off", "real"])
def test_a_drive_can_be_watched(tmp_path, flashgc, time):
    with served(tmp_path, "--time", time, "--status", "status") as ended:
        with Client(tmp_path / "drive.sock") as client:
            for at in range(200):
                assert client.ask(WRITE, at % 50 * 4096, 4096, bytes(4096))[0] == 0
            assert client.ask(READ, 0, 4096)[0] == 0
        now = json.loads(flashgc("top", "status", "--json").out)
        assert now["report"]["requests"] == {"read": 1, "write": 200, "trim": 0}
        write = now["last"]["write"]
        assert write["requests"] == 200
        parts = write["blame_mean_ns"]
        assert sum(parts.values()) == pytest.approx(write["latency_ns"]["mean"])
        assert now["free_blocks"]["least_of_plane"] <= now["free_blocks"]["total"] // 8
        told = flashgc("top", "status").out
        assert "write amplification" in told
        assert "mean from service" in told
        assert all(len(line) <= 80 for line in told.splitlines())
        # Any HTTP client, and a silent one.
        with socketlib.socket(socketlib.AF_UNIX) as rude:
            rude.connect(str(tmp_path / "status"))
            rude.sendall(b"GET")
            assert watching.status(tmp_path / "status")["now_ns"] >= now["now_ns"]
    assert ended["report"]["blame"]["write"]["mean"]["latency_ns"] > 0
    assert not (tmp_path / "status").exists()
    assert "no drive answers" in flashgc("top", "status", code=2).err


@BUILT
def test_top_in_a_terminal(tmp_path):
    with ThreadPoolExecutor() as pool:
        with served(tmp_path, "--status", "status"):
            command = [COMMAND, "top", "status", "--every", "0.2"]
            top = pool.submit(terminal.run, command, tmp_path)
            sleep(3)
        seen = top.result()
    assert seen.code == 0, seen.screen
    assert seen.screen.count("write amplification") > 1
    assert "the drive has ended" in seen.screen
    assert "Traceback" not in seen.screen


def page_commands():
    """The commands of the page: the server's, and those of its clients."""
    blocks = re.findall(r"^```shell\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]


@BUILT
def test_every_command_of_the_page_runs(tmp_path):
    (tmp_path / "files").mkdir()
    environment = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 300}
    server, skipped = None, []
    for name, text in re.findall(
        r"^```toml (\S+)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    ):
        (tmp_path / name).write_text(text)

    def stop():
        nonlocal server
        if server is not None:
            server.send_signal(signal.SIGINT)
            _, err = server.communicate(timeout=60)
            assert server.returncode == 0, err
            server = None

    for line in page_commands():
        words = shlex.split(line)
        if words[:2] == ["flashgc", "serve"]:
            stop()
            server = subprocess.Popen(
                [COMMAND, *words[1:]], cwd=tmp_path, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert server.stderr.readline().startswith("serving ")
        elif words[0] == "flashgc":
            if words[1] == "run":
                stop()
            done = subprocess.run([COMMAND, *words[1:]], **environment)
            assert done.returncode == 0, done.stderr
        elif shutil.which(words[0]) is None:
            skipped.append(words[0])
        else:
            done = subprocess.run(words, **environment)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    stop()
    if skipped:
        pytest.skip(f"missing: {', '.join(skipped)}")


@BUILT
def test_a_client_that_waits_does_not_keep_the_server(tmp_path):
    """Ctrl-C ends the server although a client is connected, and the report is there."""
    with contextlib.ExitStack() as clients, served(tmp_path) as ended:
        client = clients.enter_context(Client(tmp_path / "drive.sock"))
        assert client.ask(WRITE, 0, 4096, bytes(4096))[0] == 0
    assert ended["report"]["requests"]["write"] == 1
