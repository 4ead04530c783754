"""PostgreSQL: pgbench, a postmaster that is killed, its recovery, and amcheck."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

from measured import Latency, Load, Program
from mounted import run, version

BIN = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/usr/lib/postgresql/bin"))
USER = "postgres"
SCALE = 10
CLIENTS = 4
SUMS = (
    "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)"
    " AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(delta) FROM pgbench_history)"
    " AND (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(delta) FROM pgbench_history)"
)


class Cluster:
    """A cluster of PostgreSQL in a folder, which only a socket in this folder leads to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"

    def tool(self, name: str, *words: object, **more: object) -> str:
        """Runs a program of PostgreSQL as its user."""
        return run(BIN / name, *words, user=USER, cwd=self.folder, env=self._environment(), **more)

    def _environment(self) -> dict[str, str]:
        own = {"PGHOST": str(self.folder), "PGDATABASE": "postgres", "PGUSER": USER, "LC_ALL": "C"}
        return {**os.environ, **own}

    def make(self) -> None:
        """Makes an empty cluster with checksums of its pages."""
        self.tool("initdb", "--pgdata", self.data, "--data-checksums", "--auth=trust")
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(
                f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\n"
                "shared_buffers = 32MB\nmax_wal_size = 64MB\nmin_wal_size = 32MB\n"
                "checkpoint_timeout = 30s\nautovacuum_naptime = 5s\n"
            )

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """The cluster accepts clients; a recovery comes first where it needs one."""
        control = ("--pgdata", self.data, "--silent", "--wait", "--timeout=300")
        log = self.folder / "log"
        self.tool("pg_ctl", "start", *control, "--log", log)
        try:
            yield
        finally:
            with contextlib.suppress(RuntimeError):
                self.tool("pg_ctl", "stop", *control, "--mode=fast")

    def kill(self) -> None:
        """SIGKILL for the postmaster, and a wait for its processes to leave."""
        postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        os.kill(postmaster, signal.SIGKILL)
        until = monotonic() + 60
        while any(Path(f"/proc/{pid}").exists() for pid in [postmaster, *children]):
            if monotonic() > until:
                raise RuntimeError("processes of PostgreSQL outlive their postmaster")
            sleep(0.05)


def load(place: Path, load: Load) -> list[Latency]:
    """A run of pgbench to its end, another one until a kill in its middle, then the checks."""
    folder = place / "postgresql"
    folder.mkdir()
    run("chown", USER, folder)
    cluster = Cluster(folder)
    cluster.make()
    with cluster.running():
        scale = 1 if load.is_short else SCALE
        cluster.tool("pgbench", "--initialize", "--quiet", f"--scale={scale}")
        words = [f"--client={CLIENTS}", "--jobs=1", "--no-vacuum"]
        cluster.tool(
            "pgbench", *words, f"--time={max(1, round(load.seconds))}", "--log",
            "--log-prefix=transactions",
        )  # fmt: skip
        doomed = subprocess.Popen(
            [BIN / "pgbench", *words, "--time=600"], user=USER, cwd=folder,
            env=cluster._environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        sleep(1 if load.is_short else 5)
        cluster.kill()
        doomed.wait()
    with cluster.running():
        cluster.tool("pg_amcheck", "--install-missing", "--heapallindexed", "--rootdescend",
                     "--parent-check", "postgres")  # fmt: skip
        if cluster.tool("psql", "-qtAc", SUMS).strip() != "t":
            raise RuntimeError("the balances and the history of pgbench differ")
    cluster.tool("pg_checksums", "--check", "--pgdata", cluster.data)
    log = "".join(path.read_text() for path in folder.glob("transactions.*"))
    return [Latency.of("transaction", [float(line.split()[2]) for line in log.splitlines()])]


PROGRAM = Program(
    name="postgresql",
    title="PostgreSQL, pgbench",
    needs=tuple(
        str(BIN / name)
        for name in ("initdb", "pg_ctl", "pgbench", "psql", "pg_amcheck", "pg_checksums")
    ),
    version=lambda: version("PostgreSQL", BIN / "postgres", "--version"),
    load=load,
    does=f"pgbench (TPC-B-like), scale {SCALE}, {CLIENTS} clients, 32 MiB of shared buffers, page "
    "checksums; SIGKILL of the postmaster under load, recovery, pg_amcheck --heapallindexed "
    "--rootdescend --parent-check, pg_checksums",
)
