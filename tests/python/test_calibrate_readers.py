"""Calibration: rows whose readers and writers have loads of their own."""

import csv
import json

import pytest

import flashgc
from conftest import ROOT

pytest.importorskip("optuna", reason="Optuna is not installed: pip install flashgc[tune]")

from flashgc.calibrating import choosing, drive, fits, likelihood, numbers, rows
from test_calibrate import BASE, HIDDEN_LOADS, drive_candidates
from test_calibrate_tables import read, refusal


@pytest.fixture
def base(tmp_path):
    (tmp_path / "base.toml").write_text(BASE)
    return tmp_path / "base.toml"


BESIDE = """\
name,pattern,bs,depth,rate,reads,read_depth,read_bs,read_rate,read_iops,write_iops,read_p99_us
fill, sequential, 128k, 1, 800, , 128, , , 265374, 800, 3096.6
both, uniform, 4k, 32, , , 4, 8k, 2000, 2000, 3000, 300
few, uniform, 4k, 16, , , 2, , , 5000, 3000, 300
"""


def test_a_table_may_begin_with_a_byte_order_mark(tmp_path):
    assert read(tmp_path, f"\ufeff{BESIDE}") == read(tmp_path, BESIDE)


def test_readers_next_to_writers_have_a_load_of_their_own(tmp_path):
    found, _ = read(tmp_path, BESIDE)
    fill, both, few = found
    assert (fill.pattern.kind, fill.block_bytes, fill.depth, fill.rate) == (
        "sequential", 128 << 10, 1, 800)  # fmt: skip
    assert fill.readers == rows.Readers(depth=128)
    assert both.readers == rows.Readers(block_bytes=8192, depth=4, rate=2000)
    assert few.values["read_iops"].number == 5000
    assert "depth 16, full rate, next to uniform reads of 4.00 KiB, depth 2" in few.words()
    assert fill.overwritten == 0.0
    assert few.overwritten == 3.0


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("1, 800, , 128", "1, 800, 0.5, 128"), ["line 2", "reads", "'0.5'", "leave reads empty"]),
        (("both, uniform, 4k, 32, , , 4, 8k, 2000", "both, uniform, 4k, 32, , , , , "),
         ["line 3", "read_iops", "read_depth"]),
        (("2, , , 5000, 3000, 300", "2, , , , , 300"),
         ["line 4", "one of iops, read_iops, write_iops, rate and read_rate"]),
        (("4, 8k", "4, none"), ["line 3", "read_bs", "'none'"]),
        (("read_p99_us", "p99_us"), ["read_p99_us", "write_p99_us"]),
    ],
)  # fmt: skip
def test_nonsense_of_readers_says_what_is_allowed(tmp_path, change, parts):
    refusal(tmp_path, BESIDE, change, parts)


def test_the_table_of_the_page_has_the_measurements_on_record(tmp_path):
    page = (ROOT / "docs/calibrate.md").read_text()
    found, _ = read(tmp_path, page.partition("```csv\n")[2].partition("```")[0])
    with open(ROOT / "validation/wd-sn640/measured.csv", newline="") as file:
        known = {one["run"]: one for one in csv.DictReader(file) if one["set"] == "beside-fill"}
    assert len(found) == 2
    for row in found:
        one = known[row.name]
        assert row.readers.depth == int(one["depth"])
        assert row.rate * row.block_bytes / 2**20 == float(one["write_limit_MiBs"])
        assert row.values["read_iops"].number == float(one["read_iops"])
        for statistic in ("p50", "p99"):
            us = row.values[f"read_{statistic}"].number / 1e3
            assert us == pytest.approx(float(one[f"read_{statistic}_us"]))


@pytest.mark.parametrize("pattern", ["uniform", "once", "sequential", "zipf:0.9",
                                     "zoned:80/20:20/80"])  # fmt: skip
