"""Calibration: settings of the base, and runs that it cannot have."""

import re
import tomllib

import pytest

import flashgc as package

pytest.importorskip("optuna", reason="Optuna is not installed: pip install flashgc[tune]")

from flashgc.calibrating import candidates, drive, rows
from flashgc.tuning import space
from test_calibrate import BASE

ROWS = """\
name,pattern,bs,depth,reads,iops
idle,uniform,4k,1,1,15000
full,uniform,4k,64,0,3900
more,uniform,4k,32,0,3900
most,uniform,4k,16,0,3900
"""


@pytest.fixture
def calibrate(tmp_path):
    """A short calibration of these rows."""
    (tmp_path / "base.toml").write_text(BASE)

    def run(text=ROWS, **more):
        (tmp_path / "rows.csv").write_text(text)
        given = {"schemes": ["greedy"], "trials": 0, "free": ["timing.program"], "jobs": 1}
        return package.calibrate(more.pop("results", tmp_path / "rows.csv"),
                                 tmp_path / "base.toml", store=tmp_path / "all",
                                 **{**given, **more})  # fmt: skip

    return run


def test_the_saved_scheme_has_the_settings_with_which_it_was_fitted(calibrate):
    found = calibrate(set={"gc.victim.use": "fifo"})
    saved = tomllib.loads(found.to_dict()["scheme_toml"])
    assert saved["victim"]["use"] == "fifo"
    assert "settings of the base" in saved["about"]["title"]


def test_settings_of_a_combination_are_above_those_of_the_base(tmp_path):
    (tmp_path / "base.toml").write_text(BASE)
    sets = ["gc.victim.use=fifo", "gc.trigger.watermark.batch=until-stop"]
    base = drive.base(tmp_path / "base.toml", sets, 1, None)
    for one in candidates.of(base.with_load, None)[:3]:
        text = drive.scheme_text(base, one)
        saved = tomllib.loads(text)
        assert saved["victim"]["use"] == one.settings["gc.victim.use"]
        assert saved["trigger"]["watermark"]["batch"] == "until-stop"
        plain = drive.base(tmp_path / "base.toml", [], 1, None)
        assert space.problem({**plain.with_load, "scheme": ("own.toml", text)}) is None


@pytest.mark.parametrize(
    ("text", "remedy"),
    [("seed=7", "--seed"), ("precondition.overwrite=9", "`overwrites`"),
     ("workload.synthetic.trim_share=0.5", "its row"), ("gc.scheme=pgc", "--schemes"),
     ("gc={victim={use='fifo'}}", "a key of it")],
)  # fmt: skip
def test_settings_without_an_effect_are_refused(calibrate, text, remedy):
    with pytest.raises(package.ConfigError) as error:
        calibrate(set=[text])
    assert f"--set {text}" in str(error.value)
    assert remedy in str(error.value)


def test_a_run_that_the_base_cannot_have_is_left_out_with_the_reason(calibrate):
    """Its numbers had no simulated ones, which made all others unknown."""
    big = ROWS + "big,uniform,1g,1,0,5\n"
    found = calibrate(big).to_dict()
    assert found["fitted"] == ["idle", "full", "more", "most"]
    assert any("'big' was left out: requests of 1073741824 bytes do not fit" in one
               for one in found["warnings"])  # fmt: skip
    with pytest.raises(package.ConfigError, match=r"note: .*'big' was left out"):
        calibrate(big, fit_rows=["big"])
    with pytest.raises(package.ConfigError, match="can simulate none of the runs"):
        calibrate(ROWS.replace("4k", "1g"))


def test_a_file_counts_once(calibrate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(package.ConfigError, match=r"the file rows.csv is given twice"):
        calibrate(results=["rows.csv", tmp_path / "rows.csv"])


def test_candidates_that_cannot_run_at_all_leave_out_no_row(tmp_path):
    (tmp_path / "base.toml").write_text(BASE)
    base = drive.base(tmp_path / "base.toml", [], 1, None)
    plain = rows.Row("plain", "here")
    none = candidates.Candidate("none", {"gc.trigger.watermark.soft": "70 blocks"})
    assert drive.refused(base, drive.with_writes(base, [none]), plain) is None
    points = drive.with_writes(base, [none, candidates.Candidate("greedy", {})])
    assert drive.refused(base, points, plain) is None
    assert "512 B" in drive.refused(base, points, rows.Row("odd", "here", block_bytes=1))


def test_the_base_is_not_replaced_by_the_fitted_device(calibrate, flashgc, tmp_path):
    """device.toml is a likely name of a base, and the folder of the base a likely one of --out."""
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "device.toml").write_text(BASE)
    typed = ["calibrate", "rows.csv", "--device", "device.toml", "--schemes", "greedy"]
    said = flashgc(*typed, "--out", ".", code=2).err
    assert "device.toml is read, and would be replaced by the result" in said
    assert "another folder with --out" in said
    assert (tmp_path / "device.toml").read_text() == BASE
    assert not (tmp_path / "runs").exists()


