"""The keys of --json, and the configurations that are part of the contract."""

import pytest

LATENCY = ["count", "mean", "stddev", "min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"]
KEYS = {
    "": [
        "version", "seed", "config_hash", "result_hash", "scheme", "device", "saturated",
        "write_amplification", "erases", "erase_operations", "free_pages_min", "simulated_ns",
        "wall_s", "precondition_wall_s", "page_operations", "page_operations_per_s",
        "table_bytes", "peak_rss_bytes",
    ],
    "requests": ["read", "write", "trim"],
    "pages": [
        "host_read", "host_written", "gc_moved", "background_moved", "wasted_copies", "overhead",
    ],
    "gc": [
        "count", "open", "victim_blocks", "valid_per_victim", "moved_per_gc", "reclaimed_pages",
        "erased_at_selection", "busy_ns", "elapsed_ns", "blocking_ns", "transfer_ns", "preempted",
        "suspended", "merged", "pipelined",
    ],
    "latency_ns.read": LATENCY,
    "latency_ns.write": LATENCY,
    "latency_ns.all": LATENCY,
    "throughput": ["iops", "bytes_per_s"],
    "utilisation.unit": ["host", "gc", "idle"],
    "utilisation.bus": ["host", "gc", "idle"],
    "wear": ["mean", "min", "max", "stddev"],
}  # fmt: skip
TRACE_KEYS = [
    "format", "rows", "bad_rows", "reads", "writes", "trims", "read_bytes", "written_bytes",
    "footprint_bytes", "written_footprint_bytes", "max_address_bytes", "duration_s",
]  # fmt: skip


def section(report, path):
    for name in filter(None, path.split(".")):
        report = report[name]
    return report


def check_keys(report):
    for path, names in KEYS.items():
        assert set(names) <= set(section(report, path)), path


def test_run_prints_every_key(flashgc, small):
    report = flashgc("run", small, "--json").json
    check_keys(report)
    for path, names in KEYS.items():
        undefined = [name for name in names if section(report, path)[name] is None]
        assert undefined == [], path


def test_a_number_that_is_undefined_is_null(flashgc, small):
    report = flashgc("run", small, "--json", "--set", "workload.synthetic.read_share=1.0").json
    check_keys(report)
    assert report["write_amplification"] is None
    assert report["latency_ns"]["write"]["p50"] is None
    assert report["gc"]["valid_per_victim"] is None


def test_compare_prints_a_list_of_reports(flashgc, small):
    reports = flashgc("compare", small, "--schemes", "greedy,random", "--json").json
    assert [report["scheme"] for report in reports] == ["greedy", "random"]
    for report in reports:
        check_keys(report)


def test_trace_info_prints_every_key(flashgc, spc):
    about = flashgc("trace", "info", spc, "--json").json
    assert set(TRACE_KEYS) <= set(about)
    assert (about["format"], about["rows"], about["duration_s"]) == ("spc", 3000, 2.999)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("poisson-read", []),
        ("uniform-overwrite", []),
        ("replay", ["--trace", "../traces/linux-mysql.load.zst"]),
    ],
)
def test_the_files_of_the_contract_run_as_they_are(flashgc, shared, name, more):
    folder = shared / "contract"
    more = [folder / part if part.startswith("..") else part for part in more]
    report = flashgc("run", folder / f"{name}.toml", *more, "--json").json
    check_keys(report)
    assert report["latency_ns"]["all"]["count"] == sum(
        report["requests"][kind] for kind in ("read", "write")
    )


def test_random_reads_wait_as_the_queue_formula_says(flashgc, shared):
    report = flashgc("run", shared / "contract/poisson-read.toml", "--json").json
    service, gap = 50_000, 100_000
    load = service / gap
    expected = service + load * service / (2 * (1 - load))
    assert report["latency_ns"]["read"]["mean"] == pytest.approx(expected, rel=0.01)
