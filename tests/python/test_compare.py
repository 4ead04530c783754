"""Comparisons in which not every scheme fits the device."""

import json

import pytest

import flashgc
from conftest import SMALL
from flashgc.results import refusal
from flashgc.running import building

FEW = {"workload.synthetic.requests": 2000}
SUSPEND = "device.suspend.suspend=20 us"


@pytest.fixture(scope="module")
def several():
    return flashgc.compare(SMALL, ["greedy", "fpgc", "fifo"], set=FEW)


def test_the_others_run_where_one_scheme_does_not_fit(several):
    assert several.keys() == ["greedy", "fifo"]
    (refused,) = several.refused
    assert refused.scheme == "fpgc"
    assert (
        refused.reason == 'gc.preemption.use = "suspend" needs a device that can suspend operations'
    )
    assert refused.settings == (SUSPEND,)
    assert refused.then is None
    assert "--> fpgc.toml" in refused.text


def test_the_setting_that_is_named_lets_it_run():
    both = flashgc.compare(SMALL, ["greedy", "fpgc"], set=[*[f"{k}={v}" for k, v in FEW.items()],
                                                           SUSPEND])  # fmt: skip
    assert both.keys() == ["greedy", "fpgc"]
    assert both.refused == []


def test_a_refused_scheme_is_told_everywhere(flashgc, small, tmp_path):
    command = ["compare", small, "--schemes", "greedy,fpgc,fifo", "--set",
               "workload.synthetic.requests=2000"]  # fmt: skip
    listed = flashgc(*command, "--json").json
    assert [entry["scheme"] for entry in listed] == ["greedy", "fifo", "fpgc"]
    assert (
        listed[2]["refused"]
        == 'gc.preemption.use = "suspend" needs a device that can suspend operations'
    )
    assert listed[2]["settings"] == [SUSPEND]
    shown = " ".join(flashgc(*command, "--out", "both").out.split())
    told = (
        'fpgc did not run: gc.preemption.use = "suspend" needs a device that can suspend '
        'operations; it runs with --set device.suspend.suspend="20 us"'
    )
    assert told in shown
    page = (tmp_path / "both/report.html").read_text()
    assert "fpgc did not run" in page
    assert json.loads((tmp_path / "both/report.json").read_text())[2]["scheme"] == "fpgc"
    alone = ["compare", small, "--schemes", "greedy,fpgc", "--out", "one"]
    flashgc(*alone)
    assert "fpgc did not run" in (tmp_path / "one/report.html").read_text()


def test_status_2_where_none_runs_or_a_name_is_unknown(flashgc, small):
    none = flashgc("compare", small, "--schemes", "fpgc,gsm", code=2).err
    assert "none of these schemes can run" in none
    assert 'fpgc: gc.preemption.use = "suspend" needs a device' in none
    assert '--set device.suspend.suspend="20 us"' in none
    assert 'gsm: gc.erase.use = "sub-blocks" needs a device with sub-blocks' in none
    unknown = flashgc("compare", small, "--schemes", "greedy,greddy", code=2).err
    assert 'did you mean "greedy"?' in unknown
    # A mistake of the configuration is reported once.
    wrong = flashgc("compare", small, "--schemes", "greedy,fifo", "--set", "sed=1", code=2).err
    assert wrong.count("unknown key `sed`") == 1


def test_every_refusal_on_every_device_names_settings_that_help():
    devices = [device["name"] for device in flashgc.devices()]
    schemes = [scheme["name"] for scheme in flashgc.schemes()]
    refused = 0
    for device in devices:
        for scheme in schemes:
            request = building.bare_request("oltp", None, scheme, device, None, None)
            found = refusal.of(request, scheme, None)
            if found is None:
                continue
            refused += 1
            where = f"{scheme} on {device}: {found}"
            assert found.settings or found.unset, where
            more = building.bare_request(
                "oltp", None, scheme, device, found.settings, None, unset=found.unset
            )
            left = refusal.of(more, scheme, None)
            assert (None if left is None else left.reason) == found.then, where
    assert refused > 50