def test_each_kind_of_noise_is_named_once(flashgc, tmp_path):
    (tmp_path / "rows.csv").write_text("pattern,iops\nuniform,1\n")
    typed = ["calibrate", "rows.csv", "--device", "slc-msr", "--noise"]
    assert "has p99_9 twice" in flashgc(*typed, "p99.9=2%,p99_9=3%", code=2).err


def test_a_point_without_a_run_is_behind_all_others(calibrate):
    """Its cost is limited: with a number that is far off it was the best, and no file runs."""
    text = "pattern,depth,write_amplification\nuniform,64,500\n"
    found = calibrate(text, free=["over_provisioning"], schemes=["greedy", "pgc"]).to_dict()
    assert all(one["simulated"] for one in found["points"])
    assert any("even the best candidate misses" in one for one in found["warnings"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"one_queue": "never"}, "one_queue must be True or False, got 'never'"),
        ({"noise": "iops=2%"}, "noise must be a dictionary of shares, as in {'iops': 0.02}"),
        ({"noise": {"iops": "2%"}}, "the noise of iops must be a number, got '2%'"),
        ({"noise": {"iops": True}}, "the noise of iops must be a number, got True"),
        ({"free": 5}, "free must be a word or a list of some, got 5"),
        ({"fit_rows": [5]}, "fit_rows must be a word or a list of some, got [5]"),
        ({"blocks": 30.0}, "blocks must be a whole number from 1, got 30.0"),
        ({"drive": 5}, "drive must be a text, got 5"),
        ({"results": {"a.csv": 1}}, "results must be a name or a path, got {'a.csv': 1}"),
    ],
)
def test_an_argument_of_another_type_is_named(calibrate, given, words):
    """A text such as "never" was True, and a single word was a list of its letters."""
    with pytest.raises(package.ConfigError, match=re.escape(words)):
        calibrate(**given)


def test_rows_and_keys_may_be_one_word_or_come_one_by_one(calibrate):
    one = calibrate(fit_rows="full", free="timing.program")
    assert one["numbers"] == calibrate(fit_rows=iter(["full"]))["numbers"]
    assert one["fitted"] == ["full"]


def test_names_of_several_lines_are_one(calibrate):
    """A name is a comment of device.toml, which no TOML reader took after the whole search."""
    found = calibrate(ROWS.replace("full", '"full,\n32 jobs"').replace("idle", "id\x1ble"),
                      fit_rows=["full,\n32 jobs"])  # fmt: skip
    assert found.fitted == ["full, 32 jobs"]
    assert tomllib.loads(found.device_toml)["channels"] == 2
    assert "id\N{REPLACEMENT CHARACTER}le" in found.judged


def test_no_job_file_of_an_earlier_calibration_is_left(calibrate, tmp_path):
    text = next(one["text"] for one in package.schemes() if one["name"] == "greedy")
    (tmp_path / "twin.toml").write_text(text)
    with_job = calibrate(schemes=["greedy", tmp_path / "twin.toml"])
    job = with_job.to_dict()["further"]["file"]
    assert tmp_path / "out" / job in with_job.save_all(tmp_path / "out")
    (tmp_path / "out/own.fio").write_text("[own]\nrw=read\n")
    without = calibrate()
    assert without.to_dict()["further"] is None
    without.save_all(tmp_path / "out")
    assert [one.name for one in (tmp_path / "out").glob("*.fio")] == ["own.fio"]
    # One that was changed is the user's.
    with_job.save_all(tmp_path / "out")
    (tmp_path / "out" / job).write_text("[changed]\nrw=read\n")
    without.save_all(tmp_path / "out")
    assert (tmp_path / "out" / job).exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("idle;", "--fit-rows has an empty name"),
        (";;", "give one `;` between two names, and none at the end; the rows: idle; full"),
        ("", "--fit-rows has an empty name"),
        ("idle;full;idle", "--fit-rows names the row 'idle' twice"),
        ("idle;a;b", "names 'a', which is not a row"),
        ("idle;a;b", "a name with `;` can be given in Python, as one of fit_rows"),
    ],
)
def test_names_of_rows_are_separated_by_one_semicolon(flashgc, tmp_path, given, words):
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "rows.csv").write_text(ROWS.replace("most", "a;b"))
    said = flashgc("calibrate", "rows.csv", "--device", "base.toml", "--schemes", "greedy",
                   "--fit-rows", given, code=2).err  # fmt: skip
    assert words in said
    assert not (tmp_path / "runs").exists()
