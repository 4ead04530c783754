"""dbench: the file operations of a file server's clients."""

import re
from pathlib import Path

from measured import Latency, Load, Program
from mounted import packaged, run

DBENCH, SCRIPT = "/usr/bin/dbench", "/usr/share/dbench/client.txt"
CLIENTS = 4


def load(place: Path, load: Load) -> list[Latency]:
    """Its client, several times, with every write synchronous."""
    folder = place / "dbench"
    folder.mkdir()
    clients = 1 if load.is_short else CLIENTS
    printed = run(
        DBENCH, "--sync", f"--directory={folder}", f"--timelimit={max(2, round(load.seconds))}",
        f"--loadfile={SCRIPT}", clients,
    )  # fmt: skip
    row = re.search(r"^\s*WriteX\s+(\d+)\s+[\d.]+\s+([\d.]+)", printed, re.MULTILINE)
    if row is None or "Throughput" not in printed:
        raise RuntimeError(f"dbench:\n{printed}")
    # It has a mean and a maximum for each operation, and no percentile.
    return [Latency("synchronous write", int(row[1]), None, None, 1e3 * float(row[2]))]


PROGRAM = Program(
    name="dbench",
    title="dbench",
    needs=(DBENCH, SCRIPT),
    version=lambda: packaged("dbench", "dbench"),
    load=load,
    does=f"dbench --sync, {CLIENTS} clients, its client.txt",
)
