"""Messages on balance, on runs in which no page moved, and on write amplification."""

from __future__ import annotations

import functools
from typing import Any

import flashgc
from conftest import SMALL
from flashgc.pages import page
from flashgc.reports.report import Comparison, Report
from flashgc.results import compared, steady_state, summary

STEADY: dict[str, Any] = {
    "verdict": "yes", "reasons": [], "nothing_moved": None, "more_requests": None,
    "written_pages": 1000, "reclaimed_pages": 990, "free_pages_begin": 200, "free_pages_end": 190,
    "write_amplification_halves": [2.0, 2.02], "write_amplification_interval": [1.9, 2.1],
    "turnovers": 3.0, "turnovers_before": 2.0,
}  # fmt: skip


def made(
    scheme: str = "greedy", pages: float = 2.0, in_bytes: float = 2.0, **steady: Any
) -> Report:
    values = {"scheme": scheme, "write_amplification": pages, "write_amplification_bytes": in_bytes,
              "steady": {**STEADY, **steady}}  # fmt: skip
    return Report({**_run(), **values})


@functools.cache
def _run() -> dict[str, Any]:
    """The keys that every report has."""
    return flashgc.run(SMALL, set={"workload.synthetic.requests": 200}).to_dict()


def out(scheme: str = "fpgc") -> Report:
    return made(scheme, verdict="no", reasons=["it ate free blocks"], more_requests=4000)


def test_a_run_in_balance_needs_no_word_first() -> None:
    assert steady_state.first(made()) == []
    told = steady_state.told(made())
    assert told.startswith("yes: 990 pages reclaimed for 1,000 written"), told


def test_a_run_that_is_too_short_says_so_first_and_how_much_is_missing() -> None:
    (told,) = steady_state.first(out())
    assert "it ate free blocks" in told
    assert "4,000 more requests" in told


def test_nothing_moved_comes_first_and_once() -> None:
    why = "no collection: the trace writes 1.7 % of the drive"
    report = made(verdict="no GC", nothing_moved=why)
    assert steady_state.first(report) == [why]
    assert steady_state.told(report).startswith("no GC")


def test_bytes_come_first_where_they_differ() -> None:
    names = [name for name, _ in steady_state.amplification(made(in_bytes=8.0))]
    assert names == ["write amplification, bytes", "write amplification, pages"]
    assert [name for name, _ in steady_state.amplification(made())] == ["write amplification"]


def test_schemes_out_of_balance_stand_behind_the_others_and_are_marked() -> None:
    several = [out(), made()]
    assert [report.scheme for report in steady_state.ordered(several)] == ["greedy", "fpgc"]
    assert steady_state.marks(steady_state.ordered(several)) == [["! steady state", "yes", "no"]]
    warning = steady_state.warning(several)
    assert warning is not None
    assert "do not compare its numbers" in warning
    assert "fpgc" in warning
    assert steady_state.warning([made()]) is None
    assert steady_state.marks([made()]) == []


def test_a_drive_that_became_read_only_is_not_short_of_the_long_run() -> None:
    values = made("fifo", verdict="no", reasons=["it is worn"])
    worn = Report({**values, "failures": {"read_only": True}})
    assert steady_state.first(worn) == ["not in steady state: it is worn"]
    alone, beside = steady_state.warning([worn]), steady_state.warning([worn, out(), made()])
    assert alone is not None
    assert alone == ("fifo became read-only, so there is no steady state")
    assert beside is not None
    assert "fpgc has not reached steady state (about 4,000 more requests may be enough)" in beside
    assert beside.endswith("; fifo became read-only, so there is no steady state")


def test_a_short_run_says_so_in_summary_and_page() -> None:
    small = {"workload.synthetic.requests": 2000, "precondition.overwrite": 0.0}
    report = flashgc.run("oltp", set=small)
    assert report.steady.verdict in {"yes", "no", "no GC"}
    for text in steady_state.first(report):
        assert page.fragment([report]).count(text.split(":")[0]) >= 1
        assert text not in summary.warnings(report)
    both = Comparison([report, report])
    assert [name for name, *_ in compared.comparison(both)][:1] == [""]
