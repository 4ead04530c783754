"""SQLite: small transactions, each committed by itself."""

import random
import sqlite3
from pathlib import Path
from time import monotonic, perf_counter

from measured import Latency, Load, Program

ROWS = 100_000
UPDATES = 4
PAYLOAD = 200


def load(place: Path, load: Load) -> list[Latency]:
    """Transfers between accounts, with a row of history for each of them."""
    rows, chance = load.size(ROWS), random.Random(1)
    file = place / "accounts.db"
    base = sqlite3.connect(file, isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = FULL")
    base.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER, about BLOB)")
    base.execute("CREATE TABLE history (at INTEGER PRIMARY KEY, account INTEGER, delta INTEGER)")
    base.execute("CREATE INDEX by_account ON history (account)")
    base.execute("BEGIN")
    base.executemany(
        "INSERT INTO accounts VALUES (?, 0, ?)",
        ((row, chance.randbytes(PAYLOAD)) for row in range(rows)),
    )
    base.execute("COMMIT")
    commits_us, transfers = [], 0
    until = monotonic() + load.seconds
    while monotonic() < until:
        base.execute("BEGIN IMMEDIATE")
        for turn in range(UPDATES):
            account, delta = chance.randrange(rows), 1 - 2 * (turn % 2)
            base.execute(
                "UPDATE accounts SET balance = balance + ?, about = ? WHERE id = ?",
                (delta, chance.randbytes(PAYLOAD), account),
            )
            base.execute("INSERT INTO history (account, delta) VALUES (?, ?)", (account, delta))
        begun = perf_counter()
        base.execute("COMMIT")
        commits_us.append(1e6 * (perf_counter() - begun))
        transfers += UPDATES
    base.close()
    _check(file, transfers)
    return [Latency.of("commit", commits_us)]


def _check(file: Path, transfers: int) -> None:
    """SQLite's own check of its file, and every transfer that was committed."""
    base = sqlite3.connect(file)
    found = base.execute("PRAGMA integrity_check").fetchall()
    if found != [("ok",)]:
        raise RuntimeError(f"integrity_check: {found[:5]}")
    sums = base.execute(
        "SELECT (SELECT sum(balance) FROM accounts), sum(delta), count(*) FROM history"
    ).fetchone()
    base.close()
    if sums != (0, 0, transfers):
        raise RuntimeError(f"sums of accounts and history, and rows: {sums}, not {transfers} rows")


PROGRAM = Program(
    name="sqlite",
    title="SQLite",
    needs=(),
    version=lambda: f"SQLite {sqlite3.sqlite_version}",
    load=load,
    does=f"{ROWS:,} rows of {PAYLOAD} bytes, journal_mode = WAL, synchronous = FULL; one client, "
    f"{UPDATES} updates and {UPDATES} inserts a transaction; PRAGMA integrity_check",
)
