"""The endurance workload of JEDEC, and TBW from write amplification and rated cycles."""

import pytest

import flashgc as package

SIZES = {512: 4, 1024: 1, 1536: 1, 2048: 1, 2560: 1, 3072: 1, 3584: 1, 4096: 67, 8192: 10,
         16384: 7, 32768: 3, 65536: 3}  # fmt: skip
LONG = {"device.blocks_per_plane": 48, "workload.synthetic.requests": 1_500_000}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The requests of the workload: operation, first byte, bytes."""
    path = tmp_path_factory.mktemp("jesd219") / "requests.csv"
    small = {"workload.synthetic.requests": 200_000}
    package.trace.generate("jesd219-enterprise", path, "csv", set=small)
    lines = path.read_text().splitlines()
    parts = [line.split(",") for line in lines if line[0].isdigit()]
    return [(op, int(offset), int(size)) for _, _, op, offset, size in parts]


def test_the_mix_and_the_sizes_are_those_of_the_standard(rows):
    assert len(rows) == 200_000
    reads = sum(op.lower().startswith("r") for op, _, _ in rows)
    assert reads / len(rows) == pytest.approx(0.4, abs=0.005)
    for bytes_, share in SIZES.items():
        found = sum(size == bytes_ for _, _, size in rows) / len(rows)
        assert found == pytest.approx(share / 100, abs=0.004), bytes_
    assert {size for _, _, size in rows} == set(SIZES)


def test_requests_go_to_the_three_parts_and_are_aligned(rows):
    end = package.run("jesd219-enterprise", set={"workload.synthetic.requests": 1000})
    drive = end.capacity.exported_bytes
    shares = [0.0, 0.0, 0.0]
    for _, offset, _ in rows:
        shares[0 if offset < 0.05 * drive else 1 if offset < 0.2 * drive else 2] += 1 / len(rows)
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.005)
    assert all(offset % 4096 == 0 for _, offset, size in rows if size >= 4096)
    small = [offset for _, offset, size in rows if size < 4096]
    assert all(offset % 512 == 0 for offset in small)
    # Seven of eight sectors are not the first of their page.
    assert sum(offset % 4096 > 0 for offset in small) / len(small) == pytest.approx(7 / 8, abs=0.02)


def test_small_writes_read_the_rest_of_their_page():
    small = {"workload.synthetic.requests": 5000, "device.blocks_per_plane": 64}
    report = package.run("jesd219-enterprise", set=small, verify=True)
    assert report.pages.rest_read > 0
    assert report.write_amplification_bytes > report.write_amplification


def test_tbw_follows_from_capacity_cycles_and_write_amplification():
    report = package.run("jesd219-enterprise", set=LONG)
    assert report.steady.verdict == "yes", report.steady.reasons
    found = report.endurance
    assert found.rated_cycles == 100_000
    due = report.capacity.physical_bytes * 100_000 / report.write_amplification_bytes
    assert found.tbw_bytes == pytest.approx(due, rel=1e-9)
    assert found.drive_writes == pytest.approx(due / report.capacity.exported_bytes, rel=1e-9)
    assert found.why_not is None
    twice = package.run("jesd219-enterprise", set={**LONG, "device.rated_cycles": 200_000})
    assert twice.endurance.tbw_bytes == pytest.approx(2 * found.tbw_bytes, rel=1e-9)
    assert twice["result_hash"] == report["result_hash"]


def test_a_run_that_is_not_in_balance_states_no_tbw(flashgc):
    small = {"workload.synthetic.requests": 2000}
    report = package.run("jesd219-enterprise", set=small)
    assert report.steady.verdict == "no"
    assert report.endurance.tbw_bytes is report.endurance.drive_writes is None
    assert "is not that of a long run" in report.endurance.why_not
    shown = flashgc("run", "jesd219-enterprise", "--set", "workload.synthetic.requests=2000").out
    assert "endurance" in shown
    assert "not stated for 100,000 P/E cycles" in shown
    reads = package.run("jesd219-enterprise", set={**small, "workload.synthetic.read_share": 1.0})
    assert reads.endurance.why_not == "the workload writes nothing"


def test_a_device_without_rated_cycles_has_no_endurance():
    small = {"workload.synthetic.requests": 2000}
    report = package.run("jesd219-enterprise", device="parallel-gc-slc", set=small)
    assert "endurance" not in report
