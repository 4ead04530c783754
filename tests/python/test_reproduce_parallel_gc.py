"""Paper parallel-gc: the start of the drive, and the other readings of it."""

import pytest

from conftest import ROOT
from flashgc.reproduction import papers
from flashgc.reproduction.plan import Planner

POSTMARK = "ssd-postmark-aligned2.disksim.trace"
ROWS = "".join(f"{at}.0 0 {64 * at} 64 {at % 2}\n" for at in range(1, 200))


@pytest.fixture
def planned(tmp_path):
    """Plans a run on Postmark with a start, with the trace in the folder or without it."""
    experiment = papers.load(str(ROOT / "papers" / "parallel-gc")).experiment

    def plan(start, trace):
        (tmp_path / POSTMARK).unlink(missing_ok=True)
        if trace:
            (tmp_path / POSTMARK).write_text(ROWS, "utf-8")
        at = {"device": "slc", "workload": "Postmark", "threshold": "10", "scheme": "existing",
              "start": start, "load": "main"}  # fmt: skip
        point = tuple(at[axis] for axis in experiment.axes)
        return Planner(experiment, tmp_path, quick=False).planned(point)

    return plan


def test_the_passes_of_a_trace_overwrite_a_full_drive(planned):
    main = planned("main", trace=True)
    assert main.file == POSTMARK
    for key, value in (
        ("fill", '"by-block"'),
        ("overwrite_with", '"passes"'),
        ("overwrite", "1.0"),
    ):
        assert any(f"precondition.{key}" in one and value in one for one in main.request["sets"])


def test_another_start_needs_the_same_trace_and_changes_the_run(planned):
    """Two choices of a run name the trace, which is one trace."""
    main, shifted = planned("main", trace=True), planned("postmark-1G", trace=True)
    assert shifted.file == POSTMARK
    assert shifted.key != main.key
    assert "1 GiB" in str(shifted.request["sets"])


def test_without_the_trace_all_starts_are_one_run(planned):
    main, shifted = planned("main", trace=False), planned("postmark-1G", trace=False)
    assert shifted.key == main.key
    assert main.differs
