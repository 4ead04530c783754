"""RocksDB: db_bench, with a check of all checksums."""

import re
from pathlib import Path

from measured import Latency, Load, Program
from mounted import packaged, run

DB_BENCH = "/usr/bin/db_bench"
KEYS = 200_000
VALUE = 400
RATE = "4194304"
"""Bytes a second that the writer of readwhilewriting writes."""
CHECKS = "--verify_checksum=1"


def load(place: Path, load: Load) -> list[Latency]:
    """Random writes with a synchronous log, then reads while a writer works, then checksums."""
    keys = load.size(KEYS)
    common = [
        f"--db={place / 'rocksdb'}", f"--num={keys}", f"--value_size={VALUE}", "--histogram=1",
        "--compression_type=none", "--write_buffer_size=4194304", CHECKS, "--seed=1",
        "--target_file_size_base=4194304", "--max_bytes_for_level_base=16777216",
        "--use_direct_reads=1", "--use_direct_io_for_flush_and_compaction=1",
        "--cache_size=1048576", "--statistics=0",
    ]  # fmt: skip
    _bench(*common, "--benchmarks=fillrandom")
    writes = _bench(
        *common, "--use_existing_db=1", "--benchmarks=overwrite", "--sync=1",
        f"--duration={max(1, round(load.seconds / 2))}",
    )  # fmt: skip
    reads = _bench(
        *common, "--use_existing_db=1", "--benchmarks=readwhilewriting", "--threads=2",
        f"--benchmark_write_rate_limit={RATE}", f"--duration={max(1, round(load.seconds / 2))}",
    )  # fmt: skip
    checked = run(DB_BENCH, *common, "--use_existing_db=1", "--benchmarks=verifychecksum")
    if not re.search(r"^verifychecksum\s+:", checked, re.MULTILINE):
        raise RuntimeError(f"checksums were not verified\n{checked}")
    return [_latency("synchronous write", writes), _latency("read while writing", reads)]


def _bench(*words: str) -> str:
    return run(DB_BENCH, *words)


def _latency(what: str, printed: str) -> Latency:
    """From the histogram that db_bench prints for the operations of the clients."""
    count = re.search(r"Count: (\d+) ", printed)
    p50, p99 = (re.search(rf"P{name}: ([\d.]+)", printed) for name in ("50", "99"))
    most = re.search(r"Max: (\d+)", printed)
    if None in (count, p50, p99, most):
        raise RuntimeError(f"no histogram of db_bench\n{printed}")
    number, *rest = (float(found[1]) for found in (count, p50, p99, most))  # type: ignore[index]
    return Latency(what, int(number), *rest)


PROGRAM = Program(
    name="rocksdb",
    title="RocksDB, db_bench",
    needs=(DB_BENCH,),
    version=lambda: packaged("RocksDB", "rocksdb-tools"),
    load=load,
    does=f"db_bench, {KEYS:,} keys with values of {VALUE} bytes: fillrandom, overwrite with "
    "sync=1, readwhilewriting with 2 readers and a writer of 4 MiB/s, direct I/O; verifychecksum",
)
