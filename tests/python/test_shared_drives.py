"""Runs of a reproduction that share a preconditioned drive: the same reports, and no file left."""

import threading

import pytest

import flashgc
from flashgc import _engine
from flashgc._engine import RunError
from flashgc.axes import layers
from flashgc.reproduction import shared
from flashgc.running import building

GAP = "workload.synthetic.interarrival.exponential"
OF_MACHINE = (
    "wall_s", "precondition_wall_s", "page_operations_per_s", "peak_rss_bytes",
)  # fmt: skip


def settings(**sets):
    return {"device.blocks_per_plane": 64, "workload.synthetic.requests": 300,
            "precondition.overwrite": 1.0, **sets}  # fmt: skip


LOADS = [settings(**{GAP: "1 ms"}), settings(seed=2), settings(**{GAP: "2 ms"})]
"""Two loads of one drive, and between them a run with a drive of its own."""


def checked(sets):
    return layers.checked(building.request("oltp", None, None, None, sets, None), "a run")


def comparable(report):
    return {key: value for key, value in report.to_dict().items() if key not in OF_MACHINE}


def found(folder, jobs):
    reports = {}
    runs = [checked(sets) for sets in LOADS]
    shared.run_all(runs, folder, jobs, lambda *_: None,
                   lambda index, report: reports.update({index: comparable(report)}),
                   [None] * len(runs))  # fmt: skip
    return [reports[index] for index in range(len(runs))]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_runs_with_a_shared_drive_are_as_alone(tmp_path, monkeypatch, jobs):
    saved = []
    save = _engine.drive_save

    def counted(request, target, **given):
        saved.append(target)
        return save(request, target, **given)

    monkeypatch.setattr(_engine, "drive_save", counted)
    alone = [comparable(flashgc.run("oltp", set=sets)) for sets in LOADS]
    assert alone[0]["latency_ns"] != alone[2]["latency_ns"]
    assert found(tmp_path, jobs) == alone
    assert len(saved) == 1
    assert not list(tmp_path.iterdir())


def test_a_drive_that_cannot_be_saved_is_preconditioned_by_each_run(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise RunError("error: no space left")

    alone = found(tmp_path, 2)
    monkeypatch.setattr(_engine, "drive_save", refuse)
    assert found(tmp_path, 2) == alone


def test_an_error_leaves_no_drive_and_no_thread(tmp_path):
    runs = [checked(sets) for sets in LOADS]

    def fail(index, report):
        raise RunError("error: no report")

    with pytest.raises(RunError, match="no report"):
        shared.run_all(runs, tmp_path, 2, lambda *_: None, fail, [None] * len(runs))
    assert not list(tmp_path.iterdir())
    assert threading.active_count() == 1
