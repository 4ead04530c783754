"""Programs and erases that fail: bad blocks and the end of a drive, as a user sees them."""

import pytest

import flashgc
from conftest import SMALL
from flashgc.results import compared, run_facts, steady_state

FAILING = SMALL + "\n[device.failures]\nprogram = 1e-5\nerase = 4e-3\n"


def row(report):
    """The row of bad blocks in the text of a report."""
    return dict(run_facts.facts(report)).get("bad blocks")


def test_a_report_counts_bad_blocks_in_a_row_of_its_own():
    report = flashgc.run(config=FAILING)
    found = report.failures
    assert found.erase > 0, "the shares are too small for this test"
    assert not found.read_only
    bad = found.retired_blocks + found.failing_blocks
    assert row(report) is not None
    assert row(report).startswith(f"{bad}; {found.erase} erase")
    assert row(report).endswith(f"; {found.spare_blocks} spare blocks left")
    assert row(flashgc.run(config=SMALL)) is None


def test_a_drive_without_spare_blocks_ends_the_run_with_its_report():
    report = flashgc.run(config=FAILING, set={"workload.synthetic.requests": 1_000_000})
    assert report.failures.read_only
    assert row(report).endswith("the drive is read-only")
    assert 0 < report.requests.write < 400_000
    assert any("became read-only after" in note for note in report.notes)
    (told,) = steady_state.first(report)
    assert told.startswith("not in steady state: the drive became read-only")
    assert "more request" not in told + steady_state.told(report)


def test_a_drive_that_preconditioning_wears_out_is_an_error():
    with pytest.raises(flashgc.RunError, match="read-only before the measured part"):
        flashgc.run(config=FAILING, set={"device.failures.erase": 0.2})


def test_a_comparison_has_the_retired_blocks_of_each_scheme():
    reports = flashgc.compare(config=FAILING, schemes=["greedy", "fifo"])
    names = [name for name, *_ in compared.comparison(reports)]
    assert "blocks retired" in names
    reports = flashgc.compare(config=SMALL, schemes=["greedy", "fifo"])
    assert "blocks retired" not in [name for name, *_ in compared.comparison(reports)]


@pytest.mark.parametrize("failing", ["program = 0.0005", "program = 0.002", "erase = 0.01"])
@pytest.mark.parametrize(("scheme", "other"), [("greedy", "sepbit"), ("sepbit", "greedy")])
def test_a_scheme_fills_the_drive_of_another_as_its_own(tmp_path, scheme, other, failing):
    """The blocks that may fail until the drive is read-only are those that the filling scheme
    leaves."""
    config = SMALL.replace("exported = 0.8", "exported = 0.5") + f"[device.failures]\n{failing}\n"
    own, filled = tmp_path / "own.drive", tmp_path / "filled.drive"
    for seed in (1, 2, 3):
        few = {"seed": seed, "device.blocks_per_plane": 32}
        flashgc.drive.save(config, own, scheme=scheme, set=few)
        flashgc.drive.save(config, filled, scheme=other, set={**few, "precondition.scheme": scheme})
        assert own.read_bytes() == filled.read_bytes(), seed


def test_wear_over_time_has_no_block_that_was_retired_in_place_of_being_erased():
    report = flashgc.run(config=FAILING, set={"device.failures.program": 1e-4}, over_time=True)
    assert report.failures.program > 0 < report.failures.erase
    assert report.over_time.wear["erases"].sum() == report.erases
    assert report.over_time.collections["count"].sum() == report.gc.count
