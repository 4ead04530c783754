"""The built-in replay on real traces: collection has work to do, or the run says why not."""

import os

import pytest

import flashgc
from conftest import ROOT, SHARED

TABLE = ROOT / "crates/flashgc-trace/tests/all/real_traces.txt"
# Clocks that jump by years; the manual's page of each format says which rows to leave out.
JUMPS = {
    "ycsb_ext4.blkparse.txt": {"length": "1000 s"},
    "nexus5_Booting_log176.txt": {"start": "1000000000 s", "sort_window": "1400000000 s"},
}
ROWS = None if os.environ.get("FLASHGC_LONG") else 4000


def traces():
    """Each trace of the table once, with the format that has to be given."""
    found = {}
    for line in TABLE.read_text().splitlines():
        if not line.startswith("#"):
            columns = [column.strip() for column in line.removesuffix("|").split(" | ")]
            given = columns[12] if len(columns) > 12 else ""
            found.setdefault(columns[0], given or "auto")
    return found


@pytest.mark.parametrize(("name", "format"), traces().items())
def test_a_real_trace_is_collected_for_or_the_run_says_why_not(name, format):
    file = SHARED / f"traces/{name}.zst"
    if not file.exists():
        pytest.skip("../shared/traces is not there")
    settings = {"format": format, **JUMPS.get(name, {}), **({"rows": ROWS} if ROWS else {})}
    report = flashgc.run("replay", file, set={"workload.trace": settings})
    assert 0 < report.fit.footprint_share <= 0.9
    if report.pages.gc_moved == 0:
        assert any("no scheme can differ" in note for note in report.notes), report.notes
    if report.fit.footprint_share < 0.8:
        assert any("smallest drive" in note for note in report.notes)