def test_a_saved_drive_under_a_scheme_that_brings_blocks(tmp_path):
    file = tmp_path / "small.drive"
    flashgc.drive.save(SMALL, file)
    both = flashgc.compare(SMALL, ["greedy", "gftl"], set=FEW, drive=file)
    (refused,) = both.refused
    assert "gc.pacing.time-slices.extra_space" in refused.text
    assert refused.settings == ("gc.pacing.time-slices.extra_space=0%",)
    sets = [f"{key}={value}" for key, value in FEW.items()]
    again = flashgc.compare(SMALL, ["gftl"], set=[*sets, *refused.settings], drive=file)
    assert again.keys() == ["gftl"]
    with pytest.raises(flashgc.DriveError, match=r"extra_space=.0%"):
        flashgc.run(SMALL, scheme="gftl", drive=file)


def test_a_drive_saved_under_gftl_names_its_blocks(tmp_path):
    file = tmp_path / "gftl.drive"
    flashgc.drive.save(SMALL, file, scheme="gftl")
    with pytest.raises(flashgc.DriveError, match="saved under gftl, which adds 10 blocks"):
        flashgc.run(SMALL, set=FEW, drive=file)


def test_reports_by_name_place_and_in_order(several):
    assert several["fifo"] is several[1]
    assert several[:1] == [several[0]]
    assert [report.scheme for report in several] == several.keys()
    assert "greedy" in several
    assert several[0] in several
    assert "fpgc" not in several
    assert len(several) == 2
    assert dict(several)["greedy"] is several[0]
    with pytest.raises(KeyError, match="fpgc could not run: gc\\.preemption"):
        _ = several["fpgc"]
    with pytest.raises(KeyError, match="only greedy, fifo"):
        _ = several["random"]


def test_comparisons_and_reports_are_short_in_a_terminal(several):
    assert repr(several) == "Comparison(greedy, fifo; refused: fpgc)"
    assert repr(several[0]).startswith("Report(greedy on custom, seed 1, 2,000 requests")
    assert len(repr(several[0])) < 160
    assert len(repr(several[0].config)) < 160


def test_a_refused_scheme_is_told_to_the_callback():
    phases = {}

    def told(index, step):
        phases.setdefault(index, []).append(step.phase)

    flashgc.compare(SMALL, ["greedy", "fpgc", "fifo"], set=FEW, progress=told)
    assert phases[1] == ["refused"]
    assert phases[0][-1] == phases[2][-1] == "done"


def test_the_table_becomes_a_data_frame(several):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(several.table)
    assert list(frame.columns) == list(several.table)
    assert list(frame["scheme"]) == ["greedy", "fifo"]
    assert frame["erases"].dtype.kind == "i"
    latency = pandas.DataFrame(several[0].latency)
    assert list(latency["kind"]) == ["read", "write", "all"]
    assert several.table.to_dict()["scheme"] == ["greedy", "fifo"]


def test_the_table_becomes_a_polars_frame(several):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(several.table)
    assert frame.columns == list(several.table)
    assert frame["scheme"].to_list() == ["greedy", "fifo"]


def test_dir_shows_what_is_public():
    shown = {name for name in dir(flashgc) if not name.startswith("__")}
    assert shown == {name for name in flashgc.__all__ if not name.startswith("__")}
    assert {"run", "compare", "report_schema", "Refusal"} <= shown
    assert not {"api", "summary", "page", "panel"} & shown


def test_a_refusal_without_a_setting_has_the_help_of_its_message(flashgc, small):
    """It said that nothing is known to help, with the help in the JSON of the same result."""
    typed = ["compare", small, "--schemes", "greedy,gftl", "--set", "device.exported=0.98"]
    told = " ".join(flashgc(*typed).out.split())
    assert "greedy did not run: a plane has" in told
    assert "; set device.exported below 0.9" in told
    assert "is known" not in told


def test_a_scheme_is_given_once(flashgc, small):
    told = "error: the scheme greedy is given twice\n  = help: give each scheme once\n"
    assert flashgc("compare", small, "--schemes", "greedy, fifo,greedy", code=2).err == told
    assert flashgc("advise", small, "--schemes", "greedy,greedy", code=2).err == told


def test_a_file_and_a_scheme_in_python_are_given_once(tmp_path):
    own = flashgc.victim(lambda of: of.block[of.valid.argmin()])
    file = tmp_path / "own.toml"
    file.write_text('scheme = "greedy"\n')
    same = tmp_path / "." / "own.toml"
    for several in ([own, "greedy", own], [file, str(same)]):
        with pytest.raises(flashgc.ConfigError, match="is given twice"):
            flashgc.compare(SMALL, several, set=FEW)
    other = flashgc.victim(lambda of: of.block[of.valid.argmin()])
    assert len(flashgc.compare(SMALL, [own, other], set=FEW)) == 2
