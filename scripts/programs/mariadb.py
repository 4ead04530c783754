"""MariaDB: sysbench's oltp_write_only."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

from measured import Latency, Load, Program
from mounted import run, version

SERVER, INSTALL = "/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"
CLIENT, CHECK, SYSBENCH = "/usr/bin/mariadb", "/usr/bin/mariadb-check", "/usr/bin/sysbench"
USER = "mysql"
ROWS = 100_000
THREADS = 4


@contextlib.contextmanager
def _running(folder: Path) -> Iterator[str]:
    """A server whose only door is a socket in its folder."""
    socket = f"{folder}/socket"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [SERVER, "--no-defaults", f"--datadir={folder}/data", f"--socket={socket}",
             f"--pid-file={folder}/pid", "--skip-networking", "--innodb-buffer-pool-size=64M",
             "--innodb-log-file-size=32M", "--innodb-flush-method=O_DIRECT",
             "--innodb-flush-log-at-trx-commit=1", "--skip-log-bin"],
            user=USER, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        until = monotonic() + 120
        while not os.path.exists(socket):
            if server.poll() is not None or monotonic() > until:
                raise RuntimeError(f"MariaDB does not start\n{(folder / 'log').read_text()}")
            sleep(0.1)
        yield socket
    finally:
        server.terminate()
        try:
            server.wait(120)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def load(place: Path, load: Load) -> list[Latency]:
    """Transactions of updates, deletes and inserts; then a check of every table."""
    folder = place / "mariadb"
    folder.mkdir()
    run("chown", USER, folder)
    run(INSTALL, "--no-defaults", f"--datadir={folder}/data", f"--user={USER}",
        "--auth-root-authentication-method=normal", "--skip-test-db")  # fmt: skip
    with _running(folder) as socket:
        sql = [CLIENT, "--no-defaults", f"--socket={socket}", "--user=root"]
        run(*sql, "--execute=CREATE DATABASE sbtest")
        common = [
            SYSBENCH, "oltp_write_only", "--db-driver=mysql", f"--mysql-socket={socket}",
            "--mysql-user=root", "--tables=2", f"--table-size={load.size(ROWS)}",
            f"--threads={THREADS}", "--percentile=99", "--rand-seed=1", "--histogram=on",
        ]  # fmt: skip
        run(*common, "prepare")
        printed = run(*common, f"--time={max(1, round(load.seconds))}", "run")
    with _running(folder) as socket:
        # From the drive, with an empty buffer pool.
        _is_ok(run(CHECK, "--no-defaults", f"--socket={socket}", "--user=root", "--extended",
                   "sbtest"))  # fmt: skip
    return [_latency(printed)]


def _is_ok(checked: str) -> None:
    lines = checked.split("\n")
    if not any(line.split()[-1:] == ["OK"] for line in lines) or "rror" in checked:
        raise RuntimeError(f"mariadb-check:\n{checked}")


def _latency(printed: str) -> Latency:
    """From sysbench's histogram, whose bins are a few per cent wide, and its summary."""
    bins = [
        (float(at), int(count))
        for at, count in re.findall(r"^\s+([\d.]+) \|\S*\s+(\d+)$", printed, re.MULTILINE)
    ]
    total = sum(count for _, count in bins)
    most = re.search(r"max:\s+([\d.]+)", printed)
    p99 = re.search(r"99th percentile:\s+([\d.]+)", printed)
    if not total or most is None or p99 is None:
        raise RuntimeError(f"sysbench:\n{printed}")
    seen, p50 = 0, 0.0
    for at, count in bins:
        seen += count
        if 2 * seen >= total:
            p50 = at
            break
    return Latency("transaction", total, 1e3 * p50, 1e3 * float(p99[1]), 1e3 * float(most[1]))


PROGRAM = Program(
    name="mariadb",
    title="MariaDB, sysbench",
    needs=(SERVER, INSTALL, CLIENT, CHECK, SYSBENCH),
    version=lambda: version("MariaDB", SERVER, "--version"),
    load=load,
    does=f"sysbench oltp_write_only, 2 tables of {ROWS:,} rows, {THREADS} threads, 64 MiB of "
    "buffer pool, O_DIRECT; mariadb-check --extended after a restart",
)