@pytest.mark.parametrize("limits", [(None, None), (1500.0, None), (None, 700.0), (1500.0, 700.0)])
def test_each_row_with_readers_is_a_run(base, pattern, limits):
    found = drive.base(base, [], 1, None)
    own = rows.pattern(pattern, "here")
    row = rows.Row("a", "here", own, 0.7, 4096, 16, rate=limits[0],
                   values={"read_iops": rows.Value(4000.0)},
                   readers=rows.Readers(own, 8192, 3, limits[1]))  # fmt: skip
    point = drive.Point(drive_candidates(found)[0], {"device.over_provisioning": 0.3}, 4.0)
    assert json.loads(flashgc._engine.problems(drive.request(found, point, row))) == []


def test_readers_and_writers_keep_their_own_depths_and_rates(base, tmp_path):
    from flashgc.calibrating.fits import Runs
    from flashgc.sweeps.local import Local
    from flashgc.sweeps.store import Writer
    from flashgc.tuning.pool import Pool

    found = drive.base(base, [], 1, 16)
    rate = {"write_iops": rows.Value(3000.0)}
    asked = [rows.Row("free", "", depth=24, values=rate, readers=rows.Readers(depth=3)),
             rows.Row("limits", "", depth=24, rate=900.0,
                      readers=rows.Readers(depth=3, rate=400.0)),
             rows.Row("sizes", "", block_bytes=65536, depth=24, values={"write_iops":
                      rows.Value(200.0)}, readers=rows.Readers(depth=3))]  # fmt: skip
    with Writer(tmp_path / "all") as writer:
        pool = Pool(writer, Local(1))
        runs = Runs(found, likelihood.noise(None), pool)
        [fit] = runs.fitted([drive.Point(drive_candidates(found)[0], {}, 4.0)], asked)
        pool.close()
    free, limits, sizes = fit.found
    for one in (free, sizes):
        # Requests under way are the rate times the mean latency.
        assert one["write_iops"] * one["write_mean"] / 1e9 == pytest.approx(24, rel=0.05)
        assert one["read_iops"] * one["read_mean"] / 1e9 == pytest.approx(3, rel=0.05)
    assert sizes["write_iops"] < free["write_iops"] / 8
    assert limits["write_iops"] == pytest.approx(900, rel=0.05)
    assert limits["read_iops"] == pytest.approx(400, rel=0.1)
    assert limits["iops"] == pytest.approx(limits["read_iops"] + limits["write_iops"], rel=0.01)


def test_a_rate_of_readers_counts_as_a_rate():
    assert likelihood.cost("read_iops", 20.0) == likelihood.cost("iops", 20.0)
    assert likelihood.weight("write_iops", 20.0) == likelihood.weight("iops", 20.0)


def test_writers_next_to_readers_are_no_writes_alone():
    """They would stand for the full rate of writes, which they do not have."""
    both = [rows.Row(f"beside {depth}", "", rows.Pattern("uniform"), depth=128,
                     readers=rows.Readers(depth=depth)) for depth in (64, 1, 8)]  # fmt: skip
    many = [*HIDDEN_LOADS[:5], *both]
    chosen = choosing.fitted([row.with_values({"iops": rows.Value(1.0)}) for row in many])
    assert [row.name for row in chosen] == [*(row.name for row in HIDDEN_LOADS[:5]), "beside 1"]


def test_closed_reasoning_takes_no_rate_or_latency_of_writers_next_to_readers(base):
    found = drive.base(base, [], 1, None)
    free = [one for one in numbers.free(None, found.known) if one.key != numbers.SPACE]
    values = {"iops": rows.Value(4000.0), "write_p50": rows.Value(8e3)}
    moves = []
    for readers in (None, rows.Readers(depth=4)):
        row = rows.Row("a", "", depth=64, rate=None, values=values, readers=readers)
        slow = rows.Row("b", "", depth=1, rate=200.0, values=values, readers=readers)
        here = {"iops": 3000.0, "write_amplification": 2.0, "write_p50": 6e3}
        point = drive.Point(drive_candidates(found)[0], {one.key: one.start for one in free}, 4.0)
        fit = fits.Fitted(point, [row, slow], [here, here], [0.0] * 4, [1.0] * 4)
        closed = fits.closed(fit, [row, slow], free, found).values
        moves.append({key for key, one in closed.items() if one != point.values[key]})
    assert moves == [{fits.PROGRAM, fits.FIRMWARE}, set()]
