"""The parts of latencies, in reports, tables, sentences and pages."""

import json

import pytest

from flashgc import compare, run
from flashgc.pages import page
from flashgc.results import blame

SMALL = {"workload.synthetic.requests": 20_000, "device.blocks_per_plane": 64}
PARTS = ("service_ns", "host_ns", "collection_ns", "space_ns", "buffer_ns")


@pytest.fixture(scope="module")
def report():
    return run("oltp", set=SMALL, blame=True)


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("name", ["p50", "p99", "p99_9", "p99_99"])
def test_the_parts_add_up_to_the_percentile(report, kind, name):
    split = report.blame[kind][name]
    assert split.latency_ns == report.latency_ns[kind][name]
    assert sum(split[part] for part in PARTS) == split.latency_ns
    assert sum(split.collection.values()) == split.collection_ns
    assert split.requests > 0


@pytest.mark.parametrize("kind", ["read", "write"])
def test_the_mean_parts_add_up_to_the_mean(report, kind):
    split = report.blame[kind].mean
    assert split.latency_ns == pytest.approx(report.latency_ns[kind].mean, rel=1e-12)
    assert sum(split[part] for part in PARTS) == pytest.approx(split.latency_ns, rel=1e-12)
    assert split.requests == report.requests[kind]
    assert split.collection_ns > 0


def test_blame_changes_nothing_else(report):
    plain = run("oltp", set=SMALL)
    assert plain.result_hash == report.result_hash
    assert "blame" not in plain
    watched = run("oltp", set=SMALL, blame=True, verify=True)
    assert watched.blame == report.blame


def test_a_kind_without_requests_has_no_parts():
    reads = run("oltp", set={**SMALL, "workload.synthetic.read_share": 1.0}, blame=True)
    assert reads.blame.write.p99_9 is None
    assert [row[0] for row in blame.rows(reads)][1:] == [
        "read mean", "read p50", "read p99", "read p99.9", "read p99.99"
    ]  # fmt: skip


def test_the_sentence_names_the_part_of_collection(report):
    read, write = blame.sentences(report)
    assert read.startswith("read p99.9 is ")
    assert " is GC (" in write
    assert blame.sentences(run("oltp", set=SMALL)) == []


def test_the_page_has_bars_and_no_part_that_is_zero(report):
    found = page.whole([report])
    assert found.count('class="bar"') == 10
    assert "Where latencies went" in found
    assert "write buffer" not in "".join(blame.rows(report)[0])
    assert "Where latencies went" not in page.whole([run("oltp", set=SMALL)])


def test_each_scheme_of_a_comparison_has_its_parts():
    several = compare("oltp", ["greedy", "fifo"], set=SMALL, blame=True)
    assert all(one.blame.write.p99 for one in several)
    assert "<h3>fifo</h3>" in page.whole(several)


def test_the_command_prints_the_table_and_the_sentence(flashgc):
    sets = [f"--set={key}={value}" for key, value in SMALL.items()]
    shown = flashgc("run", "oltp", "--blame", *sets).out
    assert "latency from" in shown
    assert "write p99.9 is" in shown
    told = json.loads(flashgc("run", "oltp", "--blame", "--json", *sets).out)
    assert told["blame"]["read"]["p50"]["service_ns"] > 0
